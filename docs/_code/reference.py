"""Reference: commands, public names and refusals as the code itself describes them.

In: the command line and the package.  Out: Markdown, which the directives of this Sphinx extension put into a page:

    {command} NAME      what a command does and how it is typed
    {options} NAME      what a command takes, by group
    {public-names}      every public name, and the records that they give back
    {refusals}          every refusal with its exit code
    {risk-formulas}     every figure of `kech risk`
    {held-by} CLAIM     the tests that hold a claim
"""

import dataclasses
import functools
import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import cyclopts

import kech
from kech.cli import app

CLAIMS = Path(__file__).parents[1] / "explanation" / "claims"

# -- commands ------------------------------------------------------------------------------------------


def describe_command(name: str) -> str:
    """What a command is for, how it is typed, and an example."""
    help_text = inspect.cleandoc(app[name].help or "")
    about, _, _ = re.split(r"(\n\s*Parameters\n\s*-{3,}|$)", help_text, maxsplit=1)
    examples = re.findall(r"^Example: (kech .*)$", about, re.M)
    words = [argument.names[0] for argument in shown_arguments(app[name]) if not argument.names[0].startswith("-")]
    usage = "\n".join([" ".join(["kech", name, *words, "[OPTIONS]"]), *examples])
    return f"{escape(re.sub(r'^Example: .*$', '', about, flags=re.M).strip())}\n\n```text\n{usage}\n```"


def describe_options(name: str) -> str:
    """A table of what a command takes, for each heading that `--help` shows."""
    groups = by_group(shown_arguments(app[name]))
    return "\n\n".join(f"**{title}**\n\n{draw_options(held)}" for title, held in groups.items())


def shown_arguments(command: cyclopts.App) -> list[Any]:
    """Arguments and options a user may type."""
    return [argument for argument in command.assemble_argument_collection(parse_docstring=True) if argument.show]


def by_group(arguments: list[Any]) -> dict[str, list[Any]]:
    """Arguments under the headings that `--help` shows."""
    found: dict[str, list[Any]] = {}
    for argument in arguments:
        groups = argument.parameter.group or ("Options",)
        found.setdefault(str(getattr(groups[0], "name", groups[0])), []).append(argument)
    return found


def draw_options(arguments: list[Any]) -> str:
    """Options as a table; without a column of defaults where there are none."""
    rows = [("option", "takes", "default", "meaning"), *map(describe_argument, arguments)]
    kept = [place for place in range(4) if any(row[place] for row in rows[1:])]
    header, *cells = [tuple(row[place] for place in kept) for row in rows]
    return draw_table(header, cells)


def describe_argument(argument: Any) -> tuple[str, str, str, str]:
    """A row of the table of a command."""
    default = argument.field_info.default
    known = not argument.required and default not in (None, False, [], ())
    said = f"`{default}`" if known else "required" if argument.required else ""
    names = ", ".join(f"`{name}`" for name in argument.names)
    return names, takes(argument.hint), said, escape(argument.parameter.help or "")


def takes(hint: Any) -> str:
    """The kind of a value, in words."""
    parts = [part for part in get_args(hint) or (hint,) if part is not type(None)]
    words = {"Path": "file or folder", "str": "text", "int": "whole number", "float": "number", "bool": "nothing"}
    several = str(hint).startswith(("list", "collections.abc.Sequence", "tuple"))
    named = [words.get(getattr(part, "__name__", ""), takes(part) if get_args(part) else "text") for part in parts]
    return " or ".join(dict.fromkeys(named)) + (", one or more" if several else "")


# -- refusals and risks ------------------------------------------------------------------------------------------


def describe_refusals() -> str:
    """Every refusal and warning: its name, what it derives from, its exit code, and when it is raised."""
    rows = [
        (f"`{kind.__name__}`", f"`{kind.__bases__[-1].__name__}`", exit_code(kind), escape(inspect.getdoc(kind) or ""))
        for kind in refusals()
    ]
    return draw_table(("name", "derives from", "exit code", "when"), rows)


def refusals() -> list[type]:
    """The classes of kech.errors that users may meet, in the order of the file."""
    kinds = [kind for kind in vars(kech.errors).values() if inspect.isclass(kind)]
    return [kind for kind in kinds if kind.__module__ == "kech.errors" and issubclass(kind, Exception)]


def exit_code(kind: type) -> str:
    """The exit code of a refusal; a warning has none."""
    return str(getattr(kind, "exit_code", "none"))


def describe_risk() -> str:
    """The formulas that `kech risk` prints, which lie beside the public `Risk`."""
    return draw_table(("figure", "formula"), [(name, f"`{formula}`") for name, formula in risk_formulas().items()])


def risk_formulas() -> dict[str, str]:
    """Figure -> formula."""
    found: dict[str, str] = sys.modules[kech.Risk.__module__].FORMULAS  # type: ignore[attr-defined]
    return found


# -- claims --------------------------------------------------------------------------------------------


def list_tests(claim: str) -> str:
    """The tests that would fail if a claim were not true."""
    return "\n".join("- " + re.sub(r"^\S+", lambda name: f"`{name[0]}`", line) for line in held_by()[claim])


def held_by() -> dict[str, list[str]]:
    """Claim -> tests, each `file::name` with a remark where there is one."""
    found: dict[str, list[str]] = tomllib.loads((CLAIMS / "held_by.toml").read_text("utf-8"))
    return found


# -- public names --------------------------------------------------------------------------------------


def describe_public_names() -> str:
    """A table of the public names, and then each with its parameters and members."""
    rows = [(f"{{py:obj}}`{name} <kech.{name}>`", first_line(value)) for name, value in public_names().items()]
    return f"{draw_table(('name', 'what it is'), rows)}\n\n```{{eval-rst}}\n{list_public_names()}\n```"


def public_names() -> dict[str, Any]:
    """Name -> function or class."""
    return {name: getattr(kech, name) for name in kech.__all__ if not inspect.ismodule(getattr(kech, name))}


def first_line(value: Any) -> str:
    """The first sentence of a docstring."""
    return escape((inspect.getdoc(value) or "").partition("\n")[0])


def list_public_names() -> str:
    """Functions, classes, and the records they give back, each for autodoc."""
    public = public_names()
    functions = [f"kech.{name}" for name, value in public.items() if not inspect.isclass(value)]
    classes = [f"kech.{name}" for name, value in public.items() if inspect.isclass(value)]
    records = [f"{kind.__module__}.{kind.__qualname__}" for kind in given_back(public)]
    parts = [f".. autofunction:: {name}\n" for name in functions]
    parts += [f".. autoclass:: {name}\n   :members:\n" for name in classes + records]
    return "\n".join(parts)


def given_back(things: Mapping[str, Any]) -> list[type]:
    """Dataclasses of kech that public functions and methods return and that are not public names themselves."""
    listed, found, todo = list(things.values()), [], list(things.values())
    while todo:
        thing = todo.pop(0)
        callables = list(vars(thing).values()) if inspect.isclass(thing) else [thing]
        for kind in {part for member in callables for part in return_parts(member)} - {*listed, *found}:
            found.append(kind)
            todo.append(kind)
    return sorted(found, key=lambda kind: kind.__name__)


def return_parts(member: Any) -> Iterator[type]:
    """Dataclasses of kech in what a function returns."""
    todo = [return_hint(unwrap(member))]
    while todo:
        part = todo.pop()
        todo += get_args(part)
        if dataclasses.is_dataclass(part) and isinstance(part, type) and part.__module__.startswith("kech."):
            yield part


def unwrap(member: Any) -> Any:
    """The function behind a method or a property."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, functools.cached_property):
        return member.func
    return getattr(member, "__func__", member)


def return_hint(function: Any) -> Any:
    """What a function says that it returns; nothing where its words cannot be resolved here."""
    try:
        return get_type_hints(function).get("return")
    except (NameError, TypeError, AttributeError):
        return None


def as_rst(text: str) -> str:
    """A docstring in plain words as reStructuredText: its stars, bars and underscores are no markup."""
    parts = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        if part.lstrip().startswith(">>>"):
            parts.append(part)
        elif part.startswith("    "):
            parts.append(f"::\n\n{part}")
        else:
            parts.append(re.sub(r"[*|\\]|_\b|`([^`]+)`", mark_up, part))
    return "\n\n".join(parts)


def mark_up(found: re.Match[str]) -> str:
    """A code word in two backticks; any other sign of markup escaped."""
    return f"``{found[1]}``" if found[1] else "\\" + found[0]


# -- pieces --------------------------------------------------------------------------------------------


def draw_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [header, tuple("---" for _ in header), *rows]
    cells = [[cell.replace("|", r"\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def escape(text: str) -> str:
    """Plain words in Markdown: their signs are no markup, and options are code."""
    plain = re.sub(r"([\\*_\[\]<>#])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", plain)


# -- Sphinx --------------------------------------------------------------------------------------------


def setup(sphinx: Any) -> dict[str, bool]:
    """The directives, and docstrings that are plain words."""
    sphinx.add_directive("command", directive(describe_command, arguments=1))
    sphinx.add_directive("options", directive(describe_options, arguments=1))
    sphinx.add_directive("refusals", directive(describe_refusals))
    sphinx.add_directive("held-by", directive(list_tests, arguments=1))
    sphinx.add_directive("risk-formulas", directive(describe_risk))
    sphinx.add_directive("public-names", directive(describe_public_names))
    sphinx.connect("autodoc-process-docstring", rewrite_docstring, priority=400)  # before napoleon
    return {"parallel_read_safe": True}


def directive(describe: Callable[..., str], arguments: int = 0) -> type:
    """A directive that puts Markdown into the page; the page is made again when what it describes changes."""
    from sphinx.util.docutils import SphinxDirective

    class Described(SphinxDirective):
        required_arguments = arguments

        def run(self) -> list[Any]:
            for path in [__file__, CLAIMS / "held_by.toml", *Path(kech.__file__).parent.rglob("*.py")]:
                self.env.note_dependency(str(path))
            return self.parse_text_to_nodes(describe(*self.arguments), allow_section_headings=False)

    return Described


def rewrite_docstring(_sphinx: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Hand a docstring to Sphinx as it is meant."""
    lines[:] = [*as_rst("\n".join(lines)).splitlines(), ""]
