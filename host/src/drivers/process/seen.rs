//! What supervisors recorded, in the words of the driver's contract.

use std::{collections::BTreeMap, fs, io};

use crate::{
    drivers::{DriverCondition, SeenPhase, SeenWorker, process::GroupUse},
    ids::WorkerId,
    supervisor::{
        folder::{Folder, Record, RecordedPhase},
        groups::Places,
    },
};

pub(super) fn starting(id: WorkerId, old: Option<Record>) -> SeenWorker {
    SeenWorker {
        id,
        phase: SeenPhase::Starting,
        ready: false,
        reason: "Starting".to_owned(),
        message: String::new(),
        restarts: old.as_ref().map_or(0, |old| old.restarts),
        restart: old.map_or(0, |old| old.restart),
        pid: None,
        ports: BTreeMap::new(),
        started_at: None,
    }
}

pub(super) fn as_recorded(id: WorkerId, record: Option<Record>) -> SeenWorker {
    let Some(record) = record else { return starting(id, None) };
    SeenWorker {
        id,
        phase: match record.phase {
            RecordedPhase::Starting => SeenPhase::Starting,
            RecordedPhase::Running => SeenPhase::Running,
            RecordedPhase::Backoff => SeenPhase::Backoff,
            RecordedPhase::Stopping => SeenPhase::Stopping,
            RecordedPhase::Stopped => SeenPhase::Stopped,
        },
        ready: record.ready,
        reason: record.reason,
        message: record.message,
        restarts: record.restarts,
        restart: record.restart,
        pid: record.process.map(|process| process.pid),
        ports: record.ports,
        started_at: record.started_at,
    }
}

pub(super) fn lost(id: WorkerId, record: Option<Record>, folder: &Folder) -> SeenWorker {
    let troubles = fs::read_to_string(folder.troubles()).unwrap_or_default();
    let said = match troubles.lines().last() {
        Some(last) => format!("; its log ends with `{last}`"),
        None => " without a word".to_owned(),
    };
    SeenWorker {
        phase: SeenPhase::Lost,
        ready: false,
        reason: "SupervisorLost".to_owned(),
        message: format!("the process that watched over it is gone{said}"),
        pid: None,
        ..as_recorded(id, record)
    }
}

/// Nothing is known of it, so it is asked for, or told to stop, again: that harms no worker that runs.
pub(super) fn unreadable(id: WorkerId, error: &io::Error) -> SeenWorker {
    SeenWorker {
        phase: SeenPhase::Lost,
        reason: "Unreadable".to_owned(),
        message: format!("its folder can not be read: {error}"),
        ..as_recorded(id, None)
    }
}

pub(super) fn never_started(id: WorkerId) -> SeenWorker {
    SeenWorker {
        phase: SeenPhase::Stopped,
        reason: "Stopped".to_owned(),
        message: "it was told to stop before it was started".to_owned(),
        ..as_recorded(id, None)
    }
}

/// Whether workers are held to their shape.
pub(super) fn limits_enforced(places: &Places, use_of_groups: GroupUse) -> DriverCondition {
    let Places { memory, cpu, unified: _ } = places;
    let missing: Vec<_> = [("cpu", cpu.is_none()), ("memory", memory.is_none())]
        .into_iter()
        .filter_map(|(name, is_missing)| is_missing.then_some(name))
        .collect();
    let name = "LimitsEnforced";
    if missing.is_empty() {
        let message = "workers are held to the CPU and memory of their shape".to_owned();
        return DriverCondition { name, holds: true, reason: "ControlGroups", message };
    }
    let missing = missing.join(" and ");
    if use_of_groups == GroupUse::Never {
        let message = format!("limits of {missing} are switched off");
        return DriverCondition { name, holds: false, reason: "SwitchedOff", message };
    }
    let message = format!(
        "this system lets the host make no control groups for {missing}, so workers can use more than \
         their shape; run the host as root, or under systemd with `Delegate=yes`"
    );
    DriverCondition { name, holds: false, reason: "ControlGroupsNotWritable", message }
}
