"""Attacks: what somebody who has the original table can do to a release, each beside a control.  PRIVATE.

In: a release with its certificate, and the original table.  Out: `Attack`s: success rates with confidence intervals.
Who is in which class is not known even here: a class is seen as its candidates, the rows that its labels cover.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from kech.audit.attacks.compose import attack_composition
from kech.audit.attacks.downcode import attack_downcode
from kech.audit.attacks.edge import attack_edges
from kech.audit.attacks.homogeneity import attack_homogeneity
from kech.audit.attacks.order import attack_order
from kech.audit.attacks.outcome import Attack
from kech.audit.attacks.people import attack_all_rows, attack_constant, attack_one_row
from kech.audit.attacks.refine import attack_refinement
from kech.audit.attacks.replay import attack_replay
from kech.audit.attacks.target import Second, Target, choose_target
from kech.certificate import AnyPath
from kech.errors import BadOption
from kech.request import Request
from kech.tables.table import Table, check_is_table

__all__ = ["ATTACKS", "Attack", "run_attacks"]

ATTACKS: dict[str, Callable[[Target], list[Attack]]] = {
    "edge": attack_edges,
    "order": attack_order,
    "downcode": attack_downcode,
    "homogeneity": attack_homogeneity,
    "refine": attack_refinement,
    "compose": attack_composition,
    "replay": attack_replay,
    "one-row": attack_one_row,
    "all-rows": attack_all_rows,
    "constant": attack_constant,
}
OF_PEOPLE = ("one-row", "all-rows", "constant")  # they need an original that names people


def run_attacks(
    path: AnyPath,
    original: Table,
    *,
    attacks: Sequence[str] | None = None,
    certificate: AnyPath | None = None,
    second: AnyPath | tuple[AnyPath, Table] | None = None,
    key: Sequence[str] | str = (),
    seed: int = 0,
    request: Request | None = None,
) -> list[Attack]:
    """Attack a release, whose certificate must hold, with everything the original tells.  PRIVATE.

    `attacks` are some of edge, order, downcode, homogeneity, refine, compose, replay, one-row, all-rows and constant;
    otherwise all but replay, which is slow, compose only if there is a second release of the same table, with its
    certificate beside it, and the last three only if the original was read with its person columns.  A second release
    of a table that changed is given with its own original, and a row is recognised by the columns of `key`.  The seed
    decides what is random: the controls, and which classes are attacked where there are many.  The `request` says
    what replay cannot read in the certificate: the effort and the seed of the search.
    """
    check_is_table(original, "original")
    left_out = {"replay", *(() if second else ("compose",)), *(() if original.person else OF_PEOPLE)}
    selected = [name for name in ATTACKS if name not in left_out] if attacks is None else list(attacks)
    if unknown := [name for name in selected if name not in ATTACKS]:
        raise BadOption("attack", f"{unknown[0]!r} is no attack. Choose among {', '.join(ATTACKS)}.")
    if not original.person and (counting := [name for name in OF_PEOPLE if name in selected]):
        raise BadOption(
            counting[0], "it counts people. Name the columns of the original that tell them apart: --person."
        )
    if "compose" in selected and second is None:
        raise BadOption("compose", "it attacks two releases of one table together. Name the other: --second OTHER.csv.")
    if second is not None and "compose" not in selected:
        raise BadOption("--second", "only the compose attack takes another release. Omit it, or choose compose.")
    other = read_second_release(second, (key,) if isinstance(key, str) else tuple(key))
    if request and "replay" not in selected:
        raise BadOption("request", "only the replay attack makes a release again. Omit it, or choose replay.")
    target = replace(choose_target(path, original, certificate, other, seed), request=request or Request())
    return [attack for name in selected for attack in ATTACKS[name](target)]


def read_second_release(second: AnyPath | tuple[AnyPath, Table] | None, key: tuple[str, ...]) -> Second | None:
    """The other release; one of a table that changed needs a key, and no other does."""
    changed = isinstance(second, tuple)
    if changed != bool(key):
        reason = "it recognises rows in another version, so it goes with the original of the second release."
        raise BadOption("--key", f"{reason} Give both, or neither.")
    if second is None:
        return None
    return Second(*second, key) if isinstance(second, tuple) else Second(second)
