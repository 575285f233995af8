//! Control groups: limits for a worker, and a certain end for all that it started.
//!
//! Version 2 of the kernel's groups knows the kill of a whole group, version 1 does not; limits work
//! with either. Many machines mix them (limits by version 1, version 2 without any controller), so each
//! use has a place of its own. A worker's groups are named after it, so a later supervisor finds them.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{ids::WorkerId, pools::template::Amounts};

/// The common parent of all workers' groups, in each place.
const PARENT: &str = "runtimecloud";
/// The scheduler's period for CPU limits, and the least that it takes as a share of it.
const PERIOD_US: u64 = 100_000;
const QUOTA_US_MIN: u64 = 1_000;

/// The parents under which groups can be made; absent where the system does not let us.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Version 2, for the kill of a group.
    pub unified: Option<PathBuf>,
    pub memory: Option<Place>,
    pub cpu: Option<Place>,
}

/// Where one kind of limit is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub version: Version,
    pub path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    V1,
    V2,
}

impl Places {
    /// Tries what this process may do. Leaves nothing behind.
    pub fn probe() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let unified = own_group(&mounts, &own, None);
        // A group with processes in it hands no controllers down; then a sibling may have them.
        let candidates = unified.iter().flat_map(|own| [Some(&*own.path), own.above()]).flatten();
        let limited = candidates
            .map(|own| own.join(PARENT))
            .find(|parent| try_group(parent, "memory.max") && try_group(parent, "cpu.max"));
        let version1 = |controller, file| {
            let path = own_group(&mounts, &own, Some(controller))?.path.join(PARENT);
            try_group(&path, file).then_some(Place { version: Version::V1, path })
        };
        let version2 = limited.clone().map(|path| Place { version: Version::V2, path });
        let places = Self {
            unified: limited.or_else(|| {
                unified
                    .map(|own| own.path.join(PARENT))
                    .filter(|path| try_group(path, "cgroup.kill"))
            }),
            memory: version2.clone().or_else(|| version1("memory", "memory.limit_in_bytes")),
            cpu: version2.or_else(|| version1("cpu", "cpu.cfs_quota_us")),
        };
        places.remove_parents();
        places
    }

    fn parents(&self) -> impl Iterator<Item = &Path> {
        let limits = [&self.memory, &self.cpu].into_iter().flatten().map(|place| &*place.path);
        limits.chain(self.unified.as_deref())
    }

    /// Those that other workers still use stay.
    fn remove_parents(&self) {
        for parent in self.parents() {
            let _used_by_others = fs::remove_dir(parent);
        }
    }
}

/// A group that this process is in.
#[derive(Debug, PartialEq, Eq)]
struct OwnGroup {
    mount: PathBuf,
    path: PathBuf,
}

impl OwnGroup {
    fn above(&self) -> Option<&Path> {
        self.path.parent().filter(|above| above.starts_with(&self.mount))
    }
}

/// The group in the hierarchy of a version 1 controller, or in that of version 2.
fn own_group(mounts: &str, own: &str, controller: Option<&str>) -> Option<OwnGroup> {
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let is_it = match controller {
            Some(name) => controllers.split(',').any(|one| one == name),
            None => controllers.is_empty(),
        };
        is_it.then_some(path)
    })?;
    mounts.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (mount.next()?, mount.next()?);
        let mut system = system.split(' ');
        let (kind, _, options) = (system.next()?, system.next()?, system.next()?);
        let is_it = match controller {
            Some(name) => kind == "cgroup" && options.split(',').any(|one| one == name),
            None => kind == "cgroup2",
        };
        let below = Path::new(path).strip_prefix(root).ok()?;
        is_it.then(|| OwnGroup { mount: point.into(), path: Path::new(point).join(below) })
    })
}

fn try_group(parent: &Path, file: &str) -> bool {
    let group = parent.join(format!("probe-{}", std::process::id()));
    let found = create(parent, &group).is_ok() && group.join(file).exists();
    let _absent = fs::remove_dir(&group);
    if !found {
        let _used_by_others = fs::remove_dir(parent);
    }
    found
}

/// Makes the group and its parent. Another worker's end may remove the parent meanwhile.
fn create(parent: &Path, group: &Path) -> io::Result<()> {
    for _ in 0..20 {
        let made = fs::create_dir_all(parent).and_then(|()| {
            delegate(parent);
            fs::create_dir(group)
        });
        match made {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            result => return result,
        }
    }
    Err(io::Error::other("its parent is removed again and again"))
}

/// Hands the controllers of version 2 down to the parent's groups, where there are any. Whether it
/// worked shows in the files of the groups.
fn delegate(parent: &Path) {
    for folder in parent.parent().into_iter().chain([parent]) {
        let path = folder.join("cgroup.subtree_control");
        if !path.exists() {
            continue;
        }
        let given = fs::read_to_string(&path).unwrap_or_default();
        if !["cpu", "memory"].iter().all(|name| given.split_whitespace().any(|one| one == *name)) {
            let _shows_later = fs::write(&path, "+cpu +memory");
        }
    }
}

/// The groups of one worker.
#[derive(Debug)]
pub struct Groups {
    places: Places,
    unified: Option<PathBuf>,
    memory: Option<(Version, PathBuf)>,
    cpu: Option<(Version, PathBuf)>,
    shape: Amounts,
}

impl Groups {
    pub fn new(places: &Places, id: WorkerId, shape: &Amounts) -> Self {
        let limit = |resource: &str, place: &Option<Place>| {
            let place = place.as_ref().filter(|_| shape.contains_key(resource))?;
            Some((place.version, place.path.join(id.to_string())))
        };
        Self {
            places: places.clone(),
            unified: places.unified.as_ref().map(|parent| parent.join(id.to_string())),
            memory: limit("memory", &places.memory),
            cpu: limit("cpu", &places.cpu),
            shape: shape.clone(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        let limits = [&self.memory, &self.cpu].into_iter().flatten().map(|(_, path)| &**path);
        limits.chain(self.unified.as_deref())
    }

    /// Makes the groups and sets the limits.
    pub fn create(&self) -> io::Result<()> {
        for group in self.all() {
            create(group.parent().unwrap_or(group), group)?;
        }
        if let (Some((version, group)), Some(bytes)) = (&self.memory, self.shape.get("memory")) {
            let file = match version {
                Version::V1 => "memory.limit_in_bytes",
                Version::V2 => "memory.max",
            };
            fs::write(group.join(file), bytes.to_string())?;
        }
        if let (Some((version, group)), Some(millicores)) = (&self.cpu, self.shape.get("cpu")) {
            let quota = (millicores.saturating_mul(PERIOD_US) / 1_000).max(QUOTA_US_MIN);
            match version {
                Version::V1 => {
                    fs::write(group.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
                    fs::write(group.join("cpu.cfs_quota_us"), quota.to_string())?;
                }
                Version::V2 => fs::write(group.join("cpu.max"), format!("{quota} {PERIOD_US}"))?,
            }
        }
        Ok(())
    }

    /// The files that a process writes to to be in the groups.
    pub fn doors(&self) -> Vec<PathBuf> {
        let mut doors: Vec<_> = self.all().map(|group| group.join("cgroup.procs")).collect();
        doors.dedup();
        doors
    }

    /// How often the kernel killed a process of the worker for want of memory.
    pub fn oom_kills(&self) -> u64 {
        let Some((version, group)) = &self.memory else { return 0 };
        let file = match version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        let text = fs::read_to_string(group.join(file)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }

    /// Kills all that is in the worker's group and says whether anything is left there. Does nothing
    /// where the system has no such groups, or they no such kill (Linux before 5.14).
    pub fn kill(&self) -> io::Result<bool> {
        let Some(group) = &self.unified else { return Ok(false) };
        match OpenOptions::new().write(true).open(group.join("cgroup.kill")) {
            Ok(mut kill) => kill.write_all(b"1").map(|()| is_populated(group)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the groups, which must be empty.
    pub fn remove(&self) {
        for group in self.all() {
            let _absent = fs::remove_dir(group);
        }
        self.places.remove_parents();
    }
}

fn is_populated(group: &Path) -> bool {
    fs::read_to_string(group.join("cgroup.events"))
        .is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
        30 24 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
        31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
        32 24 0:28 /outer /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    const OWN: &str = "5:memory:/outer/inner\n4:cpu,cpuacct:/\n0::/a/b\n";

    #[test]
    fn own_groups_are_found_in_each_hierarchy() {
        let own = |controller| own_group(MOUNTS, OWN, controller).map(|own| own.path);
        assert_eq!(own(None), Some("/sys/fs/cgroup/unified/a/b".into()));
        assert_eq!(own(Some("cpu")), Some("/sys/fs/cgroup/cpu,cpuacct".into()));
        assert_eq!(own(Some("memory")), Some("/sys/fs/cgroup/memory/inner".into()));
        assert_eq!(own(Some("pids")), None);
        assert_eq!(own_group("", OWN, None), None);
    }

    #[test]
    fn a_system_whose_groups_know_no_kill_is_asked_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { unified: Some(folder.path().into()), ..Places::default() };
        let id = WorkerId::new(&crate::ids::SystemIds);
        let groups = Groups::new(&places, id, &Amounts::new());
        groups.create().unwrap();
        assert!(!groups.kill().unwrap());
        let group = folder.path().join(id.to_string());
        assert_eq!(fs::read_dir(group).unwrap().count(), 0, "nothing was written");
    }

    #[test]
    fn nothing_is_above_the_root_of_a_hierarchy() {
        let own = |controller| own_group(MOUNTS, OWN, controller).unwrap();
        assert_eq!(own(None).above(), Some(Path::new("/sys/fs/cgroup/unified/a")));
        assert_eq!(own(Some("cpu")).above(), None);
    }
}
