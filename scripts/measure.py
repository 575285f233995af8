"""What the measuring scripts share: where the programs are, and how figures are taken and printed."""

import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "release"
PROVIDER = RELEASE / "terraform-provider-runtimecloud"
HOST = RELEASE / "runtimecloud"
DRIFTGATE = RELEASE / "driftgate"


def heading(text):
    print(f"\n{text}", flush=True)


def row(what, value, unit, remark=""):
    print(f"  {what:<50} {value:>9.2f} {unit:<5} {remark}", flush=True)


def times(floor, value):
    return f"{value / floor:.1f} x the floor"


def status(pid, field):
    """A figure of /proc/PID/status, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{field}:")))


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(home, provider_folder):
    """A host with its data under `home`, and the environment for a CLI that uses it with the provider in
    that folder."""
    data, overrides = Path(home) / "data", Path(home) / "cli.tfrc"
    overrides.write_text(
        "provider_installation {\n  dev_overrides {\n"
        f'    "registry.terraform.io/runtimecloud/runtimecloud" = "{provider_folder}"\n  }}\n}}\n',
        encoding="utf-8",
    )
    host = subprocess.Popen(
        [HOST, "serve", "--stop-workers", "--listen", "127.0.0.1:0", "--data-dir", data],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        while not (data / "endpoint").exists():
            time.sleep(0.01)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TF_", "RUNTIMECLOUD_"))}
        env |= {
            "TF_CLI_CONFIG_FILE": str(overrides),
            "CHECKPOINT_DISABLE": "1",
            "RUNTIMECLOUD_ENDPOINT": (data / "endpoint").read_text(encoding="utf-8").strip(),
            "RUNTIMECLOUD_TOKEN": (data / "admin.token").read_text(encoding="utf-8").strip(),
        }
        yield host.pid, env
    finally:
        host.terminate()
        host.wait()


def run_in(config, env, *command):
    subprocess.run(command, cwd=config, env=env, check=True, stdout=subprocess.DEVNULL)
