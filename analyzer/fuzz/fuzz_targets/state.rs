//! Feeds bytes to one reader. See [`analyzer_fuzz::state`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| analyzer_fuzz::state(data));
