"""The build of the Python package (PEP 517): maturin builds the module, and cargo the program `crosier` beside it.

CROSIER_BUILD_PROFILE=dev builds both without optimization, for tests. CROSIER_BUILD_STATIC=1 builds what is released: the
module for the oldest C library that it runs with (the tag `manylinux`), and the program statically linked, because what
checks that promise looks at the module alone.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import maturin

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROFILE = os.environ.get("CROSIER_BUILD_PROFILE", "release")
STATIC = os.environ.get("CROSIER_BUILD_STATIC") == "1" and sys.platform == "linux"
MATURIN = f"--locked --profile {PROFILE}" + (" --compatibility pypi" if STATIC else "")
# What the program and the module are built of; the rest of the repository is not in a source distribution.
SOURCES = ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-APACHE", "LICENSE-MIT", "clippy.toml", "bench", "bindings",
           "clients", "crates", "dist/static.toml", "docs", "schema", "spec"]  # fmt: skip

get_requires_for_build_sdist = maturin.get_requires_for_build_sdist


def get_requires_for_build_wheel(config_settings=None):
    os.chdir(HERE)
    return maturin.get_requires_for_build_wheel(config_settings)


get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    os.chdir(HERE)
    (HERE / "program.data/scripts").mkdir(parents=True, exist_ok=True)
    return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def take_hook_module() -> None:
    """What hooks import is one file, which workers embed; the package has a copy of it, made here."""
    shutil.copyfile(ROOT / "crates/engine/src/run/worker/hook_module.py", HERE / "python/crosier/_hook.py")


def build_program() -> None:
    """Builds `crosier` and puts it where maturin takes scripts from."""
    linked = ["--config", str(ROOT / "dist/static.toml")] if STATIC else []
    command = ["cargo", *linked, "build", "--locked", "--package", "crosier-cli", "--bin", "crosier", "--profile", PROFILE,
               "--message-format", "json-render-diagnostics"]  # fmt: skip
    built = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    messages = [json.loads(line) for line in built.splitlines() if line.startswith(b"{")]
    programs = [message["executable"] for message in messages if message.get("executable")]
    scripts = HERE / "program.data/scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    (scripts / "crosier").unlink(missing_ok=True)
    shutil.copy2(programs[-1], scripts / "crosier")


def without_paths() -> str:
    """Flags of rustc, after which a released module does not name folders of the machine that built it."""
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    return "\x1f".join(f"--remap-path-prefix={folder}={name}" for folder, name in ((cargo, "cargo"), (ROOT, "crosier")))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    os.chdir(HERE)
    take_hook_module()
    build_program()
    os.environ.setdefault("MATURIN_PEP517_ARGS", MATURIN)
    if STATIC:
        os.environ.setdefault("CARGO_ENCODED_RUSTFLAGS", without_paths())
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    os.chdir(HERE)
    take_hook_module()
    build_program()
    os.environ.setdefault("MATURIN_PEP517_ARGS", MATURIN)
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)


def tracked() -> list[str]:
    """The files of a source distribution, by their paths in the repository."""
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *SOURCES], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE).stdout.decode().splitlines()  # fmt: skip
    except (OSError, subprocess.CalledProcessError):  # not a checkout: everything but what was built
        listed = [str(path.relative_to(ROOT)) for source in SOURCES for path in [ROOT / source, *(ROOT / source).rglob("*")]
                  if path.is_file() and "target" not in path.relative_to(ROOT).parts]  # fmt: skip
    return sorted({path for path in listed if (ROOT / path).is_file()})


def build_sdist(sdist_directory, config_settings=None):
    """The repository as far as it is needed, with a `pyproject.toml` at its top that leads here."""
    text = (HERE / "pyproject.toml").read_text()
    version = text.split('\nversion = "', 1)[1].split('"', 1)[0]
    name = f"crosier-{version}"
    top = text.replace('backend-path = ["."]', 'backend-path = ["bindings/python"]')
    top = top.replace('readme = "README.md"', 'readme = "bindings/python/README.md"')
    info = f"Metadata-Version: 2.1\nName: crosier\nVersion: {version}\nRequires-Python: >=3.10\n"
    path = Path(sdist_directory) / f"{name}.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, dereference=True) as archive:
        for file in tracked():
            archive.add(ROOT / file, f"{name}/{file}")
        for file, content in (("pyproject.toml", top), ("PKG-INFO", info)):
            member = tarfile.TarInfo(f"{name}/{file}")
            member.size = len(content.encode())
            archive.addfile(member, io.BytesIO(content.encode()))
    return path.name
