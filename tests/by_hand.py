"""Tables and releases made by hand, so that what an attack must find is known; and the rows an engine holds."""

import csv
import json

from kech.certificate import make_certificate, open_published
from kech.certificate.check import measure_table
from kech.errors import ClaimBroken


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def certified(path, rows, *, numbers=("age",), secret="salary"):
    axes = [{"column": name, "axis": "number", "domain": [0, 99], "grid": "round"} for name in numbers]
    return certify(path, (*numbers, secret), rows, axes, sensitive=[secret])


def certify(path, header, rows, axes, *, sensitive=(), kept=(), parameters=None, values=None):
    """Any rows as a release with these axes: what a reader of kech must take them for is known."""
    write(path, header, rows)
    options = {"published_name": path.name, "axes": axes, "sensitive": list(sensitive), "kept": list(kept)}
    options |= {"values": values}
    certificate = make_certificate(path, **options, rows_in=len(rows), parameters=parameters or {}, kech_version="0")
    path.with_name(path.name + ".certificate.json").write_text(json.dumps(certificate), "utf-8")
    return path


def measure(path, axes, sensitive=(), format=None, delimiter=","):
    """Figures of a published file, from the file and its axes alone."""
    content = {"quasi_identifiers": axes, "sensitive": sensitive, "values": {}, "parameters": {}}
    figures, broken = measure_table(open_published(path, format, delimiter), content, {}, 1)
    if broken:
        raise ClaimBroken(path, broken)
    return figures


def held_rows(engine):
    """Every row as a DuckDB engine read it, in the order of the table."""
    columns = list(engine.layout.columns)
    cells = ", ".join(f"c{column}" for column in columns)
    return engine.backend.rows(f"SELECT {cells} FROM {engine.layout.rows(columns)} ORDER BY r", "testing")
