"""kech watches the rows of a table merge as eps grows, and cuts where every group has k rows."""

from importlib import import_module

from kech import errors

# The public names and the rooms they live in, each imported when it is first used.  `__init__.pyi` holds their types.
ROOMS = {
    "attacks": ("Attack", "run_attacks"),
    "barcode": ("WeightedBarcode", "compute_barcode"),
    "cache": ("clear_cache",),
    "certificate": ("check_certificate", "check_table"),
    "comparison": ("Comparison", "compare"),
    "estimator": ("Anonymizer",),
    "hierarchy": ("GeneralizationTree", "read_hierarchy"),
    "inspection": ("inspect_table",),
    "lattice": ("GeneralizationLattice", "compute_lattice"),
    "ledger": ("Ledger", "open_ledger"),
    "outlook": ("Outlook", "Plane", "compute_outlook", "compute_plane"),
    "plan": ("Plan", "read_plan"),
    "publication": ("Publication", "publish_release"),
    "release": ("Release", "make_release"),
    "report": ("Report", "make_report"),
    "review": ("HierarchyReview", "review_hierarchy"),
    "risk": ("Risk", "compute_risk"),
    "secret": ("write_key_file",),
    "spectrum": ("Spectrum", "compute_spectrum"),
    "table": ("AxisChoice", "Table", "read_table"),
    "verification": ("verify_release",),
    "zigzag": ("ZigzagBarcode", "compute_zigzag"),
}
HOMES = {name: room for room, names in ROOMS.items() for name in names}

__all__ = sorted([*HOMES, "errors"])  # noqa: PLE0605


def __getattr__(name: str) -> object:
    """A public name, imported from its room; importing kech alone reads no library."""
    if name == "__version__":
        from importlib.metadata import version

        return version("kech")
    if name == "testing":
        return import_module("kech.testing")
    if name not in HOMES:
        raise AttributeError(f"module 'kech' has no attribute {name!r}")
    try:
        found = getattr(import_module(f"kech.{HOMES[name]}"), name)
    except ModuleNotFoundError:
        if name != "Anonymizer":
            raise
        raise errors.MissingExtra("The scikit-learn estimator", "sklearn") from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, "__version__"})
