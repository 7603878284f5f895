"""Sentences about people: who counted them, and how."""

from collections.abc import Mapping
from typing import Any


def describe_stated(stated: Mapping[str, Any]) -> str:
    """What the maker says of people: of classes nobody can recount it from the file, of histories everybody can."""
    if stated["promise"] == "history":
        return (
            f"Recounted from the file, and stated by the maker: at least {stated['k']:,} people share the same labels "
            f"on all of their rows; the file holds rows of {stated['people']:,}. person_number links the rows of each."
        )
    return (
        f"Stated by the maker: every class holds rows of at least {stated['k']:,} different people; the file holds "
        f"rows of {stated['people']:,}."
    )


def describe_recount(result: Mapping[str, Any]) -> str:
    """What the original tells of people."""
    if result["made_again"]:
        return (
            "Recounted with the original: the release was made again and has the published rows; every class holds "
            f"rows of at least {result['k_at_least']:,} different people, the file rows of {result['people']:,}."
        )
    low, high = result["k_at_least"], result["k_at_most"]
    fewest = f"{low:,}" if low == high else f"between {low:,} and {high:,}"
    return (
        f"Bounded with the original: the class with the fewest different people has {fewest}. They were not counted. "
        f"{result['why_not']}"
    )
