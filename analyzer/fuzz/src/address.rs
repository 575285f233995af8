//! Addresses: what is read is printed so that it is read as the same again.

use driftgate::address::{Address, ModuleCall};

/// Reads the bytes as an address and as a path of modules.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Address::parse(&text) {
        Ok(address) => assert_eq!(Address::parse(&address.to_string()), Ok(address)),
        Err(error) => assert!(error.at <= text.len()),
    }
    if let Err(error) = ModuleCall::parse_path(&text) {
        assert!(error.at <= text.len());
    }
}
