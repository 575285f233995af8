//! The event log in the database: reading it from either end, and letting its oldest part go.
//!
//! Invariants:
//! - What is asked for is found by an index, whatever the length of the log.
//! - A page and what it says of the log's ends are of one moment.

use jiff::Timestamp;
use rusqlite::{
    Connection, OptionalExtension, Row, Transaction, params, params_from_iter, types::Value,
};

use super::{EventPage, EventQuery, Order, Prune, StoreError, schema::sqlite};
use crate::events::LoggedEvent;

const COLUMNS: &str = "position, id, type, time, subject_kind, subject_id, subject_name, \
                       generation, actor, data";

/// Under this key the table `host` has the position up to which events are gone.
const GONE: &str = "events_gone";

pub(super) fn read(
    connection: &mut Connection,
    query: &EventQuery,
) -> Result<EventPage, StoreError> {
    let transaction = connection.transaction().map_err(sqlite("read events"))?;
    let (gone, last) = (gone(&transaction)?, last_position(&transaction)?);
    let mut after = query.after;
    if let Some(since) = query.since {
        after = after.max(position_before(&transaction, since, (gone, last))?);
    }
    let mut events = Vec::new();
    // Several types are found one by one.
    let of_types: Vec<Option<&str>> = match (&query.subject_id, query.types.as_slice()) {
        (None, types @ [_, ..]) => types.iter().map(|it| Some(it.as_str())).collect(),
        (Some(_), _) | (None, []) => vec![None],
    };
    for of_type in &of_types {
        read_some(&transaction, (query, after, *of_type), &mut events)?;
    }
    if of_types.len() > 1 {
        events.sort_by_key(|event| event.position);
        events.dedup_by_key(|event| event.position);
        if query.order == Order::NewestFirst {
            events.reverse();
        }
        events.truncate(query.limit as usize);
    }
    Ok(EventPage { events, gone, last })
}

fn statement(query: &EventQuery, of_type: Option<&str>) -> String {
    let mut text = format!("SELECT {COLUMNS} FROM events WHERE position > ? AND position < ?");
    if query.subject_id.is_some() {
        text.push_str(" AND subject_id = ?");
        if !query.types.is_empty() {
            text.push_str(" AND type IN (SELECT value FROM json_each(?))");
        }
    } else if of_type.is_some() {
        text.push_str(" AND type = ?");
    }
    text.push_str(match query.order {
        Order::OldestFirst => " ORDER BY position LIMIT ?",
        Order::NewestFirst => " ORDER BY position DESC LIMIT ?",
    });
    text
}

fn read_some(
    connection: &Connection,
    (query, after, of_type): (&EventQuery, u64, Option<&str>),
    events: &mut Vec<LoggedEvent>,
) -> Result<(), StoreError> {
    let error = || sqlite("read events");
    let number = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
    let mut values = vec![number(after), number(query.before.unwrap_or(u64::MAX))];
    if let Some(id) = &query.subject_id {
        values.push(id.clone().into());
        if !query.types.is_empty() {
            let types = serde_json::to_string(&query.types).map_err(StoreError::Encode)?;
            values.push(types.into());
        }
    } else if let Some(of_type) = of_type {
        values.push(of_type.to_owned().into());
    }
    values.push(query.limit.into());
    let text = statement(query, of_type);
    let mut statement = connection.prepare_cached(&text).map_err(error())?;
    let rows = statement.query_map(params_from_iter(values), read_event).map_err(error())?;
    for row in rows {
        events.push(row.map_err(error())?);
    }
    Ok(())
}

/// The last position whose event is older than a time: times grow with positions, so it is found by
/// halving.
fn position_before(
    connection: &Connection,
    time: Timestamp,
    (gone, last): (u64, u64),
) -> Result<u64, StoreError> {
    let error = || sqlite("read events");
    let mut statement = connection
        .prepare_cached("SELECT time FROM events WHERE position >= ?1 ORDER BY position LIMIT 1")
        .map_err(error())?;
    let (mut older, mut later) = (gone, last + 1);
    while later - older > 1 {
        let middle = older + (later - older) / 2;
        let at: Option<i64> = statement
            .query_row([i64::try_from(middle).unwrap_or(i64::MAX)], |row| row.get(0))
            .optional()
            .map_err(error())?;
        if at.is_some_and(|at| at < time.as_microsecond()) {
            older = middle;
        } else {
            later = middle;
        }
    }
    Ok(older)
}

/// The position of the last event that was ever appended.
pub(super) fn last_position(connection: &Connection) -> Result<u64, StoreError> {
    let error = || sqlite("read the last event");
    let mut statement = connection
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'events'")
        .map_err(error())?;
    let last = statement.query_row([], |row| unsigned(row, 0)).optional().map_err(error())?;
    Ok(last.unwrap_or(0))
}

/// The position up to which events are gone.
fn gone(connection: &Connection) -> Result<u64, StoreError> {
    let error = || sqlite("read the first event");
    let mut statement =
        connection.prepare_cached("SELECT value FROM host WHERE key = ?1").map_err(error())?;
    let gone: Option<String> =
        statement.query_row([GONE], |row| row.get(0)).optional().map_err(error())?;
    let Some(gone) = gone else { return Ok(0) };
    gone.parse().map_err(|_| StoreError::Unreadable { what: format!("the position `{gone}`") })
}

/// Removes some of the oldest events, and remembers that they are gone.
pub(super) fn prune(transaction: &Transaction<'_>, prune: &Prune) -> Result<u64, StoreError> {
    let error = || sqlite("remove old events");
    let surplus = last_position(transaction)?.saturating_sub(prune.keep);
    let upto: Option<i64> = transaction
        .prepare_cached(
            "SELECT max(position)
             FROM (SELECT position, time FROM events ORDER BY position LIMIT ?1)
             WHERE time < ?2 OR position <= ?3",
        )
        .map_err(error())?
        .query_row(
            params![
                prune.most,
                prune.before.as_microsecond(),
                i64::try_from(surplus).unwrap_or(i64::MAX)
            ],
            |row| row.get(0),
        )
        .map_err(error())?;
    let Some(upto) = upto else { return Ok(0) };
    let removed = transaction
        .prepare_cached("DELETE FROM events WHERE position <= ?1")
        .map_err(error())?
        .execute([upto])
        .map_err(error())?;
    transaction
        .prepare_cached(
            "INSERT INTO host (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )
        .map_err(error())?
        .execute(params![GONE, upto.to_string()])
        .map_err(error())?;
    Ok(removed as u64)
}

/// SQLite counts in signed numbers.
fn unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(index)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, number))
}

fn read_event(row: &Row<'_>) -> rusqlite::Result<LoggedEvent> {
    let id: String = row.get(1)?;
    let unreadable = |index, error: Box<dyn std::error::Error + Send + Sync>| {
        rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, error)
    };
    Ok(LoggedEvent {
        position: unsigned(row, 0)?,
        id: id.parse().map_err(|error| unreadable(1, Box::new(error)))?,
        type_name: row.get(2)?,
        time: Timestamp::from_microsecond(row.get(3)?)
            .map_err(|error| unreadable(3, Box::new(error)))?,
        subject_kind: row.get(4)?,
        subject_id: row.get(5)?,
        subject_name: row.get(6)?,
        generation: unsigned(row, 7)?,
        actor: row.get(8)?,
        data: row.get(9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema;

    #[test]
    fn whatever_is_asked_for_is_found_by_an_index_and_in_its_order() {
        let connection = Connection::open_in_memory().unwrap();
        schema::MIGRATIONS.iter().for_each(|it| connection.execute_batch(it).unwrap());
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let all = EventQuery { order, ..EventQuery::after(0, 1) };
            let subject = EventQuery { subject_id: Some("a".to_owned()), ..all.clone() };
            let both = EventQuery { types: vec!["b".to_owned()], ..subject.clone() };
            for (query, of_type, index) in [
                (&all, None, "PRIMARY KEY"),
                (&all, Some("b"), "events_by_type"),
                (&subject, None, "events_by_subject"),
                (&both, None, "events_by_subject"),
            ] {
                let text = format!("EXPLAIN QUERY PLAN {}", statement(query, of_type));
                let mut statement = connection.prepare(&text).unwrap();
                let values = vec!["1"; statement.parameter_count()];
                let plan: Vec<String> = statement
                    .query_map(params_from_iter(values), |row| row.get(3))
                    .unwrap()
                    .collect::<Result<_, _>>()
                    .unwrap();
                assert!(plan[0].contains(index), "{text}: {plan:?}");
                assert!(!plan.iter().any(|it| it.contains("TEMP B-TREE FOR ORDER")), "{plan:?}");
            }
        }
    }
}
