//! Feeds bytes to one reader. See [`analyzer_fuzz::compare`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| analyzer_fuzz::compare(data));
