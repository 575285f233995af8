//! `runtimecloud_event_subscription`: where events go, and how that goes.

use proto::runtimecloud::v1 as api;

use super::{found::Look, observed};
use crate::{
    framework::{Attribute, Value},
    resources::{self, attributes::text_or_null},
};

pub(super) struct EventSubscription;

impl Look for EventSubscription {
    type Kind = resources::EventSubscription;
    const KIND: resources::EventSubscription = resources::EventSubscription;
    const DESCRIPTION: &'static str = "An event subscription: where events are posted to, how far the \
        deliveries are, and what failed. The condition `Delivering` says whether events are sent, and \
        `Complete` whether all that fitted was taken.";

    fn attributes(&self) -> Vec<Attribute> {
        vec![
            observed::count("position", "All events up to this position of the log are done with."),
            observed::count("behind", "How many events of the log are after it."),
            observed::count("delivered", "How many events were taken."),
            observed::count("dead_letters", "How many events are kept that were given up."),
            observed::time("delivered_at", "When the last event was taken, as RFC 3339 writes it."),
            observed::time("failed_at", "When an attempt failed last, as RFC 3339 writes it."),
            Attribute::string("failure", "Why it did.").computed(),
            observed::time("rotated_at", "When it was given its secret, as RFC 3339 writes it."),
        ]
    }

    fn conditions<'a>(&self, subscription: &'a api::EventSubscription) -> &'a [api::Condition] {
        subscription.observed.as_ref().map_or(&[], |observed| &observed.conditions)
    }

    fn values(&self, subscription: &api::EventSubscription) -> Vec<(&'static str, Value)> {
        let observed = subscription.observed.clone().unwrap_or_default();
        vec![
            ("position", observed.position.into()),
            ("behind", observed.behind.into()),
            ("delivered", observed.delivered.into()),
            ("dead_letters", observed.dead_letters.into()),
            ("delivered_at", observed::time_value(observed.delivered_at.as_ref())),
            ("failed_at", observed::time_value(observed.failed_at.as_ref())),
            ("failure", text_or_null(&observed.failure)),
            ("rotated_at", observed::time_value(observed.secret_changed_at.as_ref())),
        ]
    }
}
