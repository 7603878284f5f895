"""Draw: the pictures of the manual, made by kech itself.

usage: python docs/pictures/draw.py
"""

from pathlib import Path

import kech
from kech.demo import nine_rows

HERE = Path(__file__).parent


def main() -> None:
    """All pictures, beside this file."""
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        kech.compute_barcode(table, metric="ball").plot(HERE / "nine.svg", k=[3])


if __name__ == "__main__":
    main()
