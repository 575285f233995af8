//! Choices read off bytes, and values made by them.

use provider::framework::{Bound, Number, Refinement, Type, Value};

/// Choices; zeros when it is over.
pub struct Tape<'a> {
    bytes: &'a [u8],
}

/// Texts that mean something to some attribute, some of them only just.
const TEXTS: [&str; 48] = [
    "",
    "a",
    "dev",
    "dev/web",
    "web",
    "id",
    "team",
    "A B",
    "-",
    "_",
    "/",
    ".",
    "0",
    "1",
    "-1",
    "1.5",
    "500m",
    "2Gi",
    "1e3",
    "1E400",
    "18446744073709551616",
    "100%",
    "5%",
    "30s",
    "1h30m",
    "0s",
    "20m",
    "999999999h",
    "9223372036854775807ns",
    "http://127.0.0.1:1",
    "https://example.com/hook",
    "ftp://x",
    "env_0198f000-0000-7000-8000-000000000000",
    "pool_0198f000-0000-7000-8000-000000000000",
    "2026-11-30T17:00:00Z",
    "PT1H",
    "* * * * *",
    "{}",
    "[]",
    "{\"id\":\"x\"}",
    "null",
    "true",
    "false",
    "runtimecloud_environment",
    "registry.terraform.io/runtimecloud/runtimecloud",
    "cpu",
    "memory",
    "\u{0}\u{fffd}\u{1f600}\u{301}",
];

const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "2",
    "-1",
    "0.5",
    "1000",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "-9223372036854775808",
    "1e400",
    "-1e-400",
];

impl<'a> Tape<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Below `choices`, which is not above 256.
    pub fn choose(&mut self, choices: usize) -> usize {
        usize::from(self.take(1).first().copied().unwrap_or(0)) % choices.max(1)
    }

    /// Seldom true, and never when the tape is over.
    pub fn chance(&mut self, one_in: usize) -> bool {
        self.choose(one_in) == one_in - 1
    }

    /// So many bytes, or what is left.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at(length.min(self.bytes.len()));
        self.bytes = rest;
        taken
    }

    pub fn text(&mut self) -> String {
        let choice = self.choose(TEXTS.len() + 8);
        match TEXTS.get(choice) {
            Some(text) => (*text).to_owned(),
            None => {
                let length = self.choose(32);
                String::from_utf8_lossy(self.take(length)).into_owned()
            }
        }
    }

    fn number(&mut self) -> Number {
        let choice = self.choose(NUMBERS.len() + 4);
        match NUMBERS.get(choice).and_then(|text| text.parse().ok()) {
            Some(number) => number,
            None => i64::from_le_bytes(self.eight()).into(),
        }
    }

    pub fn eight(&mut self) -> [u8; 8] {
        let mut eight = [0; 8];
        let taken = self.take(8);
        eight[..taken.len()].copy_from_slice(taken);
        eight
    }

    /// A value of a type, null and unknown ones among them.
    pub fn value(&mut self, ty: &Type) -> Value {
        match self.choose(8) {
            6 => return Value::Null,
            7 => return self.unknown(),
            _ => {}
        }
        match ty {
            Type::Bool => Value::Bool(self.chance(2)),
            Type::Number => Value::Number(self.number()),
            Type::String => Value::String(self.text()),
            Type::List(element) => Value::list(self.values(element)),
            Type::Set(element) => Value::set(self.values(element)),
            Type::Map(element) => {
                let values = self.values(element);
                Value::map(values.into_iter().map(|value| (self.text(), value)).collect::<Vec<_>>())
            }
            Type::Object(types) => Value::object(
                types.iter().map(|(name, ty)| (name, self.value(ty))).collect::<Vec<_>>(),
            ),
            Type::Tuple(types) => Value::List(types.iter().map(|ty| self.value(ty)).collect()),
            Type::Dynamic => {
                let types = [
                    Type::String,
                    Type::Number,
                    Type::list(Type::Bool),
                    Type::map(Type::String),
                    Type::Dynamic,
                    Type::Tuple(vec![Type::String, Type::Number]),
                    Type::Object([("a".to_owned(), Type::Dynamic)].into()),
                ];
                let ty = types[self.choose(types.len())].clone();
                let value = self.value(&ty);
                Value::Dynamic(ty, Box::new(value))
            }
        }
    }

    fn values(&mut self, ty: &Type) -> Vec<Value> {
        (0..self.choose(4)).map(|_| self.value(ty)).collect()
    }

    fn unknown(&mut self) -> Value {
        let mut refinement = Refinement { not_null: self.chance(2), ..Refinement::default() };
        match self.choose(4) {
            0 => return Value::UNKNOWN,
            1 => refinement.prefix = Some(self.text()),
            2 => {
                refinement.lower = Some(Bound { number: self.number(), inclusive: self.chance(2) });
            }
            _ => refinement.length_max = Some(self.choose(256) as u64),
        }
        Value::Unknown(Some(Box::new(refinement)))
    }
}
