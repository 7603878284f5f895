"""Dispatcher: from points and the name of a cut to partitions that may be published.

In: points and what is asked of a cut.  Out: a partition for each k, with its labels protected and its sensitive values
dealt to the classes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from kech.cuts import Wishes
from kech.cuts.domain import cut_domain
from kech.cuts.goals import cut_for_goals
from kech.cuts.local import cut_local
from kech.cuts.minimal import cut_minimal
from kech.cuts.protection import derive_seed, protect_labels
from kech.cuts.regime import cut_regime
from kech.cuts.suppressing import cut_rest
from kech.errors import BadOption
from kech.points.partition import Partition, deal
from kech.points.points import Points

Cut = Callable[[Points, Sequence[int], Wishes], Iterator[Partition]]
CUTS: dict[str, Cut] = {"local": cut_local, "regime": cut_regime, "domain": cut_domain, "minimal": cut_minimal}
EVEN = ("domain",)  # cuts that need grids of equal steps, each level measured on an axis of its own
FREE = ("local", "minimal")  # cuts whose classes are changed until goals hold; the others choose by themselves


def cut_points(points: Points, ks: Sequence[int], style: str, wishes: Wishes) -> Iterator[Partition]:
    """One partition for each k, by the named cut and the owner's seed.

    The regime cut with an eps gives the components at that eps, for each k on the grid that they reach.
    """
    wishes = replace(wishes, seed=derive_seed(points, wishes.seed))
    make = partial(cut_for_goals, CUTS[style]) if wishes.goals is not None and style in FREE else CUTS[style]
    if wishes.suppress and style in FREE:
        make = partial(cut_rest, make, narrow=style == "minimal")
    found = make(points, ks, wishes)
    return map(deal, found if style in EVEN else map(protect_labels, found))


def check_cuts(cut: str | Sequence[str]) -> tuple[str, ...]:
    """One of the cuts by its name, or several."""
    cuts = (cut,) if isinstance(cut, str) else tuple(cut)
    if not cuts or any(name not in tuple(CUTS) for name in cuts):
        raise BadOption("--cut", f"choose among {', '.join(CUTS)}.")
    return cuts
