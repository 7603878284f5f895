"""kech watches the rows of a table merge as eps grows, and cuts where every group has k rows."""

from importlib.metadata import version as _version

from kech import errors
from kech.attacks import Attack, run_attacks
from kech.barcode import WeightedBarcode, compute_barcode
from kech.certificate import check_certificate, check_table
from kech.comparison import Comparison, compare
from kech.hierarchy import GeneralizationTree, read_hierarchy
from kech.inspection import inspect_table
from kech.lattice import GeneralizationLattice, compute_lattice
from kech.ledger import Ledger, open_ledger
from kech.outlook import Outlook, Plane, compute_outlook, compute_plane
from kech.plan import Plan, read_plan
from kech.publication import Publication, publish_release
from kech.release import Release, make_release
from kech.report import Report, make_report
from kech.review import HierarchyReview, review_hierarchy
from kech.risk import Risk, compute_risk
from kech.spectrum import Spectrum, compute_spectrum
from kech.table import AxisChoice, Table, read_table
from kech.verification import verify_release
from kech.zigzag import ZigzagBarcode, compute_zigzag

__version__ = _version("kech")
__all__ = [
    "Anonymizer",
    "Attack",
    "AxisChoice",
    "Comparison",
    "GeneralizationLattice",
    "GeneralizationTree",
    "HierarchyReview",
    "Ledger",
    "Outlook",
    "Plan",
    "Plane",
    "Publication",
    "Release",
    "Report",
    "Risk",
    "Spectrum",
    "Table",
    "WeightedBarcode",
    "ZigzagBarcode",
    "check_certificate",
    "check_table",
    "compare",
    "compute_barcode",
    "compute_lattice",
    "compute_outlook",
    "compute_plane",
    "compute_risk",
    "compute_spectrum",
    "compute_zigzag",
    "errors",
    "inspect_table",
    "make_release",
    "make_report",
    "open_ledger",
    "publish_release",
    "read_hierarchy",
    "read_plan",
    "read_table",
    "review_hierarchy",
    "run_attacks",
    "verify_release",
]


def __getattr__(name: str) -> object:
    """`Anonymizer` is imported when it is first used: it needs scikit-learn."""
    if name == "Anonymizer":
        try:
            from kech.estimator import Anonymizer
        except ModuleNotFoundError:
            raise errors.MissingExtra("The scikit-learn estimator", "sklearn") from None
        return Anonymizer
    raise AttributeError(f"module 'kech' has no attribute {name!r}")
