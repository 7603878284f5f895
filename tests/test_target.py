"""Weights for a target: measured on drafts that could be published, rounded, stated, and kept where they are named."""

import tracemalloc
from dataclasses import replace
from pkgutil import resolve_name

import numpy as np
import pyarrow as pa
import pytest

import kech
from kech.errors import BadCertificate, BadOption, MissingExtra

pytest.importorskip("sklearn")
COLUMNS = ["useful", "job", "useless"]


def people(rows=600, outcome=None):
    rng = np.random.default_rng(1)
    useful, useless = rng.integers(0, 1000, (2, rows))
    job = rng.choice(["a", "b", "c", "d"], rows)
    given = outcome or (lambda useful, job: np.where(useful / 1000 + 0.1 * (job == "a") > 0.5, "yes", "no"))
    return {"useful": useful, "job": job, "useless": useless, "outcome": given(useful, job)}


def read(columns):
    table = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
    return kech.read_table(table, quasi_identifiers=COLUMNS, sensitive=["outcome"])


def weigh(table, **fields):
    """The weights that a release states."""
    return kech.make_release(table, k=5, target="outcome", **fields).parameters["weights"]


def test_the_columns_that_predict_a_target_are_kept_more_precise():
    table = read(people())
    plain, weighed = kech.make_release(table, k=5), kech.make_release(table, k=5, target="outcome")
    weights = weighed.parameters["weights"]
    assert weights["useful"] == 4
    assert weights["useless"] <= weights["useful"] / 4
    before, after = (np.average(made.partition.widths(0), weights=made.partition.sizes) for made in (plain, weighed))
    assert after < before / 1.5
    assert weighed.partition.k >= 5


@pytest.mark.parametrize(
    "outcome",
    [
        lambda useful, job: useful * 1.5,  # a number
        lambda useful, job: np.array([None if value < 50 else float(value) for value in useful]),  # with NULLs
        lambda useful, job: np.array([f"T{value // 40:02}" for value in useful]),  # 25 texts
    ],
)
def test_targets_of_every_kind_are_predicted(outcome):
    weights = weigh(read(people(outcome=outcome)))
    assert weights["useful"] == 4 > weights["useless"]


def test_a_target_that_nothing_predicts_weighs_all_columns_alike():
    constant = read(people(outcome=lambda useful, job: np.full(len(useful), "same")))
    assert weigh(constant) == dict.fromkeys(COLUMNS, 1.0)


def test_weights_are_powers_of_two_and_equal_input_gives_equal_ones():
    table = read(people())
    first, second = (kech.make_release(table, k=5, target="outcome") for _ in range(2))
    assert first.parameters["weights"] == second.parameters["weights"]
    assert first.labels == second.labels
    assert {*first.parameters["weights"].values()} <= {0.25, 0.5, 1, 2, 4}


def test_only_what_a_draft_publishes_is_measured(monkeypatch):
    """Labels, sizes of classes and outcomes decide; the codes behind the labels do not."""
    table, drafts, weigh_draft = read(people()), [], resolve_name("kech.cuts:weigh_columns")

    def weigh_blindly(draft, target):
        drafts.append(draft)
        blind = replace(draft.points, codes=np.zeros_like(draft.points.codes))
        return weigh_draft(replace(draft, points=blind), target)

    seen = weigh(table)
    monkeypatch.setattr("kech.cuts.weigh_columns", weigh_blindly)
    assert weigh(table) == seen
    assert [draft.k >= 5 for draft in drafts] == [True, True]


def test_named_weights_stay_and_a_release_is_made_again_from_its_certificate(tmp_path, monkeypatch):
    table = read(people())
    part = kech.make_release(table, k=5, target="outcome", weights={"useless": 3})
    assert part.parameters["weights"]["useless"] == 3
    made = kech.make_release(table, k=5, target="outcome")
    document = made.write(tmp_path / "safe.csv", ledger=False)
    assert document["parameters"]["target"] == "outcome"
    assert kech.check_certificate(tmp_path / "safe.csv")["loss"] == pytest.approx(made.public_loss)
    stated = {name: document["parameters"][name] for name in ("k", "target", "weights")}
    monkeypatch.setattr("kech.cuts.weigh_columns", lambda draft, target: pytest.fail("nothing is left to measure"))
    assert kech.make_release(table, **stated).labels == made.labels


@pytest.mark.parametrize("goals", [{}, {"l": 2}, {"suppress": 0.02}, {"cut": "minimal"}, {"objective": "variance"}])
def test_stated_weights_alone_give_the_labels_of_a_target(goals):
    """Weights come from scikit-learn, and everything else is kech's own."""
    table = read(people())
    made = kech.make_release(table, k=5, target="outcome", **goals)
    assert kech.make_release(table, k=5, weights=made.parameters["weights"], **goals).labels == made.labels


def test_a_numpy_that_draws_otherwise_gives_the_same_weights(monkeypatch):
    """NumPy promises no stream of its generators."""
    table = read(people())
    seen = weigh(table)
    monkeypatch.setattr(np.random, "Generator", lambda bits: pytest.fail("NumPy's generator was asked"))
    assert weigh(table) == seen


def test_weights_and_their_memory_depend_only_on_classes_of_chosen_rows():
    draft = kech.make_release(read(people()), k=5).partition
    lo, hi, members = (np.tile(draft.lo, (4000, 1)), np.tile(draft.hi, (4000, 1)), draft.members)
    many = replace(draft, lo=lo, hi=hi, members={j: np.tile(each, (4000, 1)) for j, each in members.items()})
    weigh_draft, found, peaks = resolve_name("kech.cuts:weigh_columns"), [], []
    for each in (draft, draft, many):  # the first one loads scikit-learn
        tracemalloc.start()
        found.append(weigh_draft(each, "outcome"))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert members and found[0] == found[2]
    assert peaks[2] < 1.5 * peaks[1], peaks


def test_a_certificate_with_a_target_that_is_not_published_is_refused(tmp_path):
    path = tmp_path / "safe.csv"
    kech.make_release(read(people()), k=5, target="outcome").write(path, ledger=False)
    beside = tmp_path / "safe.csv.certificate.json"
    beside.write_text(beside.read_text("utf-8").replace('"target": "outcome"', '"target": "useful"'), "utf-8")
    with pytest.raises(BadCertificate, match=r"parameters\.target"):
        kech.check_certificate(path)


def test_what_cannot_be_weighed_is_refused(tmp_path, monkeypatch):
    table = read(people())
    with pytest.raises(BadOption, match="is no sensitive column"):
        kech.make_release(table, k=5, target="useful")
    with pytest.raises(BadOption, match="change no component"):
        kech.make_release(table, k=5, target="outcome", cut="regime")
    with pytest.raises(BadOption, match="losses of equal weights"):
        kech.compute_spectrum(table, k=5, target="outcome")
    with pytest.raises(BadOption, match="all versions of a series are weighed alike"):
        kech.open_series(tmp_path / "s").publish(table, tmp_path / "a.csv", k=5, target="outcome")
    monkeypatch.setattr("kech.cuts.target.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="sklearn"):
        kech.make_release(table, k=5, target="outcome")


def test_the_command_line_says_how_much_columns_count(run, tmp_path):
    from pyarrow import csv

    csv.write_csv(pa.table({name: list(map(str, values)) for name, values in people().items()}), tmp_path / "t.csv")
    words = ("release", tmp_path / "t.csv", "--qi", *COLUMNS, "--sensitive", "outcome", "--k", 5, "--no-ledger")
    said = run(*words, "--for", "outcome", "-o", tmp_path / "safe.csv").out.replace("\n", " ")
    assert "Columns count by their use for predicting 'outcome': 'useful' 4, " in said
