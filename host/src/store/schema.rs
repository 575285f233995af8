//! The database's tables, and how an older database becomes one of today.
//!
//! Migrations only go forward and never change once released; `user_version` counts those done.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path};

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

pub(super) const MIGRATIONS: &[&str] = &[include_str!("migrations/0001.sql")];

/// The first version without the fault that could corrupt a database in WAL mode.
const LIBRARY_MIN: (i32, &str) = (3_051_003, "3.51.3");

pub(super) fn sqlite(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |source| StoreError::Sqlite { doing, source }
}

/// Opens a connection that writes durably. What it holds may be secret, so a new file is its
/// owner's alone; the files that SQLite puts beside it get the same mode.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let (needed, text) = LIBRARY_MIN;
    if rusqlite::version_number() < needed {
        return Err(StoreError::OldLibrary { found: rusqlite::version(), needed: text });
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map_err(|source| StoreError::Io { doing: "open", path: path.to_owned(), source })?;
    let connection = Connection::open(path).map_err(sqlite("open the database"))?;
    for (name, value) in [("journal_mode", "wal"), ("synchronous", "full"), ("foreign_keys", "on")]
    {
        connection.pragma_update(None, name, value).map_err(sqlite("set up the database"))?;
    }
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Brings the database to the newest version. An older one is first copied beside itself.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    let found: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(sqlite("read the database's version"))?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    if found == known {
        return Ok(());
    }
    if found > 0 {
        let copy = path.with_extension(format!("v{found}.backup"));
        connection
            .execute("VACUUM INTO ?1", [copy.to_string_lossy()])
            .map_err(sqlite("copy the database before its migration"))?;
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite("migrate the database"))?;
    for migration in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(migration).map_err(sqlite("migrate the database"))?;
    }
    transaction
        .pragma_update(None, "user_version", known)
        .map_err(sqlite("migrate the database"))?;
    transaction.commit().map_err(sqlite("migrate the database"))
}
