//! See [`analyzer_fuzz::configuration`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| analyzer_fuzz::configuration(data));
