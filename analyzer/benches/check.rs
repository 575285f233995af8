//! The library on generated plans, in memory.

mod generator;

use generator::{Shape, write_plan};

fn main() {
    divan::main();
}

#[divan::bench(args = [0, 20, 500])]
fn check_by_drift_per_mille(bencher: divan::Bencher<'_, '_>, drift_per_mille: usize) {
    let mut plan = Vec::new();
    write_plan(Shape { resources: 2_000, drift_per_mille }, &mut plan).unwrap_or_default();
    bencher.counter(divan::counter::BytesCount::new(plan.len())).bench(|| {
        driftgate::check(plan.as_slice(), driftgate::Limits::STANDARD)
            .map(|report| report.counts.drifted)
    });
}
