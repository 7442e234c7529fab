"""Every name of the reference can be imported from where the page says."""

import importlib
import re

import pytest

from tests.docs.test_reference import PAGE, section

HEADINGS = re.findall(r"^## ([A-Z]\w+)$", PAGE, flags=re.MULTILINE)
PACKAGES = re.findall(r"^## (abreast\.[\w.]+)$", PAGE, flags=re.MULTILINE)


@pytest.mark.parametrize("name", HEADINGS)
def test_a_class_is_where_its_section_says(name: str):
    """`abreast` itself, unless the section names another place."""
    found = re.search(r"^From `([\w.]+)`\.$", section(name), flags=re.MULTILINE)
    module = importlib.import_module(found[1] if found else "abreast")
    assert name in module.__all__
    assert hasattr(module, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_exports_what_its_section_lists(package: str):
    """No more and no less, so that type hints need no private module."""
    listed = re.findall(r"^\| (.*?) \|", section(package), flags=re.MULTILINE)
    told = {name for cell in listed for name in re.findall(r"`(\w+)`", cell)}
    module = importlib.import_module(package)
    assert set(module.__all__) == told
    assert [] == [name for name in module.__all__ if not hasattr(module, name)]


def test_packages_are_found():
    """The two for type hints are among them."""
    assert {"abreast.workspace_log", "abreast.model", "abreast.prompt"} <= set(PACKAGES)
    assert {"WorkspaceLog", "Write", "WriteResult", "Runs"} <= set(HEADINGS)
