//! Corrects what is booked as used of quotas, should it ever be wrong, and tells of it.

use std::collections::BTreeMap;

use super::{ledger::saturated, recount::recount};
use crate::{
    admission::{Answer, Context, Decision, declare},
    events::{Event, QuotaUsageCorrected},
    records::Change,
};

pub(crate) fn decide(cx: &Context<'_>) -> Decision {
    let differences = recount(cx.records).differences;
    if differences.is_empty() {
        return Decision::unchanged(Answer::Done);
    }
    let mut by_quota: BTreeMap<&str, QuotaUsageCorrected> = BTreeMap::new();
    for it in &differences {
        let nothing = QuotaUsageCorrected { booked: BTreeMap::new(), counted: BTreeMap::new() };
        let event = by_quota.entry(&it.quota).or_insert(nothing);
        event.booked.insert(it.resource.clone(), saturated(it.booked.used));
        event.counted.insert(it.resource.clone(), saturated(it.counted.used));
    }
    let events = by_quota.into_iter().filter_map(|(name, event)| {
        let quota = cx.records.quota_named(name)?;
        Some((declare::subject(cx.records, &**quota), Event::QuotaUsageCorrected(event)))
    });
    Decision { events: events.collect(), changes: vec![Change::Recount], answer: Answer::Done }
}
