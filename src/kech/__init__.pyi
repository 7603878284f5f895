"""The types of what `kech` hands out; tests/test_import.py holds it beside the table in `__init__.py`."""

from kech import errors as errors
from kech import testing as testing
from kech.attacks import Attack as Attack
from kech.attacks import run_attacks as run_attacks
from kech.barcode import WeightedBarcode as WeightedBarcode
from kech.barcode import compute_barcode as compute_barcode
from kech.cache import clear_cache as clear_cache
from kech.certificate import check_certificate as check_certificate
from kech.certificate import check_table as check_table
from kech.comparison import Comparison as Comparison
from kech.comparison import compare as compare
from kech.estimator import Anonymizer as Anonymizer
from kech.hierarchy import GeneralizationTree as GeneralizationTree
from kech.hierarchy import read_hierarchy as read_hierarchy
from kech.inspection import inspect_table as inspect_table
from kech.lattice import GeneralizationLattice as GeneralizationLattice
from kech.lattice import compute_lattice as compute_lattice
from kech.ledger import Ledger as Ledger
from kech.ledger import open_ledger as open_ledger
from kech.outlook import (
    Outlook as Outlook,
)
from kech.outlook import (
    Plane as Plane,
)
from kech.outlook import (
    compute_outlook as compute_outlook,
)
from kech.outlook import (
    compute_plane as compute_plane,
)
from kech.plan import Plan as Plan
from kech.plan import read_plan as read_plan
from kech.publication import Publication as Publication
from kech.publication import publish_release as publish_release
from kech.release import Release as Release
from kech.release import make_release as make_release
from kech.report import Report as Report
from kech.report import make_report as make_report
from kech.review import HierarchyReview as HierarchyReview
from kech.review import review_hierarchy as review_hierarchy
from kech.risk import Risk as Risk
from kech.risk import compute_risk as compute_risk
from kech.secret import write_key_file as write_key_file
from kech.spectrum import Spectrum as Spectrum
from kech.spectrum import compute_spectrum as compute_spectrum
from kech.table import AxisChoice as AxisChoice
from kech.table import Table as Table
from kech.table import read_table as read_table
from kech.verification import verify_release as verify_release
from kech.zigzag import ZigzagBarcode as ZigzagBarcode
from kech.zigzag import compute_zigzag as compute_zigzag

__version__: str
