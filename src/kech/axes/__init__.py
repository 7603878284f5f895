"""Axes: each quasi-identifier as ordered integer codes; the width and the label of a range of codes.

In: the distinct values of a column.  Out: codes; widths and labels, both functions of a range [lo, hi] of codes.
NULL, where a column has it, has the last code.  A range of NULL and other values is printed as `*`, with width 1.
"""

from kech.axes.axis import EVERYTHING, Axis, Codes, TextAxis
from kech.axes.lines import LineAxis, build_line_axis, publish_always, step_axis
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
    "publish_always",
    "step_axis",
]
