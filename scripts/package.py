#!/usr/bin/env python3
"""Packs the provider for release and for use without a registry.

    scripts/package.py [--target TRIPLE]... [--binary TRIPLE=PATH]... [--output FOLDER]

Without a target, it builds for this machine: static, with musl, where that can be built here, and
otherwise against the C library that is here. `--binary` packs a program that is built already.

Below FOLDER (`target/package`) stand afterwards:

    release/   what a release consists of: a zip for each platform, the manifest, the checksums
    mirror/    a tree for `filesystem_mirror`, or, served by HTTPS, for `network_mirror`
    oci/       an OCI image layout, whose index a registry for `oci_mirror` takes as it is

The same programs give the same bytes.
"""

import argparse
import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "terraform-provider-runtimecloud"
ADDRESSES = (
    "registry.terraform.io/runtimecloud/runtimecloud",
    "registry.opentofu.org/runtimecloud/runtimecloud",
)
OS = {"linux": "linux", "darwin": "darwin", "windows": "windows", "freebsd": "freebsd"}
ARCH = {"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv7": "arm"}


def main():
    arguments = parse()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    binaries = dict(arguments.binary)
    for target in arguments.target or ([] if binaries else [default_target()]):
        binaries[target] = build(target)
    output = arguments.output
    for folder in ("release", "mirror", "oci"):
        shutil.rmtree(output / folder, ignore_errors=True)
    archives = release(output / "release", version, binaries)
    mirror(output / "mirror", version, archives)
    oci(output / "oci", version, archives)
    for file in sorted((output / "release").iterdir()):
        print(file)


def parse():
    def binary(text):
        target, _, path = text.partition("=")
        if not Path(path).is_file():
            raise argparse.ArgumentTypeError(f"`{path}` is no file; write TRIPLE=PATH")
        return target, Path(path)

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append", default=[], metavar="TRIPLE")
    parser.add_argument("--binary", action="append", default=[], type=binary, metavar="TRIPLE=PATH")
    parser.add_argument("--output", type=Path, default=ROOT / "target" / "package")
    return parser.parse_args()


def default_target():
    """The static target of this machine where it can be built, else the machine's own."""
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, text=True).stdout
    host = next(
        line.split()[1] for line in run("rustc", "-vV").splitlines() if line.startswith("host:")
    )
    static = host.replace("-gnu", "-musl")
    installed = Path(run("rustc", "--print", "sysroot").strip()) / "lib" / "rustlib" / static
    if static == host or installed.is_dir() and shutil.which("musl-gcc"):
        return static
    if static.endswith("-musl"):
        print(
            f"Built against this machine's C library: for a static program, install the Rust target "
            f"{static} and musl-gcc.",
            file=sys.stderr,
        )
    return host


def build(target):
    command = ["cargo", "build", "--release", "--package", "provider", "--target", target]
    command += ["--message-format", "json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode:
        sys.exit(f"the build for {target} failed, see above")
    messages = map(json.loads, built.stdout.splitlines())
    return next(Path(m["executable"]) for m in messages if m.get("executable"))


def platform(target):
    """The names that registries use: operating system and architecture."""
    arch = target.split("-")[0]
    system = next((name for part, name in OS.items() if part in target), None)
    if system is None or arch not in ARCH:
        sys.exit(f"no platform of registries is known for the target `{target}`")
    return system, ARCH[arch]


def release(folder, version, binaries):
    """Writes the files of a release; gives the archive of each platform."""
    folder.mkdir(parents=True)
    archives = {}
    for target, binary in sorted(binaries.items()):
        system, arch = platform(target)
        suffix = ".exe" if system == "windows" else ""
        archive = folder / f"{NAME}_{version}_{system}_{arch}.zip"
        pack(archive, f"{NAME}_v{version}{suffix}", binary)
        archives[system, arch] = archive
    manifest = folder / f"{NAME}_{version}_manifest.json"
    manifest.write_text(json.dumps({"version": 1, "metadata": {"protocol_versions": ["6.0"]}}) + "\n")
    sums = (f"{sha256(file.read_bytes())}  {file.name}\n" for file in sorted(folder.iterdir()))
    (folder / f"{NAME}_{version}_SHA256SUMS").write_text("".join(sums))
    return archives


def pack(archive, name, binary):
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o100755 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # Unix, so that the mode counts.
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(entry, binary.read_bytes())


def mirror(folder, version, archives):
    """Packed archives with the two indexes of the network mirror protocol beside them."""
    described = {}
    for (system, arch), archive in archives.items():
        hashes = [h1(archive), f"zh:{sha256(archive.read_bytes())}"]
        described[f"{system}_{arch}"] = {"url": archive.name, "hashes": hashes}
    for address in ADDRESSES:
        place = folder / address
        place.mkdir(parents=True)
        for archive in archives.values():
            shutil.copy(archive, place)
        (place / "index.json").write_text(json.dumps({"versions": {version: {}}}) + "\n")
        (place / f"{version}.json").write_text(json.dumps({"archives": described}, indent=2) + "\n")


def h1(archive):
    """The hash of an archive's content that lock files hold."""
    with zipfile.ZipFile(archive) as packed:
        lines = (f"{sha256(packed.read(name))}  {name}\n" for name in sorted(packed.namelist()))
        digest = hashlib.sha256("".join(lines).encode()).digest()
    return "h1:" + base64.b64encode(digest).decode()


def oci(folder, version, archives):
    """An index of one manifest a platform, each with the archive as its only layer."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def add(media_type, content, **fields):
        digest = sha256(content)
        (blobs / digest).write_bytes(content)
        described = {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}
        return described | fields

    manifest = "application/vnd.oci.image.manifest.v1+json"
    index = "application/vnd.oci.image.index.v1+json"
    target = "application/vnd.opentofu.provider-target"
    platforms = []
    for (system, arch), archive in archives.items():
        document = {
            "schemaVersion": 2,
            "mediaType": manifest,
            "artifactType": target,
            "config": add("application/vnd.oci.empty.v1+json", b"{}"),
            "layers": [add("archive/zip", archive.read_bytes())],
        }
        where = {"os": system, "architecture": arch}
        platforms.append(add(manifest, encode(document), artifactType=target, platform=where))
    provider = "application/vnd.opentofu.provider"
    document = {
        "schemaVersion": 2,
        "mediaType": index,
        "artifactType": provider,
        "manifests": platforms,
    }
    tag = {"org.opencontainers.image.ref.name": version.replace("+", "_")}
    top = add(index, encode(document), artifactType=provider, annotations=tag)
    layout = {"schemaVersion": 2, "mediaType": index, "manifests": [top]}
    (folder / "index.json").write_bytes(encode(layout))
    (folder / "oci-layout").write_bytes(encode({"imageLayoutVersion": "1.0.0"}))


def encode(document):
    return json.dumps(document, indent=2).encode()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
