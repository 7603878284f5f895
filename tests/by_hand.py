"""Tables and releases made by hand, so that what an attack must find is known; and the rows an engine holds."""

import csv
import json

from kech.certificate import make_certificate


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def certified(path, rows, *, numbers=("age",), secret="salary"):
    write(path, (*numbers, secret), rows)
    axes = [{"column": name, "axis": "numeric", "domain": [0, 99], "grid": "round"} for name in numbers]
    options = {"published_name": path.name, "axes": axes, "sensitive": [secret], "kept": [], "rows_in": len(rows)}
    certificate = make_certificate(path, **options, parameters={}, kech_version="0")
    path.with_name(path.name + ".certificate.json").write_text(json.dumps(certificate))
    return path


def held_rows(engine):
    """Every row as a DuckDB engine read it, in the order of the table."""
    columns = list(engine.layout.columns)
    cells = ", ".join(f"c{column}" for column in columns)
    return engine.backend.rows(f"SELECT {cells} FROM {engine.layout.rows(columns)} ORDER BY r", "testing")
