"""kech as a command that searches nothing: it publishes the cheapest start of each k.  The child of held_out.py.

usage: unsearched_child.py COMMAND OPTIONS...
"""

import sys
from collections.abc import Mapping
from typing import Any

from kech.cli import main
from kech.cuts import local
from kech.points.partition import Partition


def keep_start(start: Partition, *_: Any, **__: Any) -> Partition:
    """A search that makes no step."""
    return start


def take_cheapest(starts: Mapping[str, Partition], *_: Any) -> Partition:
    """The cheapest start, without a first step of each."""
    return min(starts.values(), key=local.expected_loss)


local.search, local.choose_start = keep_start, take_cheapest
sys.exit(main())
