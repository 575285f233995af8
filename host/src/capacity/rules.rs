//! What a quota's specification must keep by itself, each fault at its field.

use std::time::Duration;

use super::{
    amounts,
    quota::{Limit, QuotaSpec},
};
use crate::{resource::quoted, violations::Violations};

const NOTICE_MAX: Duration = Duration::from_secs(60 * 60);

pub(super) fn check(spec: &QuotaSpec, found: &mut Violations) {
    amounts::check_resources("spec.limits", spec.limits.keys(), found);
    for (resource, limit) in &spec.limits {
        let field = format!("spec.limits[{}]", quoted(resource));
        if *limit == Limit::default() {
            found.add(
                &field,
                "it limits nothing: give `hard`, `soft` or `share`, or leave the resource out",
            );
        }
        let above = [
            ("soft limit", limit.soft, "hard limit", limit.hard),
            ("share", limit.share, "hard limit", limit.hard),
            ("lending", limit.lending, "share", limit.share),
        ];
        for (what, amount, of, most) in above {
            if let (Some(amount), Some(most)) = (amount, most)
                && amount > most
            {
                let [amount, most] = [amount, most].map(|it| amounts::shown(resource, it));
                found.add(
                    &field,
                    format!(
                        "the {what} {amount} is above the {of} {most}: it must be at most that"
                    ),
                );
            }
        }
        let needs_share = [("borrowing", limit.borrowing), ("lending", limit.lending)];
        for (name, _) in needs_share.iter().filter(|(_, it)| it.is_some() && limit.share.is_none())
        {
            found.add(
                &field,
                format!("`{name}` is about a share, and it has none: give `share`, which may be 0"),
            );
        }
        if limit.share.is_some() && spec.parent.is_none() {
            found.add(
                &field,
                "a share is a part of what a parent has: give `parent`, or `hard` instead of `share`",
            );
        }
    }
    if spec.reclaim_notice.is_some_and(|notice| notice > NOTICE_MAX) {
        found.add("spec.reclaim_notice", "it is longer than 1 h: shorten it");
    }
}
