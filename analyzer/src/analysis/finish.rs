//! From what was gathered to the report.

use super::{Analysis, DriftFrom, Key, Record, Tally, cut};
use crate::{
    action::Action,
    diff::Change,
    drift::{Desired, Joined},
    fate::Fate,
    fingerprint,
    judge::violation,
    proposal::without_configuration,
    read::{Entry, Header, Kind, ReadError, Sink},
    redact::{Secrets, mask_at, unite},
    report::{
        Attribute, Counts, FailedCheck, Finding, NoiseItem, Outside, PlanInfo, PlanMode, Planned,
        PlannedNote, Reason, Report, Shown, Standing, Verdict,
    },
    value::Value,
};
use std::collections::BTreeSet;

impl Analysis {
    /// Joins changes that were held back because the drift came after them.
    pub(crate) fn settle_held(&mut self) -> Result<(), ReadError> {
        let held = self.held.take();
        if self.records.is_empty() || held.is_empty() {
            return Ok(());
        }
        self.begin_second_pass();
        held.iter().filter_map(|raw| Entry::find(raw)).try_for_each(|entry| self.change(&entry))
    }

    /// Everything that neither this report nor whatever is printed beside it may show.
    pub(super) fn take_secrets(&mut self) -> Secrets {
        for name in &self.sensitive_variables {
            if let Some(value) = self.variables.get(name) {
                self.secrets.learn_all(value);
            }
        }
        std::mem::take(&mut self.secrets)
    }

    /// Makes the report.
    pub(super) fn finish(mut self, header: Header, secrets: &Secrets) -> Report {
        let mode = self.mode(&header);
        let mut warnings = self.warnings(&header, mode);
        warnings.extend(header.remarks.iter().map(|remark| secrets.text(remark)));
        let tells_relevance = header.has("relevant_attributes");
        let reasons = self.reasons(&header, mode);
        let covers_all = covers_all(&header, mode);
        let broken = std::mem::take(&mut self.judged.broken);
        let violations = broken.iter().map(|it| violation(it, secrets)).collect();
        let plan = PlanInfo {
            format_version: header.format_version,
            tool_version: header.terraform_version,
            timestamp: header.timestamp,
            opentofu: self.opentofu || header.is_tofu,
            mode,
        };
        let mut findings = Vec::with_capacity(self.records.len());
        for (key, mut record) in std::mem::take(&mut self.records) {
            record.block.instances = self.instances.get(&record.block).copied().unwrap_or(0);
            if covers_all {
                record.drift.settle_unlisted();
            }
            let relevance = tells_relevance.then_some(record.relevant);
            let mut finding = finding(key, record, secrets);
            finding.shown_by_engine = relevance;
            (finding.dependents, finding.dependents_count) =
                self.references.dependents(&finding.block);
            finding.proposals = without_configuration(&finding, &plan);
            findings.push(finding);
        }
        let mut tally = self.from_changes;
        tally.add(self.from_outputs);
        tally.add(self.from_sections);
        tally.add(Tally { entries: 0, ..self.from_drift });
        let mut counts = Counts {
            resources: tally.entries,
            planned: tally.planned_count,
            work: tally.work,
            noise: tally.noise_counts,
            ..Counts::default()
        };
        counts.count_findings(&findings);
        let verdict = match (findings.is_empty(), reasons.is_empty()) {
            (false, _) => Verdict::Drifted,
            (true, false) => Verdict::Inconclusive,
            (true, true) => Verdict::Clean,
        };
        Report {
            plan,
            verdict,
            reasons,
            warnings,
            counts,
            findings,
            planned: tally
                .planned
                .into_iter()
                .take(Report::LISTED_MAX)
                .map(|item| clear_planned(item, secrets))
                .collect(),
            noise: tally
                .noise
                .into_iter()
                .take(Report::LISTED_MAX)
                .map(|item| clear_noise(&item, secrets))
                .collect(),
            checks: clear_checks(self.checks, secrets),
            violations,
            changes: self.judged.types,
            ..Report::empty()
        }
    }

    /// What the plan was made for, by its content: nothing in it says so.
    fn mode(&self, header: &Header) -> PlanMode {
        if header.has("resource_drift")
            && !header.has("resource_changes")
            // One that only records what was changed outside has that to do.
            && header.applyable != Some(false)
            && !self.records.is_empty()
        {
            PlanMode::RefreshOnly
        } else if header.plans_nothing
            && self.from_changes.entries > 0
            && self.from_changes.left == 0
        {
            PlanMode::Destroy
        } else {
            PlanMode::Normal
        }
    }

    /// Why the plan proves less than it should.
    fn reasons(&self, header: &Header, mode: PlanMode) -> Vec<Reason> {
        let mut reasons = told_by(header);
        if mode == PlanMode::Destroy && self.records.is_empty() {
            reasons.insert(Reason::DestroyPlan);
        }
        if self.drift_from == DriftFrom::PreviousState {
            reasons.remove(&Reason::NoDriftSection);
            reasons.remove(&Reason::DestroyPlan);
        }
        reasons.into_iter().collect()
    }

    fn warnings(&self, header: &Header, mode: PlanMode) -> Vec<String> {
        let mut warnings = Vec::new();
        match mode {
            PlanMode::Normal => {}
            PlanMode::RefreshOnly => warnings.push(
                "this is a refresh-only plan: it says what changed outside, and nothing of what \
                 the configuration would make of it"
                    .to_owned(),
            ),
            PlanMode::Destroy => warnings.push(
                "this is a plan to destroy everything, whatever was changed outside".to_owned(),
            ),
        }
        if self.judged.more > 0 {
            warnings.push(format!("{} more broken policies are not listed", self.judged.more));
        }
        if header.wrapped {
            warnings.push(
                "other text surrounds the plan; with the setup-terraform action set \
                 terraform_wrapper: false"
                    .to_owned(),
            );
        }
        if header.kind == Kind::Stream {
            warnings.push(
                "this is an event stream, in which no values are: what changed, and what apply \
                 makes of it, is told by `terraform show -json` of the plan"
                    .to_owned(),
            );
        } else if header.format_version.is_none() {
            warnings.push("the plan has no format_version; it was read by its fields".to_owned());
        }
        if self.without_masks && !self.records.is_empty() {
            warnings.push(
                "parts of the plan do not say what is sensitive; values are hidden by their names \
                 there"
                    .to_owned(),
            );
        }
        warnings
    }
}

/// True when a resource without an entry is one that the configuration does not want.
fn covers_all(header: &Header, mode: PlanMode) -> bool {
    mode == PlanMode::Normal
        // Some versions leave the section out when it is empty.
        && (header.has("resource_changes") || header.applyable == Some(false))
        && header.complete != Some(false)
        && !header.reasons.contains(&Reason::Errored)
}

/// The reasons that the header alone tells.
fn told_by(header: &Header) -> BTreeSet<Reason> {
    let mut reasons = header.reasons.clone();
    if header.deferred > 0 {
        reasons.insert(Reason::Deferred);
    }
    if header.complete == Some(false) && !reasons.contains(&Reason::Errored) {
        reasons.insert(Reason::Incomplete);
    }
    if header.kind == Kind::Plan
        && !header.has("resource_drift")
        && predates_drift(header.terraform_version.as_deref())
    {
        reasons.insert(Reason::NoDriftSection);
    }
    reasons
}

/// True for versions before 0.15.4, which do not write drift at all.
fn predates_drift(version: Option<&str>) -> bool {
    let Some(version) = version else { return false };
    let release = version.split(['-', '+']).next().unwrap_or(version);
    let numbers: Vec<u32> = release.split('.').map_while(|part| part.parse().ok()).collect();
    matches!(numbers[..], [major, minor, patch] if (major, minor, patch) < (0, 15, 4))
}

fn finding(key: Key, record: Record, secrets: &Secrets) -> Finding {
    let (address, deposed) = key;
    let Record { drift, provider, moved_from, block, identity_changed, relevant: _, observed } =
        record;
    let joined = drift.joined;
    let deleted = drift.changes.iter().any(|change| change.path.0.is_empty());
    let desires = joined.as_ref().map(|joined| &joined.desires);
    let masks: Vec<&Value> =
        drift.masks.iter().chain(joined.as_ref().map(|joined| &joined.mask)).collect();
    let mut attributes: Vec<Attribute> = Vec::new();
    let unseen = fate_unseen(joined.as_ref(), observed);
    let mut gravest = if drift.changes.is_empty() { unseen } else { Fate::Absorbed };
    for (position, change) in drift.changes.iter().enumerate() {
        let (fate, desired) = match desires.and_then(|desires| desires.get(position)) {
            Some((fate, desired)) => (*fate, Some(desired)),
            None => (unseen, None),
        };
        gravest = gravest.max(fate);
        if change.path.0.is_empty() {
            continue;
        }
        let attribute = attribute(change, fate, desired, &masks, secrets);
        // What is cut at the same place is one attribute.
        match attributes.last_mut().filter(|last| last.steps == attribute.steps) {
            Some(last) if last.fate >= attribute.fate => {}
            Some(last) => *last = attribute,
            None => attributes.push(attribute),
        }
    }
    let pending = joined.iter().flat_map(|joined| &joined.pending);
    let mut pending: Vec<String> =
        pending.map(|path| secrets.path(&cut(path, masks.iter().copied()))).collect();
    pending.dedup();
    let (action, action_reason) = match joined {
        Some(joined) => (Some(joined.action), joined.reason),
        None => (None, None),
    };
    let outside = if deleted { Outside::Deleted } else { Outside::Changed };
    let outside = observed.unwrap_or(outside);
    let one_way = !deleted && action.as_ref().is_some_and(Action::destroys);
    let rule = Finding::rule_of(outside, gravest, one_way);
    let address = secrets.address(&address);
    let fingerprint = fingerprint::of(rule.id, &address, &deposed, &attributes);
    Finding {
        rule,
        severity: rule.severity,
        fingerprint,
        standing: Standing::New,
        owner: None,
        dependents: Vec::new(),
        dependents_count: 0,
        address,
        deposed,
        resource_type: block.resource_type.clone(),
        provider,
        moved_from: moved_from.map(|address| secrets.address(&address)),
        outside,
        fate: gravest,
        attributes,
        pending,
        one_way,
        action: action.map(|action| clear_action(action, secrets)),
        action_reason: action_reason.map(|reason| secrets.text(&reason)),
        proposals: Vec::new(),
        declared: None,
        document: None,
        identity_changed,
        shown_by_engine: None,
        block,
    }
}

/// What becomes of a change of which nothing says what is wanted.
fn fate_unseen(joined: Option<&Joined>, observed: Option<Outside>) -> Fate {
    match joined.map(|joined| &joined.action) {
        _ if observed.is_some() => Fate::Observed,
        Some(Action::NoOp) => Fate::Absorbed,
        _ => Fate::Undecidable,
    }
}

/// One attribute as it may be shown, given what is sensitive in the resource and in the plan.
fn attribute(
    change: &Change,
    fate: Fate,
    desired: Option<&Desired>,
    masks: &[&Value],
    secrets: &Secrets,
) -> Attribute {
    let steps = cut(&change.path, masks.iter().copied());
    // Marked on either side is hidden on both: a lost mark must not uncover the old value.
    let hidden = masks.iter().map(|mask| mask_at(mask, &change.path)).reduce(unite);
    let hidden = hidden.unwrap_or(Value::Bool(false));
    let show = |value: Option<&Value>| match value {
        _ if steps != change.path => Shown::Sensitive,
        Some(value) => secrets.show(value, &hidden),
        None => Shown::Absent,
    };
    Attribute {
        path: secrets.path(&steps),
        before: show(change.before.as_ref()),
        after: show(change.after.as_ref()),
        desired: desired.map(|desired| match desired {
            Desired::Known(value) => show(value.as_ref()),
            Desired::Unknown => Shown::Unknown,
        }),
        fate,
        declared: None,
        steps,
    }
}

fn clear_planned(item: Planned, secrets: &Secrets) -> Planned {
    Planned {
        address: secrets.address(&item.address),
        action: clear_action(item.action, secrets),
        reason: item.reason.map(|reason| secrets.text(&reason)),
        note: item.note.map(|note| match note {
            PlannedNote::MovedFrom(address) => PlannedNote::MovedFrom(secrets.address(&address)),
            PlannedNote::TriggeredBy(what) => PlannedNote::TriggeredBy(secrets.address(&what)),
            PlannedNote::Deferred(reason) => PlannedNote::Deferred(secrets.text(&reason)),
            other @ (PlannedNote::Import | PlannedNote::Output | PlannedNote::Deposed(_)) => other,
        }),
    }
}

fn clear_checks(mut checks: Vec<FailedCheck>, secrets: &Secrets) -> Vec<FailedCheck> {
    for check in &mut checks {
        check.address = secrets.address(&check.address);
        check.messages.iter_mut().for_each(|message| *message = secrets.text(message));
    }
    checks.sort_by(|left, right| (&left.address, left.status).cmp(&(&right.address, right.status)));
    checks
}

fn clear_action(action: Action, secrets: &Secrets) -> Action {
    match action {
        Action::Other(verbs) => Action::Other(secrets.text(&verbs)),
        known => known,
    }
}

fn clear_noise(item: &NoiseItem, secrets: &Secrets) -> NoiseItem {
    NoiseItem {
        address: secrets.address(&item.address),
        path: secrets.text(&item.path),
        kind: item.kind,
    }
}
