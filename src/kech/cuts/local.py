"""Local cut: lowest information loss, each class with its own box.

Starts: kd order and cut, Hilbert order and cut, classes grown from outlying rows, and peeled lattice cells.  The best
start is searched: neighbouring classes exchange rows, or are freed and made anew.  At last a partition of a larger k
serves a smaller one where it costs less, so that the loss never falls as k grows.

Of many k, the largest comes first, and each further one begins with the partition of the k above it, which serves it
already, or with lattice cells that were peeled for several k at once, where such cells were the cheapest start of a
larger k.  Where points are not many, a dozen k are searched as for a release.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from math import inf
from time import monotonic
from typing import Any

from kech._kernels import Search, Widths
from kech.cuts.bounds import explain_no_bound, price_bound
from kech.cuts.padding import find_padded_axes, find_padded_sets, padding_loss
from kech.cuts.protection import expected_widths, protect_labels
from kech.cuts.starts import (
    KINDS,
    cut_along,
    cut_ordering,
    expected_loss,
    level_tables,
    make_starts,
    order_along,
    peel_classes,
    published_cells,
)
from kech.errors import BadOption
from kech.points.partition import Partition, build_partition, mean_loss
from kech.points.points import Points
from kech.request import Cut
from kech.request.parts import FEW_KS, usual_effort
from kech.system.console import accept_interrupts, report, scale_progress

# Which k are cut, searched and compared (measured: docs/explanation/claims/monotone.md).
CHAIN_FACTOR = 1.06  # of many k, those this factor apart are searched,
CHAIN_SHARE, MOST_SHARE = 0.1, 0.5  # with this share of an effort, and with more of it where they are farther apart
PAIR_SHARE = 0.25  # with a smaller share, classes of the k above are freed at once, without a round of exchanges
ALIKE_FACTOR = 1.4  # lattices of k less than this factor apart are peeled together,
PROBE_FACTOR = 1.5  # and at k this factor apart all kinds of start are tried;
DOZEN_FACTOR, DOZEN_POINTS = 1.4, 25_000  # of up to so many points, k this factor apart are searched as in a release,
DOZEN_SHARE = 1.0  # with this share of an effort (less is cheaper and loses more: docs/explanation/measured/spectra.md)
CLOSE_FACTOR = 1.06  # starts that cost no more than this factor of the cheapest are compared by a first step,
WIDE_FACTOR = 1.25  # and among few classes, where a step is cheap and starts differ more, no more than this one
LARGEST_PADDED_K = 32  # beyond this k padding costs next to nothing, unless the table is small
SMALL_TABLE = 10_000  # rows of such a table
MANY_CLASSES = 4000  # among so many classes the noise of padding evens out
MOST_CANDIDATES = 6  # larger k that are compared with one
FEW_CLASSES = 100  # among so few, noise may add more loss than one more row in every class: the next k is always tried,
# and more starts are compared
NOISE_SHARE = 0.2  # by which share the loss may turn out different, divided by the square root of the classes

# The search of one k.
PAIR_ROUNDS = 2  # rounds of exchanges before classes are freed
HEAT = 0.003  # share by which classes made anew may be dearer at first
COOL = 0.85  # share of the search after which nothing may become dearer
STUCK, GAIN = 3, 1e-4  # so many rounds, or a third of all, gain less than this share: begin again with another seed
MOST_POINT_ROWS = 8  # rows of a point that count when work is measured out: more of them are classes of their own

# Width look-ups of the search: at least, for each row, and of a large table at most these and for each row these.
EFFORTS = {
    "quick": (1e4, 400, 3.5e6, 20),
    "normal": (1e5, 12_000, 42e6, 150),
    "best": (1e6, 200_000, 2.6e9, 4000),
}
# A part of a table is searched at most so many times as long, for each row, as the whole table would be.  Measured on
# 5 % of 100,000 and of 1,000,000 rows: 3 loses 0.2 to 2 % more than a search of its own, in one case 7 %; 1 up to 12 %.
PART_FACTOR = 3
# Of a larger table about so many times, ending with the step that comes nearest, so that an update takes no more than a
# fifth of a release.  It loses 0.1 to 3.4 % more than 3, 1.6 % on average, in half the time (four tables, two k).
LARGE_PART_FACTOR = 2
# Of a part of a larger table the cheapest start is taken as it is: steps that compare starts took a quarter of the time
# of its cut.  The loss was 1.7 % smaller to 2.5 % larger, 0.5 % on average (5 % of 100,000 rows, four tables, two k).
LARGE_TABLE = 50_000


@dataclass(slots=True)
class Run:
    """One run of a search, beside what the request says; everything that is cut together shares it."""

    threads: int = 1
    seed: int = 0  # equal seeds, equal partitions, unless effort is in seconds
    split_points: bool = True  # the rows of one point may go to several classes
    table_rows: int = 0  # of the table that the points are a part of; 0: they are all of it
    stopped: bool = False  # Ctrl-C has ended the search: no other search of this run makes a step


SearchedCut = Callable[[Points, Sequence[int], Cut, Run], Iterator[Partition]]


def cut_local(points: Points, ks: Sequence[int], cut: Cut, run: Run) -> Iterator[Partition]:
    """A partition for each k, ascending; of many k that descend, each is made when it is asked for."""
    if len(ks) > FEW_KS:
        chained = cut_chain(points, sorted(ks, reverse=True), cut, run)
        return chained if ks[0] > ks[-1] else iter(enforce_monotone_loss(ks, list(chained)[::-1]))
    if cut.gap is not None:
        check_bounded(points, cut)
    effort = choose_effort(ks, cut.effort)
    candidates = candidate_ks(points, ks, effort, run) if cut.gap is None else {k: [] for k in ks}
    every = sorted({*ks, *chain.from_iterable(candidates.values())})
    first_cuts = dict(zip(every, cut_first(points, every, run), strict=True))
    starts = {k: choose_start(kinds, k, run) for k, kinds in make_kinds(points, first_cuts, KINDS, run).items()}
    bounds = {} if cut.gap is None else {k: bound_start(starts[k], k, run) for k in ks}
    enough = {k: (1 + (cut.gap or 0.0)) * bound * points.rows * len(points.axes) for k, bound in bounds.items()}
    partitions = {}
    for done, (k, start) in enumerate(starts.items()):
        with scale_progress(done, len(every)):
            partitions[k] = search(start, k, effort, run, enough=enough.get(k, 0.0))
    groups = [[k, *candidates[k]] for k in ks]
    best = [enforce_monotone_loss(group, [partitions[j] for j in group])[0] for group in groups]
    chosen = enforce_monotone_loss(ks, best)
    for at, k in enumerate(ks):
        if k in bounds and chosen[at].points is starts[k].points:  # proven on the same axes
            chosen[at] = replace(chosen[at], loss_bound=(k, bounds[k]))
    return iter(chosen)


def check_bounded(points: Points, cut: Cut) -> None:
    """Refuse a gap where no bound is known before a search."""
    people = None if points.person is None else "somebody has several rows"
    if why := people or explain_no_bound(points, cut):
        raise BadOption("--gap", f"nothing is proven here: {why}. Omit it.")


def bound_start(start: Partition, k: int, run: Run) -> float:
    """A lower bound of the loss at k, on the axes of a start."""
    return price_bound(start.points, k, expected_loss(start), threads=run.threads)


def cut_chain(points: Points, ks: Sequence[int], cut: Cut, run: Run) -> Iterator[Partition]:
    """A partition for each of many k, descending: its own, or that of the next larger k which has one.

    Where points are not many, a dozen k are searched as for a release, and each k is published on its own grid.
    """
    effort = usual_effort(1) if cut.effort is None else cut.effort
    is_large = len(points.weights) > DOZEN_POINTS
    searched_ks = space_out(ks, CHAIN_FACTOR)
    probed = space_out(searched_ks, PROBE_FACTOR if is_large else DOZEN_FACTOR)
    peeled: dict[int, Partition] = {}
    partition: Partition | None = None
    for k in ks:
        if k in searched_ks:
            is_alone = k in probed and not is_large
            starts: dict[str, Partition] = {} if partition is None or is_alone else {"larger": on_grid_of(k, partition)}
            starts |= {"peeled": peeled.pop(k)} if k in peeled else {}
            with scale_progress(searched_ks.index(k), len(searched_ks)):
                if k in probed:
                    first_cut = next(cut_first(points, [k], run))
                    starts |= make_kinds(points, {k: first_cut}, {*KINDS} - {*starts}, run)[k]
                    start = choose_start(starts, k, run)
                else:
                    start = min(starts.values(), key=expected_loss)
                share = DOZEN_SHARE if is_alone else find_share(k, searched_ks)
                is_searched = start is starts.get("larger") and share < PAIR_SHARE
                partition = search(start, k, effort, run, share=share, is_searched=is_searched)
            if k in probed[:-1] and min(starts, key=lambda kind: expected_loss(starts[kind])) == "peeled":
                next_probed = probed[probed.index(k) + 1]
                below = [j for j in searched_ks if next_probed <= j < k and (is_large or j != next_probed)]
                peeled = peel_ahead(points, below[::-1], partition, run) if below else {}
        assert partition is not None
        yield partition if is_large or fits_grid(k, partition) else on_grid_of(k, partition)


def find_share(k: int, ks: Sequence[int]) -> float:
    """The share of an effort with which one of several k is searched: the farther from the k above, the more."""
    above = ks[max(ks.index(k) - 1, 0)]
    return min(MOST_SHARE, CHAIN_SHARE * (above / k - 1) / (CHAIN_FACTOR - 1)) if above > k else MOST_SHARE


def peel_ahead(points: Points, ks: Sequence[int], larger: Partition, run: Run) -> dict[int, Partition]:
    """Peeled starts of several k, ascending; none where they would lose far more.

    k that are alike are peeled on the grid of the smallest of them, and each is published on its own.
    """
    peeled: dict[int, Partition] = {}
    limit = expected_loss(larger)
    how: dict[str, Any] = {"threads": run.threads, "seed": run.seed, "alike": True}
    for first, following in pairwise([*space_out(ks, ALIKE_FACTOR), inf]):
        alike = [k for k in ks if first <= k < following]
        starts = peel_classes(points.published_at(alike[0]), alike, [limit] * len(alike), **how)
        shares_of = {k: shares for k, shares in zip(alike, starts, strict=True) if len(shares[0])}
        peeled |= {k: build_partition(points.published_at(k), *shares) for k, shares in shares_of.items()}
    return peeled


def make_kinds(
    points: Points, first_cuts: Mapping[int, Partition], kinds: Collection[str], run: Run
) -> dict[int, dict[str, Partition]]:
    """For each k its first cut, and starts of these kinds."""
    how: dict[str, Any] = {"threads": run.threads, "seed": run.seed, "split_points": run.split_points}
    how["table_rows"] = run.table_rows
    return make_starts(points, first_cuts, dict.fromkeys(first_cuts, kinds), **how)


def cut_first(points: Points, ks: Sequence[int], run: Run) -> Iterator[Partition]:
    """For each k the cut along the kd order."""
    return cut_ordering(points, ks, threads=run.threads, split_points=run.split_points)


def candidate_ks(points: Points, ks: Sequence[int], effort: str | float, run: Run) -> dict[int, list[int]]:
    """For each k the larger ones that may turn out cheaper, because small classes are padded more; cut for them too.

    These cost hardly more, as far as first cuts on the grid of k can tell; of few classes, the next k in any case.
    None where nothing is padded, where noise evens out among many classes, for many k and where time is set.
    """
    candidates: dict[int, list[int]] = {k: [] for k in ks}
    if len(ks) > FEW_KS or not isinstance(effort, str) or run.stopped:
        return candidates
    order = order_along(points, threads=run.threads)
    for k in (k for k in ks if is_noisy(points, k)):
        last, at = min(k + MOST_CANDIDATES, points.people), points.published_at(k)
        for near in (range(k, min(k + 1, last) + 1), range(k, last + 1)):  # further ones only if the next is among them
            partitions = cut_along(order, at, near, threads=run.threads, split_points=run.split_points)
            cuts = dict(zip(near, partitions, strict=True))
            costs = {j: expected_loss(cut) + padding_loss(cut) for j, cut in cuts.items()}
            most, unsure = costs[k] * (1 + NOISE_SHARE / cuts[k].classes ** 0.5), cuts[k].classes <= FEW_CLASSES
            candidates[k] = [j for j in near[1:] if (unsure and j == k + 1) or costs[j] <= most]
            if not candidates[k]:
                break
    return candidates


def is_noisy(points: Points, k: int) -> bool:
    """Whether the noise of padding may make a larger k cheaper."""
    most = k * MANY_CLASSES if k <= LARGEST_PADDED_K else SMALL_TABLE
    published = points.published_at(k)
    return points.rows <= most and bool(find_padded_axes(published) or find_padded_sets(published))


def choose_effort(ks: Sequence[int], effort: str | float | None) -> str | float:
    """A name, or seconds; where nothing is asked, the usual effort for so many k."""
    return usual_effort(len(ks)) if effort is None else effort


def ks_to_search(ks: Sequence[int]) -> list[int]:
    """The k to search for: all of a few, otherwise some."""
    return list(ks) if len(ks) <= FEW_KS else space_out(ks, PROBE_FACTOR**0.5)


def space_out(ks: Sequence[int], factor: float) -> list[int]:
    """The first, the last, and in between those that are this factor from the one before."""
    chosen = [ks[0]]
    for k in ks[1:]:
        if max(k / chosen[-1], chosen[-1] / k) >= factor or k == ks[-1]:
            chosen.append(k)
    return chosen


def choose_start(starts: Mapping[str, Partition], k: int, run: Run) -> Partition:
    """The cheapest start, or the one that is cheapest after a first step of the search if several are close."""
    losses = {kind: expected_loss(start) for kind, start in starts.items()}
    cheapest = min(losses, key=losses.__getitem__)
    factor = WIDE_FACTOR if starts[cheapest].classes <= FEW_CLASSES else CLOSE_FACTOR
    close = [kind for kind, loss in losses.items() if loss <= factor * losses[cheapest]]
    if run.table_rows > LARGE_TABLE:
        close = [cheapest]
    if len(close) == 1:
        return starts[close[0]]
    searches = {kind: prepare_search(starts[kind], k, run)(run.seed) for kind in close}
    for search_state in searches.values():
        search_state.step(0.0, False, run.threads)
    best = min(close, key=lambda kind: searches[kind].price)
    return build_partition(starts[best].points, *searches[best].shares())


def search(
    start: Partition,
    k: int,
    effort: str | float,
    run: Run,
    *,
    limit: float = inf,
    share: float = 1.0,
    is_searched: bool = False,
    enough: float = 0.0,
) -> Partition:
    """The cheapest partition found from one start; stopped by Ctrl-C, the cheapest so far, and no other search of the
    same run makes a step.  Sides beyond the limit are dear.  A share of the effort may be enough, and so may a price.
    Classes that were searched before are freed at once.
    """
    points = start.points
    begin = prepare_search(start, k, run, limit=limit)
    state = best = begin(run.seed)
    rows, cells = min(points.rows, MOST_POINT_ROWS * len(points.weights)), points.rows * len(points.axes)
    progress, alone = progress_of(rows, effort, run.table_rows), points.rows < 2 * k
    before, again, gained, least, done = 0, 0, 0, inf, 0.0
    try:
        while not (alone or run.stopped or best.price <= enough):
            last, done = done, progress(before + work_done(state, rows)) / share
            if done + (done - last) / 2 * (run.table_rows > LARGE_TABLE) >= 1:
                break
            report(f"searching at k={k}" + (f", loss {best.price / cells:.4f}" if limit == inf else ""), done)
            ruin = is_searched or state.rounds >= PAIR_ROUNDS
            state.step(HEAT * max(0.0, 1 - done / COOL) if ruin else 0.0, ruin, run.threads)
            best = min(best, state, key=lambda each: each.price)
            if state.price < least * (1 - GAIN):
                least, gained = state.price, state.rounds
            elif state.rounds - gained >= max(STUCK, state.rounds // 3):
                before, again, gained, least = before + work_done(state, rows), again + 1, 0, inf
                state = begin(run.seed + again)
    except KeyboardInterrupt:
        run.stopped = True
        accept_interrupts()
        report(f"stopped at k={k}", 1.0)
    return build_partition(points, *best.shares())


def work_done(state: Search, rows: int) -> int:
    """The work of a search; a round counts as a look at every row at least, however few classes there are."""
    return max(state.work, state.rounds * rows)


def prepare_search(start: Partition, k: int, run: Run, *, limit: float = inf) -> Callable[[int], Search]:
    """For each seed a search that has not made a step yet; what they share is made once."""
    points, shares = start.points, (start.point, start.group, start.rows)
    widths = limited_widths(points, limit)
    tables = level_tables(points)
    return lambda seed: Search(points.codes, widths, tables, k, run.split_points, *shares, seed, points.person)


def limited_widths(points: Points, limit: float) -> Widths:
    """The axes on which what is wider than a limit of 2 eps is dear; without one, as they are published on average.

    Below 1 no class holds two values of a set: it has no width there, printed or measured.
    """
    if limit == inf:
        return expected_widths(points)
    return (points.metric() if limit < 1 else points.widths()).limited(limit)


def progress_of(rows: int, effort: str | float, table_rows: int) -> Callable[[int], float]:
    """The share of the effort that is spent after some work: of the work, or of the time."""
    if isinstance(effort, str):
        most = count_lookups(rows, effort)
        if table_rows:
            factor = LARGE_PART_FACTOR if table_rows > LARGE_TABLE else PART_FACTOR
            part = factor * rows / table_rows * count_lookups(table_rows, effort)
            most = max(EFFORTS[effort][0], min(most, part))
        return lambda work: work / most
    begin = monotonic()
    return lambda _: (monotonic() - begin) / effort if effort else 1.0


def count_lookups(rows: int, effort: str) -> float:
    """The width look-ups of a search."""
    fewest, each, most, more = EFFORTS[effort]
    return max(fewest, min(each * rows, most + more * rows))


def protected_loss(partition: Partition) -> float:
    """What it loses as it is published, with its labels protected."""
    return mean_loss(protect_labels(partition))


def enforce_monotone_loss(
    ks: Sequence[int], partitions: Sequence[Partition], worth: Callable[[Partition], Any] = protected_loss
) -> list[Partition]:
    """From the largest k down: what serves a larger k is taken where it is cheaper, as it is or on the grid of k.

    The edges of the larger k hide all the better, so the loss never falls as k grows.
    """
    if len(ks) == 1:
        return list(partitions)
    best: list[tuple[Any, Partition]] = []
    for k, own in sorted(zip(ks, partitions, strict=True), key=lambda pair: -pair[0]):
        anew = [own, *(on_grid_of(k, partition) for _, partition in best[-1:] if not fits_grid(k, partition))]
        best.append(min([*((worth(partition), partition) for partition in anew), *best[-1:]], key=lambda pair: pair[0]))
    return [partition for _, partition in best[::-1]]


def on_grid_of(k: int, partition: Partition) -> Partition:
    """The same classes, published on the grid of another k."""
    return build_partition(partition.points.published_at(k), partition.point, partition.group, partition.rows)


def fits_grid(k: int, partition: Partition) -> bool:
    """Whether it is published on the grid of k already."""
    return published_cells(partition.points) == published_cells(partition.points.published_at(k))
