"""The types of what `kech` hands out; tests/test_import.py holds it beside the table in `__init__.py`."""

from kech import errors as errors
from kech.audit import testing as testing
from kech.audit.attacks import Attack as Attack
from kech.audit.attacks import run_attacks as run_attacks
from kech.audit.comparison import Comparison as Comparison
from kech.audit.comparison import compare as compare
from kech.audit.inspection import inspect_table as inspect_table
from kech.audit.publication import Publication as Publication
from kech.audit.publication import publish_release as publish_release
from kech.audit.review import HierarchyReview as HierarchyReview
from kech.audit.review import review_hierarchy as review_hierarchy
from kech.audit.risk import Risk as Risk
from kech.audit.risk import compute_risk as compute_risk
from kech.audit.verification import verify_release as verify_release
from kech.axes.hierarchy import GeneralizationTree as GeneralizationTree
from kech.axes.hierarchy import read_hierarchy as read_hierarchy
from kech.certificate import check_certificate as check_certificate
from kech.certificate import check_table as check_table
from kech.release.estimator import Anonymizer as Anonymizer
from kech.release.ledger import Ledger as Ledger
from kech.release.ledger import open_ledger as open_ledger
from kech.release.plan import write_request as write_request
from kech.release.plane import Plane as Plane
from kech.release.preview import Preview as Preview
from kech.release.preview import compute_preview as compute_preview
from kech.release.release import Release as Release
from kech.release.release import make_release as make_release
from kech.request import AxisChoice as AxisChoice
from kech.request import Request as Request
from kech.request import read_request as read_request
from kech.spectrum import Spectrum as Spectrum
from kech.spectrum import compute_spectrum as compute_spectrum
from kech.system.secret import write_key_file as write_key_file
from kech.tables.table import Table as Table
from kech.tables.table import read_table as read_table
from kech.topology.barcode import WeightedBarcode as WeightedBarcode
from kech.topology.barcode import compute_barcode as compute_barcode
from kech.topology.lattice import GeneralizationLattice as GeneralizationLattice
from kech.topology.lattice import compute_lattice as compute_lattice
from kech.topology.zigzag import ZigzagBarcode as ZigzagBarcode
from kech.topology.zigzag import compute_zigzag as compute_zigzag
from kech.views.report import Report as Report
from kech.views.report import make_report as make_report

__version__: str
