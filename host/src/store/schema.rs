//! The database's tables, and how an older database becomes one of today.
//!
//! Migrations only go forward and never change once released; `user_version` counts those done.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;

pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
];

/// The first version without the fault that could corrupt a database in WAL mode.
const LIBRARY_MIN: (i32, &str) = (3_051_003, "3.51.3");

pub(super) fn sqlite(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |source| StoreError::Sqlite { doing, source }
}

/// Makes the file, unless it is there. What it will hold may be secret, so it is its owner's alone;
/// the files that SQLite puts beside it get the same mode.
///
/// To be called before the first connection: a process that closes any handle of a file loses all
/// its locks on that file, those of its connections included.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    made.map(drop).map_err(io("open", path))
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    move |source| StoreError::Io { doing, path: path.to_owned(), source }
}

/// Opens a connection that writes durably.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let (needed, text) = LIBRARY_MIN;
    if rusqlite::version_number() < needed {
        return Err(StoreError::OldLibrary { found: rusqlite::version(), needed: text });
    }
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
        keep_copy(connection, &path.with_extension(format!("v{found}.backup")))?;
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

/// Copies the database whole or not at all; a copy of an earlier try is replaced.
fn keep_copy(connection: &Connection, copy: &Path) -> Result<(), StoreError> {
    let fresh = copy.with_added_extension("new");
    // Left by a host that was killed here. The mode is that of a new file alone.
    let _ = fs::remove_file(&fresh).is_ok();
    create(&fresh)?;
    connection
        .execute("VACUUM INTO ?1", [fresh.to_string_lossy()])
        .map_err(sqlite("copy the database before its migration"))?;
    let file = OpenOptions::new().write(true).open(&fresh).map_err(io("open", &fresh))?;
    file.sync_all().map_err(io("write", &fresh))?;
    fs::rename(&fresh, copy).map_err(io("replace", copy))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_copy_that_an_earlier_try_left_is_replaced_by_one_for_its_owner_alone() {
        let dir = tempfile::TempDir::new().unwrap();
        let (path, copy) = (dir.path().join("a.db"), dir.path().join("a.v1.backup"));
        create(&path).unwrap();
        let connection = open(&path).unwrap();
        connection.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (7);").unwrap();
        fs::write(&copy, "of an earlier try").unwrap();
        fs::write(dir.path().join("a.v1.backup.new"), "half").unwrap();
        keep_copy(&connection, &copy).unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
        let copied = Connection::open(&copy).unwrap();
        let value: i64 = copied.query_row("SELECT x FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(value, 7);
    }
}
