//! Writes a generated plan to standard output: `gen_plan RESOURCES [DRIFT_PER_MILLE]`.

#[path = "generator.rs"]
mod generator;

use generator::{Shape, write_plan};
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let mut next = |default| match numbers.next() {
        Some(parsed) => parsed.map_err(io::Error::other),
        None => Ok(default),
    };
    let shape = Shape { resources: next(24_000)?, drift_per_mille: next(20)? };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write_plan(shape, &mut out)?;
    out.flush()
}
