"""Plan: roles, axes, hierarchies and goals in one file, so that the same release can be made again."""

import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from kech.errors import BadPlan, NoSuchFile
from kech.system.files import write_text
from kech.tables.source import find_address
from kech.tables.table import AxisChoice, Table, read_table

TEXT_FILES = (".csv", ".tsv", ".txt")  # only they have a delimiter and an encoding


class _Section(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a plan; unknown words are refused."""


class TableSection(_Section):
    """How the file is read."""

    delimiter: str | None = None
    encoding: str | None = None
    null_values: list[str] = []
    decimal: str | None = None  # "," where numbers are written 1.234,5
    dates: str | None = None  # dmy where they are written 31.12.2020, mdy where 12/31/2020


class RolesSection(_Section):
    """What each column is for."""

    quasi_identifiers: list[str] = []
    sensitive: list[str] = []
    identifiers: list[str] = []
    keep: list[str] = []


class AxisSection(_Section):
    """How one quasi-identifier is generalized."""

    kind: str | None = None
    order: list[str] = []
    grid: str | float | None = None
    hierarchy: str | None = None  # a file, from the folder of the plan


class ReleaseSection(_Section):
    """The privacy goal and the way there."""

    k: int | None = None
    cut: str = "local"
    grid: str | float = "auto"
    reading: str = "strict"  # of the regime cut
    field: int = 2  # of its homological reading
    eps: float | None = None  # of the regime cut, in place of k
    suppress: float = 0.0  # share of the rows that may be left out
    effort: str | float | None = None  # of the search: quick, normal, best, or seconds
    seed: int = 0  # of the search
    l: float | None = None  # noqa: E741 - goals for the sensitive columns
    l_kind: str = "distinct"
    c: float | None = None
    t: float | None = None
    t_kind: str = "equal"
    alpha: float | None = None
    max_points: int | None = None  # beyond, axes are made coarser
    labels: str = "brackets"  # how intervals are written: brackets, dash or columns

    def wishes(self) -> dict[str, Any]:
        """What `make_release` takes."""
        return msgspec.structs.asdict(self)

    def reading_of(self, cuts: Sequence[str]) -> dict[str, Any]:
        """The reading for cuts in place of the plan's; none but the regime cut has one."""
        plain = {"reading": "strict", "field": 2}
        return {"reading": self.reading, "field": self.field} if "regime" in cuts else plain

    def spectrum_wishes(self) -> dict[str, Any]:
        """What `compute_spectrum` takes: it has no eps and writes nothing."""
        return {name: value for name, value in self.wishes().items() if name not in ("eps", "labels")}


class Plan(_Section):
    """Everything that decides a release, except the rows."""

    table: TableSection = msgspec.field(default_factory=TableSection)
    roles: RolesSection = msgspec.field(default_factory=RolesSection)
    axes: dict[str, AxisSection] = {}
    hierarchies: str | None = None  # a folder, from the folder of the plan
    release: ReleaseSection = msgspec.field(default_factory=ReleaseSection)

    def read_table(self, path: str | PathLike[str], **options: Any) -> Table:
        """Read a table as the plan says; hierarchies are found from the current folder."""
        axes = {name: AxisChoice(a.kind, tuple(a.order), a.grid, a.hierarchy) for name, a in self.axes.items()}
        roles = {name: getattr(self.roles, name) for name in self.roles.__struct_fields__}
        reading = {name: getattr(self.table, name) for name in self.table.__struct_fields__}
        if find_address(path) or Path(path).suffix.lower() not in TEXT_FILES:
            del reading["delimiter"], reading["encoding"]
        return read_table(path, **roles, **(reading | options), axes=axes, hierarchies=self.hierarchies)

    def write(self, path: str | PathLike[str], note: str = "") -> None:
        """Write the plan as TOML, below a note; paths in it then count from its own folder."""
        folder, plan = Path(path).absolute().parent, msgspec.to_builtins(self)
        for section, name in ((plan, "hierarchies"), *((axis, "hierarchy") for axis in plan.get("axes", {}).values())):
            if section.get(name):
                section[name] = os.path.relpath(section[name], folder)
        write_text(Path(path), (f"# {note}\n\n" if note else "") + tomli_w.dumps(without_none(plan)))


def read_plan(path: str | PathLike[str]) -> Plan:
    """Read a plan; paths in it count from its own folder."""
    file = Path(path)
    if not file.is_file():
        raise NoSuchFile(path)
    try:
        plan = msgspec.toml.decode(file.read_bytes(), type=Plan)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise BadPlan(path, f"{fault}.") from None
    if plan.hierarchies:
        plan.hierarchies = os.fspath(file.parent / plan.hierarchies)
    for axis in plan.axes.values():
        if axis.hierarchy:
            axis.hierarchy = os.fspath(file.parent / axis.hierarchy)
    return plan


def without_none(value: Any) -> Any:
    """TOML has no null."""
    if isinstance(value, dict):
        return {key: without_none(inner) for key, inner in value.items() if inner is not None}
    return value
