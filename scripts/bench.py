#!/usr/bin/env python3
"""Prints the project's figures, each beside its rival or its floor, measured in this one run.

    python3 scripts/bench.py [provider] [thousands] [driftgate] [host]

Release builds, real programs. Nothing here fails because of a number: read them.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_driftgate import measure_driftgate
from bench_thousands import measure_thousands
from measure import (
    PROVIDER, RELEASE, ROOT, cpu_seconds, heading, row, run_in, serving, status, times,
)  # fmt: skip

# What Terraform says to a plugin when it starts it. The certificate is of the kind that it makes
# (P-521, for itself); its key is thrown away, since nobody speaks after the handshake here.
COOKIE = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
CLIENT_CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIICcjCCAdSgAwIBAgIUUY2lldfFfn4+1RwtmV6FEiE7beQwCgYIKoZIzj0EAwIw
KDESMBAGA1UECgwJSGFzaGlDb3JwMRIwEAYDVQQDDAlsb2NhbGhvc3QwIBcNMjYx
MTMwMTUwMzM2WhgPMjEyNjExMDYxNTAzMzZaMCgxEjAQBgNVBAoMCUhhc2hpQ29y
cDESMBAGA1UEAwwJbG9jYWxob3N0MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQA
uB+UGe6Is8aFXmMwfIPXzsIskBanhf32+ycO+mn8RX4jG7ihDqy/W0YCwB6EsQiD
80ehVkcUgS/Vu+UYbbgyHXcA9BD5QwQffEowZ061gVdLneP/GMmBTKPIOKTnl5j2
mYvDToGqUMB18JRwaHPn8+6NaTBZ3W+QW7WWdFvDVifCULijgZYwgZMwHQYDVR0O
BBYEFGF2EPNHLL5XPI3ogxi8HvjDf1+DMB8GA1UdIwQYMBaAFGF2EPNHLL5XPI3o
gxi8HvjDf1+DMA8GA1UdEwEB/wQFMAMBAf8wFAYDVR0RBA0wC4IJbG9jYWxob3N0
MAsGA1UdDwQEAwICrDAdBgNVHSUEFjAUBggrBgEFBQcDAgYIKwYBBQUHAwEwCgYI
KoZIzj0EAwIDgYsAMIGHAkIBbFpOoJQu0gPi9toTfuvgImUvy4hVXzEynFXRWWWb
MuyC63uJk72SeArsLxKtozZnHhIoUovTzjo/CfaIDQCnPksCQSFZgJjjdD3YBOqt
Uryd2mKJCfujfXxP/pqPmdqmIv2TrljUCN7pmY3K3k16ZP+VMKcISq0+QEuNnW12
45EUDebO
-----END CERTIFICATE-----
"""


def main():
    parts = {
        "provider": measure_provider,
        "thousands": measure_thousands,
        "driftgate": lambda _: measure_driftgate(),
        "host": measure_host,
    }
    wanted = sys.argv[1:] or list(parts)
    if unknown := [part for part in wanted if part not in parts]:
        sys.exit(f"no part: {', '.join(unknown)}; there are: {', '.join(parts)}")
    subprocess.run(
        ["cargo", "build", "--release", "--bins", "-p", "host", "-p", "provider", "-p", "analyzer"],
        cwd=ROOT,
        check=True,
    )
    script = ROOT / "scripts" / "terraform.py"
    found = subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE, text=True)
    for part in wanted:
        parts[part](found.stdout.strip())


# -- provider -----------------------------------------------------------------------------------------


def measure_provider(terraform):
    heading("provider: from spawn to the handshake line (median of 40)")
    nothing = median_ms(lambda: subprocess.run([shutil.which("true")], check=True))
    started = [start_provider() for _ in range(40)]
    row("an empty program (`true`), the floor", nothing, "ms")
    handshake = statistics.median(ms for ms, _, _ in started)
    row("provider", handshake, "ms", times(nothing, handshake))
    version = median_ms(lambda: run_quietly([terraform, "version"]), 5)
    row("`terraform version`, who starts it", version, "ms", f"{version / handshake:.1f} x the provider")
    row("provider, resident after the handshake", max(mib for _, mib, _ in started), "MiB")
    row("provider, of which its own (not file pages)", max(own for _, _, own in started), "MiB")
    row("provider, size of the file", PROVIDER.stat().st_size / 2**20, "MiB")


def start_provider():
    """Milliseconds until the handshake line, and the memory then, in MiB: all, and anonymous."""
    env = {
        **os.environ,
        "TF_PLUGIN_MAGIC_COOKIE": COOKIE,
        "PLUGIN_PROTOCOL_VERSIONS": "5,6",
        "PLUGIN_CLIENT_CERT": CLIENT_CERTIFICATE,
    }
    begin = time.perf_counter()
    provider = subprocess.Popen(
        [PROVIDER], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    try:
        line = provider.stdout.readline()
        elapsed = (time.perf_counter() - begin) * 1000
        if not line.startswith(b"1|6|"):
            sys.exit(f"the provider gave no handshake: {line!r}")
        return elapsed, status(provider.pid, "VmRSS") / 1024, status(provider.pid, "RssAnon") / 1024
    finally:
        provider.kill()
        provider.wait()


def run_quietly(command):
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("TF_")}, "CHECKPOINT_DISABLE": "1"}
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def median_ms(action, repeats=40):
    def once():
        begin = time.perf_counter()
        action()
        return (time.perf_counter() - begin) * 1000

    return statistics.median(once() for _ in range(repeats))


# -- host ---------------------------------------------------------------------------------------------

POOL = """
terraform {
  required_providers {
    runtimecloud = { source = "runtimecloud/runtimecloud" }
  }
}
resource "runtimecloud_capacity_target" "local" {
  name   = "local"
  driver = { process = {} }
}
resource "runtimecloud_environment" "bench" {
  name       = "bench"
  depends_on = [runtimecloud_capacity_target.local]
}
resource "runtimecloud_worker_pool" "hundred" {
  name        = "hundred"
  environment = runtimecloud_environment.bench.name
  size        = SIZE
  worker      = { command = ["sleep", "3600"] }
}
"""


def measure_host(terraform):
    heading("host: a pool of 100 workers (`sleep`), with Terraform, and at rest")
    with tempfile.TemporaryDirectory(prefix="rc-bench-") as home:
        config = Path(home) / "config"
        config.mkdir()
        with serving(home, RELEASE) as (host, env):
            measure_pool(terraform, config, env)
            measure_rest(host)
            run_in(config, env, terraform, "destroy", "-auto-approve")


def measure_pool(terraform, config, env):
    def apply(size):
        (config / "main.tf").write_text(POOL.replace("SIZE", str(size)), encoding="utf-8")
        begin = time.perf_counter()
        run_in(config, env, terraform, "apply", "-auto-approve")
        return (time.perf_counter() - begin) * 1000

    apply(0)
    idle = apply(0)
    full = apply(100)
    floor = spawn_floor()
    row("`terraform apply` that changes nothing", idle, "ms")
    row("`terraform apply` until 100 workers are ready", full, "ms")
    row("  of which for the workers", full - idle, "ms", times(floor, full - idle))
    row("spawning 100 `sleep` from one program, the floor", floor, "ms")


def spawn_floor():
    begin = time.perf_counter()
    started = [subprocess.Popen(["sleep", "60"]) for _ in range(100)]
    elapsed = (time.perf_counter() - begin) * 1000
    for process in started:
        process.kill()
        process.wait()
    return elapsed


def measure_rest(pid):
    time.sleep(2)
    seconds = 10
    before = cpu_seconds(pid)
    time.sleep(seconds)
    share = (cpu_seconds(pid) - before) / seconds * 100
    row(f"host at rest with 100 workers, over {seconds} s", share, "% CPU", "of one core")
    row("host, resident", status(pid, "VmRSS") / 1024, "MiB")


if __name__ == "__main__":
    main()
