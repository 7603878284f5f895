"""Certificate: the claims about a published file, and their independent check.

In: a written CSV or Parquet file and its public parameters.  Out: figures, or ClaimBroken.
This package has its own reader and its own counting, and uses no code that makes releases.
"""

from kech.certificate.cells import BESIDE, AnyPath, certificate_path, open_published
from kech.certificate.check import NOT_PROMISED, check_certificate, check_table, make_certificate, promised_k
from kech.certificate.document import read_claims
from kech.certificate.labels import Axis, as_brackets, published_columns
from kech.certificate.tally import Cell

__all__ = [
    "BESIDE",
    "NOT_PROMISED",
    "AnyPath",
    "Axis",
    "Cell",
    "as_brackets",
    "certificate_path",
    "check_certificate",
    "check_table",
    "make_certificate",
    "open_published",
    "promised_k",
    "published_columns",
    "read_claims",
]
