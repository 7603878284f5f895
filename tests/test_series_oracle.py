"""Random histories of a table, judged from the files and originals alone: series are safe, re-releases are not."""

import pytest

import kech
import series_oracle as oracle
from strategies import further

BLOCK = 5  # histories a test
ALL = 500
ROLES = {"quasi_identifiers": list(oracle.LABELS), "sensitive": [oracle.SECRET]}


def roles_of(history):
    """The columns of a history by their roles; k counts people where they are named."""
    kept = {"keep": [oracle.ROW]} if history.has_key else {}
    people = {"person": [oracle.PERSON]} if history.names_people else {"rows_are_people": True}
    return ROLES | kept | people


def release_anew(history, place, source, target):
    """A version by itself, as if there were no other."""
    with kech.read_table(source, **roles_of(history)) as table:
        try:
            kech.make_release(table, k=history.k, l=history.l, effort="quick").write(target, ledger=False)
        except kech.errors.GoalNotMet:
            return


def release_in_series(history, place, source, target):
    """The next version of a series."""
    own = {
        "wait": history.wait,
        "gather": history.gather,
        "departures": history.departures,
        "corrections": history.corrections,
        "most_changed": 1,
    }
    key = {"key": [oracle.KEY]} if history.has_key else {}
    with kech.read_table(source, **roles_of(history), **key, **own) as table:
        series = kech.open_series(place / "series")
        try:
            series.publish(table, target, k=history.k, l=history.l, effort="quick", ledger=False)
        except kech.errors.GoalNotMet:
            return  # then nothing is published, and nothing can be seen


@pytest.mark.parametrize("first", [0, *further(range(BLOCK, ALL, BLOCK))])
def test_series_are_innocent(tmp_path, first):
    """No rows are told apart, no key is in two cohorts, no class grows or shrinks by few: judged from the files."""
    assert oracle.judge_histories(range(first, first + BLOCK), tmp_path, release_in_series) == []


@pytest.mark.parametrize("first", [0, *further(range(10, 300, 10))])
def test_without_a_key_no_version_tells_whose_finding_is_whose(tmp_path, first):
    """Two rows of a cohort swap their findings in all versions: every file stays as it is."""
    wrong, judged = oracle.judge_worlds(range(first, first + 10), tmp_path, release_in_series)

    assert wrong == [] and judged > 0


@pytest.mark.parametrize("first", [30, *further([*range(0, 30, BLOCK), *range(35, 300, BLOCK)])])
def test_k_people_are_left_whoever_a_version_names(tmp_path, first):
    assert oracle.judge_names(range(first, first + BLOCK), tmp_path, release_in_series) == []


@pytest.mark.parametrize("seed", [27, *further((24, 30, 36))])
def test_the_joint_k_of_a_series_is_not_below_its_k(tmp_path, seed):
    """Rows leave, wait, are corrected and withdrawn; none is looked for where its cohort is not."""
    history = oracle.random_history(seed)
    oracle.release_history(history, tmp_path / "it", release_in_series)
    safe = sorted((tmp_path / "it").glob("*_safe.csv"))
    originals = [path.with_name(path.name.replace("_safe", "")) for path in safe]
    person = {"person": [oracle.PERSON]} if history.names_people else {}

    found = kech.compute_joint_risk(safe, originals, key=oracle.KEY, **person)

    assert bool(found.rows) == (seed in (24, 27))  # of the others every row may be withdrawn
    assert found.joint_k is None or found.joint_k >= history.k


@pytest.mark.long
@pytest.mark.parametrize(("release", "seeds"), [(release_anew, (3, 9, 10)), (oracle.release_by_mondrian, range(25))])
def test_releases_made_anew_are_found_guilty(tmp_path, release, seeds):
    wrong = "\n".join(oracle.judge_histories(seeds, tmp_path, release))

    for fault in ("is published as", "only 1 are seen as", "is widened", "grows by", "shrinks by", "which is right"):
        assert fault in wrong


def plain_histories(count):
    """Histories that plain Python can release: rows have a key, nothing waits, gathers or is withdrawn, no goals."""
    found = []
    for seed in range(count):
        history = oracle.random_history(seed)
        plain = history.has_key and not (history.wait or history.l or history.gather)
        found += [history] if plain and (history.departures, history.corrections) == ("hold", "keep") else []
    return found


def judge_plainly(folder, series, count=600):
    faults = []
    for history in plain_histories(count):
        files = oracle.release_history(history, folder / str(history.seed), series.release_version)
        faults += oracle.judge_history(history, files)
    return faults


def test_a_series_of_cohorts_in_plain_python_is_innocent(tmp_path):
    assert judge_plainly(tmp_path, oracle.PlainSeries()) == []


def test_corrections_as_departure_and_arrival_leak_by_intersection(tmp_path):
    """The reason why a key belongs to one cohort for ever."""
    faults = "\n".join(judge_plainly(tmp_path, oracle.PlainSeries(come_again=True)))

    for fault in ("is published as", "only 1 are seen as", "which is right"):
        assert fault in faults
