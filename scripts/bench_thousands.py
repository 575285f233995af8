"""The provider at work on 2,000 resources, through a real CLI and a real host.

The figures of the provider are those of its own processes: the CLI starts a wrapper, which starts the
provider and writes down, when it has ended, what it used.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import HOST, PROVIDER, cpu_seconds, heading, row, run_in, serving

COUNT = {"quota": 500, "environment": 500, "worker_pool": 1000}
RESOURCES = sum(COUNT.values())
# Nothing refers to anything, or the CLI would be busy for minutes with its graph alone: the pools live in
# an environment that is there before.
HOME = "home"
CONFIG = f"""
terraform {{
  required_providers {{
    runtimecloud = {{ source = "runtimecloud/runtimecloud" }}
  }}
}}
resource "runtimecloud_quota" "all" {{
  count  = {COUNT["quota"]}
  name   = "quota-${{count.index}}"
  limits = {{ cpu = {{ hard = "2" }}, memory = {{ soft = "512Mi", hard = "1Gi" }} }}
}}
resource "runtimecloud_environment" "all" {{
  count     = {COUNT["environment"]}
  name      = "environment-${{count.index}}"
  variables = {{ STAGE = "bench", NUMBER = tostring(count.index) }}
  labels    = {{ team = "bench" }}
}}
resource "runtimecloud_worker_pool" "all" {{
  count       = {COUNT["worker_pool"]}
  name        = "pool-${{count.index}}"
  environment = "{HOME}"
  size        = 0
  worker = {{
    command = ["true"]
    shape   = {{ cpu = "100m", memory = "64Mi" }}
  }}
}}
"""

WRAPPER = """\
#!{python} -IS
import os, sys
pid = os.posix_spawn({provider!r}, [{provider!r}, *sys.argv[1:]], os.environ)
_, ended, used = os.wait4(pid, 0)
with open(os.path.join({folder!r}, str(pid)), "w") as out:
    out.write(f'{{{{"cpu": {{used.ru_utime + used.ru_stime}}, "memory": {{used.ru_maxrss / 1024}}}}}}')
sys.exit(os.waitstatus_to_exitcode(ended))
"""


def measure_thousands(terraform):
    heading(f"provider: {RESOURCES:,} resources, all phases of `terraform`, each with all it starts")
    with tempfile.TemporaryDirectory(prefix="rc-bench-") as home:
        config, programs, used = (Path(home) / name for name in ("config", "programs", "used"))
        for folder in (config, programs, used):
            folder.mkdir()
        (config / "main.tf").write_text(CONFIG, encoding="utf-8")
        wrapper = programs / "terraform-provider-runtimecloud"
        text = WRAPPER.format(python=sys.executable, provider=str(PROVIDER), folder=str(used))
        wrapper.write_text(text, encoding="utf-8")
        wrapper.chmod(0o755)
        with serving(home, programs) as (host, env):
            run_in(config, env, HOST, "create", "environment", HOME)
            for what, command in [
                ("plan of creations", ["plan", "-out=plan"]),
                ("apply of that plan", ["apply", "plan"]),
                ("plan that finds nothing to do", ["plan", "-detailed-exitcode"]),
            ]:
                phase(what, [terraform, *command], (config, env, used, host))


def phase(what, command, where):
    """Runs one command, and says who spent how much for it."""
    config, env, used, host = where
    host_before, begin = cpu_seconds(host), time.perf_counter()
    process = subprocess.Popen(command, cwd=config, env=env, stdout=subprocess.DEVNULL)
    _, ended, usage = os.wait4(process.pid, 0)
    elapsed, host_cpu = time.perf_counter() - begin, cpu_seconds(host) - host_before
    if ended:
        sys.exit(f"{what} ended with {os.waitstatus_to_exitcode(ended)}")
    plugins = [json.loads(file.read_text(encoding="utf-8")) for file in used.iterdir()]
    for file in used.iterdir():
        file.unlink()
    provider = sum(plugin["cpu"] for plugin in plugins)
    # What a process used includes what its ended children used.
    cli = usage.ru_utime + usage.ru_stime - provider
    print(f"  {what}: {elapsed:.1f} s, the provider started {len(plugins)} times")
    row("    provider, CPU for a resource", provider / RESOURCES * 1000, "ms", f"{cli / provider:.1f} x as much: the CLI")
    row("    provider, most memory", max(plugin["memory"] for plugin in plugins), "MiB")
    row("    CPU, of all: provider", provider, "s")
    row("    CPU, of all: CLI", cli, "s", f"{cli / elapsed:.1f} cores")
    row("    CPU, of all: host", host_cpu, "s")
