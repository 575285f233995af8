//! How far deliveries are, and what was given up: beside the records, since no decision is made from it.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{LetterChange, LetterQuery, Letters, StoreError, schema::sqlite};
use crate::{
    ids::EventSubscriptionId,
    subscriptions::delivery::{DEAD_LETTERS_MAX, DeadLetter, Delivery},
};

/// How a subscription's deliveries are, and how many dead letters it has. Without any deliveries yet, it
/// begins where the log first tells of it.
pub(super) fn read(
    connection: &mut Connection,
    id: EventSubscriptionId,
) -> Result<(Delivery, u64), StoreError> {
    let error = || sqlite("read how far deliveries are");
    let transaction = connection.transaction().map_err(error())?;
    let text: Option<String> = transaction
        .prepare_cached("SELECT document FROM deliveries WHERE id = ?1")
        .map_err(error())?
        .query_row([id.to_string()], |row| row.get(0))
        .optional()
        .map_err(error())?;
    let delivery = match text {
        Some(text) => serde_json::from_str(&text).map_err(|source| StoreError::Document {
            table: "deliveries",
            id: id.to_string(),
            source,
        })?,
        None => {
            let born: Option<i64> = transaction
                .prepare_cached("SELECT min(position) FROM events WHERE subject_id = ?1")
                .map_err(error())?
                .query_row([id.to_string()], |row| row.get(0))
                .map_err(error())?;
            let position = born.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
            Delivery { position, ..Delivery::default() }
        }
    };
    Ok((delivery, count(&transaction, id)?))
}

fn count(connection: &Connection, id: EventSubscriptionId) -> Result<u64, StoreError> {
    let error = || sqlite("count dead letters");
    let number: i64 = connection
        .prepare_cached("SELECT count(*) FROM dead_letters WHERE subscription = ?1")
        .map_err(error())?
        .query_row([id.to_string()], |row| row.get(0))
        .map_err(error())?;
    Ok(u64::try_from(number).unwrap_or(0))
}

/// Stores how far it is, and a dead letter if there is a new one; how many there are then.
pub(super) fn save(
    transaction: &Transaction<'_>,
    id: EventSubscriptionId,
    (delivery, letter): (&Delivery, &LetterChange),
) -> Result<u64, StoreError> {
    let error = || sqlite("store how far deliveries are");
    let document = serde_json::to_string(delivery).map_err(StoreError::Encode)?;
    transaction
        .prepare_cached(
            "INSERT INTO deliveries (id, document) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET document = excluded.document",
        )
        .map_err(error())?
        .execute(params![id.to_string(), document])
        .map_err(error())?;
    match letter {
        LetterChange::None => {}
        LetterChange::Put(letter) => put_letter(transaction, id, letter)?,
        LetterChange::Remove(position) => {
            handle(transaction, id, &Letters::Drop(Some(vec![*position])))?;
        }
    }
    count(transaction, id)
}

/// Stores a dead letter; of too many the oldest go.
fn put_letter(
    transaction: &Transaction<'_>,
    id: EventSubscriptionId,
    letter: &DeadLetter,
) -> Result<(), StoreError> {
    let error = || sqlite("store a dead letter");
    let document = serde_json::to_string(letter).map_err(StoreError::Encode)?;
    transaction
        .prepare_cached(
            "INSERT INTO dead_letters (subscription, position, redelivering, document)
             VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (subscription, position)
             DO UPDATE SET redelivering = excluded.redelivering, document = excluded.document",
        )
        .map_err(error())?
        .execute(params![id.to_string(), signed(letter.position), letter.redelivering, document])
        .map_err(error())?;
    transaction
        .prepare_cached(
            "DELETE FROM dead_letters WHERE subscription = ?1 AND position <= (
                 SELECT position FROM dead_letters WHERE subscription = ?1
                 ORDER BY position DESC LIMIT 1 OFFSET ?2)",
        )
        .map_err(error())?
        .execute(params![id.to_string(), DEAD_LETTERS_MAX])
        .map_err(error())?;
    Ok(())
}

/// What becomes of dead letters; how many it were.
pub(super) fn handle(
    transaction: &Transaction<'_>,
    id: EventSubscriptionId,
    letters: &Letters,
) -> Result<u64, StoreError> {
    let error = || sqlite("change dead letters");
    let (verb, positions) = match letters {
        Letters::Drop(positions) => ("DELETE FROM dead_letters", positions),
        Letters::Redeliver(positions) => ("UPDATE dead_letters SET redelivering = 1", positions),
    };
    let positions = positions.as_ref().map(serde_json::to_string).transpose();
    let positions = positions.map_err(StoreError::Encode)?;
    let text = format!(
        "{verb} WHERE subscription = ?1
         AND (?2 IS NULL OR position IN (SELECT value FROM json_each(?2)))"
    );
    let number = transaction
        .prepare_cached(&text)
        .map_err(error())?
        .execute(params![id.to_string(), positions])
        .map_err(error())?;
    Ok(number as u64)
}

/// Forgets all about a subscription that is gone.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    id: EventSubscriptionId,
) -> Result<u64, StoreError> {
    for text in
        ["DELETE FROM deliveries WHERE id = ?1", "DELETE FROM dead_letters WHERE subscription = ?1"]
    {
        let error = || sqlite("forget deliveries");
        let mut statement = transaction.prepare_cached(text).map_err(error())?;
        statement.execute([id.to_string()]).map_err(error())?;
    }
    Ok(0)
}

/// Subscriptions of which something is kept.
pub(super) fn known(connection: &Connection) -> Result<Vec<EventSubscriptionId>, StoreError> {
    let error = || sqlite("read deliveries");
    let mut statement = connection
        .prepare("SELECT id FROM deliveries UNION SELECT subscription FROM dead_letters")
        .map_err(error())?;
    let ids = statement.query_map([], |row| row.get::<_, String>(0)).map_err(error())?;
    let ids = ids.collect::<Result<Vec<_>, _>>().map_err(error())?;
    Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
}

pub(super) fn letters(
    connection: &Connection,
    query: &LetterQuery,
) -> Result<Vec<DeadLetter>, StoreError> {
    let error = || sqlite("read dead letters");
    let mut text = "SELECT document, redelivering FROM dead_letters
                    WHERE subscription = ?1 AND position > ?2"
        .to_owned();
    if query.redelivering {
        text.push_str(" AND redelivering");
    }
    text.push_str(" ORDER BY position LIMIT ?3");
    let mut statement = connection.prepare_cached(&text).map_err(error())?;
    let rows = statement
        .query_map(
            params![query.subscription.to_string(), signed(query.after), query.limit],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)),
        )
        .map_err(error())?;
    let mut letters = Vec::new();
    for row in rows {
        let (document, redelivering) = row.map_err(error())?;
        let letter: DeadLetter =
            serde_json::from_str(&document).map_err(|source| StoreError::Document {
                table: "dead_letters",
                id: query.subscription.to_string(),
                source,
            })?;
        letters.push(DeadLetter { redelivering, ..letter });
    }
    Ok(letters)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
