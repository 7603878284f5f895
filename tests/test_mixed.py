"""Levels of some columns and eps on others: every pair is counted again by brute force."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import kech
from kech.errors import BadOption, NoSuchNode
from zigzag_oracles import canonical, dionysus_bars, full_complex, zigzag_complexes

SEEDS = [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)]


def small_table(seed, rows=14):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": rng.integers(0, 9, rows),
            "job": rng.choice(["cook", "clerk", "nurse"], rows),
            "y": rng.integers(0, 4, rows),
            "town": rng.choice(["A1", "A2", "B1", "B2"], rows),
            "who": rng.integers(0, rows // 2, rows),
        }
    )


def mixed_of(frame, columns=("x", "y", "job", "town"), metric=("x", "y"), person=(), **options):
    hierarchy = {"A": ["A1", "A2"], "B": ["B1", "B2"]}
    roles = {"quasi_identifiers": list(columns), "person": list(person), "rows_are_people": not person}
    trees = {"hierarchies": {"town": hierarchy}} if "town" in columns else {}
    table = kech.read_table(frame, **roles, **trees, **options)
    return kech.compute_mixed_lattice(table, list(metric))


def cell(column, level, value):
    if column == "job":
        return value if level == 0 else "*"
    return value if level == 0 else value[0] if level == 1 else "*"


def components(frame, levels, eps):
    """Rows that are alike on the levels and connected by steps of 2 eps on x and y, by flooding."""
    alike = [
        tuple(cell(c, level, v) for c, level, v in zip(("job", "town"), levels, row, strict=True))
        for row in frame[["job", "town"]].itertuples(index=False)
    ]
    unit = frame[["x", "y"]].to_numpy(float)
    unit = (unit - unit.min(axis=0)) / np.maximum(np.ptp(unit, axis=0), 1)
    label = [-1] * len(frame)
    for start in range(len(frame)):
        if label[start] < 0:
            label[start], waiting = start, [start]
            while waiting:
                row = waiting.pop()
                for other in range(len(frame)):
                    near = np.abs(unit[row] - unit[other]).max() <= 2 * eps + 1e-12
                    if label[other] < 0 and near and alike[row] == alike[other]:
                        label[other] = start
                        waiting.append(other)
    return np.array(label)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_node_and_eps_is_counted_again(seed):
    frame = small_table(seed)
    mixed = mixed_of(frame)
    assert mixed.heights == (2, 3)
    for levels in product(range(2), range(3)):
        for eps in (0.0, 0.06, 0.13, 0.3, 0.5, 0.9):
            labels = components(frame, levels, eps)
            sizes = pd.Series(labels).value_counts()
            found = mixed.look(levels, eps)

            assert (found.classes, found.k) == (len(sizes), sizes.min())
            assert found.loss == pytest.approx(recount_loss(frame, labels, levels))


def recount_loss(frame, labels, levels):
    lost = []
    for name in ("x", "y"):
        spans = frame.groupby(labels)[name].transform("max") - frame.groupby(labels)[name].transform("min")
        lost.append(spans.mean() / np.ptp(frame[name]))
    jobs, towns = frame["job"].nunique(), frame["town"].nunique()
    lost.append(0.0 if levels[0] == 0 else float(jobs > 1))
    under = {0: [1] * len(frame), 2: [towns] * len(frame)}.get(levels[1])
    if under is None:
        under = [frame["town"][frame["town"].str[0] == town[0]].nunique() for town in frame["town"]]
    lost.append((np.mean(under) - 1) / (towns - 1))
    return float(np.mean(lost))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_minimal_pairs_reach_k_and_no_pair_below_them_does(seed, k):
    frame = small_table(seed)
    mixed = mixed_of(frame)
    nodes = list(product(range(2), range(3)))
    radii = sorted({0.0, *gaps(frame)})
    reaches = {(n, e): pd.Series(components(frame, n, e)).value_counts().min() >= k for n in nodes for e in radii}
    expected = {
        (n, e)
        for (n, e), fits in reaches.items()
        if fits
        and not any(
            f and (m, d) != (n, e) and m[0] <= n[0] and m[1] <= n[1] and d <= e for (m, d), f in reaches.items()
        )
    }
    found = mixed.minimal_pairs(k)

    assert {(pair.levels, round(pair.eps, 9)) for pair in found} == {(n, round(e, 9)) for n, e in expected}
    assert all(pair.k >= k for pair in found)
    if found:
        best = min(pair.loss for pair in found)
        assert (
            mixed.best(k).loss == best <= min(mixed.look(n, e).loss for (n, e), fits in reaches.items() if fits) + 1e-12
        )


def gaps(frame):
    unit = frame[["x", "y"]].to_numpy(float)
    unit = (unit - unit.min(axis=0)) / np.maximum(np.ptp(unit, axis=0), 1)
    return (np.abs(unit[:, None] - unit[None]).max(axis=2) / 2).ravel().tolist()


def test_people_are_counted_where_they_are_named():
    frame = small_table(1, rows=20)
    by_people, by_rows = mixed_of(frame, person=["who"]), mixed_of(frame)
    for levels, eps in (((0, 0), 0.1), ((1, 1), 0.2), ((1, 2), 0.5)):
        labels = components(frame, levels, eps)

        assert by_people.look(levels, eps).k == frame.groupby(labels)["who"].nunique().min()
        assert by_people.look(levels, eps).classes == by_rows.look(levels, eps).classes


def test_with_all_columns_measured_it_is_the_barcode():
    frame = small_table(2)[["x", "y"]]
    mixed = mixed_of(frame, ("x", "y"))
    with kech.read_table(frame, quasi_identifiers=["x", "y"]) as table:
        barcode = kech.compute_barcode(table, max_dimension=0, grid="exact")
    for eps in (0.0, 0.05, 0.15, 0.25):
        (at,) = barcode.at([eps])
        assert (mixed.look((), eps).classes, mixed.look((), eps).k) == (at["classes"], at["k"])
    assert mixed.nodes == 1


@pytest.mark.parametrize("through", ["union", "intersection"])
def test_a_path_walks_through_nodes_and_radii(through):
    frame = small_table(0)
    mixed = mixed_of(frame)
    path = [(0, 0, 0.05), (1, 0, 0.05), (1, 0, 0.2), (1, 2, 0.2)]
    bars = mixed.zigzag(path, through)
    counts = [len(set(components(frame, pair[:2], pair[2]))) for pair in path]

    assert bars.classes[::2].tolist() == counts
    assert bars.path == tuple(path)
    upward = [mixed.rank(path[0], pair) for pair in path]
    assert upward == counts  # every map up is onto
    assert [int(((bars.birth == 0) & (bars.death >= 2 * place)).sum()) for place in range(4)] == counts


@pytest.mark.parametrize("through", ["union", "intersection"])
@pytest.mark.parametrize("seed", SEEDS)
def test_bars_of_a_path_are_those_of_dionysus(seed, through):
    pytest.importorskip("dionysus")
    frame = small_table(seed, rows=10)
    path = [(0, 0, 0.3), (1, 0, 0.05), (0, 1, 0.1), (1, 1, 0.05), (0, 2, 0.2)]
    bars = mixed_of(frame).zigzag(path, through)
    nodes = [full_complex(canonical(components(frame, pair[:2], pair[2]))) for pair in path]
    holes = [(1, at, at) for at, count in enumerate(bars.holes.tolist()) for _ in range(count)]
    found = [(0, b, d) for b, d in zip(bars.birth.tolist(), bars.death.tolist(), strict=True)]

    assert sorted(found + holes) == dionysus_bars(zigzag_complexes(nodes, through))


def test_the_command_prints_what_python_gives(tmp_path, run):
    frame = small_table(0).drop(columns="who")
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ["--qi", "x", "y", "job", "--metric-columns", "x", "y", "--k", "2,3", "--json"]
    result = run("lattice", tmp_path / "t.csv", *words).json
    mixed = mixed_of(frame, ("x", "y", "job"))

    assert result == {**mixed.to_json([2, 3]), "plot": None}
    assert [line["goal"] for line in result["best"]] == [2, 3]


def test_the_screen_says_how_many_minimal_pairs_it_does_not_list(tmp_path, run):
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 6, 60) for name in ("a", "b", "c", "d")}
    pd.DataFrame(
        {"x": rng.integers(0, 1000, 60), **{name: codes.astype(str) for name, codes in columns.items()}}
    ).to_csv(tmp_path / "t.csv", index=False)
    words = ["lattice", tmp_path / "t.csv", "--qi", "x", "a", "b", "c", "d", "--metric-columns", "x", "--k", "2"]
    pairs = run(*words, "--json").json["minimal"]["2"]

    shown = " ".join(run(*words).out.split())

    assert len(pairs) > 6
    assert f"the minimal pairs that lose least; --json shows {len(pairs) - 6} more" in shown


@pytest.mark.parametrize("k", [2, 4, 15])
def test_a_line_of_the_picture_turns_where_its_node_reaches_k(k):
    pytest.importorskip("matplotlib")
    frame = small_table(1)
    ax = mixed_of(frame).plot(k=k)
    nodes = sorted(product(range(2), range(3)), key=lambda node: (sum(node), node))
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"{job},{town}" for job, town in nodes]
    (drawn,) = (one for one in ax.collections if one.get_gid() == "nodes")
    boxes = [path.get_extents() for path in drawn.get_paths()]
    enough = {
        round(6 * box.y0): box.x0 for box, colour in zip(boxes, drawn.get_facecolor(), strict=True) if colour[2] > 0.5
    }
    for at, node in enumerate(nodes):
        reaching = [e for e in sorted(gaps(frame)) if pd.Series(components(frame, node, e)).value_counts().min() >= k]
        assert enough.get(at) == (pytest.approx(reaching[0], abs=1e-9) if reaching else None)
    title = next(text.get_text() for text in ax.figure.texts)
    if k == 15:
        assert title == "k = 15 holds at no node and eps"
    else:
        best = mixed_of(frame).best(k)
        place = f"levels job {best.levels[0]}, town {best.levels[1]} and eps {best.eps:.4g}"
        assert title.startswith(f"k = {k}: least loss {best.loss:.4f} at {place}, in {best.classes} class")


def test_the_picture_is_written_and_only_with_metric_columns(tmp_path, run):
    small_table(0).drop(columns="who").to_csv(tmp_path / "t.csv", index=False)
    words = ["lattice", tmp_path / "t.csv", "--qi", "x", "y", "job", "--k", "2,3", "--plot", tmp_path / "m.svg"]
    refused = run(*words)
    assert (refused.code, "Add --metric-columns" in refused.err) == (2, True)
    assert run(*words, "--metric-columns", "x", "y", "--json").json["plot"] == str(tmp_path / "m.svg")
    drawn = (tmp_path / "m.svg").read_text("utf-8")
    assert "PRIVATE" in drawn and "k = 2: least loss" in drawn and "cook" not in drawn


def test_what_cannot_be_asked_is_refused():
    frame = small_table(0)
    with pytest.raises(BadOption, match="Name quasi-identifiers of the table"):
        mixed_of(frame, metric=("who",))
    with pytest.raises(BadOption, match="'job' does not hold numbers or dates"):
        mixed_of(frame, metric=("job",))
    with pytest.raises(NoSuchNode, match="its last part is eps"):
        mixed_of(frame).classes((0, 0, -1.0))
    with pytest.raises(NoSuchNode, match="column 'job' has the levels 0 to 1"):
        mixed_of(frame).look((2, 0), 0.1)
