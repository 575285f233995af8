//! Reads provider schemas: one resource type in memory at a time.

use super::{Limits, ReadError, WrongKind, source::Source, text::decode};
use crate::schemas::{Builder, Schemas};
use std::io;

/// Reads what `terraform providers schema -json` prints.
pub(crate) fn read_schemas(reader: impl io::Read, limits: Limits) -> Result<Schemas, ReadError> {
    let mut source = Source::new(reader, limits);
    source.open()?;
    let mut builder = Builder::default();
    let mut found = false;
    source.object(|source, key| match key {
        "format_version" => check_version(&decode(source.take()?.bytes)),
        "provider_schemas" => {
            found = true;
            source.section = "provider_schemas".to_owned();
            providers(source, &mut builder)
        }
        _ => source.skip(),
    })?;
    if !found {
        return Err(WrongKind::NotSchemas.into());
    }
    Ok(builder.finish())
}

fn check_version(version: &str) -> Result<(), ReadError> {
    if matches!(version.split('.').next(), Some("0" | "1")) {
        return Ok(());
    }
    let shown: String = version.escape_debug().take(20).collect();
    Err(ReadError::Version(format!("`{shown}`")))
}

fn providers<R: io::Read>(source: &mut Source<R>, builder: &mut Builder) -> Result<(), ReadError> {
    if source.peek()? != Some(b'{') {
        return source.skip();
    }
    source.object(|source, provider| {
        if source.peek()? != Some(b'{') {
            return source.skip();
        }
        source.object(|source, section| {
            if section != "resource_schemas" || source.peek()? != Some(b'{') {
                return source.skip();
            }
            source.object(|source, resource_type| {
                builder.add(provider, resource_type, source.take()?.bytes);
                Ok(())
            })
        })
    })
}
