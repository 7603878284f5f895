"""Cells: notebooks run and compared, without Jupyter.

usage: python docs/_code/cells.py          runs every notebook of docs/tutorials and stores its outputs

A cell prints, and its last expression is shown as Jupyter shows it: HTML where there is any, and text.
"""

import ast
import json
import os
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kech.tables.demo import write_demo_key

NOTEBOOKS = Path(__file__).parents[1] / "tutorials"


def main() -> None:
    """Run every notebook and store what it shows."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        book = read_notebook(path)
        for cell, outputs in zip(code_cells(book), run_notebook(book), strict=True):
            cell["outputs"] = outputs
        number_cells(book)
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook as its file has it."""
    book: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return book


def code_cells(book: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells that run."""
    return [cell for cell in book["cells"] if cell["cell_type"] == "code"]


def number_cells(book: dict[str, Any]) -> None:
    """Cells are counted in the order in which they ran."""
    for number, cell in enumerate(code_cells(book), 1):
        cell["execution_count"] = number
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number


def run_notebook(book: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The outputs of each code cell, run from first to last in a folder of their own."""
    names: dict[str, Any] = {"__name__": "__main__"}
    home = patch.dict(os.environ, KECH_HOME="home", KECH_KEY_FILE="demo.key")  # a ledger of its own, and no secret
    with tempfile.TemporaryDirectory() as folder, chdir(folder), home:
        write_demo_key(Path())
        return [run_cell("".join(cell["source"]), names) for cell in code_cells(book)]


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell prints, and what its last expression shows."""
    body = ast.parse(source)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    printed = StringIO()
    with redirect_stdout(printed):
        exec(compile(body, "<cell>", "exec"), names)
        quiet = source.rstrip().endswith(";")
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
    outputs = [stream(printed.getvalue())] if printed.getvalue() else []
    return outputs if value is None or quiet else [*outputs, result(value)]


def stream(text: str) -> dict[str, Any]:
    """Printed text."""
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def result(value: Any) -> dict[str, Any]:
    """What a value shows, in every form it has."""
    html = getattr(value, "_repr_html_", lambda: None)()
    data = {"text/html": html.splitlines(keepends=True)} if html else {}
    data["text/plain"] = repr(value).splitlines(keepends=True)
    return {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}


if __name__ == "__main__":
    main()
