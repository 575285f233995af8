#!/usr/bin/env python3
"""The whole loop in one go: declare, run, see drift, reconcile, clean up.

Everything happens in `target/quickstart`, with real parts. What an interrupted run has left there is
stopped and removed first, so this can be run again at any time.
"""

import fcntl
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
HOME = TARGET / "quickstart"
DATA = HOME / "data"
CONFIG = HOME / "config"
HOST = TARGET / "debug" / "runtimecloud"
DRIFTGATE = TARGET / "debug" / "driftgate"
PROVIDER = TARGET / "debug" / "terraform-provider-runtimecloud"


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    TARGET.mkdir(parents=True, exist_ok=True)
    with open(TARGET / "quickstart.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            run()
        except BlockingIOError:
            sys.exit("another quickstart is running; wait for its end")
        except KeyboardInterrupt:
            sys.exit("\ninterrupted; nothing is left behind")
        except subprocess.CalledProcessError as error:
            command = " ".join(map(str, error.cmd))
            sys.exit(f"\n`{command}` failed with exit code {error.returncode}")


def run():
    build()
    begin = time.monotonic()
    clean_up()
    try:
        tour()
    finally:
        say("Stop the host and its workers, and remove what this run made.")
        clean_up()
    print(f"\nDone in {time.monotonic() - begin:.0f} s; nothing is left behind.")


def build():
    say("Build the host, the provider and driftgate.")
    packages = [word for name in ("host", "provider", "analyzer") for word in ("--package", name)]
    if subprocess.run(["cargo", "build", "--bins", *packages], cwd=ROOT, check=False).returncode:
        sys.exit("the build failed, see above")


def tour():
    say("Find a Terraform, or fetch one (once).")
    script = ROOT / "scripts" / "terraform.py"
    found = subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE, text=True)
    terraform = found.stdout.strip()
    print(terraform)

    say("Start the host. It needs nothing but a data folder.")
    host = start_host()
    try:
        env = prepare(terraform)
        run = lambda *command, **options: subprocess.run(command, cwd=CONFIG, env=env, check=True, **options)
        loop(terraform, run)
    finally:
        stop(host)


def loop(terraform, run):
    say("Apply examples/scenarios/quickstart: a place to run, a quota, an environment, three workers.")
    run(terraform, "init", "-input=false", stdout=subprocess.DEVNULL)
    run(terraform, "apply", "-auto-approve", "-input=false")

    say("The workers are real: each answers HTTP on a port of its own.")
    run(HOST, "workers", "dev/web")
    ask_workers(run)

    say("Somebody changes the pool by hand, past Terraform.")
    run(HOST, "scale", "dev/web", "--size", "5", "--wait")

    say("Terraform's plan shows the change, and would take it back.")
    run(terraform, "plan", "-input=false", "-out=plan.bin")

    say("driftgate tells drift from planned change, and proposes both ways: revert, or adopt by patch.")
    with open(CONFIG / "plan.json", "w", encoding="utf-8") as plan:
        run(terraform, "show", "-json", "plan.bin", stdout=plan)
    checked = subprocess.run(
        [DRIFTGATE, "check", "plan.json", "--config-dir", "."], cwd=CONFIG, check=False
    )
    if checked.returncode != 2:
        sys.exit(f"driftgate was to find drift (exit code 2), and ended with {checked.returncode}")
    print("(exit code 2: in CI, this fails the job)")

    say("Reconcile: apply reverts to three workers. Afterwards nothing is left to do.")
    run(terraform, "apply", "-auto-approve", "-input=false", stdout=subprocess.DEVNULL)
    run(terraform, "plan", "-input=false", "-detailed-exitcode", stdout=subprocess.DEVNULL)
    run(HOST, "workers", "dev/web")

    say("Destroy everything.")
    run(terraform, "destroy", "-auto-approve", "-input=false", stdout=subprocess.DEVNULL)


def say(sentence):
    print(f"\n\033[1m== {sentence}\033[0m" if sys.stdout.isatty() else f"\n== {sentence}", flush=True)


def start_host():
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / "endpoint").unlink(missing_ok=True)
    with open(HOME / "host.log", "ab") as log:
        host = subprocess.Popen(
            [HOST, "serve", "--stop-workers", "--listen", "127.0.0.1:0", "--data-dir", DATA],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, env=clean_env(),
        )  # fmt: skip
    (HOME / "host.pid").write_text(str(host.pid), encoding="utf-8")
    while not (DATA / "endpoint").exists():
        if host.poll() is not None:
            sys.exit(f"the host did not start:\n{(HOME / 'host.log').read_text(encoding='utf-8')}")
        time.sleep(0.02)
    return host


def stop(host):
    """Ends the host; it stops its workers first."""
    host.terminate()
    host.wait()


def clean_env():
    foreign = ("TF_", "RUNTIMECLOUD_")
    return {k: v for k, v in os.environ.items() if not k.startswith(foreign)}


def prepare(terraform):
    """A working copy of the configuration, the provider as a mirror, and the variables to run them."""
    shutil.copytree(ROOT / "examples" / "scenarios" / "quickstart", CONFIG)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    system = f"{platform.system().lower()}_{machine}"
    for registry in ("registry.terraform.io", "registry.opentofu.org"):
        place = HOME / "mirror" / registry / "runtimecloud" / "runtimecloud" / "0.1.0" / system
        place.mkdir(parents=True)
        (place / "terraform-provider-runtimecloud_v0.1.0").symlink_to(PROVIDER)
    settings = HOME / "cli.tfrc"
    mirror = json.dumps(str(HOME / "mirror"))
    settings.write_text(
        f"provider_installation {{\n  filesystem_mirror {{ path = {mirror} }}\n}}\n", encoding="utf-8"
    )
    plain = {} if sys.stdout.isatty() else {"TF_CLI_ARGS": "-no-color"}
    return {
        **clean_env(),
        **plain,
        "TF_CLI_CONFIG_FILE": str(settings),
        "TF_IN_AUTOMATION": "1",
        "CHECKPOINT_DISABLE": "1",
        "RUNTIMECLOUD_DATA_DIR": str(DATA),
        "RUNTIMECLOUD_ENDPOINT": (DATA / "endpoint").read_text(encoding="utf-8").strip(),
        "RUNTIMECLOUD_TOKEN": (DATA / "admin.token").read_text(encoding="utf-8").strip(),
    }


def ask_workers(run):
    listed = run(
        HOST, "workers", "dev/web", "--output", "json", stdout=subprocess.PIPE, text=True
    )
    for worker in json.loads(listed.stdout):
        url = f"http://127.0.0.1:{worker['ports']['http']}/"
        with urllib.request.urlopen(url, timeout=10) as answer:
            print(f"GET {url} -> {answer.status}, from {worker['id']}")


def clean_up():
    """Stops what runs on the data folder, here or since an interrupted run, and removes all of it."""
    if DATA.exists():
        end_former_host()
        # A host that starts finds the workers of the one before it, and stops them when it ends.
        stop(start_host())
    shutil.rmtree(HOME, ignore_errors=True)


def end_former_host():
    try:
        pid = int((HOME / "host.pid").read_text(encoding="utf-8"))
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return
    if os.fsencode(DATA) in command:
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}").exists():
            time.sleep(0.02)


if __name__ == "__main__":
    main()
