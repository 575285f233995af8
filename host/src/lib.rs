//! RuntimeCloudHost: the control plane of Runtime Cloud.

pub mod drivers;
pub mod ids;
pub mod pools;
pub mod supervisor;
