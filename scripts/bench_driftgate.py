#!/usr/bin/env python3
"""Measures driftgate beside its rivals, in one run: time, throughput and peak memory.

    python3 scripts/bench_driftgate.py [--sizes 1,10,100,400] [--drifts 0,2,50] [--repeats 5]
        [--shapes] [--fleet 500] [--rivals jq,node,python,...] [--install]

Generated plans of several sizes and drifts, odd shapes, and a fleet of plans of 1 MB. Every figure
is the median of several runs of whole programs that read from files in the page cache. A rival
that is not there is shown as absent; `--install` puts those of PyPI into target/bench-venv.
Nothing here fails because of a number: read them.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from measure import DRIFTGATE, RELEASE, ROOT, heading, status

# One resource of the generated plan takes so many bytes, the drift apart.
RESOURCE_BYTES = 4_500
VENV = RELEASE.parent / "bench-venv"

COUNT_DRIFT_NODE = (
    "const p=JSON.parse(require('fs').readFileSync(process.argv[1]));"
    "console.log((p.resource_drift||[]).length)"
)
COUNT_DRIFT_PYTHON = (
    "import json,sys;print(len(json.load(open(sys.argv[1],'rb')).get('resource_drift') or []))"
)


@dataclass
class Rival:
    name: str
    # What to run; the plan's path is put at the end.
    command: list
    # Above so many MB it would take minutes.
    max_mb: float = 500
    # Its package, when it comes from PyPI.
    package: str = ""


def rivals():
    def venv(name):
        return str(VENV / "bin" / name)

    return [
        Rival("jq", ["jq", "[.resource_drift[]?] | length"]),
        Rival("node", ["node", "-e", COUNT_DRIFT_NODE]),
        Rival("python", [sys.executable, "-c", COUNT_DRIFT_PYTHON]),
        Rival("tf-peek", [venv("tf-peek")], 110, "tf-peek"),
        Rival("readtheplan", [venv("readtheplan"), "analyze"], 110, "readtheplan"),
        Rival("tfsumpy", [venv("tfsumpy")], 110, "tfsumpy"),
        Rival("blastcheck", [venv("blastcheck"), "--json"], 110, "blastcheck"),
        Rival("preapply", [venv("preapply"), "analyze"], 110, "preapply"),
        Rival("terraform-compliance", [venv("terraform-compliance"), "-f", "FEATURES", "-p"], 11,
              "terraform-compliance"),
        Rival("checkov", [venv("checkov"), "--compact", "--quiet", "-f"], 2, "checkov"),
    ]  # fmt: skip


@dataclass
class Figures:
    """Medians: seconds of the wall and of the processor, and MiB at the peak."""

    wall: float
    cpu: float
    peak: float
    code: int


def main():
    measure(parse_arguments(sys.argv[1:]))


def measure_driftgate():
    """The part of `make bench`: everything, beside the rivals that are there."""
    measure(parse_arguments(["--shapes", "--fleet", "500"]))


def parse_arguments(arguments):
    numbers = lambda text: [float(part) for part in text.split(",") if part]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=numbers, default=[1, 10, 100, 400], help="in MB")
    parser.add_argument("--drifts", type=numbers, default=[0, 2, 50], help="in per cent")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--shapes", action="store_true", help="odd shapes too")
    parser.add_argument("--fleet", type=int, default=0, help="a fleet of so many plans of 1 MB")
    parser.add_argument("--rivals", help="only these, separated by commas; `none` for none")
    parser.add_argument("--install", action="store_true", help="install the rivals of PyPI")
    return parser.parse_args(arguments)


def build():
    command = ["cargo", "build", "--release", "--bins", "--examples", "-p", "analyzer"]
    subprocess.run(command, cwd=ROOT, check=True)


def measure(arguments):
    build()
    wanted = rivals()
    if arguments.rivals is not None:
        names = arguments.rivals.split(",")
        wanted = [rival for rival in wanted if rival.name in names]
    if arguments.install:
        install([rival for rival in wanted if rival.package])
    with tempfile.TemporaryDirectory(prefix="driftgate-bench-") as home:
        home = Path(home)
        (home / "none.feature").write_text(
            "Feature: nothing\n  Scenario: nothing\n    Given I have aws_nothing defined\n",
            encoding="utf-8",
        )
        present = []
        for rival in wanted:
            rival.command = [str(home) if part == "FEATURES" else part for part in rival.command]
            if shutil.which(rival.command[0]):
                present.append(rival)
        absent = [rival.name for rival in wanted if rival not in present]
        measure_start(home)
        measure_sizes(home, arguments, present)
        if arguments.shapes:
            measure_shapes(home, arguments, present)
        if arguments.fleet:
            measure_fleet(home, arguments)
        print(f"\n  absent: {', '.join(absent) or 'none'}")


def install(wanted):
    if not (VENV / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    for rival in wanted:
        if not Path(rival.command[0]).exists():
            # One that cannot be had is absent, no failure.
            pip = [VENV / "bin" / "python", "-m", "pip", "install", "--quiet", rival.package]
            subprocess.run(pip, check=False)


def generate(home, mb, drift):
    path = home / f"plan-{mb:g}-{drift:g}.json"
    # A drifted resource stands in the plan once more.
    resources = max(1, round(mb * 1e6 / (RESOURCE_BYTES * (1 + drift / 400))))
    with open(path, "wb") as out:
        command = [RELEASE / "examples" / "gen_plan", str(resources), str(round(drift * 10))]
        subprocess.run(command, stdout=out, check=True)
    return path


def start(command, stdin=None):
    return subprocess.Popen(
        command, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def run_timed(command, stdin=None):
    """Seconds of the wall and of the processor, and the exit code."""
    begin = time.perf_counter()
    process = start(command, stdin)
    _, ended, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(ended)
    return wall, usage.ru_utime + usage.ru_stime, process.returncode


def peak_of(command, stdin=None):
    """The most memory that it had, in MiB; in a run of its own, since looking takes time. What the
    kernel tells at the end would count this script's memory too, from which the child was born."""
    process = start(command, stdin)
    peak = 0
    while process.poll() is None:
        try:
            # The mark only rises, and begins anew when the program takes the place of this one.
            peak = status(process.pid, "VmHWM")
        except (OSError, StopIteration):
            pass
        time.sleep(0.0005)
    return peak / 1024


def run(command, repeats, from_pipe=None):
    def with_input(what):
        if not from_pipe:
            return what(command)
        with subprocess.Popen(["cat", from_pipe], stdout=subprocess.PIPE) as source:
            try:
                return what(command, source.stdout)
            finally:
                source.stdout.close()

    runs = [with_input(run_timed) for _ in range(repeats)]
    wall, cpu = (statistics.median(one[at] for one in runs) for at in (0, 1))
    return Figures(wall, cpu, with_input(peak_of), runs[-1][2])


def line(what, figures, mb, ours=None):
    ratio = ""
    if ours:
        ratio = f"{figures.wall / ours.wall:.1f} x our time, {figures.peak / ours.peak:.1f} x our memory"
    wall, cpu = figures.wall * 1e3, figures.cpu * 1e3
    speed = f"{mb / figures.wall:8.0f} MB/s {mb / figures.cpu:8.0f} MB/s of CPU" if mb else ""
    row = f"  {what:<34} {wall:9.1f} ms {cpu:9.1f} ms of CPU {speed} {figures.peak:8.1f} MiB {ratio}"
    print(row.rstrip(), flush=True)


def measure_start(home):
    heading("driftgate: a plan of 1 kB (median of 40)")
    plan = home / "small.json"
    plan.write_text('{"format_version":"1.2","resource_drift":[],"resource_changes":[],"x":"' + "a" * 900 + '"}')
    line("an empty program (`true`), the floor", run([shutil.which("true")], 40), 0)
    line("driftgate check", run([DRIFTGATE, "check", "--no-config", plan], 40), 0)


def measure_sizes(home, arguments, present):
    for drift in arguments.drifts:
        heading(f"driftgate: generated plans, {drift:g} % drifted (median of {arguments.repeats})")
        points = []
        for mb in arguments.sizes:
            plan = generate(home, mb, drift)
            size = plan.stat().st_size / 1e6
            print(f"  {size:.1f} MB")
            line("  cat, the floor", run(["cat", plan], arguments.repeats), size)
            check = [DRIFTGATE, "check", "--no-config", "--format", "json"]
            ours = run([*check, plan], arguments.repeats)
            line("  driftgate check", ours, size)
            line("  driftgate check, from a pipe", run([*check, "-"], arguments.repeats, plan), size)
            points.append((size, ours))
            beside(plan, size, ours, present, arguments)
            plan.unlink()
        if len(points) > 1:
            time_exponent = exponent([(size, ours.cpu) for size, ours in points])
            memory_exponent = exponent([(size, ours.peak) for size, ours in points])
            print(f"  growth with the size: time ^{time_exponent:.2f}, memory ^{memory_exponent:.2f}")


def beside(plan, size, ours, present, arguments):
    for rival in present:
        if size > rival.max_mb:
            continue
        repeats = 1 if rival.package else min(3, arguments.repeats)
        figures = run([*rival.command, plan], repeats)
        remark = "" if figures.code in (0, 2, 3) else f" (ends with {figures.code})"
        line(f"  {rival.name}{remark}", figures, size, ours)


def exponent(points):
    """The slope of a straight line through the logarithms."""
    xs, ys = [math.log(size) for size, _ in points], [math.log(value) for _, value in points]
    x, y = statistics.mean(xs), statistics.mean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def measure_shapes(home, arguments, present):
    heading(f"driftgate: odd shapes (median of {arguments.repeats})")
    for name, plan in shapes():
        path = home / "shape.json"
        path.write_text(plan, encoding="utf-8")
        size = path.stat().st_size / 1e6
        print(f"  {name}, {size:.1f} MB")
        ours = run([DRIFTGATE, "check", "--no-config", "--format", "json", path], arguments.repeats)
        line(f"  driftgate check (ends with {ours.code})", ours, size)
        beside(path, size, ours, [rival for rival in present if not rival.package], arguments)


def shapes():
    yield "a text of 50 MB", plan_of([entry("a", {"text": "x" * 50_000_000}, {"text": "y" + "x" * 49_999_999})])
    rules = [{"port": port, "cidr": f"10.{port // 250}.{port % 250}.0/24"} for port in range(10_000)]
    yield "a set of 10,000 in another order", plan_of([entry("a", {"rule": rules}, {"rule": rules[::-1]})])
    deep = "x"
    for _ in range(200):
        deep = {"deep": deep}
    yield "two hundred levels", plan_of([entry(f"r{at}", deep, {"other": deep}) for at in range(100)])
    tiny = [entry(f"r{at}", {"id": str(at)}, {"id": str(at)}, "no-op") for at in range(100_000)]
    yield "100,000 tiny resources", plan_of([], tiny)


def entry(name, before, after, action="update"):
    masks = {"after_unknown": {}, "before_sensitive": {}, "after_sensitive": {}}
    return {
        "address": f"aws_thing.{name}", "mode": "managed", "type": "aws_thing", "name": name,
        "provider_name": "registry.terraform.io/hashicorp/aws",
        "change": {"actions": [action], "before": before, "after": after, **masks},
    }  # fmt: skip


def plan_of(drift, changes=()):
    plan = {
        "format_version": "1.2", "terraform_version": "1.14.0", "resource_drift": drift,
        "resource_changes": list(changes), "complete": True, "errored": False,
    }  # fmt: skip
    return json.dumps(plan, separators=(",", ":"))


def measure_fleet(home, arguments):
    count, repeats = arguments.fleet, min(3, arguments.repeats)
    heading(f"driftgate: a fleet of {count} plans of 1 MB, 2 % drifted (median of {repeats})")
    folder = home / "fleet"
    folder.mkdir()
    plan = generate(home, 1, 2)
    size = plan.stat().st_size / 1e6 * count
    for at in range(count):
        shutil.copyfile(plan, folder / f"workspace-{at}.json")
    fleet = [DRIFTGATE, "fleet", "--no-config", folder]
    one = run([*fleet, "--jobs", "1"], repeats)
    line("driftgate fleet --jobs 1", one, size)
    every = run(fleet, repeats)
    line(f"driftgate fleet, {os.cpu_count()} cores", every, size)
    print(f"  {one.wall / every.wall:.2f} x as fast with all cores")


if __name__ == "__main__":
    main()
