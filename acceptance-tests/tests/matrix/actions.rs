//! Actions on workers: invoked by hand, triggered by a change, interrupted, and refused.

use std::collections::BTreeSet;

use acceptance_tests::{cli::Cli, feature::ACTIONS, processes, run::until, world::World};
use anyhow::{Result, ensure};
use rustix::process::Signal;

use crate::{
    life::{fleet, sleepers},
    story::{CodedStory, story},
};

pub(crate) const STORIES: &[CodedStory] = &[
    story("actions::workers_are_drained_restarted_and_replaced_on_demand", on_demand)
        .needing(ACTIONS),
    story("actions::a_change_triggers_a_restart", a_change_triggers_a_restart).needing(ACTIONS),
    story("actions::an_interrupted_action_says_what_goes_on", interrupted).needing(ACTIONS),
    story("actions::what_would_fail_is_told_before", refused).needing(ACTIONS),
    story("actions::an_older_command_line_says_that_it_has_none", older),
];

fn action(verb: &str, more: &str) -> String {
    format!(
        r#"
action "runtimecloud_{verb}_workers" "web" {{
  config {{
    worker_pool = runtimecloud_worker_pool.web.id
{more}
  }}
}}
"#
    )
}

/// Ids and process ids of all workers' processes.
fn seen(world: &World) -> (BTreeSet<String>, BTreeSet<u32>) {
    let workers = world.workers();
    let pids = workers.values().flatten().map(|process| process.pid);
    (workers.keys().cloned().collect(), pids.collect())
}

fn on_demand(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let actions = ["drain", "restart", "replace"].map(|verb| action(verb, "")).concat();
    world.configure(&format!("{}{actions}", sleepers(3)))?;
    world.apply()?;
    for (verb, done) in [("drain", "drained"), ("restart", "restarted"), ("replace", "replaced")] {
        let (ids, pids) = seen(&world);
        let invoke = format!("-invoke=action.runtimecloud_{verb}_workers.web");
        let ran = world.terraform(&["apply", "-auto-approve", "-input=false", &invoke])?;
        ran.succeeded()?.says(&[&format!("3 of 3 workers {done}")])?;
        world.host.operator(&["operations", "dev/web"])?.succeeded()?.says(&[verb])?;
        until("all workers to run", || Ok((seen(&world).1.len() == 3).then_some(())))?;
        let (ids_after, pids_after) = seen(&world);
        ensure!(pids.is_disjoint(&pids_after), "{verb}: a process of before still runs");
        ensure!((ids == ids_after) == (verb == "restart"), "{verb}: {ids:?}, then {ids_after:?}");
    }
    world.expect_empty_plan("after actions")?;
    world.destroy()
}

fn a_change_triggers_a_restart(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let with = |settings: &str| {
        let trigger = format!(
            r#"
resource "terraform_data" "settings" {{
  input = "{settings}"
  lifecycle {{
    action_trigger {{
      events  = [after_update]
      actions = [action.runtimecloud_restart_workers.web]
    }}
  }}
}}
"#
        );
        format!("{}{}{trigger}", sleepers(2), action("restart", "    parallel = 2"))
    };
    world.configure(&with("one"))?;
    world.apply()?;
    let (ids, pids) = seen(&world);
    world.configure(&with("two"))?;
    world.try_apply()?.succeeded()?.says(&["2 of 2 workers restarted"])?;
    let (ids_after, pids_after) = seen(&world);
    ensure!(ids == ids_after && pids.is_disjoint(&pids_after), "they were not restarted");
    world.expect_empty_plan("after the action")?;
    world.destroy()
}

fn interrupted(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let end = world.path().join("end");
    let stubborn = format!(
        "  size   = 1\n  stop   = {{ grace = \"1h\" }}\n  worker = {{\n    command = [\"sh\", \"-c\", \
         \"trap '' TERM; while [ ! -e {} ]; do sleep 0.1; done\"]\n  }}",
        end.display()
    );
    world.configure(&format!("{}{}", fleet(&stubborn), action("drain", "")))?;
    world.apply()?;
    let invoke = "-invoke=action.runtimecloud_drain_workers.web";
    let apply = world.begin_terraform(&["apply", "-auto-approve", "-input=false", invoke])?;
    until("the drain to begin", || {
        let said = world.host.operator(&["operations", "dev/web"])?.succeeded()?.stdout;
        Ok(said.contains("under way").then_some(()))
    })?;
    processes::signal(apply.pid(), Signal::INT)?;
    let interrupted = apply.wait()?;
    ensure!(interrupted.code != Some(0), "an interrupted action ended well: {interrupted}");
    interrupted.says(&["runtimecloud uncordon dev/web"])?;
    std::fs::write(end, "")?;
    until("the drain to end", || {
        let said = world.host.operator(&["operations", "dev/web"])?.succeeded()?.stdout;
        Ok(said.contains("1/1").then_some(()))
    })?;
    world.destroy()
}

fn refused(cli: &Cli) -> Result<()> {
    let world = World::new(cli)?;
    let config = |more: &str| format!("{}{}", sleepers(1), action("drain", more));
    world.configure(&config(""))?;
    world.apply()?;
    let invoke = "-invoke=action.runtimecloud_drain_workers.web";
    world.configure(&config("    workers = [\"worker_0\"]"))?;
    world.terraform(&["plan", "-input=false", invoke])?.exited_with(1)?.says(&["worker_0"])?;
    world.configure(&config("    parallel = 0"))?;
    world.terraform(&["validate"])?.exited_with(1)?.says(&["parallel"])?;
    let unknown = config("").replace("runtimecloud_worker_pool.web.id", "\"dev/none\"");
    world.configure(&unknown)?;
    let ran = world.terraform(&["apply", "-auto-approve", "-input=false", invoke])?;
    ran.exited_with(1)?.says(&["No such worker pool"])?;
    world.configure(&config(""))?;
    world.destroy()
}

/// Either an `action` block is refused by its name, or it is passed over: nothing is half done.
fn older(cli: &Cli) -> Result<()> {
    if cli.has(ACTIONS) {
        return Ok(());
    }
    let world = World::new(cli)?;
    world.configure(&format!("{}{}", sleepers(0), action("drain", "")))?;
    let validated = world.terraform(&["validate"])?;
    if validated.code != Some(0) {
        validated.exited_with(1)?.says(&["action"])?;
        world.configure(&sleepers(0))?;
    }
    world.apply()?;
    world.expect_empty_plan("without actions")?;
    world.destroy()
}
