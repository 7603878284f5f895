"""A written release: what its file, its certificate, its mapping and its summary say, and which targets are refused."""

import json
from base64 import b64decode
from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from shutil import copyfile

import duckdb
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import kech
from kech import check_certificate
from kech.errors import AlreadyReleased, BadOption, BadTarget, CannotWrite, ClaimBroken, GoalNotMet, TooFewRows
from kech.release.ledger import LedgerEntry
from kech.release.writing import check_elsewhere
from kech.system.console import listen
from kech.tables.demo import nine_rows
from kech.tables.source import find_address

PLAIN = {"cut": "local", "grid": "round", "protect": "full"}  # what every certificate of a usual release states


@pytest.fixture
def nine():
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        yield table


def test_the_sizes_of_classes_are_drawn(nine):
    pytest.importorskip("matplotlib")
    drawn = kech.make_release(nine, k=3, grid="exact").plot()
    ((box,),) = (bars.get_paths() for bars in drawn.collections)
    assert (box.vertices[:4, 0].mean(), box.vertices[:4, 1].max()) == (3, 3)
    assert kech.make_release(nine, k=3, grid="exact").plot(ax=drawn) is drawn


def test_a_table_in_a_database_needs_a_named_certificate(nine, tmp_path):
    with pytest.raises(BadOption, match=r"^certificate: .* Name a file"):
        kech.make_release(nine, k=3).write(f"duckdb:{tmp_path / 'base.db'}#safe")
    assert list(tmp_path.iterdir()) == []


def test_the_source_in_a_database_is_no_target(nine, tmp_path):
    address = f"duckdb:{tmp_path / 'base.db'}#safe"
    kech.make_release(nine, k=3).write(address, tmp_path / "c.json")
    with kech.read_table(address, quasi_identifiers=["age"]) as table:
        with pytest.raises(BadTarget, match="source table itself"):
            kech.make_release(table, k=3).write(address, tmp_path / "d.json")


def test_a_folder_in_the_folder_of_the_source_is_no_target(tmp_path):
    (tmp_path / "people").mkdir()
    pq.write_table(nine_rows(), tmp_path / "people" / "a.parquet")
    address = find_address("spark://host:7077/safe")
    with kech.read_table(tmp_path / "people", quasi_identifiers=["age"]) as table:
        for identity in (f"{(tmp_path / 'people').as_uri()}/safe", (tmp_path / "people").as_uri()):
            with pytest.raises(BadTarget, match="source table"):
                check_elsewhere(address, identity, table)
        check_elsewhere(address, f"{(tmp_path / 'people').as_uri()}2", table)
        check_elsewhere(address, None, table)
    with kech.read_table(nine_rows(), quasi_identifiers=["age"]) as frame:  # it lies nowhere
        check_elsewhere(address, frame.source.path.resolve().as_uri(), frame)


def test_the_components_at_an_eps_must_keep_the_goals():
    table = pa.table({"a": [0, 1, 2, 10, 11, 12, 50, 51, 52], "s": list("xxxyyyxyz")})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        found = kech.make_release(read, cut="regime", grid="exact", eps=1 / 52, l=1)
        with pytest.raises(GoalNotMet, match=r"l = 2\. The components at this eps reach l = 1"):
            kech.make_release(read, cut="regime", grid="exact", eps=1 / 52, l=2)
    assert found.partition.sizes.tolist() == [3, 3, 3]
    reached = {"k": 3, "k_reached": True, "cut": "regime", "grid": "exact", "protect": "none", "eps": 1 / 52}
    assert found.parameters == {**reached, "l": 1, "l_kind": "distinct"}


PEOPLE = {
    "name": list("abcdefghij"),
    "age": [21, 22, 23, 24, 25, 41, 42, 43, 44, 45],
    "size": list("SMSMSMSMSL"),
    "code": ["=1", *(f"u{i}" for i in range(8)), "=1"],  # nine values in ten rows: most have one of their own
    "note": [f"n{i}" for i in range(10)],
    "n": list(range(10)),
    "other": ["x"] * 10,
}


@pytest.fixture
def people():
    roles = {
        "quasi_identifiers": ["age"],
        "sensitive": ["size"],
        "keep": ["note", "n", "code"],
        "identifiers": ["name"],
    }
    with kech.read_table(pa.table(PEOPLE), **roles, axes={"size": ["S", "M", "L"]}) as table:
        yield table


@pytest.mark.parametrize("role", ["keep", "quasi_identifiers"])
def test_texts_of_their_own_are_told_of_though_some_are_missing(role, tmp_path):
    texts = [None if i % 3 else "so " * i + "ill" for i in range(60)]
    roles = {"quasi_identifiers": ["age"], "keep": []}
    roles[role] = [*roles[role], "story"]
    with kech.read_table(pa.table({"age": [i % 5 for i in range(60)], "story": texts}), **roles) as table:
        made = kech.make_release(table, k=3)
        document = made.write(tmp_path / "t.csv", ledger=False)
        told = made.summarize(tmp_path / "t.csv", document)
    expected = {"keep": (["story"], []), "quasi_identifiers": ([], ["story"])}
    assert (told["identifying"], told["rare_texts"]) == expected[role]
    assert kech.verify_release(tmp_path / "t.csv")["identifying"] == told["identifying"]


def test_a_column_that_tells_nothing_is_told_of(run, folder):
    """Cabins as on a ship: most are missing, and every other is somebody's own."""
    cabins = [None if i % 4 else f"C{i}" for i in range(80)]
    pc.write_csv(pa.table({"age": [i % 5 for i in range(80)], "cabin": cabins}), folder / "ship.csv")
    made = ("release", folder / "ship.csv", "--qi", "age", "cabin", "--k", 4, "--no-ledger", "-o")
    assert run(*made, folder / "a.csv", "--json").json["hidden"] == ["cabin"]
    assert "cabin: every published cell is *, or missing." in run(*made, folder / "b.csv").out.replace("\n", " ")


def test_what_is_told_of_a_release(people, tmp_path):
    made = kech.make_release(people, k=5, grid=10)
    path, mapping = tmp_path / "t.csv", tmp_path / "m.json"
    document = made.write(path, mapping=mapping)
    told = made.summarize(path, document, mapping=mapping)
    assert document["values"] == {"size": {"kind": "ordered", "order": ["S", "M", "L"]}}
    assert document["parameters"] == {"k": 5, "cut": "local", "grid": 10, "protect": "none", "owner_secret": True}
    assert told == document["claims"] | {
        "file": str(path),
        "certificate": f"{path}.certificate.json",
        "measured": document["measured"],
        "coarse": None,
        "dropped": ["name", "other"],
        "ledger": told["ledger"],
        "hidden": [],
        "identifying": ["note", "n", "code"],
        "identifying_together": [],
        "rare_texts": [],
        "repeated_people": [],
        "stated": None,
        "unhidden_edges": ["age"],
        "mapping": str(mapping),
        "sql": None,
        "given_away": {},
        "loss_with_l_2": None,
        "sample": None,
        "target": None,
        "weights": None,
    }
    assert told["ledger"]["verdict"] == "first"
    behind = json.loads(mapping.read_text("utf-8"))
    assert behind["released"] == document["file"]["sha256"]
    assert [(one["labels"], [value for value, _ in one["values"]["age"]]) for one in behind["classes"]] == [
        ({"age": "[20, 29]"}, ["21", "22", "23", "24", "25"]),
        ({"age": "[40, 49]"}, ["41", "42", "43", "44", "45"]),
    ]
    auto = kech.make_release(people, k=5)
    again = auto.write(tmp_path / "u.csv", tmp_path / "u.json", ledger=False)
    bare = auto.summarize(tmp_path / "u.csv", again, tmp_path / "u.json")
    assert (bare["certificate"], bare["mapping"], bare["unhidden_edges"]) == (str(tmp_path / "u.json"), None, [])
    assert again["parameters"] == PLAIN | {"k": 5, "owner_secret": True, "no_ledger": True}
    assert again["quasi_identifiers"][0]["grid"] == "round"


def test_every_target_holds_the_named_columns_and_only_csv_guards_formulas(people, tmp_path):
    made = kech.make_release(people, k=5, grid=10)
    base = tmp_path / "base.db"
    made.write(tmp_path / "t.csv", ledger=False)
    made.write(tmp_path / "t.parquet", ledger=False)
    made.write(f"duckdb:{base}#safe", tmp_path / "c.json", ledger=False)
    with duckdb.connect(str(base), read_only=True) as database:
        stored = database.sql("FROM safe").to_arrow_table()
    files = {"'=1": pc.read_csv(tmp_path / "t.csv"), "=1": pq.read_table(tmp_path / "t.parquet")}
    for guarded, found in [*files.items(), ("=1", stored)]:
        assert found.column_names == ["age", "size", "code", "note", "n"]
        assert sorted(found["n"].to_pylist()) == PEOPLE["n"]
        assert Counter(found["code"].to_pylist()) == Counter(guarded if x == "=1" else x for x in PEOPLE["code"])
        assert Counter(found["age"].to_pylist()) == {"[20, 29]": 5, "[40, 49]": 5}


def test_a_mapping_and_a_certificate_hold_text_as_it_stands(tmp_path):
    table = pa.table({"größe": ["=1", "=1", "ü", "ü"]})
    with kech.read_table(table, quasi_identifiers=["größe"], axes={"größe": "set"}) as read:
        kech.make_release(read, k=2).write(tmp_path / "t.csv", mapping=tmp_path / "m.json")
    behind = json.loads((tmp_path / "m.json").read_text("utf-8"))["classes"]
    assert sorted(one["values"]["größe"] for one in behind) == [[["=1", 2]], [["ü", 2]]]
    written = (tmp_path / "t.csv.certificate.json").read_text("utf-8")
    assert written == json.dumps(json.loads(written), indent=2, ensure_ascii=False) + "\n"
    assert '"größe"' in written


@pytest.mark.parametrize("cut", ["minimal", "domain"])
@pytest.mark.parametrize(("k", "rows_in", "suppressed", "loss"), [(3, 13, 3, 3 / 13), (5, None, "<5", 0)])
def test_rows_that_are_left_out_are_counted_and_lose_everything(tmp_path, cut, k, rows_in, suppressed, loss):
    """Few of them are not counted in public: then the loss is that of the published rows."""
    table = pa.table({"a": [1] * 5 + [2] * 5 + [50, 90, 99], "s": list("xyxyxyxyxyxyx")})
    with kech.read_table(table, quasi_identifiers=["a"], sensitive=["s"]) as read:
        made = kech.make_release(read, k=k, suppress=0.25, cut=cut, grid="exact")
        claims = made.write(tmp_path / "t.csv", ledger=False)["claims"]
    assert (made.partition.rows_in, made.partition.suppressed) == (13, 3)
    assert (claims["rows_in"], claims["suppressed"], claims["rows"]) == (rows_in, suppressed, 10)
    assert claims["loss"] == pytest.approx(loss)
    drawn = {"owner_secret": True} if cut == "minimal" else {}
    assert made.parameters == {"k": k, "cut": cut, "grid": "exact", "protect": "none", "suppress": 0.25, **drawn}


@pytest.mark.parametrize(
    ("k", "says"),
    [(3, "You asked for k=3. The smallest class would have 1 row"), (None, "two or more. The smallest class")],
)
def test_components_that_hide_nobody_are_no_release(nine, k, says):
    with pytest.raises(GoalNotMet, match=says):
        kech.make_release(nine, k=k, cut="regime", grid="exact", eps=0)


def test_coarse_axes_are_measured_by_the_domain_of_the_fine_ones(tmp_path):
    with kech.read_table(pa.table({"a": [i * 7 % 100 for i in range(200)]}), quasi_identifiers=["a"]) as read:
        fine, coarse = (kech.make_release(read, k=5, protect="none", max_points=most) for most in (None, 6))
        even = kech.make_release(read, k=5, cut="domain")
        document = coarse.write(tmp_path / "t.csv")
        told = coarse.summarize(tmp_path / "t.csv", document)
    assert coarse.axes[0]["domain"] == fine.axes[0]["domain"] == [-1, 100]
    assert even.axes[0]["domain"] == [4, 95]
    assert (fine.axes[0]["protect"], even.axes[0]["grid"]) == ("none", "round")
    assert coarse.partition.classes <= 6 < fine.partition.classes
    assert fine.parameters == PLAIN | {"k": 5, "protect": "none", "owner_secret": True}
    assert (
        told["coarse"]
        == document["parameters"]["coarse"]
        == {"step": pytest.approx(0.2102, abs=1e-4), "eps_error": 16 / 101}
    )


def test_edges_that_serve_no_k_that_is_asked_go_before_others():
    """Those of k = 50 are few; with an eps alone, those of k = 2 all stay, though they are more than those of 3."""
    with kech.read_table(pa.table({"a": list(range(200))}), quasi_identifiers=["a"]) as read:
        made = [kech.make_release(read, k=k, protect="none", max_points=20) for k in (50, 2)]
    assert [release.parameters["coarse"]["step"] for release in made] == [2**-14, pytest.approx(2**-4.25)]
    with kech.read_table(pa.table({"a": [i * i * 7 % 1000 for i in range(40)]}), quasi_identifiers=["a"]) as read:
        at_eps = {"cut": "regime", "eps": 0.5, "protect": "none", "max_points": 8}
        alone, two, three = (kech.make_release(read, k=k, **at_eps).parameters["coarse"] for k in (None, 2, 3))
    assert alone == two
    assert (two["step"], three["step"]) == (pytest.approx(2**-2.5), 2**-14)


def test_components_of_two_rows_are_a_release():
    with kech.read_table(pa.table({"a": [0, 1, 10, 11]}), quasi_identifiers=["a"]) as read:
        made = kech.make_release(read, cut="regime", grid="exact", eps=0.1)
    assert made.partition.sizes.tolist() == [2, 2]


def test_a_call_and_a_plan_that_say_nothing_say_the_same(nine):
    """The defaults of the library are those of the command line."""
    bare, planned = kech.make_release(nine, k=3), kech.make_release(nine, kech.Request().override(k=3))
    assert bare.parameters == planned.parameters == PLAIN | {"k": 3, "owner_secret": True}
    assert bare.labels == planned.labels
    assert bare.version == version("kech")
    assert kech.make_release(nine, k=3, cut="regime").parameters["reading"] == "strict"


def test_effort_and_seed_reach_the_cut():
    """What is asked beside k changes the classes: more effort loses less, and another seed finds others."""
    ages, towns = ([i * i * 7 % 91 for i in range(400)], [i * i * 13 % 57 for i in range(400)])
    with kech.read_table(pa.table({"age": ages, "town": towns}), quasi_identifiers=["age", "town"]) as read:
        made = {
            said: kech.make_release(read, k=4, grid="exact", **dict([said]))
            for said in (("effort", "quick"), ("effort", "best"), ("seed", 7), ("seed", 8))
        }
        again = kech.make_release(read, k=4, grid="exact", seed=7)
    losses = {said: release.public_loss for said, release in made.items()}
    assert losses["effort", "best"] < losses["effort", "quick"]
    assert made["seed", 7].labels != made["seed", 8].labels
    assert made["seed", 7].labels == again.labels


@pytest.mark.parametrize("eps", [0, 0.3])
def test_the_components_at_an_eps_are_printed_on_the_grid_of_the_k_they_reach(eps):
    """Edges that hide two rows part the pairs; where components are larger, only edges that hide as many are left."""
    pairs = [10 * i for i in range(12) for _ in range(2)]
    with kech.read_table(pa.table({"a": pairs}), quasi_identifiers=["a"]) as read:
        made = kech.make_release(read, cut="regime", protect="none", eps=eps)
        with pytest.raises(BadOption, match="with eps every component is a class"):
            kech.make_release(read, cut="regime", protect="none", eps=eps, suppress=0.1)
    assert made.partition.k == (2 if eps == 0 else 24)
    assert [axis.k for axis in made.partition.points.axes] == [made.partition.k]


def test_columns_are_judged_by_the_rows_that_are_published(tmp_path):
    """The notes of the ten rows that stay are all different; those of the rows that are left out are not."""
    columns = {"a": [1] * 5 + [2] * 5 + [50, 90, 99], "note": [*map(str, range(10)), "0", "0", "0"]}
    with kech.read_table(pa.table(columns), quasi_identifiers=["a"], keep=["note"]) as read:
        made = kech.make_release(read, k=3, suppress=0.25, cut="minimal", grid="exact")
        told = made.summarize(tmp_path / "t.csv", made.write(tmp_path / "t.csv", ledger=False))
    assert (told["rows"], told["identifying"]) == (10, ["note"])


def test_a_release_in_another_form_has_heard_nothing_of_the_ledger_yet(nine, tmp_path):
    made = kech.make_release(nine, k=3)
    made.write(tmp_path / "t.pq", ledger=False)
    assert (len(made.admissions), replace(made, request=made.request.override(labels="dash")).admissions) == (1, [])


def test_labels_are_texts_in_a_frame_and_listed_in_a_file(nine, tmp_path):
    """A .pq is a Parquet file like others."""
    made = kech.make_release(nine, k=3)
    document = made.write(tmp_path / "t.pq")
    written = pq.read_table(tmp_path / "t.pq")
    for table in (made.frame, written):
        assert table.schema.types == [pa.string(), pa.string(), nine_rows().schema.field("salary").type]
    assert Counter(written["age"].to_pylist()) == Counter(made.frame["age"].to_pylist())
    assert check_certificate(tmp_path / "t.pq")["rows"] == document["claims"]["rows"] == 9
    stored = pq.read_metadata(tmp_path / "t.pq").row_group(0)
    known = {stored.column(i).path_in_schema: stored.column(i).is_stats_set for i in range(stored.num_columns)}
    assert known == {"age": False, "zip": False, "salary": True}
    assert (tmp_path / "t.pq").read_bytes().count(b"ARROW:schema") == 1
    told = b64decode(pq.read_metadata(tmp_path / "t.pq").metadata[b"ARROW:schema"])
    assert pa.ipc.read_schema(pa.py_buffer(told)).types == written.schema.types


def test_numbers_of_a_csv_file_are_published_as_numbers(tmp_path):
    pc.write_csv(nine_rows(), tmp_path / "in.csv")
    with kech.read_table(tmp_path / "in.csv", quasi_identifiers=["age", "zip"], sensitive=["salary"]) as table:
        kech.make_release(table, k=3).write(tmp_path / "t.parquet", ledger=False)
    assert pq.read_schema(tmp_path / "t.parquet").types == [pa.string(), pa.string(), pa.int64()]


def test_intervals_that_a_form_cannot_write_are_no_release(nine):
    with pytest.raises(BadOption, match="text, dash, columns"):
        kech.make_release(nine, k=3, labels="points")
    with kech.read_table(pa.table({"x": [-3, -3, -2, -2]}), quasi_identifiers=["x"]) as read:
        with pytest.raises(BadOption, match="minus"):
            kech.make_release(read, k=4, grid="exact", labels="dash")
    with kech.read_table(pa.table({"x": [1, 1], "x_low": [1, 2]}), quasi_identifiers=["x"], keep=["x_low"]) as read:
        with pytest.raises(BadOption, match="'x_low'"):
            kech.make_release(read, k=2, labels="columns")


def test_a_file_that_loses_more_than_its_partition_is_not_certified(nine, tmp_path, monkeypatch):
    """One that loses as much is."""
    fine, coarse = (kech.make_release(nine, k=k, grid="exact") for k in (3, 9))
    first = coarse.write(tmp_path / "t.csv", ledger=False)
    monkeypatch.setattr("kech.release.release.write_batches", lambda _, draft, __: copyfile(tmp_path / "t.csv", draft))
    assert coarse.write(tmp_path / "u.csv", ledger=False)["claims"] == first["claims"]
    with pytest.raises(ClaimBroken) as caught:
        fine.write(tmp_path / "v.csv", ledger=False)
    assert "loss: the written file loses more or less than the partition. This is a fault of kech" in str(caught.value)
    assert not (tmp_path / "v.csv").exists()


def test_targets_that_hold_something_else_are_refused(tmp_path):
    pc.write_csv(nine_rows(), tmp_path / "in.csv")
    for name in ("plain", "t.csv.certificate.json", "here"):
        (tmp_path / name).mkdir()
    with kech.read_table(tmp_path / "in.csv", quasi_identifiers=["age", "zip"]) as table:
        made = kech.make_release(table, k=3)

        def refused(says, path, certificate=None, mapping=None):
            places = {
                name: place and tmp_path / place
                for name, place in {"certificate": certificate, "mapping": mapping}.items()
            }
            with pytest.raises(BadTarget, match=says):
                made.write(tmp_path / path, **places)

        refused("it is a folder. Name a file", "plain")
        refused("its name must end in .csv or .parquet or .pq", "out.txt")
        refused("a folder stands where its certificate would go. Choose another name", "t.csv")
        refused("its folder does not exist", "nowhere/u.csv")
        refused("it is the source table itself", "in.csv")
        refused("the release itself goes there", "u.csv", "here/../u.csv")
        refused("it is the source table itself", "u.csv", "in.csv")
        refused(r"the name of a mapping must end in \.json", "u.csv", None, "m.txt")
        refused("the release or its certificate goes there", "u.csv", None, "u.csv.certificate.json")
        refused("the release or its certificate goes there", "u.csv", "c.json", "here/../c.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here", "in.csv", "plain", "t.csv.certificate.json"]


def test_a_folder_that_is_the_source_takes_no_file(tmp_path):
    (tmp_path / "people").mkdir()
    pq.write_table(nine_rows(), tmp_path / "people" / "a.parquet")
    with kech.read_table(tmp_path / "people", quasi_identifiers=["age"]) as table:
        made = kech.make_release(table, k=3)
        with pytest.raises(BadTarget, match="it lies in the folder of the source table"):
            made.write(tmp_path / "people" / "b.parquet")
        assert made.write(tmp_path / "people.csv")["claims"]["rows"] == 9


def test_a_release_is_no_source_until_it_is_edited(nine, tmp_path):
    path = tmp_path / "t.csv"
    kech.make_release(nine, k=3).write(path)
    with kech.read_table(path, quasi_identifiers=["age"]) as table, pytest.raises(AlreadyReleased):
        kech.make_release(table, k=3)
    path.write_text(path.read_text("utf-8") + "5,5,5\n", "utf-8")
    with kech.read_table(path, quasi_identifiers=["salary"]) as table:
        assert kech.make_release(table, k=3).partition.rows_in == 10


def test_which_ledger_is_asked_and_what_a_reader_is_told_of_it(nine, tmp_path):
    made, own = kech.make_release(nine, k=3), kech.open_ledger()
    stated = {}
    for name, options in {
        "none": {"ledger": False},
        "own": {"ledger": own},
        "usual": {"ledger": True},
        "allowed": {"ledger": True, "allow_composition": True},
        "own allowed": {"ledger": own, "allow_composition": True},
    }.items():
        stated[name] = made.write(tmp_path / f"{name}.csv", **options)["parameters"].keys() - {*PLAIN, "k"}
        assert len(own.list_releases()) == len(stated) - 1
    assert stated == {
        "none": {"owner_secret", "no_ledger"},
        "own": {"owner_secret"},
        "usual": {"owner_secret"},
        "allowed": {"owner_secret", "allow_composition"},
        "own allowed": {"owner_secret", "allow_composition"},
    }


def test_nothing_is_allowed_by_saying_nothing(nine, tmp_path):
    written = kech.make_release(nine, k=3).write(tmp_path / "t.csv")
    assert written["parameters"] == PLAIN | {"k": 3, "owner_secret": True}


def test_a_release_strikes_out_what_a_killed_run_had_entered(nine, tmp_path):
    ledger, draft = kech.open_ledger(), tmp_path / ".t.csv.1.kech-draft"
    draft.touch()
    with ledger.lock() as book:
        entry = LedgerEntry("another table", "", "f" * 64, 5, "2026-01-01T00:00:00Z", draft=str(draft))
        ledger.write(book, [*book.releases, entry])
    document = kech.make_release(nine, k=3).write(tmp_path / "t.csv")
    assert [held.release for held in ledger.read().releases] == [document["file"]["sha256"]]


def test_a_table_that_others_see_stays_in_the_ledger_though_its_certificate_is_lost(nine, tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    address = f"duckdb:{tmp_path / 'base.db'}#safe"
    monkeypatch.setattr("kech.release.release.put_in_place", full)
    with pytest.raises(CannotWrite):
        kech.make_release(nine, k=3).write(address, tmp_path / "c.json")
    with duckdb.connect(str(tmp_path / "base.db"), read_only=True) as database:
        assert database.sql("FROM safe").to_arrow_table().num_rows == 9
    assert [held.k for held in kech.open_ledger().read().releases] == [3]


def test_whoever_listens_hears_what_is_done(nine, tmp_path):
    made, heard = kech.make_release(nine, k=3), []
    with listen(lambda doing, _: heard.append(doing)):
        file = made.write(tmp_path / "t.csv", ledger=False)
        table = made.write(f"duckdb:{tmp_path / 'base.db'}#safe", tmp_path / "c.json", ledger=False)
    assert file["claims"] == table["claims"]
    last = "looking for earlier releases"
    assert heard == ["writing", "checking the written file", last, "writing", "checking the written table", last]


def test_a_release_needs_a_k_or_an_eps(nine):
    with pytest.raises(BadOption, match=r"^k: it is missing. Say among how many rows"):
        kech.make_release(nine)
    with pytest.raises(BadOption, match=r"^eps: only cut=\"regime\""):
        kech.make_release(nine, eps=0.1)
    for eps in (-0.1, float("inf"), float("nan")):
        with pytest.raises(BadOption, match=r"^eps: .*0 or more"):
            kech.make_release(nine, cut="regime", eps=eps)


def test_a_certificate_is_checked_as_it_was_made(people, nine, tmp_path):
    """Values are compared in their order, and a recursive l is as deep as it was asked."""
    for name, made in {
        "ordered.csv": kech.make_release(people, k=5),
        "deep.csv": kech.make_release(nine, k=3, grid="exact", l=2, l_kind="recursive", c=3),
    }.items():
        document = made.write(tmp_path / name, ledger=False)
        assert check_certificate(tmp_path / name) | document["measured"] == check_certificate(tmp_path / name)
    assert document["measured"]["recursive_c"] == {"salary": 0.5}


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"k": 10},
        {"k": 0},
        {"k": 3, "eps": 0.1},
        *({"k": 3, "cut": cut} for cut in ("best", ("local",), ["local"])),
    ],
)
def test_a_wish_that_cannot_be_kept_is_refused_before_rows_are_counted(nine, monkeypatch, wish):
    monkeypatch.setattr("kech.points.points.build_points", None)
    with pytest.raises((BadOption, TooFewRows)):
        kech.make_release(nine, **wish)


def test_labels_are_made_once_where_the_price_of_l_is_stated(nine, folder, monkeypatch):
    maker, columns = type(kech.make_release(nine, k=3).partition), []
    make = maker.labels

    def count(partition, axis):
        columns.append(axis)
        return make(partition, axis)

    monkeypatch.setattr(maker, "labels", count)
    kech.make_release(nine, k=3).with_price().write(folder / "safe.csv", ledger=False)
    assert sorted(columns) == [0, 1]
