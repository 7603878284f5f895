"""Draw: the pictures of the manual, made by kech itself.

usage: python docs/pictures/draw.py
"""

from pathlib import Path

import kech
from kech.tables.demo import COUNTRIES, GENDERS, generate_town, nine_rows, travellers

HERE = Path(__file__).parent


def main() -> None:
    """All pictures, beside this file."""
    with kech.read_table(nine_rows(), quasi_identifiers=["age", "zip"]) as table:
        kech.compute_barcode(table, metric="ball").plot(HERE / "nine.svg", k=[3])
    trees = {"gender": GENDERS, "country": COUNTRIES}
    with kech.read_table(travellers(), quasi_identifiers=["gender", "country"], hierarchies=trees) as table:
        for path in ("rows", "columns"):
            kech.compute_zigzag(table, path).plot(HERE / f"zigzag_{path}.svg", k=4)
    columns = ["age", "moved_in", "sex"]
    with kech.read_table(generate_town(400), quasi_identifiers=columns) as table:
        kech.compute_barcode(table, max_dimension=0).plot(HERE / "mixed_barcode.svg", k=[5], reading="strict")
        kech.compute_zigzag(table, "minimal").plot(HERE / "mixed_zigzag.svg", k=5)


if __name__ == "__main__":
    main()
