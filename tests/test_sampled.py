"""Differential privacy of a sample: the k of the theorem, the mechanism judged by all its samples, and its refusals."""

import json
from collections import Counter, defaultdict
from contextlib import suppress
from itertools import product
from math import ceil, exp, floor

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom, chi2

import kech
from kech import errors

JOBS = {"care": ["nurse", "doctor"], "food": ["cook", "waiter"], "air": ["pilot"]}
FIXED = {
    "quasi_identifiers": ["age", "size", "job"],
    "axes": {"age": {"kind": "number", "grid": 20}, "size": ["S", "M", "L"]},
    "hierarchies": {"job": JOBS},
    "cut": "domain",
    "levels": {"size": 1, "job": 1},
}
SMALL = {"dp_epsilon": 1.0, "dp_delta": 0.1, "dp_rate": 0.4}  # k = 3
USUAL = {"dp_epsilon": 1.0, "dp_delta": 1e-5, "dp_rate": 0.1}  # k = 7
SIX = [(25, "S", "cook"), (27, "M", "cook"), (38, "S", "waiter"), (22, "M", "waiter"), (51, "L", "nurse")]
SIX += [(55, "L", "doctor")]


def as_table(rows):
    names = ("age", "size", "job")
    return pa.table({name: [row[j] for row in rows] for j, name in enumerate(names)})


def many_rows(rows=3000, seed=1):
    rng = np.random.default_rng(seed)
    jobs = [job for below in JOBS.values() for job in below]
    return pa.table(
        {"age": rng.integers(18, 80, rows), "size": rng.choice([*"SML"], rows), "job": rng.choice(jobs, rows)}
    )


def release(rows, **fields):
    return kech.make_release(rows if isinstance(rows, pa.Table) else as_table(rows), **FIXED | USUAL | fields)


# -- the k of the theorem ------------------------------------------------------------------------------------


def brute_delta(k, epsilon, rate, most=3000):
    """The delta of Li, Qardaji and Su, with every n up to `most`."""
    gamma = (exp(epsilon) - 1 + rate) / exp(epsilon)
    n = np.arange(ceil(k / gamma - 1), most)
    return binom.sf(np.floor(gamma * n), n, rate).max()


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.3, 0.632])
@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-5, 1e-9])
@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.5])
def test_k_is_the_smallest_of_the_theorem(epsilon, delta, rate):
    if epsilon < -np.log(1 - rate):
        pytest.skip("a sample of this rate has a larger epsilon")
    k = kech.Request(goal={"dp_epsilon": epsilon, "dp_delta": delta, "dp_rate": rate}, cut={"cut": "domain"}).goal.k
    assert brute_delta(k, epsilon, rate) <= delta
    assert k == 2 or brute_delta(k - 1, epsilon, rate) > delta


@pytest.mark.parametrize(("rate", "k"), [(0.632, 61), (0.1, 7), (0.05, 5)])
def test_k_has_the_published_values(rate, k):
    asked = kech.Request(goal=USUAL | {"dp_rate": rate}, cut={"cut": "domain"})
    assert asked.goal.k == k
    assert asked.override(k=k + 1).goal.k == k + 1
    assert asked.override(dp_rate=0.02).goal.k < k  # and it follows a change


@pytest.mark.parametrize("goal", [SMALL, USUAL, {"dp_epsilon": 0.5, "dp_delta": 0.01, "dp_rate": 0.3}])
def test_the_size_of_a_class_is_private_for_every_size(goal):
    """The published size of a class of n and of n - 1 rows, in every set of outputs, both ways."""
    k = kech.Request(goal=goal, cut={"cut": "domain"}).goal.k
    for n in range(1, 400):
        more, fewer = (published_sizes(size, k, goal["dp_rate"]) for size in (n, n - 1))
        for one, other in ((more, fewer), (fewer, more)):
            assert worst_excess(one, other, goal["dp_epsilon"]) <= goal["dp_delta"] + 1e-12


def published_sizes(n, k, rate):
    """The probability of each published size; 0 where the class is omitted."""
    chances = dict(enumerate(binom.pmf(np.arange(n + 1), n, rate)))
    return {0: sum(chances[j] for j in chances if j < k)} | {j: chances[j] for j in chances if j >= k}


def worst_excess(one, other, epsilon):
    """The largest P[A in S] - e^epsilon P[B in S] of any set S of outputs."""
    return sum(max(0.0, chance - exp(epsilon) * other.get(output, 0.0)) for output, chance in one.items())


# -- the mechanism, by all its samples -----------------------------------------------------------------------


@pytest.fixture
def all_outputs(monkeypatch, tmp_path):
    """The distribution of everything that is published: each sample is forced once, and has its probability."""
    forced = []

    class Coins:
        def __init__(self, _):
            pass

        def digest(self, size):
            assert size == 8 * len(forced)
            return b"".join((b"\0" if coin else b"\xff") * 8 for coin in forced)

    monkeypatch.setattr("kech.cuts.sampled.shake_256", Coins)

    def enumerate_samples(rows):
        outputs = defaultdict(float)
        with kech.read_table(as_table(rows), **FIXED | SMALL) as table:
            for coins in product([False, True], repeat=len(rows)):
                forced[:] = coins
                taken = sum(coins)
                chance = SMALL["dp_rate"] ** taken * (1 - SMALL["dp_rate"]) ** (len(rows) - taken)
                outputs[publish(table, tmp_path / "out.csv")] += chance
        assert sum(outputs.values()) == pytest.approx(1)
        return dict(outputs)

    return enumerate_samples


def publish(table, path):
    """The lines of the file, whose order is random, and the certificate, without the hash of the file."""
    try:
        certificate = kech.make_release(table).write(path, ledger=False)
    except errors.GoalNotMet:
        return "nothing"
    certificate["file"].pop("sha256")
    return json.dumps([sorted(path.read_text().splitlines()), certificate])


@pytest.mark.parametrize(
    "added",
    [(33, "S", "cook"), pytest.param((53, "L", "nurse"), marks=pytest.mark.long)],
    ids=["to a class of four", "to a class of one"],
)
def test_no_output_betrays_a_row(all_outputs, added):
    """Certificate and file together, of two tables that differ in one row, in the worst set of outputs."""
    without, having = all_outputs(SIX[:5]), all_outputs([*SIX[:5], added])
    assert len(having) > 2
    assert worst_excess(having, without, SMALL["dp_epsilon"]) <= SMALL["dp_delta"]
    assert worst_excess(without, having, SMALL["dp_epsilon"]) <= SMALL["dp_delta"]


@pytest.mark.parametrize(
    "stranger",
    [(71.5, "M", "pilot"), *(pytest.param(row, marks=pytest.mark.long) for row in [(-1e9, "L", "cook")])],
    ids=["a fraction and a new job", "far away"],
)
def test_a_row_that_is_alone_changes_nothing(all_outputs, stranger):
    """Neither domain, unit, names of values nor counts: the two tables have the same outputs, equally often."""
    without, having = all_outputs(SIX[:5]), all_outputs([*SIX[:5], stranger])
    assert having == pytest.approx(without)


# -- drawn levels --------------------------------------------------------------------------------------------


DRAWN = SMALL | {"dp_epsilon": 2.0, "dp_search": 0.8, "levels": {}}
SIZES = [{"S": 0, "M": 1, "L": 2}, {"S": 0, "M": 0, "L": 1}, dict.fromkeys("SML", 0)]  # the cells of each level
LEAVES = {job: above for above, below in JOBS.items() for job in below}
TREE = [{job: job for job in LEAVES}, LEAVES, dict.fromkeys(LEAVES, 0)]


@pytest.fixture
def chances_of_levels(monkeypatch):
    """The probability of each choice of levels, in an order that follows from no row."""

    def list_chances(rows, **fields):
        known = []
        monkeypatch.setattr("kech.cuts.drawn.draw_index", lambda weights, _: known.extend(weights) or len(weights) - 1)
        with suppress(errors.GoalNotMet):
            release(rows, **DRAWN | fields)
        return np.array(known, float) / sum(known)

    return list_chances


@pytest.mark.parametrize("seed", range(4))
def test_one_row_hardly_moves_the_drawn_levels(chances_of_levels, seed):
    """Neither one among many, nor one that is alone or has values that no other row has."""
    rng = np.random.default_rng(seed)
    rows = [SIX[i] for i in rng.integers(0, 6, rng.integers(4, 60))]
    without = chances_of_levels(rows)
    assert len(without) == 9 and without.std() > 0.01
    for added in ([(-1e9, "L", "pilot"), (71.5, "M", "nurse")][seed % 2], rows[0], SIX[seed]):
        ratios = chances_of_levels([*rows, added]) / without
        assert exp(-0.8) - 1e-12 <= ratios.min() and ratios.max() <= exp(0.8) + 1e-12


def test_levels_are_drawn_by_their_scores(chances_of_levels):
    """Rows in classes of k / rate rows or more, and of half as many in part, times the precision of the levels."""
    rows = [(25, "S", "cook")] * 9 + [(35, "M", "waiter")] * 5 + [(25, "L", "nurse")] * 4
    enough = ceil(kech.Request(goal={**SMALL, "dp_epsilon": 1.2}, cut={"cut": "domain"}).goal.k / SMALL["dp_rate"])

    def score(size, job):
        groups = Counter((SIZES[size][row[1]], TREE[job][row[2]]) for row in rows)
        return sum(min(n, max(0, 2 * n - enough)) for n in groups.values()) * (4 - size - job) / 4

    weights = np.exp([0.8 / 2 * score(*levels) for levels in product(range(3), repeat=2)])
    assert weights.max() > 2 * weights.min()
    assert chances_of_levels(rows) == pytest.approx(weights / weights.sum())


def test_levels_are_drawn_as_often_as_their_chances_say(chances_of_levels, monkeypatch):
    """Over many requests for one table: the label of a job tells its level."""
    fields = DRAWN | {"levels": {"size": 2}, "dp_search": 0.04}
    rows = [(25, "S", "cook")] * 40
    chances = chances_of_levels(rows, **fields)
    monkeypatch.undo()
    with kech.read_table(as_table(rows), **FIXED | fields) as table:
        made = [kech.make_release(table, dp_delta=0.1 + number * 1e-6) for number in range(120)]
    drawn = Counter(one.labels["job"][0] for one in made)
    expected = dict(zip(("cook", "food", "*"), 120 * chances, strict=True))
    assert chi2.sf(sum((drawn[job] - mean) ** 2 / mean for job, mean in expected.items()), 2) > 1e-4


def test_a_release_at_drawn_levels_is_repeated_and_verified(tmp_path):
    fields = {"levels": {"size": 1}, "dp_search": 0.1}
    certificate = release(many_rows(), **fields).write(tmp_path / "safe.csv")
    release(many_rows(), **fields).write(tmp_path / "again.csv", ledger=False)
    assert sorted((tmp_path / "safe.csv").read_text()) == sorted((tmp_path / "again.csv").read_text())
    assert certificate["parameters"]["k"] == 8  # of an epsilon of 0.9
    assert kech.verify_release(tmp_path / "safe.csv")["sample"] == USUAL | {"dp_search": 0.1, "k": 8}
    assert "at drawn levels" in kech.make_report(tmp_path / "safe.csv").html


def test_each_row_is_drawn_with_the_rate():
    """Over many requests, the size of a class has the mean and the variance of the binomial distribution."""
    with kech.read_table(as_table([(25, "S", "cook")] * 500), **FIXED | USUAL) as table:
        releases = [kech.make_release(table, dp_delta=1e-5 + number * 1e-9) for number in range(80)]
    drawn = [int(made.partition.sizes.sum()) for made in releases]
    mean, variance = binom.stats(500, 0.1)
    assert abs(np.mean(drawn) - mean) < 5 * (variance / 80) ** 0.5
    assert 0.4 < np.var(drawn) / variance < 2.2
    assert len(set(drawn)) > 8


def test_a_sample_is_drawn_anew_for_another_table_request_or_secret(tmp_path):
    rows = many_rows()
    sizes = release(rows).partition.sizes.tolist()
    assert release(rows.take(list(range(rows.num_rows))[::-1])).partition.sizes.tolist() == sizes
    kech.write_key_file(tmp_path / "key")
    others = [release(rows, dp_delta=1.1e-5), release(rows.slice(1)), release(rows, key_file=tmp_path / "key")]
    assert all(other.partition.sizes.tolist() != sizes for other in others)
    assert len({tuple(other.partition.sizes.tolist()) for other in others}) == len(others)


def test_labels_are_fixed_and_classes_whole(tmp_path):
    rows = many_rows()
    made = release(rows)
    certificate = made.write(tmp_path / "safe.csv")
    printed = Counter((tmp_path / "safe.csv").read_text().splitlines()[1:])
    assert min(printed.values()) >= certificate["parameters"]["k"] == 7
    assert certificate["claims"]["rows_in"] is None and certificate["claims"]["suppressed"] == "hidden"
    upper = {job: above for above, below in JOBS.items() for job in below}
    for line in printed:
        age, size, job = line.strip('"').split('","')
        low = floor(float(age.strip("[)").split(", ")[0]))
        assert age == f"[{low}, {low + 20})" and low % 20 == 0
        assert size in ("S..M", "L") and job in upper.values()
    assert kech.check_certificate(tmp_path / "safe.csv")["k"] >= 7


def test_dates_have_steps_of_days(tmp_path):
    seen = np.datetime64("2020-01-01") + np.random.default_rng(1).integers(0, 300, 2000)
    axes = {"seen": {"kind": "date", "grid": 100}}
    fields = {"quasi_identifiers": ["seen"], "axes": axes, "cut": "domain"}
    kech.make_release(pa.table({"seen": seen}), **fields | USUAL).write(tmp_path / "safe.csv")
    assert '"[2020-02-08, 2020-05-17]"' in (tmp_path / "safe.csv").read_text().splitlines()


# -- what the certificate states -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda told: told["parameters"].update(dp_delta=1e-6), "dp_delta: k = 7 is too small"),
        (lambda told: told["parameters"].update(dp_epsilon=0.1), "dp_epsilon: a sample at the rate 0.1"),
        (lambda told: told["parameters"].update(k=6), "dp_delta: k = 6 is too small"),
        (lambda told: told["parameters"].update(dp_search=0.5), "dp_delta: k = 7 is too small"),
        (lambda told: told["parameters"].update(dp_search=-0.5), "parameters.dp_epsilon"),
        (lambda told: told["parameters"].update(cut="local"), "holds only for"),
        (lambda told: told["quasi_identifiers"][0].update(grid="round"), "'age' follow from the rows"),
        (lambda told: told["claims"].update(suppressed=10, rows_in=told["claims"]["rows"] + 10), "suppressed: "),
        (lambda told: told["parameters"].pop("dp_rate"), "parameters.dp_epsilon"),
        (lambda told: told["parameters"].update(dp_rate="0.1"), "parameters.dp_epsilon"),
    ],
)
def test_a_certificate_that_states_too_much_is_refused(tmp_path, change, complaint):
    release(many_rows()).write(tmp_path / "safe.csv")
    beside = tmp_path / "safe.csv.certificate.json"
    told = json.loads(beside.read_text())
    change(told)
    beside.write_text(json.dumps(told))
    with pytest.raises(errors.KechError, match=complaint):
        kech.check_certificate(tmp_path / "safe.csv")


def test_it_is_said_on_the_screen_and_in_the_report(tmp_path):
    summary = release(many_rows())
    certificate = summary.write(tmp_path / "safe.csv")
    assert summary.summarize(tmp_path / "safe.csv", certificate)["sample"] == USUAL | {"k": 7}
    assert kech.verify_release(tmp_path / "safe.csv")["sample"] == USUAL | {"k": 7}
    assert "(1, 1e-05)-differentially private" in kech.make_report(tmp_path / "safe.csv").html


def test_a_plan_may_ask_for_what_the_certificate_states(tmp_path):
    release(many_rows()).write(tmp_path / "safe.csv")
    asked = {"cut": "domain"} | USUAL
    assert kech.verify_release(tmp_path / "safe.csv", **asked)["checked"]["asked"] == {"k": 7}
    with pytest.raises(errors.ClaimBroken, match="dp_delta: asked 1e-06"):
        kech.verify_release(tmp_path / "safe.csv", **asked | {"dp_delta": 1e-6, "dp_rate": 0.01})
    with pytest.raises(errors.ClaimBroken, match="no certificate states it"):
        kech.verify_release(tmp_path / "safe.csv", quasi_identifiers=FIXED["quasi_identifiers"], **asked)


# -- what the theorem does not cover -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"cut": "local"}, "the rows decide the labels"),
        ({"cut": "minimal"}, "the rows decide the labels"),
        ({"cut": "regime"}, "the rows decide the labels"),
        ({"l": 2}, "no sensitive columns"),
        ({"t": 0.2}, "no sensitive columns"),
        ({"alpha": 0.5}, "no sensitive columns"),
        ({"sensitive": ["illness"]}, "published as they are"),
        ({"keep": ["illness"]}, "published as they are"),
        ({"person": ["illness"]}, "somebody with several"),
        ({"suppress": 0.1}, "fewer than k is omitted"),
        ({"fold_variants": True}, "how others are read"),
        ({"k": 6}, "needs k = 7 or more"),
        ({"dp_epsilon": 0.1}, "it is 0.1054 or more"),
        ({"dp_search": 0.95}, "it is 1.055 beside dp_search=0.95 or more"),
        ({"dp_search": 0.1}, "every level is fixed"),
        ({"levels": {"size": 1}}, "'job' has no level. Name one: levels job=1;"),
        ({"levels": {"size": 1, "job": 1, "age": 0}}, "'age' is a number, so its level is the step of grid"),
        ({"levels": {"size": 1, "job": 1, "illness": 0}}, "is no quasi-identifier"),
        ({"levels": {"size": 1, "job": 3}}, "has the levels 0 to 2"),
        ({"axes": {"age": "number", "size": ["S", "M", "L"]}}, "Write a step"),
        ({"axes": {"age": {"kind": "number", "grid": "exact"}, "size": ["S", "M", "L"]}}, "Write a step"),
        ({"axes": {"age": {"grid": 20}, "size": ["S", "M", "L"]}}, "may not follow from its values"),
        ({"axes": {"age": {"kind": "number", "grid": 20}, "size": "set"}}, "may not follow from its values"),
        ({"axes": {"age": {"kind": "number", "grid": 20}, "size": "star"}}, "may not follow from its values"),
        ({"hierarchies": None, "axes": FIXED["axes"] | {"job": "hierarchy"}}, "has no hierarchy"),
    ],
)
def test_what_follows_from_rows_is_refused(fields, words):
    rows = many_rows(200).append_column("illness", pa.array(["flu", "cold"] * 100))
    with pytest.raises(errors.UsageError, match=words):
        release(rows, **fields)


def test_missing_values_are_refused():
    with pytest.raises(errors.BadOption, match="missing values"):
        release([*SIX, (None, "S", "cook")])


@pytest.mark.parametrize("lacking", USUAL)
def test_all_three_figures_are_needed(lacking):
    goal = {name: value for name, value in USUAL.items() if name != lacking}
    with pytest.raises(errors.BadOption, match="all three"):
        kech.Request(goal=goal, cut={"cut": "domain"})


def test_levels_are_for_the_domain_cut_only():
    with pytest.raises(errors.BadOption, match='only cut="domain" has levels'):
        kech.Request(cut={"cut": "local", "levels": {"job": 1}})


def test_a_sample_without_a_class_is_refused():
    with pytest.raises(errors.GoalNotMet, match="No class of the sample has 7 rows"):
        release([SIX[0]] * 8 + SIX)


def test_other_results_refuse_a_sample(tmp_path):
    rows, request = many_rows(), kech.Request().override(**FIXED | USUAL)
    with pytest.raises(errors.BadOption, match="a query publishes all rows"):
        release(rows).to_sql()
    with kech.read_table(rows, request) as table:
        with pytest.raises(errors.BadOption, match="a spectrum compares many k"):
            kech.compute_spectrum(table, k=[7])
        with pytest.raises(errors.BadOption, match="one release, and a series has several"):
            kech.open_series(tmp_path / "series").publish(table, tmp_path / "safe.csv", request)
    with pytest.raises(errors.BadOption, match="a transformer publishes every row"):
        kech.Anonymizer(request=request, cut="domain").fit(rows.to_pandas())


def test_a_second_sample_is_refused_and_a_repeat_is_not(tmp_path):
    rows = many_rows()
    release(rows).write(tmp_path / "first.csv")
    release(rows).write(tmp_path / "again.csv")
    assert sorted((tmp_path / "first.csv").read_text()) == sorted((tmp_path / "again.csv").read_text())
    for other in (release(rows, dp_rate=0.05), release(rows, levels={"size": 2, "job": 2})):
        with pytest.raises(errors.ReleasedBefore, match="is for one release of a table"):
            other.write(tmp_path / "second.csv")
