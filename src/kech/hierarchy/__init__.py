"""Hierarchies: generalization trees, read from files or built from the values of a column."""

from kech.hierarchy.reading import find_hierarchies, read_hierarchy
from kech.hierarchy.tree import GeneralizationTree, build_prefix_tree, looks_like_codes, star_tree

__all__ = [
    "GeneralizationTree",
    "build_prefix_tree",
    "find_hierarchies",
    "looks_like_codes",
    "read_hierarchy",
    "star_tree",
]
