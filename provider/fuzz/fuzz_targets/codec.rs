//! Feeds bytes to the codec of values. See [`provider_fuzz::codec`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| provider_fuzz::codec(data));
