"""Hierarchies: generalization trees, read from files or built from the values of a column."""

from kech.axes.hierarchy.reading import find_hierarchies, find_hierarchy, read_hierarchy
from kech.axes.hierarchy.tree import (
    GeneralizationTree,
    build_prefix_tree,
    half_prefixes,
    have_code_form,
    looks_like_codes,
    star_tree,
)

__all__ = [
    "GeneralizationTree",
    "build_prefix_tree",
    "find_hierarchies",
    "find_hierarchy",
    "half_prefixes",
    "have_code_form",
    "looks_like_codes",
    "read_hierarchy",
    "star_tree",
]
