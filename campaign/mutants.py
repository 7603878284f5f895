"""Mutants: small changes of a module, one node of its tree at a time.

Comparisons, operators, `and` and `or`, `not`, conditions, filters, numbers, names in quotes, min and max, keywords,
caught exceptions, returned values and calls made for their effect are changed or dropped.  Types, docstrings,
decorators and words for people (text with a space in it) are not.
"""

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
TURNED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)  # the swap of which is its opposite
OTHERS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
LEFT_ALONE = ("annotation", "returns", "decorator_list", "format_spec")


@dataclass(frozen=True)
class Mutant:
    """A change of a module: from which line to which, in words, and where the changed node hangs."""

    room: str
    line: int
    column: int
    last: int
    change: str
    slot: int
    turn: int
    on_import: bool  # is it run once, when the module is imported

    @property
    def name(self) -> str:
        """Where it is and what it is."""
        return f"{self.room}, line {self.line}: {self.change}"

    def tree(self, source: str) -> ast.Module:
        """The changed module."""
        tree = ast.parse(source)
        here = next(islice(slots(tree), self.slot, None))
        here.put(ast.copy_location(changes(here.node)[self.turn], here.node))
        return ast.fix_missing_locations(tree)


@dataclass(frozen=True)
class Slot:
    """Where a node hangs in its tree."""

    parent: ast.AST
    field: str
    place: int | None
    node: ast.AST
    inside: bool  # of a function

    def put(self, node: ast.AST) -> None:
        """Hang another node there."""
        if self.place is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.place] = node


def mutants_of(source: str, room: str = "") -> Iterator[Mutant]:
    """Every change of a module."""
    for number, slot in enumerate(slots(ast.parse(source))):
        for turn, changed in enumerate(changes(slot.node)):
            words = f"{shown(slot.node)} -> {shown(changed)}"
            yield Mutant(
                room, slot.node.lineno, slot.node.col_offset, last_line(slot.node), words, number, turn, not slot.inside
            )  # type: ignore[attr-defined]


def last_line(node: ast.AST) -> int:
    """The last line of a change; of a statement with a body, of its head."""
    body = getattr(node, "body", None)
    return node.test.end_lineno if isinstance(body, list) and hasattr(node, "test") else node.end_lineno  # type: ignore


def slots(node: ast.AST, inside: bool = False) -> Iterator[Slot]:
    """The nodes that may change, in a fixed order."""
    for field, value in ast.iter_fields(node):
        children = [] if field in LEFT_ALONE else enumerate(value) if isinstance(value, list) else [(None, value)]
        within = inside or (field == "body" and isinstance(node, ast.FunctionDef | ast.Lambda))
        for place, child in children:
            if isinstance(child, ast.AST) and not is_text(node, child):
                if hasattr(child, "lineno"):
                    yield Slot(node, field, place, child, within)
                yield from slots(child, within)


def is_text(parent: ast.AST, node: ast.AST) -> bool:
    """A docstring, or the text between the values of an f-string."""
    alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return alone or (isinstance(parent, ast.JoinedStr) and isinstance(node, ast.Constant))


def changes(node: ast.AST) -> list[ast.AST]:
    """What may stand in place of a node."""
    return [changed for kind, change in CHANGES.items() if isinstance(node, kind) for changed in change(node)]


def changed_compare(node: ast.Compare) -> list[ast.AST]:
    """Each comparison, with or without its equality, or turned round."""
    return [
        altered(node, ops=[*node.ops[:i], SWAPS[type(op)](), *node.ops[i + 1 :]])
        for i, op in enumerate(node.ops)
        if type(op) in SWAPS
    ]


def changed_operator(node: Any) -> list[ast.AST]:
    """The opposite operator."""
    return [altered(node, op=SWAPS[type(node.op)]())] if type(node.op) in SWAPS else []


def changed_constant(node: ast.Constant) -> list[ast.AST]:
    """Another truth, number or name; words for people are left alone."""
    if isinstance(node.value, bool):
        return [altered(node, value=not node.value)]
    if isinstance(node.value, int | float):
        return [altered(node, value=node.value + 1)]
    named = isinstance(node.value, str) and " " not in node.value
    return [altered(node, value=f"{node.value}XX")] if named else []


def changed_condition(node: Any) -> list[ast.AST]:
    """The other way round, where no change of the condition itself says the same."""
    turned = isinstance(node.test, ast.Compare) and isinstance(node.test.ops[0], TURNED)
    return (
        [] if turned or isinstance(node.test, ast.UnaryOp) else [altered(node, test=ast.UnaryOp(ast.Not(), node.test))]
    )


def changed_comprehension(node: Any) -> list[ast.AST]:
    """Without a filter."""
    return [
        altered(node, generators=[*node.generators[:i], altered(part, ifs=[]), *node.generators[i + 1 :]])
        for i, part in enumerate(node.generators)
        if part.ifs
    ]


def changed_call(node: ast.Call) -> list[ast.AST]:
    """Without one of its keywords."""
    return [
        altered(node, keywords=[*node.keywords[:i], *node.keywords[i + 1 :]])
        for i, word in enumerate(node.keywords)
        if word.arg
    ]


def changed_handler(node: ast.ExceptHandler) -> list[ast.AST]:
    """One kind of exception is not caught."""
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else []
    return [
        altered(node, type=altered(node.type, elts=[*kinds[:i], *kinds[i + 1 :]]))  # type: ignore[arg-type]
        for i in range(len(kinds))
    ]


def changed_return(node: ast.Return) -> list[ast.AST]:
    """Nothing is returned, where something was."""
    nothing = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
    return [] if nothing else [ast.Return(ast.Constant(None))]


CHANGES: dict[Any, Any] = {
    ast.Compare: changed_compare,
    ast.BinOp | ast.BoolOp | ast.AugAssign: changed_operator,
    ast.Constant: changed_constant,
    ast.If | ast.IfExp | ast.While: changed_condition,
    ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp: changed_comprehension,
    ast.Call: changed_call,
    ast.ExceptHandler: changed_handler,
    ast.UnaryOp: lambda node: [node.operand],
    ast.Expr: lambda node: [ast.Pass()] if isinstance(node.value, ast.Call) else [],
    ast.Return: changed_return,
    ast.Name: lambda node: [altered(node, id=OTHERS[node.id])] if node.id in OTHERS else [],
    ast.Attribute: lambda node: [altered(node, attr=OTHERS[node.attr])] if node.attr in OTHERS else [],
}


def altered(node: ast.AST, **fields: Any) -> Any:
    """A copy with other fields; the node itself stays as it is."""
    other = copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def shown(node: ast.AST) -> str:
    """A node on one line; of a long statement its head."""
    if isinstance(node, ast.If | ast.While):
        node = node.test
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 100 else f"{text[:97]}..."
