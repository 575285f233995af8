//! A host to try resources on, and providers that lead to it.

use acceptance_tests::{
    host::Host,
    processes,
    simulator::{Simulator, Stored, block, known},
};
use anyhow::Result;
use provider::framework::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A host, and two providers that lead to it: with default labels, and without.
pub(crate) struct Ground {
    pub(crate) simulators: [Simulator; 2],
    pub(crate) runtime: Runtime,
    pub(crate) host: Host,
    _folder: Folder,
}

/// What is left of the host's workers ends with it.
struct Folder(TempDir);

impl Drop for Folder {
    fn drop(&mut self) {
        drop(processes::kill_world(self.0.path()));
    }
}

impl Ground {
    pub(crate) fn new() -> Result<Self> {
        let runtime = Runtime::new()?;
        let folder = Folder(tempfile::Builder::new().prefix("rc-").tempdir()?);
        let host = Host::start(folder.0.path())?;
        let labels = Value::map([("team", "core"), ("stage", "test")]);
        let start = |more: &[(&str, Value)]| {
            runtime.block_on(Box::pin(Simulator::start(&block(&host, more)?)))
        };
        let simulators = [start(&[("default_labels", labels)])?, start(&[])?];
        let ground = Self { simulators, runtime, host, _folder: folder };
        ground.runtime.block_on(ground.prepare())?;
        Ok(ground)
    }

    async fn prepare(&self) -> Result<()> {
        for (type_name, given) in known::fixtures() {
            let resource = self.simulators[1].resource(type_name)?;
            let config = resource.config(&given);
            let plan = resource.plan(&Stored::default(), &config).await?.done()?;
            resource.apply(&plan, &config).await?.done()?;
        }
        Ok(())
    }

    /// The provider of a case: cases take turns.
    pub(crate) fn simulator(&self, number: u64) -> &Simulator {
        &self.simulators[usize::from(number.is_multiple_of(2))]
    }

    pub(crate) fn close(self) -> Result<()> {
        let [one, other] = self.simulators;
        self.runtime.block_on(async { one.close().await.and(other.close().await) })
    }
}
