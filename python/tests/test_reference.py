"""docs/python-reference.md is what `make python-reference` writes."""

import os
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1] / "tools"


def test_the_reference_is_that_of_the_package(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import reference

    page = reference.page()
    if os.environ.get("FAIRWIRE_RENEW"):
        reference.PAGE.write_text(page)
    assert reference.PAGE.read_text() == page, "it is not up to date: make python-reference"
    assert "\n\n\n" not in page
