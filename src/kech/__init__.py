"""kech watches the rows of a table merge as eps grows, and cuts where every group has k rows."""

from collections.abc import Iterable
from importlib import import_module

from kech import errors

# The public names and the modules they live in, each imported when it is first used.  `__init__.pyi` holds their types.
MODULES = {
    "audit.attacks": ("Attack", "run_attacks"),
    "topology.barcode": ("WeightedBarcode", "compute_barcode"),
    "cuts.partitions": ("search_partitions", "weigh_last_rows"),
    "certificate": ("check_certificate", "check_table"),
    "audit.comparison": ("Comparison", "compare"),
    "release.estimator": ("Anonymizer",),
    "axes.hierarchy": ("GeneralizationTree", "read_hierarchy"),
    "audit.lives": ("compute_lives",),
    "audit.inspection": ("inspect_table",),
    "topology.lives": ("Lives",),
    "topology.lattice": ("GeneralizationLattice", "compute_lattice"),
    "topology.mixed": ("MixedLattice", "compute_mixed_lattice"),
    "release.ledger": ("Ledger", "open_ledger"),
    "release.plane": ("Plane",),
    "release.preview": ("Preview", "compute_preview"),
    "release.plan": ("write_request",),
    "topology.profile": ("Profile", "compute_profile"),
    "audit.publication": ("Publication", "publish_release"),
    "release.making": ("make_release",),
    "release.release": ("Release",),
    "release.twin": ("Twin", "make_twin"),
    "release.series": ("Series", "open_series"),
    "request": ("AxisChoice", "Request", "read_request"),
    "views.report": ("Report", "make_report"),
    "audit.review": ("HierarchyReview", "review_hierarchy"),
    "audit.joint": ("JointRisk", "compute_joint_risk"),
    "audit.risk": ("Risk", "compute_risk"),
    "system.secret": ("write_key_file",),
    "spectrum": ("Spectrum", "compute_spectrum"),
    "tables.table": ("Table", "read_table"),
    "audit.succession": ("verify_series",),
    "audit.verification": ("verify_release",),
    "topology.zigzag": ("ZigzagBarcode", "compute_zigzag"),
}
HOMES = {name: module for module, names in MODULES.items() for name in names}

__all__ = sorted([*HOMES, "errors"])  # noqa: PLE0605


@errors.wording.register_options
def read_fields() -> Iterable[errors.wording.Option]:
    """The fields of a request, imported when a message needs their words."""
    fields: Iterable[errors.wording.Option] = import_module("kech.request").FIELDS.values()
    return fields


def __getattr__(name: str) -> object:
    """A public name, imported from its module; importing kech alone reads no library."""
    if name == "__version__":
        from importlib.metadata import version

        return version("kech")
    if name == "testing":
        return import_module("kech.audit.testing")
    if name not in HOMES:
        raise AttributeError(f"module 'kech' has no attribute {name!r}")
    try:
        value = getattr(import_module(f"kech.{HOMES[name]}"), name)
    except ModuleNotFoundError:
        if name != "Anonymizer":
            raise
        raise errors.MissingExtra("The scikit-learn estimator", "sklearn") from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, "__version__"})
