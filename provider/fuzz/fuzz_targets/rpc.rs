//! Feeds bytes to the calls of the protocol. See [`provider_fuzz::rpc`].
//!
//! Time is simulated: what waits for the host that is not there waits for none.

#![no_main]

use tokio::runtime::Builder;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().expect("a runtime starts");
    runtime.block_on(provider_fuzz::rpc(data));
    runtime.shutdown_background();
});
