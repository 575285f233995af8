//! See [`analyzer_fuzz::redacted`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| analyzer_fuzz::redacted(data));
