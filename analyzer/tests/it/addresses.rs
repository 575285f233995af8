//! Addresses of any shape come back as they were.

use driftgate::address::{Address, Key, Mode, ModuleCall};
use proptest::{collection, option, prelude::*};

fn name() -> impl Strategy<Value = String> {
    "[a-zé_][a-z0-9_-]{0,6}".prop_filter("words with a meaning of their own", |name| {
        !matches!(name.as_str(), "module" | "data" | "ephemeral")
    })
}

fn key() -> impl Strategy<Value = Key> {
    let odd = collection::vec(
        prop_oneof![
            Just('$'),
            Just('%'),
            Just('{'),
            Just('"'),
            Just('\\'),
            Just(']'),
            Just('['),
            Just('.'),
            any::<char>(),
        ],
        0..12,
    );
    prop_oneof![
        any::<u64>().prop_map(Key::Number),
        odd.prop_map(|characters| Key::Text(characters.into_iter().collect())),
        Just(Key::Unknown),
    ]
}

fn address() -> impl Strategy<Value = Address> {
    let call = (name(), option::of(key())).prop_map(|(name, key)| ModuleCall { name, key });
    let mode = prop_oneof![Just(Mode::Managed), Just(Mode::Data), Just(Mode::Ephemeral)];
    let parts = (collection::vec(call, 0..4), mode, name(), name(), option::of(key()));
    (parts, option::of("[0-9a-f]{8}")).prop_map(|(parts, deposed)| {
        let (modules, mode, resource_type, name, key) = parts;
        Address { modules, mode, resource_type, name, key, deposed }
    })
}

proptest! {
    #[test]
    fn printing_and_parsing_gives_the_same_address(address in address()) {
        prop_assert_eq!(Address::parse(&address.to_string()), Ok(address));
    }

    #[test]
    fn printed_addresses_hold_no_hidden_character(address in address()) {
        prop_assert!(!address.to_string().contains(driftgate::formats::is_hidden));
    }

    #[test]
    fn any_text_is_an_address_or_an_error_in_it(text in "(module\\.|data\\.|a\\.b|\\[|\"|\\\\|\\]|[0-9]|\\$|\\{|.){0,20}") {
        match Address::parse(&text) {
            Ok(address) => prop_assert_eq!(Address::parse(&address.to_string()), Ok(address)),
            Err(error) => prop_assert!(error.at <= text.len()),
        }
    }
}
