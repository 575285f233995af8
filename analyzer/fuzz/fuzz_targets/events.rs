//! See [`analyzer_fuzz::events`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| analyzer_fuzz::events(data));
