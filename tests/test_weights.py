"""Weights of columns: they count in the search, in the loss, in its bound and in the recount."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kech
from kech.errors import BadOption, ClaimBroken, KechError
from kech.tables.demo import nine_rows

COLUMNS = ["age", "income", "sex"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 200), "income": rng.normal(40, 9, 200).round().astype(int)})
    frame = frame.assign(sex=rng.choice(["f", "m"], 200), ill=rng.choice(["a", "b", "c"], 200))
    with kech.read_table(frame, quasi_identifiers=COLUMNS, sensitive=["ill"]) as table:
        yield table


@pytest.mark.parametrize("cut", ["local", "domain", "minimal", "regime"])
def test_the_loss_is_the_weighted_mean_of_the_columns(people, tmp_path, cut):
    weights = {"age": 6.0, "sex": 0.5}
    release = kech.make_release(people, k=4, cut=cut, weights=weights, suppress=0.05 if cut == "domain" else 0)
    claims = release.write(tmp_path / "safe.csv", ledger=False)["claims"]
    columns = claims["loss_per_column"]
    mean = sum(columns[name] * weights.get(name, 1) for name in COLUMNS) / 7.5
    assert claims["loss"] == pytest.approx(mean) == pytest.approx(kech.check_certificate(tmp_path / "safe.csv")["loss"])


@pytest.mark.parametrize("cut", ["local", "domain"])
def test_a_weight_keeps_its_column_more_precise(people, cut):
    plain, weighted = (column_losses(people, cut, weights) for weights in (None, {"age": 20.0}))
    assert weighted["age"] < plain["age"] and sum(weighted.values()) >= sum(plain.values())


def column_losses(table, cut, weights):
    (row,) = kech.compute_spectrum(table, k=5, cut=cut, weights=weights).rows()
    return row["loss_per_column"]


def test_equal_weights_change_nothing(people):
    plain, equal = (kech.make_release(people, k=5, weights=w) for w in (None, dict.fromkeys(COLUMNS, 2.0)))
    assert sorted(map(tuple, plain.frame.values)) == sorted(map(tuple, equal.frame.values))
    assert plain.public_loss == equal.public_loss


@given(st.tuples(*[st.floats(0.1, 20)] * 2), st.integers(2, 4))
@settings(max_examples=25)
def test_no_partition_of_the_nine_rows_is_below_the_bound(weights, k):
    """All ways to part nine rows into runs along either column, measured here by hand."""
    named = dict(zip(("age", "zip"), weights, strict=True))
    rows = nine_rows()
    with kech.read_table(rows, quasi_identifiers=["age", "zip"], grid="exact") as table:
        bound = kech.make_release(table, k=k, weights=named).bound()
    assert bound.lower_bound <= bound.loss + 1e-12
    points = np.array([rows[name].to_pylist() for name in named], float).T
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    share = np.array(weights) / sum(weights)
    for order in (points[:, 0].argsort(), points[:, 1].argsort()):
        for middle in range(k, 9 - k + 1):
            parts = (points[order[:middle]], points[order[middle:]])
            loss = sum(len(part) * (np.ptp(part, axis=0) @ share) for part in parts) / 9
            assert bound.lower_bound <= loss + 1e-9


def test_weights_are_part_of_plans_options_and_certificates(run, folder):
    path, plan, safe = folder / "people.csv", folder / "kech.toml", folder / "safe.csv"
    pd.DataFrame({"age": range(20, 60), "zip": [str(10000 + 7 * i % 90) for i in range(40)]}).to_csv(path, index=False)
    kech.write_request(kech.Request(cut={"weights": {"age": 3}}).override(quasi_identifiers=["age", "zip"]), plan)
    assert kech.read_request(plan).cut.weights == {"age": 3}
    run("release", path, "--plan", plan, "--k", 4, "--no-ledger", "-o", safe)
    typed = run("release", path, "--qi", "age,zip", "--k", 4, "--weights", "age=3", "--no-ledger", "-o", safe, "--json")
    beside = folder / "safe.csv.certificate.json"
    certificate = json.loads(beside.read_text())
    assert certificate["parameters"]["weights"] == {"age": 3} and certificate["claims"]["loss"] == typed.json["loss"]
    for forged, refusal in (({"age": 9}, ClaimBroken), ({"age": 0}, KechError), ({"job": 2}, KechError)):
        beside.write_text(json.dumps(certificate | {"parameters": certificate["parameters"] | {"weights": forged}}))
        with pytest.raises(refusal):
            kech.check_certificate(safe)


@pytest.mark.parametrize("weights", [{"age": 0}, {"age": -1}, {"age": 1001}, {"age": "heavy"}, {"ill": 2}, {"job": 2}])
def test_weights_that_mean_nothing_are_refused(people, weights):
    with pytest.raises(BadOption, match="weights"):
        kech.make_release(people, k=3, weights=weights)
