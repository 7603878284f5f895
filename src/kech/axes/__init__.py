"""Axes: each quasi-identifier coded to integers in an order; how wide a range of codes is; how it is printed.

In: the distinct values of a column.  Out: codes, widths and labels, all functions of a range [lo, hi] of codes.
NULL, where a column has it, is the last code: a value of its own, and together with any other all is lost.
"""

from kech.axes.axis import EVERYTHING, Axis, Codes, TextAxis
from kech.axes.lines import LineAxis, build_line_axis, open_domain, publish_always
from kech.axes.ranks import LONGEST_SET, RankAxis, build_rank_axis
from kech.axes.trees import NodeAxis, TreeAxis, build_tree_axis

__all__ = [
    "EVERYTHING",
    "LONGEST_SET",
    "Axis",
    "Codes",
    "LineAxis",
    "NodeAxis",
    "RankAxis",
    "TextAxis",
    "TreeAxis",
    "build_line_axis",
    "build_rank_axis",
    "build_tree_axis",
    "open_domain",
    "publish_always",
]
