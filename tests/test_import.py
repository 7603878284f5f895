"""Importing kech is cheap: modules are counted, for a clock would lie."""

import ast
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import kech

STUB = Path(kech.__file__).with_suffix(".pyi")
LIBRARIES = {"numpy", "pyarrow", "duckdb", "narwhals", "msgspec", "matplotlib", "sklearn", "scipy", "pandas", "polars"}


def modules_after(code):
    """The modules that a fresh Python holds in the end."""
    held = "import json, sys; sys.stderr.write(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", f"{code}\n{held}"], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr))


BARE = modules_after("pass")


def roots(modules):
    return {name.partition(".")[0] for name in modules}


def test_importing_kech_reads_no_library_and_one_room():
    found = modules_after("import kech") - BARE

    assert {name for name in found if name.startswith("kech")} == {"kech", "kech.errors", "kech.errors.wording"}
    assert not roots(found) & LIBRARIES
    assert len(found) < 30


@pytest.mark.parametrize("words", ['["--help"]', '["release", "--help"]', '["--version"]'])
def test_help_reads_no_library_but_those_that_draw_it(words):
    found = modules_after(f"from kech.cli import main; main({words})") - BARE

    assert not roots(found) & LIBRARIES - {"msgspec"}
    rooms = {name.split(".")[1] for name in found if name.startswith("kech.")}
    assert rooms == {"cli", "errors", "request", "studio", "system", "tables", "views"}
    assert len(found) < 390


def test_a_release_of_a_file_reads_nothing_that_frames_and_addresses_need(tmp_path):
    (tmp_path / "rows.csv").write_text("age,zip\n" + "20,021\n" * 6)
    words = ["release", str(tmp_path / "rows.csv"), "--qi", "age", "zip", "--k", "2", "-o", str(tmp_path / "out.csv")]
    code = f"from kech.cli import main\ntry: main({[*words, '--no-ledger']})\nexcept SystemExit: pass"

    found = modules_after(code)

    assert (tmp_path / "out.csv").exists()
    assert not found & {"narwhals", "pandas", "urllib.request", "http.client"}


def test_a_name_is_imported_with_its_room_alone():
    found = modules_after("import kech; kech.check_certificate") - BARE

    assert {name.split(".")[1] for name in found if name.startswith("kech.")} == {"certificate", "errors"}


def test_the_room_for_tests_is_found_without_being_imported():
    assert "kech.audit.testing" in modules_after("import kech; kech.testing.assert_k_anonymous")


def test_the_stub_names_what_the_table_names():
    tree = ast.parse(STUB.read_text("utf-8"))
    stubbed = {
        (alias.asname, node.module.partition(".")[2])
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert stubbed == {*kech.HOMES.items(), ("errors", ""), ("testing", "audit")}


def test_all_dir_and_star_agree():
    space = {}
    exec("from kech import *", space)

    assert set(space) - {"__builtins__"} == set(kech.__all__)
    assert {*kech.__all__, "__version__"} <= set(dir(kech))
    assert kech.__all__ == sorted(set(kech.__all__))


def test_a_name_is_the_same_object_every_time():
    assert kech.Table is kech.Table
    assert pickle.loads(pickle.dumps(kech.read_table)) is kech.read_table
    assert pickle.loads(pickle.dumps(kech.AxisChoice("date"))) == kech.AxisChoice("date")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'read_tabel'"):
        _ = kech.read_tabel


COUNT_FROZEN = """
import atexit, gc, sys
atexit.register(lambda: sys.stderr.write(str(gc.get_freeze_count())))
from kech.__main__ import main
sys.argv = ["kech", "--version"]
main()
"""


def test_a_command_does_not_look_through_its_modules_for_garbage():
    ran = subprocess.run([sys.executable, "-c", COUNT_FROZEN], capture_output=True, text=True, check=True)

    assert int(ran.stderr) > 20_000
