//! See [`analyzer_fuzz::envelope`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| analyzer_fuzz::envelope(data));
