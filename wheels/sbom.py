"""Bill of materials: what is compiled into a wheel, and what it needs to run, as CycloneDX.

In: a wheel's metadata, versions of the tools.  Out: JSON for `.dist-info/sboms/`, equal for equal input.
"""

from datetime import UTC, datetime
from email.message import Message
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement

LICENCES = {
    "nanobind": "BSD-3-Clause",
    "robin-map": "MIT",
    "libc++": "Apache-2.0 WITH LLVM-exception",
    "libc++abi": "Apache-2.0 WITH LLVM-exception",
    "libunwind": "Apache-2.0 WITH LLVM-exception",
    "compiler-rt": "Apache-2.0 WITH LLVM-exception",
}


def write_sbom(wheel: str, metadata: Message, compiled: dict[str, str], epoch: int) -> str:
    """The bill of one wheel; a bill that breaks the standard's schema is an error."""
    bom = Bom(serial_number=uuid5(NAMESPACE_URL, f"{wheel} {epoch}"))
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    kech = bom.metadata.component = describe("kech", metadata["Version"], metadata["License-Expression"])
    parts = [describe(name, version, LICENCES[name]) for name, version in compiled.items()]
    needs = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    parts += [need_of(need) for need in needs if need.marker is None]
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(kech, parts)
    text = JsonV1Dot6(bom).output_as_string(indent=1) + "\n"
    if fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(fault)
    return text


def describe(name: str, version: str, licence: str) -> Component:
    """Something whose code is in the wheel."""
    kind = "pypi" if name in ("kech", "nanobind") else "generic"
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        bom_ref=name,
        purl=PackageURL(kind, name=name, version=version),
        licenses=[LicenseExpression(licence)],
        scope=ComponentScope.REQUIRED,
    )


def need_of(need: Requirement) -> Component:
    """A package that is installed beside the wheel; which version, the installer decides."""
    return Component(
        type=ComponentType.LIBRARY,
        name=need.name,
        bom_ref=need.name,
        purl=PackageURL("pypi", name=need.name),
        scope=ComponentScope.REQUIRED,
        description=f"Installed beside kech, not part of it: {need.name}{need.specifier}",
    )
