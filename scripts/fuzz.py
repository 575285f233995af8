#!/usr/bin/env python3
"""Runs the fuzz targets of the provider and the analyzer, or makes their corpora small again.

    python3 scripts/fuzz.py [--seconds N] [TARGET...]   runs each target so long (30 minutes)
    python3 scripts/fuzz.py --keep [TARGET...]          keeps what was found, as little as reaches all

Needs stable Rust and a C++ compiler, for the fuzzing engine. For a target of CRATE, what is found is
in CRATE/fuzz/target/found; an input that breaks something is in CRATE/fuzz/artifacts and is named when
it is met. Mend its whole kind, and put the input into CRATE/fuzz/corpus.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where each target is.
TARGETS = {
    "address": ROOT / "analyzer" / "fuzz",
    "codec": ROOT / "provider" / "fuzz",
    "compare": ROOT / "analyzer" / "fuzz",
    "configuration": ROOT / "analyzer" / "fuzz",
    "envelope": ROOT / "analyzer" / "fuzz",
    "events": ROOT / "analyzer" / "fuzz",
    "plan": ROOT / "analyzer" / "fuzz",
    "redacted": ROOT / "analyzer" / "fuzz",
    "rpc": ROOT / "provider" / "fuzz",
    "schemas": ROOT / "analyzer" / "fuzz",
    "state": ROOT / "analyzer" / "fuzz",
}
# The compiler's own coverage pass, with what the engine reads. The flags are those of stable Rust.
COVERAGE = ["level=4", "inline-8bit-counters", "pc-table", "trace-compares"]
# Longer inputs reach nothing new, only more of it.
LENGTH_MAX = 4096
MEMORY_MAX = 1 << 30


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=" or ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("--keep", action="store_true")
    wanted = parser.parse_args()
    unknown = set(wanted.targets) - set(TARGETS)
    if unknown:
        sys.exit(f"no target: {', '.join(unknown)}; there are: {', '.join(TARGETS)}")
    targets = wanted.targets or list(TARGETS)
    programs = {fuzz: build(fuzz) for fuzz in dict.fromkeys(TARGETS[target] for target in targets)}
    broken = False
    for target in targets:
        program = programs[TARGETS[target]] / target
        if wanted.keep:
            keep(target, program)
        else:
            broken |= not run(target, program, wanted.seconds)
    sys.exit(broken)


def build(fuzz):
    """Where the built targets are. They use the very dependencies of the workspace."""
    shutil.copy(ROOT / "Cargo.lock", fuzz)
    triple = subprocess.check_output(["rustc", "--print", "host-tuple"], text=True).strip()
    coverage = [f"-Cllvm-args=-sanitizer-coverage-{part}" for part in COVERAGE]
    flags = ["--cfg", "fuzzing", "-Cpasses=sancov-module", *coverage]
    target = fuzz / "target"
    env = {**os.environ, "RUSTFLAGS": " ".join(flags), "CARGO_TARGET_DIR": str(target)}
    # With the platform named, build scripts and macros are built without the flags.
    command = ["cargo", "build", "--release", "--target", triple]
    subprocess.run(command, cwd=fuzz, env=env, check=True)
    return target / triple / "release"


def folders(target):
    """The committed corpus, and what runs have found beyond it."""
    fuzz = TARGETS[target]
    committed, found = fuzz / "corpus" / target, fuzz / "target" / "found" / target
    for folder in (committed, found):
        folder.mkdir(parents=True, exist_ok=True)
    return committed, found


def run(target, program, seconds):
    """Whether all held."""
    committed, found = folders(target)
    fuzz = TARGETS[target]
    artifacts = fuzz / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    command = [
        program, found, committed, f"-max_total_time={seconds}", f"-max_len={LENGTH_MAX}", "-timeout=20", "-len_control=0",
        f"-rss_limit_mb={MEMORY_MAX >> 20}", f"-artifact_prefix={artifacts}/", "-print_final_stats=1",
    ]  # fmt: skip
    for dictionary in (fuzz / f"{target}.dict", fuzz / "all.dict"):
        if dictionary.exists():
            command.append(f"-dict={dictionary}")
            break
    log = fuzz / "target" / f"{target}.log"
    print(f"{target}: for {seconds} s; its output is in {log.relative_to(ROOT)}", flush=True)
    with open(log, "wb") as out:
        ended = subprocess.run(command, stdout=out, stderr=out, preexec_fn=limit_memory)
    report(target, log.read_text(encoding="utf-8", errors="replace"), ended.returncode)
    return ended.returncode == 0


def limit_memory():
    """An allocation that is absurd fails, even if nothing is ever written to it."""
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY_MAX, 4 * MEMORY_MAX))


def report(target, log, code):
    def last(pattern):
        found = re.findall(pattern, log)
        return found[-1] if found else "?"

    executions = last(r"stat::number_of_executed_units:\s+(\d+)")
    edges, features = last(r"cov: (\d+)"), last(r"ft: (\d+)")
    memory = last(r"stat::peak_rss_mb:\s+(\d+)")
    print(f"  {executions} executions, {edges} places, {features} features, {memory} MiB at most")
    for artifact in re.findall(r"Test unit written to (\S+)", log):
        print(f"  broken by {artifact}")
    print("  nothing broke" if code == 0 else f"  ended with {code}: see the log", flush=True)


def keep(target, program):
    committed, found = folders(target)
    with tempfile.TemporaryDirectory(prefix="rc-fuzz-") as home:
        least = Path(home) / "least"
        least.mkdir()
        # Every place that is reached, not every number of times: some hundred files, not thousands.
        subprocess.run(
            [program, "-set_cover_merge=1", "-use_counters=0", f"-max_len={LENGTH_MAX}", least, committed, found],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for file in committed.iterdir():
            if not file.name.startswith("broke-"):
                file.unlink()
        for file in least.iterdir():
            shutil.copy(file, committed)
    size = sum(file.stat().st_size for file in committed.iterdir())
    print(f"{target}: {len(list(committed.iterdir()))} inputs, {size} bytes")


if __name__ == "__main__":
    main()
