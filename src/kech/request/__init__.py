"""Request: everything that a user asks for; its fields are the options of all commands and the keywords of Python."""

from kech.request.parts import AxisChoice, Columns, Cut, Field, Goal, Input, Labels, Limits
from kech.request.plan import read_request, relative_path, write_plan
from kech.request.request import FIELDS, PARTS, Request, check_k, check_ks

__all__ = [
    "FIELDS",
    "PARTS",
    "AxisChoice",
    "Columns",
    "Cut",
    "Field",
    "Goal",
    "Input",
    "Labels",
    "Limits",
    "Request",
    "check_k",
    "check_ks",
    "read_request",
    "relative_path",
    "write_plan",
]
