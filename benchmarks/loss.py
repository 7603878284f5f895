"""Loss: kech's local cut beside MDAV, k-member, Mondrian and Hilbert order with dynamic program; Adult by effort.

usage: python benchmarks/loss.py [--quick] [--page]; writes pages/loss.md

The peers are written here in numpy, as their papers say: MDAV (Domingo-Ferrer, Mateo-Sanz 2002), k-member (Byun et al.
2007, with the exact greedy choice), strict Mondrian (LeFevre et al. 2006).  The loss is the mean width of the boxes of
the classes, each column divided by its range; the grid is exact, so that all are measured alike.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import kech
from kech.cuts.bounds import lower_bounds
from kech.cuts.local import Run, cut_local
from kech.points.partition import mean_loss
from kech.points.points import build_points
from kech.request import Cut, Labels
from lattice import EIGHT, FOLDER
from page import draw
from run import HERE, describe_run, parse_arguments
from tables import ADULT

RESULTS, PAGE = HERE / "results" / "loss.json", HERE / "pages" / "loss.md"
KS = (2, 3, 5, 10, 20, 50, 100)

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def clusters(rows: int, columns: int, rng: np.random.Generator) -> Floats:
    """Sixty round clusters and a little noise everywhere."""
    centres = rng.random((60, columns))
    values = centres[rng.integers(0, 60, rows)] + rng.normal(0, 0.02, (rows, columns))
    noise = rng.random(rows) < 0.05
    values[noise] = rng.random((int(noise.sum()), columns))
    return np.clip(values, 0, 1)


def heavy_tails(rows: int, columns: int, rng: np.random.Generator) -> Floats:
    """Incomes and the like."""
    return np.asarray(np.exp(rng.normal(0, 1, (rows, columns))))


def mdav(x: Floats, k: int) -> Iterator[Rows]:
    """The row farthest from the centroid with its k - 1 nearest, then the one farthest from that row, and so on."""
    left = np.arange(len(x))
    while len(left) >= 3 * k:
        first = left[np.argmax(((x[left] - x[left].mean(axis=0)) ** 2).sum(axis=1))]
        second = left[np.argmax(((x[left] - x[first]) ** 2).sum(axis=1))]
        for seed in (first, second):
            near = np.argpartition(((x[left] - x[seed]) ** 2).sum(axis=1), k - 1)[:k]
            yield left[near]
            left = np.delete(left, near)
    if len(left) >= 2 * k:
        far = left[np.argmax(((x[left] - x[left].mean(axis=0)) ** 2).sum(axis=1))]
        near = np.argpartition(((x[left] - x[far]) ** 2).sum(axis=1), k - 1)[:k]
        yield left[near]
        left = np.delete(left, near)
    yield left


def k_member(x: Floats, k: int) -> Iterator[Rows]:
    """From the row farthest from the last one, always the row that widens the class least."""
    left, last = np.arange(len(x)), x[0]
    classes: list[list[int]] = []
    while len(left) >= k:
        at = int(np.argmax(np.abs(x[left] - last).sum(axis=1)))
        held, low, high = [int(left[at])], x[left[at]].copy(), x[left[at]].copy()
        left = np.delete(left, at)
        while len(held) < k:
            wider = np.maximum(high, x[left]) - np.minimum(low, x[left])
            at = int(np.argmin(wider.sum(axis=1)))
            held.append(int(left[at]))
            low, high = np.minimum(low, x[left[at]]), np.maximum(high, x[left[at]])
            left = np.delete(left, at)
        last = x[held[-1]]
        classes.append(held)
    boxes = np.array([[x[held].min(axis=0), x[held].max(axis=0)] for held in classes])
    for row in left.tolist():
        wider = np.maximum(boxes[:, 1], x[row]) - np.minimum(boxes[:, 0], x[row])
        at = int(np.argmin((wider - (boxes[:, 1] - boxes[:, 0])).sum(axis=1)))
        classes[at].append(row)
        boxes[at] = np.minimum(boxes[at, 0], x[row]), np.maximum(boxes[at, 1], x[row])
    yield from map(np.array, classes)


def mondrian(x: Floats, k: int) -> Iterator[Rows]:
    """The widest column is cut at its median while both sides keep k rows."""
    waiting = [np.arange(len(x))]
    while waiting:
        rows = waiting.pop()
        for column in np.argsort(-np.ptp(x[rows], axis=0)):
            left = x[rows, column] < np.median(x[rows, column])
            if k <= np.count_nonzero(left) <= len(rows) - k:
                waiting += [rows[left], rows[~left]]
                break
        else:
            yield rows


def hilbert_cut(x: Floats, k: int) -> Iterator[Rows]:
    """Rows along the Hilbert curve, then the cheapest cut of the line into runs of k to 2k - 1 rows."""
    order = np.argsort(hilbert_places(x), kind="stable")
    line, n = x[order], len(x)
    cost, start = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    cost[0] = 0
    for end in range(k, n + 1):
        longest = min(2 * k - 1, end)
        run = line[end - longest : end][::-1]
        width = (np.maximum.accumulate(run) - np.minimum.accumulate(run)).sum(axis=1)[k - 1 :]
        sizes = np.arange(k, longest + 1)
        total = cost[end - sizes] + sizes * width
        best = int(np.argmin(total))
        cost[end], start[end] = total[best], end - sizes[best]
    end = n
    while end:
        yield order[start[end] : end]
        end = int(start[end])


def hilbert_places(x: Floats, bits: int = 10) -> NDArray[np.object_]:
    """The place of each row on the Hilbert curve (Skilling 2004), on a grid of 2^bits steps a column."""
    axes = np.clip(x * (1 << bits), 0, (1 << bits) - 1).astype(np.int64).T.copy()
    columns = len(axes)
    for bit in (1 << b for b in range(bits - 1, 0, -1)):
        low = bit - 1
        for j in range(columns):
            set_bit = (axes[j] & bit) != 0
            swap = np.where(set_bit, 0, (axes[0] ^ axes[j]) & low)
            axes[0] = np.where(set_bit, axes[0] ^ low, axes[0] ^ swap)
            axes[j] ^= swap
    for j in range(1, columns):
        axes[j] ^= axes[j - 1]
    turn = np.zeros_like(axes[0])
    for bit in (1 << b for b in range(bits - 1, 0, -1)):
        turn = np.where(axes[-1] & bit, turn ^ (bit - 1), turn)
    axes ^= turn
    place = np.zeros(axes.shape[1], object)
    for b in range(bits - 1, -1, -1):
        for j in range(columns):
            place = place * 2 + ((axes[j] >> b) & 1)
    return place


PEERS: dict[str, Callable[[Floats, int], Iterator[Rows]]] = {
    "MDAV": mdav,
    "k-member": k_member,
    "Mondrian": mondrian,
    "Hilbert + DP": hilbert_cut,
}


def loss_of(x: Floats, classes: Iterator[Rows], k: int) -> float:
    """Mean width of the boxes, checked."""
    total, seen = 0.0, 0
    for rows in classes:
        if len(rows) < k:
            raise ValueError("a class is too small")
        total += len(rows) * float(np.ptp(x[rows], axis=0).sum())
        seen += len(rows)
    if seen != len(x):
        raise ValueError("rows were lost")
    return total / x.size


def kech_loss(x: Floats, k: int, effort: str) -> float:
    """The loss of the local cut."""
    names = [f"x{j}" for j in range(x.shape[1])]
    with kech.read_table(pa.table(dict(zip(names, x.T, strict=True))), quasi_identifiers=names) as table:
        (partition,) = cut_local(build_points(table, labels=Labels(grid="exact")), [k], Cut(effort=effort), Run(2))
    return mean_loss(partition)


def timed(job: Callable[[], float]) -> dict[str, float]:
    """A loss and the CPU seconds it took."""
    begin = process_time()
    return {"loss": job(), "cpu": process_time() - begin}


def run_numeric(rows: int) -> Iterator[dict[str, Any]]:
    """Numeric tables, every k, every tool."""
    for make, columns in ((clusters, 3), (clusters, 8), (heavy_tails, 4), (heavy_tails, 20)):
        x = np.round(make(rows, columns, np.random.default_rng(7)), 4)
        x = (x - x.min(axis=0)) / np.ptp(x, axis=0)
        for k in (2, 5, 10, 50):
            jobs = {
                name: partial(lambda peer, k, x: loss_of(x, peer(x, k), k), peer, k, x) for name, peer in PEERS.items()
            }
            jobs |= {f"kech {effort}": partial(kech_loss, x, k, effort) for effort in ("quick", "normal")}
            tools = {name: timed(job) for name, job in jobs.items()}
            yield {"table": f"{make.__name__.replace('_', ' ')}, {rows:,} x {columns}", "k": k, "tools": tools}


def run_adult(ks: Sequence[int], efforts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Adult with the hierarchies of its folder, by effort."""
    with kech.read_table(ADULT, quasi_identifiers=EIGHT, hierarchies=FOLDER) as table:
        points = build_points(table)
    for k in ks:
        (bound,) = lower_bounds(points, [k], threads=2)
        tools = {
            effort: timed(
                lambda k=k, effort=effort: mean_loss(next(cut_local(points, [k], Cut(effort=effort), Run(2))))
            )
            for effort in efforts
        }
        yield {"k": k, "bound": bound.loss, "tools": tools}


def main() -> None:
    """Measure, or draw the page again."""
    asked = parse_arguments()
    results = RESULTS.with_name("quick-loss.json.tmp") if asked.quick else RESULTS
    if not asked.page:
        found = describe_run(asked.cap) | {"numeric": list(run_numeric(400 if asked.quick else 2000))}
        efforts = ("quick", "normal") if asked.quick else ("quick", "normal", "best")
        found["adult"] = list(run_adult((10,) if asked.quick else KS, efforts)) if ADULT.exists() else []
        results.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    page = draw_page(json.loads(results.read_text("utf-8")))
    print(page)
    if not asked.quick:
        PAGE.write_text(page, "utf-8")


def draw_page(found: dict[str, Any]) -> str:
    """The page of the manual."""
    told = {**found["machine"], **found["versions"]}
    about = "Measured with " + ", ".join(f"{name} {value}" for name, value in told.items()) + "."
    names = list(found["numeric"][0]["tools"])
    numeric = draw(
        ["table", "k", *names], ([line["table"], str(line["k"]), *cells(line, names)] for line in found["numeric"])
    )
    efforts = list(found["adult"][0]["tools"]) if found["adult"] else []
    adult = draw(
        ["k", *efforts, "no partition loses less than"],
        ([str(line["k"]), *cells(line, efforts), f"{line['bound']:.4f}"] for line in found["adult"]),
    )
    return f"""# Loss, measured

Generated by `python benchmarks/loss.py`; do not edit. Loss is GCP; in brackets CPU seconds of the cut alone.

{about}

## Numeric tables

Exact intervals, every column divided by its range. The peers are written in numpy in `benchmarks/loss.py`.

{numeric}

## Adult

30,162 rows, eight quasi-identifiers, published with the labels of the hierarchies that ARX brings, age too; no row is
left out.

{adult}
"""


def cells(line: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Loss and CPU seconds of each tool."""
    return [f"{line['tools'][name]['loss']:.4f} ({line['tools'][name]['cpu']:.1f})" for name in names]


if __name__ == "__main__":
    main()
