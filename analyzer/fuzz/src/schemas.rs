//! Provider schemas: whatever they say, they can be asked about any path.

use driftgate::{
    Limits,
    path::{Path, Step},
    read_schemas,
    value::Value,
};

/// Reads the bytes as schemas, and asks.
pub fn check(data: &[u8]) {
    let Ok(schemas) = read_schemas(data, Limits::STANDARD) else { return };
    let steps = [Step::Key("a".to_owned()), Step::Index(0), Step::Key("b".to_owned())];
    for first in &steps {
        for second in &steps {
            let path = Path(vec![Step::Key("a".to_owned()), first.clone(), second.clone()]);
            if let Some(schema) = schemas.lookup("p", "t", &path) {
                assert!(!(schema.is_settable() && schema.is_computed_only()));
                drop(schema.mask(&Value::List(vec![Value::Null])));
            }
        }
    }
}
