"""The owner's secret: made once, shared by nobody, and in every label."""

import json
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import kech
from conftest import FIXED_SECRET, needs_posix
from kech import write_key_file
from kech.cuts.protection import protect_labels
from kech.errors import BadKey, BadTarget, CannotWrite
from kech.points.partition import build_partition
from kech.points.points import build_points
from kech.tables.demo import generate_town, write_csv

QI = {"quasi_identifiers": ["age", "zip", "job"], "sensitive": ["diagnosis"]}
KEYS = (
    "kech-key-0101010101010101010101010101010101010101010101010101010101010101-72cd6e84",
    "kech-key-0202020202020202020202020202020202020202020202020202020202020202-75877bb4",
)
WORDS = ("--qi", "age,zip,job", "--sensitive", "diagnosis", "--effort", "quick")


@pytest.fixture
def people(folder):
    return write_csv(generate_town(60), folder / "people.csv")


@pytest.fixture
def keys(tmp_path):
    """Two keys that differ, the same in every run."""
    for number in (1, 2):
        (tmp_path / f"{number}.key").touch(mode=0o600)
        (tmp_path / f"{number}.key").write_text(KEYS[number - 1], "ascii")
    return [str(tmp_path / "1.key"), str(tmp_path / "2.key")]


def labels_of(path, *, key_file=None, **asked):
    with kech.read_table(path, key_file=key_file, **QI) as table:
        return kech.make_release(table, k=5, effort="quick", **asked).labels


def classes_of(path, key_file):
    """Boxes before noise, to see the search alone."""
    with kech.read_table(path, key_file=key_file, **QI) as table:
        partition = kech.make_release(table, k=5, grid="exact", effort="quick").partition
        return sorted(map(tuple, np.hstack([partition.lo, partition.hi]).tolist()))


# -- what it does ------------------------------------------------------------------------------------------------


def test_labels_need_the_secret(people, keys):
    one, two = keys
    assert labels_of(people, key_file=one) == labels_of(people, key_file=one)
    assert labels_of(people, key_file=one) != labels_of(people, key_file=two)


def test_the_search_needs_the_secret_too(folder, keys):
    people, (one, two) = write_csv(generate_town(400), folder / "people.csv"), keys
    assert classes_of(people, one) == classes_of(people, one)
    assert classes_of(people, one) != classes_of(people, two)


def test_noise_alone_needs_the_secret(keys):
    """The regime cut does not search: its classes are the same, its labels are not."""
    rng = np.random.default_rng(1)
    frame = pa.table({"age": np.concatenate([rng.integers(start, start + 12, 60) for start in (0, 30, 60, 90)])})
    found = []
    for key in keys:
        with kech.read_table(frame, quasi_identifiers=["age"], key_file=key) as table:
            release = kech.make_release(table, k=5, cut="regime")
        found.append((release.partition.sizes.tolist(), release.labels))
    assert len(found[0][0]) > 1
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


def test_decoys_of_sets_need_the_secret(keys):
    """Of four values each, in classes that nobody searched."""
    rng = np.random.default_rng(1)
    frame = pa.table({"job": rng.choice(list("abcdefghijklmnop"), 400)})
    found = []
    for key in keys:
        with kech.read_table(frame, quasi_identifiers=["job"], key_file=key) as table:
            points = build_points(table).published_at(5)
            tight = build_partition(points, np.arange(16), np.arange(16) // 4, np.full(16, 2))
            found.append((tight.labels(0), protect_labels(tight).labels(0)))
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


def test_a_new_owner_gets_other_labels(folder, tmp_path, monkeypatch):
    """Of so many rows no two secrets make the same labels by accident."""
    people, found = write_csv(generate_town(400), folder / "people.csv"), []
    for name in ("one", "two"):
        monkeypatch.setenv("KECH_HOME", str(tmp_path / name))
        found.append((labels_of(people), labels_of(people)))
    assert found[0][0] == found[0][1]
    assert found[0] != found[1]


def test_a_spectrum_foretells_the_release_of_the_same_key(people, keys):
    for key in keys:
        with kech.read_table(people, key_file=key, **QI) as table:
            (line,) = kech.compute_spectrum(table, k=[5], effort="quick").lines
            release = kech.make_release(table, k=5, effort="quick")
            outlook = kech.compute_preview(release)
        assert line.classes == release.partition.classes
        assert line.loss == pytest.approx(outlook.figures["loss"], abs=1e-12)


def test_every_command_takes_the_key(people, keys, run, folder):
    found = []
    for key in keys:
        how = (people, *WORDS, "--key-file", key, "--k", 3, "--json")
        loss = run("spectrum", *how).json["spectrum"][0]["loss"]
        assert run("preview", *how).json["figures"]["loss"] == pytest.approx(loss)
        written = run("release", *how, "-o", folder / "out.csv", "--no-ledger").json
        assert written["loss"] == pytest.approx(loss)
        found.append(run("preview", people, "--on", "age", "zip", *how[1:]).json["plane"]["boxes"])
    assert found[0] != found[1]


def test_no_ledger_does_not_switch_it_off(people, keys, run, folder):
    found = []
    for key in keys:
        assert (
            run("release", people, *WORDS, "--k", 5, "--no-ledger", "--key-file", key, "-o", folder / "x.csv").code == 0
        )
        found.append({line.rpartition(",")[0] for line in (folder / "x.csv").read_text("utf-8").splitlines()})
    assert found[0] != found[1]


def test_the_environment_names_a_key_file(people, keys, monkeypatch):
    monkeypatch.setenv("KECH_KEY_FILE", keys[0])
    assert labels_of(people) == labels_of(people, key_file=keys[0])
    assert labels_of(people) != labels_of(people, key_file=keys[1])


def test_a_transformer_takes_the_key(keys):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    frame = generate_town(60).to_pandas()[["age", "zip", "job"]]
    one, again, two = (
        kech.Anonymizer(k=5, effort="quick", request=kech.Request().override(key_file=key)).fit_transform(frame)
        for key in (keys[0], *keys)
    )
    assert (one == again).all()
    assert (one != two).any()


def test_nothing_that_is_pickled_holds_it(keys):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    frame = generate_town(60).to_pandas()[["age", "zip", "job"]]
    secret = Path(keys[0]).read_text("ascii").split("-")[2]
    stored = pickle.dumps(
        kech.Anonymizer(k=5, effort="quick", request=kech.Request().override(key_file=keys[0])).fit(frame)
    )
    assert bytes.fromhex(secret) not in stored
    assert secret.encode() not in stored
    with kech.read_table(frame, quasi_identifiers=["age"], key_file=keys[0]) as table:
        assert secret not in repr(table.secret) + str(table.secret)
        with pytest.raises(TypeError):
            pickle.dumps(table.secret)


def test_nothing_that_is_written_or_said_holds_it(people, run, own_ledger, folder):
    made = run("release", people, *WORDS, "--k", 5, "-o", "out.csv", "--folder", folder / "out", "--json")
    assert made.code == 0, made.err
    secret = FIXED_SECRET.split("-")[2]
    said = made.out + made.err + run("ledger", "--json").out
    said += "".join(file.read_text("utf-8") for file in (folder / "out").rglob("*") if file.is_file())
    assert secret not in said + (own_ledger / "ledger.json").read_text("utf-8")


def test_the_certificate_says_that_there_is_one(people, run, folder):
    def parameters(*words):
        assert run("release", people, *WORDS[:4], "--k", 5, "--no-ledger", *words, "-o", folder / "x.csv").code == 0
        return json.loads((folder / "x.csv.certificate.json").read_text("utf-8"))["parameters"]

    assert parameters()["owner_secret"] is True
    assert "owner_secret" not in parameters("--cut", "domain")  # nothing is drawn there


# -- the file ----------------------------------------------------------------------------------------------------


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A home nobody has used."""
    home = tmp_path / "fresh"
    monkeypatch.setenv("KECH_HOME", str(home))
    return home


@needs_posix
def test_it_is_made_once_and_only_for_its_owner(people, fresh):
    with kech.read_table(people, **QI):
        assert not fresh.exists()  # who only looks needs none
    first = labels_of(people)
    text = (fresh / "secret").read_text("ascii")
    assert re.fullmatch(r"kech-key-[0-9a-f]{64}-[0-9a-f]{8}\n", text)
    assert (fresh / "secret").stat().st_mode & 0o777 == 0o600
    assert fresh.stat().st_mode & 0o777 == 0o700
    assert labels_of(people) == first
    assert (fresh / "secret").read_text("ascii") == text


def test_of_many_that_make_it_at_once_all_have_the_same(fresh):
    code = "from kech.system.secret import open_secret; print(open_secret().derive('test').hex())"
    with ThreadPoolExecutor(4) as pool:
        runs = pool.map(lambda _: subprocess.check_output([sys.executable, "-c", code], text=True), range(4))
        assert len(set(runs)) == 1
    assert [path.name for path in fresh.iterdir() if "draft" in path.name] == []


def test_a_crash_leaves_none_or_a_whole_one(fresh, people, monkeypatch):
    def crash(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("kech.system.files.put_in_place", crash)
        with pytest.raises(KeyboardInterrupt):
            labels_of(people)
    assert not (fresh / "secret").exists()
    assert labels_of(people) == labels_of(people)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("kech-key-abcd-00000000\n", "too short"),
        (FIXED_SECRET.replace("0", "1", 1) + "\n", "damaged"),
        (FIXED_SECRET[:-1], "damaged"),
        ("-----BEGIN RSA PRIVATE KEY-----\n" * 20, "not a key of kech"),
        ("ab" * 32, "not a key of kech"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_key_that_is_no_key_is_refused(people, refuse, folder, own_ledger, tmp_path, text, says, named):
    file = tmp_path / "team.key" if named else own_ledger / "secret"
    file.write_text(text, "ascii")
    file.chmod(0o600)
    words = ("--key-file", file) if named else ()
    said = refuse("release", people, *WORDS, "--k", 5, *words, "-o", folder / "out.csv", code=3, says=says)
    assert not text or text[9:40] not in said


@needs_posix
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660])
def test_a_key_that_others_can_read_is_refused(people, keys, refuse, folder, mode):
    Path(keys[0]).chmod(mode)
    words = (*WORDS, "--k", 5, "--key-file", keys[0], "-o", folder / "out.csv")
    assert "chmod 600" in refuse("release", people, *words, code=3, says="others can read it")


@needs_posix
def test_a_key_of_another_user_is_refused(people, keys, refuse, folder, monkeypatch):
    if os.geteuid() == 0:
        os.chown(keys[0], 4242, 4242)
    else:
        monkeypatch.setattr("kech.system.machine.user_id", lambda: 4242)
    words = (*WORDS, "--k", 5, "--key-file", keys[0], "-o", folder / "out.csv")
    assert "own" in refuse("release", people, *words, code=3, says="belongs to another user")


def test_a_key_file_that_is_missing_is_refused_with_how_to_make_one(people, refuse, tmp_path, folder):
    words = (*WORDS, "--k", 5, "--key-file", tmp_path / "no.key", "-o", folder / "out.csv")
    refuse("release", people, *words, code=3, says="kech ledger --new-key")
    with pytest.raises(BadKey, match="write_key_file"):
        kech.read_table(people, key_file=tmp_path / "no.key", **QI)


@needs_posix
def test_what_is_no_file_is_refused(people, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo"):
        with pytest.raises(BadKey, match="not a regular file"):
            kech.read_table(people, key_file=path, **QI)


def test_a_home_that_cannot_be_written_is_refused_with_what_to_do(people, monkeypatch):
    monkeypatch.setenv("KECH_HOME", str(people / "home"))
    with pytest.raises(CannotWrite, match=r"KECH_HOME.*key_file"):
        labels_of(people)


@needs_posix
def test_a_home_that_can_only_be_read_is_enough(people, own_ledger):
    before = labels_of(people)
    own_ledger.chmod(0o500)
    try:
        assert labels_of(people) == before
    finally:
        own_ledger.chmod(0o700)


@needs_posix
def test_a_key_file_is_made_by_the_command(run, refuse, tmp_path):
    file = tmp_path / "team.key"
    made = run("ledger", "--new-key", file, "--json")
    assert made.json["key_file"] == str(file)
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text("ascii")
    assert text.split("-")[2] not in made.out
    refuse("ledger", "--new-key", file, code=2, says="it exists")
    assert file.read_text("ascii") == text


@needs_posix
def test_a_key_that_another_process_made_meanwhile_is_kept(tmp_path, monkeypatch):
    path = write_key_file(tmp_path / "team.key")
    held = path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    (tmp_path / "link.key").symlink_to(tmp_path / "nowhere")
    for name in ("exists", "is_symlink"):  # as if it had been made after the look
        monkeypatch.setattr(Path, name, lambda *_, **__: False)

    for name in ("team.key", "link.key"):
        with pytest.raises(BadTarget, match="never overwritten"):
            write_key_file(tmp_path / name)
    assert path.read_bytes() == held


def test_of_many_who_make_a_key_one_does(tmp_path):
    def make(_):
        try:
            return write_key_file(tmp_path / "team.key")
        except BadTarget:
            return None

    with ThreadPoolExecutor(8) as pool:
        assert sum(made is not None for made in pool.map(make, range(32))) == 1
