"""Reference: commands and public names as the code itself describes them.

In: the command line and the package.  Out: pages of HTML, each with its headings.
"""

import dataclasses
import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from html import escape
from types import ModuleType
from typing import Any, get_args, get_type_hints

import cyclopts
from prose import Heading, Prose, render_docstring

import kech
from kech.cli import app

LONG = 88  # letters of a signature that stays on one line
NOTE = "This page is generated from the code; nobody writes it by hand."


# -- commands ------------------------------------------------------------------------------------------


def command_reference() -> Prose:
    """Every command with its arguments and options."""
    parts = ['<h1 id="command-reference">Command reference</h1>', f"<p>{NOTE} Every command takes --help.</p>"]
    headings = [Heading(1, "command-reference", "Command reference")]
    for words, command in commands(app, ()):
        name = "kech " + " ".join(words)
        headings.append(Heading(2, "-".join(("kech", *words)), name))
        parts.append(heading(headings[-1]) + describe_command(name, command))
    return Prose("\n".join(parts), tuple(headings))


def commands(parent: cyclopts.App, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], cyclopts.App]]:
    """Commands and the commands below them, as they are typed."""
    for name in sorted(name for name in parent if not name.startswith("-")):
        command = parent[name]
        below = list(commands(command, (*words, name)))
        if command.default_command is not None or not below:
            yield (*words, name), command
        yield from below


def describe_command(name: str, command: cyclopts.App) -> str:
    """What a command is for, how it is typed, and a table of what it takes."""
    arguments = shown_arguments(command)
    words = [f"{argument.names[0]}" for argument in arguments if not argument.names[0].startswith("-")]
    usage = " ".join([name, *words, "[OPTIONS]"])
    about = re.split(r"\n\s*Parameters\n\s*-{3,}", inspect.cleandoc(command.help or ""))[0]
    about = re.sub(r"^Example: (kech .*)$", r"\n```sh\n\1\n```\n", about, flags=re.M)
    return (
        render_docstring(about)
        + f"<pre><code>{escape(usage)}</code></pre>"
        + table(("option", "takes", "default", "meaning"), [describe_argument(argument) for argument in arguments])
    )


def shown_arguments(command: cyclopts.App) -> list[Any]:
    """Arguments and options a user may type."""
    return [argument for argument in command.assemble_argument_collection(parse_docstring=True) if argument.show]


def describe_argument(argument: Any) -> tuple[str, str, str, str]:
    """A row of the table of a command."""
    default = argument.field_info.default
    known = not argument.required and default not in (None, False, [], ())
    names = ", ".join(f"<code>{escape(name)}</code>" for name in argument.names)
    said = f"<code>{escape(str(default))}</code>" if known else "required" if argument.required else ""
    return names, escape(takes(argument.hint)), said, escape(argument.parameter.help or "")


def takes(hint: Any) -> str:
    """The kind of a value, in words."""
    parts = [part for part in get_args(hint) or (hint,) if part is not type(None)]
    words = {"Path": "file or folder", "str": "text", "int": "whole number", "float": "number", "bool": "nothing"}
    several = str(hint).startswith(("list", "collections.abc.Sequence", "tuple"))
    named = [words.get(getattr(part, "__name__", ""), takes(part) if get_args(part) else "text") for part in parts]
    return " or ".join(dict.fromkeys(named)) + (", one or more" if several else "")


# -- Python ---------------------------------------------------------------------------------------------


def python_reference() -> Prose:
    """Every public name, then the records they give back, then every refusal."""
    parts = ['<h1 id="python-reference">Python reference</h1>', f"<p>{NOTE} All names are in <code>kech</code>.</p>"]
    headings = [Heading(1, "python-reference", "Python reference")]
    public = {name: getattr(kech, name) for name in kech.__all__}
    modules = {name: value for name, value in public.items() if isinstance(value, ModuleType)}
    things = {name: value for name, value in public.items() if name not in modules}
    records = {kind.__name__: kind for kind in given_back(things)}
    for prefix, named in (("kech.", things), ("", records)):
        for name, value in named.items():
            headings.append(Heading(2, f"{prefix}{name}".replace(".", "-").lower(), prefix + name))
            parts.append(heading(headings[-1]) + describe_thing(name, value))
    for name, module in modules.items():
        headings.append(Heading(2, f"kech-{name}", f"kech.{name}"))
        parts.append(heading(headings[-1]) + describe_module(module))
    return Prose("\n".join(parts), tuple(headings))


def given_back(things: Mapping[str, Any]) -> list[type]:
    """Dataclasses of kech that public functions and methods return and nobody has listed yet."""
    listed, found, todo = list(things.values()), [], list(things.values())
    while todo:
        thing = todo.pop(0)
        callables = [member for _, member in members(thing)] if inspect.isclass(thing) else [thing]
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


def return_hint(function: Any) -> Any:
    """What a function says that it returns; nothing where its words cannot be resolved here."""
    try:
        return get_type_hints(function).get("return")
    except (NameError, TypeError):
        return None


def describe_thing(name: str, value: Any) -> str:
    """A function, or a class with its members."""
    text = pre(name + signature(value).removesuffix(" -> None")) + render_docstring(inspect.getdoc(value) or "")
    if not inspect.isclass(value):
        return text
    return text + "".join(describe_member(name, member) for name, member in members(value))


def members(kind: type) -> list[tuple[str, Any]]:
    """Public methods and properties that a class itself defines, and what has a docstring."""
    return [
        (name, member)
        for name, member in vars(kind).items()
        if not name.startswith("_") and inspect.getdoc(unwrap(member)) and is_member(member)
    ]


def is_member(member: Any) -> bool:
    """Whether it is a method or a property."""
    return isinstance(member, property | functools.cached_property | classmethod | staticmethod) or inspect.isfunction(
        member
    )


def unwrap(member: Any) -> Any:
    """The function behind a method or a property."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, functools.cached_property):
        return member.func
    return getattr(member, "__func__", member)


def describe_member(name: str, member: Any) -> str:
    """A method with its signature, or a property."""
    is_property = isinstance(member, property | functools.cached_property)
    shape = "" if is_property else signature(unwrap(member))
    said = render_docstring(inspect.getdoc(unwrap(member)) or "")
    return f'<div class="member">{pre("." + name + shape)}{said}</div>'


def describe_module(module: ModuleType) -> str:
    """A module of classes: its own words, and a table."""
    kinds = sorted((value for value in vars(module).values() if inspect.isclass(value)), key=lambda kind: kind.__name__)
    own = [kind for kind in kinds if kind.__module__ == module.__name__]
    rows = [
        (
            f"<code>{kind.__name__}</code>",
            f"<code>{kind.__bases__[0].__name__}</code>",
            str(getattr(kind, "exit_code", "")),
        )
        for kind in own
    ]
    return pre(inspect.getdoc(module) or "") + table(("name", "derives from", "exit code"), rows)


def signature(value: Any) -> str:
    """How something is called, one parameter a line where it is long."""
    found = inspect.signature(value)
    kept = [parameter for name, parameter in found.parameters.items() if name != "self"]
    text = short(str(found.replace(parameters=kept)))
    if len(text) <= LONG:
        return text
    marked, starred = [], False
    for parameter in kept:
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            starred = True
            marked.append("*")
        marked.append(short(str(parameter)))
    returned = "" if found.return_annotation is found.empty else f" -> {short(found.return_annotation)}"
    return "(\n    " + ",\n    ".join(marked) + f",\n){returned}"


def short(hint: Any) -> str:
    """A type as people read it, without the modules it comes from."""
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    text = re.sub(r"<(?:class '|function |factory)[^>]*>", "...", text)
    return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text).replace("'", '"')


# -- pieces ----------------------------------------------------------------------------------------------


def heading(of: Heading) -> str:
    """A heading with its link."""
    sign = f'<a href="#{of.anchor}" class="anchor" aria-label="Link here">#</a>'
    return f'<h{of.level} id="{of.anchor}"><code>{escape(of.text)}</code>{sign}</h{of.level}>'


def pre(text: str) -> str:
    """Text as it is."""
    return f"<pre><code>{escape(text)}</code></pre>"


def table(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table whose cells are HTML."""
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    whole = f'<table class="options"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="wide" tabindex="0">{whole}</div>'
