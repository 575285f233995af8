//! What `driftgate` promises, tested at its borders.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends, in its helpers too")]
#![expect(clippy::print_stdout, reason = "what was skipped must be visible")]

mod addresses;
mod algebra;
mod browser;
mod case;
mod chromium;
mod command;
mod compare;
mod comparing;
mod corpora;
mod corpus;
mod dependents;
mod differential;
mod envelopes;
mod fleet;
mod folders;
mod generated;
mod hostile;
mod judged;
mod judging;
mod order;
mod pages;
mod patches;
mod pipelines;
mod policies;
mod program;
mod reports;
mod schemas;
mod secrets;
mod sizes;
mod sources;
mod states;
mod tidy;
mod validity;
