"""Wheels of kech for Linux, built by zig for other machines than this one: `make wheels`.

In: this checkout, Python 3.11 and a Python of 3.12 or newer.  Out: wheels in `dist/` that equal input gives again,
byte by byte.  CMake compiles; auditwheel and abi3audit judge; a bill of materials (CycloneDX) goes into each wheel.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path

import ziglang
from sbom import write_sbom

ROOT = Path(__file__).parents[1]
ENVIRONMENTS = ROOT / ".venv-wheels"
ZIG = Path(ziglang.__file__).with_name("zig")
NEW_PYTHONS = ("python3.12", "python3.13", "python3.14")


@dataclass(frozen=True)
class Target:
    """A machine and its C library."""

    machine: str
    policy: str  # of auditwheel
    zig: str

    @property
    def suffix(self) -> str:
        """How a module for CPython 3.11 ends there."""
        return f".cpython-311-{self.machine}-linux-{'musl' if 'musl' in self.zig else 'gnu'}.so"


TARGETS = [
    Target("x86_64", "manylinux_2_17_x86_64", "x86_64-linux-gnu.2.17"),
    Target("aarch64", "manylinux_2_17_aarch64", "aarch64-linux-gnu.2.17"),
    Target("x86_64", "musllinux_1_2_x86_64", "x86_64-linux-musl"),
    Target("aarch64", "musllinux_1_2_aarch64", "aarch64-linux-musl"),
]


def main() -> None:
    """Build what was asked for, by default everything."""
    options = read_options()
    pythons = [python for python in (find_python(("python3.11",)), find_python(NEW_PYTHONS)) if python]
    if not any("3.11" not in str(python) for python in pythons):
        print("No Python of 3.12 or newer was found: the abi3 wheel is left out.")
    options.out.mkdir(parents=True, exist_ok=True)
    for python in pythons:
        builder = make_environment(python)
        for target in TARGETS:
            if re.search(options.only, f"{python.name} {target.policy}"):
                print(build(builder, target, options.out).name, flush=True)


def read_options() -> argparse.Namespace:
    """The folder of the wheels, and which of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", default="", help="an expression that the Python and the platform match")
    return parser.parse_args()


def find_python(names: tuple[str, ...]) -> Path | None:
    """The first of these that runs; pyenv keeps programs on the path for versions that are switched off."""
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"))
    for name in names:
        for place in [shutil.which(name), *(folder / name for folder in kept)]:
            if place and Path(place).exists() and runs(Path(place)):
                return Path(place)
    return None


def runs(python: Path) -> bool:
    """Whether a program starts."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def make_environment(python: Path) -> Path:
    """An environment of this Python with the pinned build tools; its Python."""
    folder = ENVIRONMENTS / python.name
    inside = folder / "bin" / "python"
    if not (folder / "installed").exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
        pip = [inside, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", ROOT / "requirements" / "build.txt"], check=True)
        (folder / "installed").touch()
    return inside


def build(python: Path, target: Target, out: Path) -> Path:
    """One wheel: compiled, judged, with its bill, in place."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compiled = compile_wheel(python, target, folder)
        if "musl" in target.zig:
            name_libc(compiled, target)
        repaired = repair(compiled, target, folder / "repaired")
        final = out / repaired.name
        finish(repaired, final, made_of(python))
    judge(final, target)
    return final


def compile_wheel(python: Path, target: Target, folder: Path) -> Path:
    """A wheel as scikit-build-core makes it, by zig."""
    tools = {name: write_tool(folder / name, words) for name, words in zig_tools(target).items()}
    settings = ["-DCMAKE_CXX_SCAN_FOR_MODULES=OFF", f"-DCMAKE_AR={tools['ar']}", f"-DCMAKE_RANLIB={tools['ranlib']}"]
    environment = {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "CXX": str(tools["c++"]),
        "CXXFLAGS": f"-g0 -ffile-prefix-map={folder}=. -ffile-prefix-map={ROOT}=.",
        "CMAKE_ARGS": " ".join(settings),
        "CMAKE_BUILD_PARALLEL_LEVEL": "1",
        "SETUPTOOLS_EXT_SUFFIX": target.suffix,
        "_PYTHON_HOST_PLATFORM": f"linux-{target.machine}",
        "SOURCE_DATE_EPOCH": str(epoch()),
    }
    code = (
        "import sys; from scikit_build_core.build import build_wheel as b; b(sys.argv[1], {'build-dir': sys.argv[2]})"
    )
    words = [python, "-c", code, folder, folder / "build"]
    run(words, cwd=ROOT, env=os.environ | environment)
    (made,) = folder.glob("kech-*.whl")
    return made


def zig_tools(target: Target) -> dict[str, str]:
    """Commands of zig that stand for a compiler and its helpers."""
    return {"c++": f"c++ -target {target.zig}", "ar": "ar", "ranlib": "ranlib"}


def write_tool(path: Path, words: str) -> Path:
    """A program that calls zig, for CMake, which wants one word."""
    path.write_text(f'#!/bin/sh\nexec "{ZIG}" {words} "$@"\n')
    path.chmod(0o755)
    return path


def name_libc(wheel: Path, target: Target) -> None:
    """Ask for the C library of musl under the name that the platform has for it; zig asks for libc.so."""
    with zipfile.ZipFile(wheel) as archive:
        modes = {entry.filename: entry.external_attr for entry in archive.infolist() if not entry.is_dir()}
        files = {name: archive.read(name) for name in modes}
    (module,) = (name for name in files if name.endswith(".so"))
    patched = wheel.with_suffix(".so")
    patched.write_bytes(files[module])
    run([programs() / "patchelf", "--replace-needed", "libc.so", f"libc.musl-{target.machine}.so.1", patched])
    write_archive(wheel, files | {module: patched.read_bytes()}, modes)


def repair(wheel: Path, target: Target, folder: Path) -> Path:
    """The wheel under the name of the oldest platform that it runs on, which must be the target's.

    auditwheel offers only platforms of this machine by name, so it finds the platform of every wheel itself.
    """
    run([programs() / "auditwheel", "repair", "--plat", "auto", "-w", folder, wheel])
    (made,) = folder.glob("kech-*.whl")
    if target.policy not in made.name:
        raise SystemExit(f"{made.name} does not fit {target.policy}.")
    return made


def finish(wheel: Path, final: Path, compiled: dict[str, str]) -> None:
    """The same files with a bill of materials, in order and with one date, so that equal files give equal bytes."""
    with zipfile.ZipFile(wheel) as archive:
        modes = {entry.filename: entry.external_attr for entry in archive.infolist() if not entry.is_dir()}
        files = {name: archive.read(name) for name in modes}
    info = next(name.partition("/")[0] for name in files if name.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(files[f"{info}/METADATA"].decode())
    files[f"{info}/sboms/kech.cdx.json"] = write_sbom(final.name, metadata, compiled, epoch()).encode()
    record = f"{info}/RECORD"
    files.pop(record)
    lines = [f"{name},{digest(files[name])},{len(files[name])}\n" for name in sorted(files)]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    write_archive(final, files, modes)


def write_archive(path: Path, files: dict[str, bytes], modes: dict[str, int]) -> None:
    """A zip file of these files in order; metadata comes last, as the standard advises."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = modes.get(name, 0o100644 << 16)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])


def digest(content: bytes) -> str:
    """A hash as RECORD spells it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def made_of(python: Path) -> dict[str, str]:
    """What is compiled into a wheel: name -> version."""
    code = "import nanobind; print(nanobind.__version__, nanobind.include_dir())"
    nanobind, include = run([python, "-c", code]).split()
    policy = Path(include).parent / "ext" / "robin_map" / "include" / "tsl" / "robin_growth_policy.h"
    numbers = re.findall(r"define TSL_RH_VERSION_\w+ (\d+)", policy.read_text())
    llvm = re.search(r"clang version ([\d.]+)", run([ZIG, "c++", "--version"])).group(1)  # type: ignore[union-attr]
    versions = dict.fromkeys(("libc++", "libc++abi", "libunwind", "compiler-rt"), llvm)
    return {"nanobind": nanobind, "robin-map": ".".join(numbers)} | versions


def judge(wheel: Path, target: Target) -> None:
    """Refuse a wheel that its platform cannot load, or that says abi3 and is not."""
    found = run([programs() / "auditwheel", "show", wheel])
    if target.policy not in found:
        raise SystemExit(f"{wheel.name} does not fit {target.policy}:\n{found}")
    if "-abi3-" in wheel.name:
        run([programs() / "abi3audit", "--strict", wheel])


def programs() -> Path:
    """The folder of the tools that judge wheels."""
    return Path(sys.executable).parent


def epoch() -> int:
    """SOURCE_DATE_EPOCH, or the time of the last commit."""
    named = os.environ.get("SOURCE_DATE_EPOCH")
    return int(named) if named else int(run(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def run(words: list[object], **options: object) -> str:
    """What a program printed; all of it is shown where it fails."""
    environment = options.pop("env", os.environ)
    path = f"{programs()}{os.pathsep}{environment['PATH']}"  # type: ignore[index]
    env = {**environment, "PATH": path}  # type: ignore[dict-item]
    ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, env=env, **options)
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    main()
