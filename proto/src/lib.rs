//! Wire types, generated from the `.proto` files beside this crate and committed under `src/gen`.
//!
//! No logic lives here but [`quantity`] and [`duration`]: how the amounts and times of the host's API
//! are read and printed is part of its contract, and the provider and the host must never disagree
//! about it.
//! `UPDATE=1 cargo test -p proto` writes the generated code anew.

pub mod duration;
pub mod quantity;

/// The Terraform and OpenTofu plugin protocol, 6.11.
#[allow(warnings, clippy::all, reason = "generated code keeps its generator's style")]
pub mod tfplugin6 {
    include!("gen/tfplugin6.rs");
}

/// What a plugin's parent process asks of it besides its work.
#[allow(warnings, clippy::all, reason = "generated code keeps its generator's style")]
pub mod plugin {
    include!("gen/plugin.rs");
}

/// The host's API.
pub mod runtimecloud {
    /// Version 1.
    #[allow(warnings, clippy::all, reason = "generated code keeps its generator's style")]
    pub mod v1 {
        include!("gen/runtimecloud.v1.rs");
    }
}

/// All of the above as an encoded `FileDescriptorSet`, for reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!("gen/descriptors.bin");
