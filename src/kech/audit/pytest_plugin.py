"""Plugin of pytest: every certificate below the tested folders is a test that its file keeps what it claims.

In `conftest.py` of the root folder: `pytest_plugins = ["kech.audit.pytest_plugin"]`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kech.audit.testing import assert_release
from kech.certificate.cells import BESIDE


def pytest_collect_file(file_path: Path, parent: Any) -> pytest.Collector | None:
    """A certificate is a file of tests."""
    return CertificateFile.from_parent(parent, path=file_path) if file_path.name.endswith(BESIDE) else None


class CertificateFile(pytest.File):
    """A certificate, with the file that it certifies beside it."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test."""
        yield CertificateTest.from_parent(self, name="holds")


class CertificateTest(pytest.Item):
    """Whether a file keeps what its certificate claims."""

    def runtest(self) -> None:
        """Count the file again."""
        assert_release(self.path.with_name(self.path.name.removesuffix(BESIDE)))

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        """The claims that do not hold, and no value."""
        del style
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The name of the test."""
        return self.path, None, f"{self.path.name} holds"
