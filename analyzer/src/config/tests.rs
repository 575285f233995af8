//! The file as a user writes it, and the schema that is published.

use super::*;

/// Files that are accepted by the program and by the schema.
const RIGHT: &[&str] = &[
    "",
    "workspace = \"prod\"\n[gate]\nfail-on = [\"drift=high\", \"policy\", \"pending\"]\nmax-age = \"7d\"\n",
    "[gate]\nallow-inconclusive = true\nexit-zero = false\n[noise]\nas-drift = [\"null-empty\"]\n",
    "[severity]\nabsorbed = \"low\"\n[[override]]\ntype = \"aws_db_*\"\nseverity = \"critical\"\nowner = \"@dba\"\n",
    "[[ignore]]\naddress = [\"module.a\", \"b.c\"]\nattribute = \"tags[\\\"x\\\"]\"\nowner = \"a\"\nreason = \"b\"\nexpires = 2027-01-31\n",
    "[[ignore]]\nrule = \"absorbed\"\nowner = \"a\"\nreason = \"b\"\nexpires = \"2027-01-31\"\n",
    "[baseline]\nfile = \"x.json\"\n[history]\nfile = \"y.json\"\nmin-consecutive = 3\n",
];

/// Files that neither takes, and where the program says the fault is.
const WRONG: &[(&str, &str)] = &[
    ("workspace = 1\n", "1:13"),
    ("\nworkspce = \"x\"\n", "2:1: unknown field `workspce`"),
    ("[gate]\nfail-on = [\"drift\", \"rain\"]\n", "2:11: `rain` is no class"),
    ("[gate]\nfail-on = [\"pending=high\"]\n", "2:11: pending has no severities"),
    ("[noise]\nas-drift = [\"phantom\"]\n", "2:12: `phantom` is no noise"),
    ("[severity]\nreverted = \"huge\"\n", "2:12: `huge` is no severity"),
    ("[severity]\nlove = \"high\"\n", "2:1: `love` is no rule"),
    ("[[ignore]]\naddress = \"a\"\nreason = \"b\"\n", "1:1: missing field `owner`"),
    ("[[ignore]]\naddress = []\nowner = \"a\"\nreason = \"b\"\n", "2:11: the list is empty"),
    ("[[ignore]]\ntype = 7\nowner = \"a\"\nreason = \"b\"\n", "2:8"),
    (
        "[[ignore]]\ntype = \"a\"\nowner = \"a\"\nreason = \"b\"\nexpires = \"soon\"\n",
        "5:11: `soon` is no day",
    ),
    ("[history]\nmin-consecutive = 0\n", "2:19"),
];

/// Files in which each value is well formed, but not the whole.
const WRONG_AS_A_WHOLE: &[(&str, &str)] = &[
    ("[gate]\nmax-age = \"soon\"\n", "2:11: `soon` is no length of time"),
    ("[gate]\nmax-age = \"-1h\"\n", "2:11: `-1h` is no length of time"),
    ("[[ignore]]\nattribute = \"a[\"\nowner = \"a\"\nreason = \"b\"\n", "2:13: `a[` is no path"),
    ("[[ignore]]\nowner = \"a\"\nreason = \"b\"\n", "[[ignore]] 1 (ignore-1): it selects nothing"),
    ("[[ignore]]\ntype = \"x\"\nowner = \" \"\nreason = \"b\"\n", "needs an owner and a reason"),
    ("[[override]]\naddress = \"*\"\n", "[[override]] 1: it has neither"),
    ("[[override]]\nseverity = \"low\"\n", "[[override]] 1: it selects nothing"),
    ("workspace = \"a\"\nworkspace = \"b\"\n", "2:1: duplicate key"),
    ("workspace = \"a\n", "1:"),
];

fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<Config>();
    schema.insert("title".to_owned(), "Configuration of driftgate, version 1".into());
    schema.into()
}

#[test]
fn the_published_schema_is_made_of_the_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/config.v1.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(path, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == text,
        "schema/config.v1.json is old: `UPDATE=1 cargo test -p analyzer` writes it"
    );
}

#[test]
fn the_program_and_the_schema_take_the_same_files() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let fits = |text: &str| {
        let document: toml::Table = toml::from_str(text).unwrap();
        // A day of TOML is a text in JSON.
        let json = serde_json::to_string(&plain(toml::Value::Table(document))).unwrap();
        schema.is_valid(&serde_json::from_str(&json).unwrap())
    };
    for text in RIGHT {
        if let Err(error) = Config::parse(text) {
            panic!("{text}: {error}");
        }
        assert!(fits(text), "the schema refuses {text}");
    }
    for (text, _) in WRONG {
        assert!(!fits(text), "the schema takes {text}");
    }
}

fn plain(value: toml::Value) -> toml::Value {
    match value {
        toml::Value::Datetime(date) => toml::Value::String(date.to_string()),
        toml::Value::Array(items) => toml::Value::Array(items.into_iter().map(plain).collect()),
        toml::Value::Table(fields) => {
            toml::Value::Table(fields.into_iter().map(|(key, it)| (key, plain(it))).collect())
        }
        other => other,
    }
}

#[test]
fn a_fault_is_told_with_its_line() {
    for (text, words) in WRONG.iter().chain(WRONG_AS_A_WHOLE) {
        let fault = Config::parse(text).unwrap_err().to_string();
        assert!(fault.contains(words), "{text}: {fault}");
        assert_eq!(fault.lines().count(), 1, "{fault}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*", keys in "[a-z\\-\\[\\]\"'.*=\n {}0-9]*") {
        drop(Config::parse(&text));
        drop(Config::parse(&keys));
        drop(Config::parse(&format!("[[ignore]]\nattribute = '{keys}'\n")));
        drop(keys.parse::<AttributePattern>());
        drop(text.parse::<Age>());
        drop(text.parse::<Day>());
        drop(text.parse::<FailOn>());
    }

    #[test]
    fn a_wildcard_hits_what_its_parts_stand_in(parts in proptest::collection::vec("[ab]{0,3}", 1..5), text in "[ab]{0,12}") {
        let naive = is_made_of(&parts.iter().map(String::as_str).collect::<Vec<_>>(), &text);
        proptest::prop_assert_eq!(Wildcard::new(&parts.join("*")).hits(&text), naive);
    }
}

/// The text begins with the first part, ends with the last, and holds the others between, in order.
fn is_made_of(parts: &[&str], text: &str) -> bool {
    let [first, rest @ ..] = parts else { return text.is_empty() };
    let Some(left) = text.strip_prefix(first) else { return false };
    if rest.is_empty() {
        return left.is_empty();
    }
    (0..=left.len()).any(|skip| is_made_of(rest, &left[skip..]))
}

#[test]
fn faults_of_entries_are_told_together() {
    let text = "[[override]]\n[[ignore]]\nowner = \"\"\nreason = \"\"\n";
    assert_eq!(Config::parse(text).unwrap_err().faults.len(), 4);
}
