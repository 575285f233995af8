//! See [`analyzer_fuzz::plan`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| analyzer_fuzz::plan(data));
