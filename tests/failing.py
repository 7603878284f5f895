"""A connection to DuckDB that fails, and what an engine says of it."""

import pyarrow as pa
import pytest

from kech.errors import KechError
from kech.tables.duckdb import DuckDB


class Failing:
    """A connection whose queries end with a failure; Arrow fails once rows are handed on."""

    def __init__(self, failure):
        self.failure = failure

    def execute(self, query):
        raise self.failure

    def batches(self):
        yield pa.record_batch({"a": [1]})
        raise self.failure


def refuse_query(failure, doing, memory=None):
    """What an engine says where DuckDB fails."""
    engine = DuckDB(memory=memory)
    real, engine.connection = engine.connection, Failing(failure)
    with pytest.raises((KechError, KeyboardInterrupt)) as caught:
        if isinstance(failure, pa.ArrowInvalid):
            list(engine.check_batches(engine.connection.batches(), doing, "SELECT 1"))
        engine.rows("SELECT 1", doing)
    engine.connection = real
    engine.close()
    return caught.value
