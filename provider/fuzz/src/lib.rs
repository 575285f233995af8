//! What must hold of the provider for any bytes whatsoever: one function for each fuzz target. The
//! provider's tests run the same functions over the corpora in `corpus/`.

mod catalog;
mod codec;
mod raw;
mod request;
mod rpc;
mod tape;

pub use self::{codec::check as codec, rpc::check as rpc};
