"""Equal input gives equal labels, whichever compiler and standard library built the kernels."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
KERNELS = ROOT / "src" / "kech" / "_kernels"
BUILD = ROOT / "build" / "second-library"
CLANG = ["clang++", "-stdlib=libc++"]
HOW = "make second-library installs them"

# What a library or a processor may do in its own way: the order of equal or of unsorted elements, a last bit.
# std::jthread is not in every library.
WORDS = r"nth_element|unordered_\w+|hash|\w+_distribution|shuffle|sample|reduce|exp|log\w*|pow|cbrt|fma|jthread"
FREE = rf"std::({WORDS})\b"
HANDLED = {
    "rank_split.hpp": "nth_element",  # the parts keep the order they had
    "kd_tree.hpp": "nth_element",  # leaves are sorted
    "box_holes.hpp": "unordered_map",  # looked up by key, never walked through
    "reach_table.hpp": "nth_element",  # one value is read; and of pairs that all differ, the least are sorted
}


def test_kernels_use_nothing_that_libraries_may_do_in_their_own_way():
    found = {
        (file.name, word)
        for file in sorted(KERNELS.iterdir())
        for word in re.findall(FREE, file.read_text("utf-8"))
        if HANDLED.get(file.name) != word
    }
    assert found == set()


@pytest.fixture(scope="module")
def second_kernels():
    """The kernels by clang with libc++, in a folder of their own."""
    if shutil.which(CLANG[0]) is None:
        pytest.skip(f"there is no {CLANG[0]}; {HOW}")
    probe = [*CLANG, "-x", "c++", "-fsyntax-only", "-"]
    probe = subprocess.run(probe, input=b"#include <vector>", capture_output=True, check=False)
    if probe.returncode:
        pytest.skip(f"{CLANG[0]} has no libc++; {HOW}")
    tools = {tool: Path(sys.executable).with_name(tool) for tool in ("cmake", "ninja")}
    if missing := [tool for tool, place in tools.items() if not place.exists()]:
        pytest.skip(f"there is no {missing[0]} in the environment of the tests")
    how = [f"-DCMAKE_CXX_COMPILER={CLANG[0]}", f"-DCMAKE_CXX_FLAGS={CLANG[1]}", "-DCMAKE_BUILD_TYPE=Release"]
    how += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools['ninja']}", f"-DPython_EXECUTABLE={sys.executable}"]
    run([tools["cmake"], "-S", ROOT, "-B", BUILD, *how])
    run([tools["cmake"], "--build", BUILD])
    (made,) = BUILD.glob("_kernels*.so")
    assert b"libc++" in made.read_bytes()
    return made


def run(words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.long
def test_labels_are_equal_to_the_byte_with_another_standard_library(second_kernels):
    both = [start_labels(*kernels) for kernels in ((), (second_kernels,))]
    ours, theirs = (json.loads(started.communicate()[0]) for started in both)
    assert len(ours) > 70
    assert {name for name, labels in ours.items() if theirs[name] != labels} == set()


def start_labels(*kernels):
    words = [sys.executable, str(ROOT / "tests" / "kernel_labels.py"), *map(str, kernels)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT / "tests")})
