"""Packs the npm packages: `crosier`, and the program for one platform.

usage: pack.py VERSION PLATFORM PROGRAM OUT     (PLATFORM as Node says it: linux-x64, darwin-arm64, ...)
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TEXTS = ("README.md", "LICENSE-MIT", "LICENSE-APACHE")


def pack(folder, out):
    for name in TEXTS:
        shutil.copy(ROOT / name, folder / name)
    command = ["npm", "pack", "--silent", "--pack-destination", str(out)]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main():
    version, platform, program, out = sys.argv[1:]
    out = pathlib.Path(out).resolve()
    package = json.loads((HERE / "package.json").read_text())
    package["version"] = version
    for name in package["optionalDependencies"]:
        package["optionalDependencies"][name] = version

    with tempfile.TemporaryDirectory() as folder:
        launcher = pathlib.Path(folder, "launcher")
        shutil.copytree(HERE / "bin", launcher / "bin")
        (launcher / "package.json").write_text(json.dumps(package, indent=2) + "\n")
        pack(launcher, out)

        native = pathlib.Path(folder, "native")
        (native / "bin").mkdir(parents=True)
        shutil.copy(program, native / "bin" / "crosier")
        system, processor = platform.split("-")
        same = {key: package[key] for key in ("version", "license", "repository")}
        about = {
            "name": f"@crosier-hooks/{platform}",
            **same,
            "description": f"The program crosier for {platform}.",
            "os": [system],
            "cpu": [processor],
            "files": ["bin", *TEXTS],
            "preferUnplugged": True,
        }
        (native / "package.json").write_text(json.dumps(about, indent=2) + "\n")
        pack(native, out)


if __name__ == "__main__":
    main()
