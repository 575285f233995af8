//! States: an error or a stream of objects, the same one each time.

use driftgate::{
    Limits, read_state,
    state::{Object, Receiver},
    value::Value,
};

#[derive(Default)]
struct Seen(Vec<String>);

impl Receiver for Seen {
    fn object(&mut self, object: Object) {
        self.0.push(format!("{object:?}"));
    }

    fn output(&mut self, name: &str, _: Value, _: bool) {
        self.0.push(name.to_owned());
    }
}

/// Reads the bytes as a state, twice.
pub fn check(data: &[u8]) {
    let read = || {
        let mut seen = Seen::default();
        let outcome = read_state(data, Limits::STANDARD, &mut seen);
        (outcome.map_err(|error| error.to_string()), seen.0)
    };
    assert_eq!(read(), read());
}
