"""Certificate: what a published file promises, and the independent check of that promise.

In: a written CSV or Parquet file and its public parameters.  Out: figures, or ClaimBroken.
Own reader, own counting: nothing here is shared with the code that made the file.
"""

from kech.certificate.cells import AnyPath, open_published
from kech.certificate.check import NOT_PROMISED, check_certificate, check_table, make_certificate, measure
from kech.certificate.document import read_claims
from kech.certificate.forms import as_brackets, published_columns
from kech.certificate.labels import Axis
from kech.certificate.tally import Cell

__all__ = [
    "NOT_PROMISED",
    "AnyPath",
    "Axis",
    "Cell",
    "as_brackets",
    "check_certificate",
    "check_table",
    "make_certificate",
    "measure",
    "open_published",
    "published_columns",
    "read_claims",
]
