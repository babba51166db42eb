"""Every block of Python of every page runs, all blocks of a page in one namespace.

A block that begins with ``python no-test: WHY`` is not run. Scenarios are shortened, and files that
a page has from the command are made here.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import Any, Callable

import fairwire as fw
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "python" / "README.md"])
BLOCK = re.compile(r"^```python *([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What pages run many times: shorter, for no figure of a page depends on it.
SHORT = {"selfish-flow.toml": {"duration": "3 s", "warm_up": "1 s"}}


def blocks(page: Path) -> list[tuple[int, str]]:
    """The line of each block that is run, and its code."""
    text = page.read_text()
    found = BLOCK.finditer(text)
    return [(text.count("\n", 0, one.start()) + 2, one[2]) for one in found if not one[1].startswith("no-test:")]


def files_of_a_run(folder: Path) -> None:
    """What ``--series``, ``--flows`` and ``--transfers`` write, with the same columns."""
    scenario = fw.Scenario.load(ROOT / "scenarios" / "web-beside-bulk.toml").set({"duration": "8 s", "warm_up": "1 s"})
    result = scenario.run("tail-drop", seeds=1, every="1 s", transfers=True)
    folder.mkdir(exist_ok=True)
    result.series.to_polars().write_csv(folder / "series.csv")
    result.flows.to_polars().write_parquet(folder / "flows.parquet")
    result.completed.to_polars().write_csv(folder / "transfers.csv")


def results(folder: Path) -> None:
    files_of_a_run(folder / "results")


PREPARED: dict[str, Callable[[Path], None]] = {"outputs.md": files_of_a_run, "read-results.md": results}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(ROOT / "scenarios", "scenarios")
    for name, changes in SHORT.items():
        Path("scenarios", name).write_text(fw.Scenario.load(ROOT / "scenarios" / name).set(changes).toml)
    shutil.copy("scenarios/selfish-flow.toml", "selfish-flow.toml")
    PREPARED.get(page.name, lambda _: None)(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for line, code in blocks(page):
        tree = ast.increment_lineno(ast.parse(code), line - 1)
        exec(compile(tree, str(page), "exec"), names)


def test_a_block_that_is_not_run_has_a_reason():
    for page in PAGES:
        for kind, _ in BLOCK.findall(page.read_text()):
            assert not kind or len(kind.removeprefix("no-test:").split()) >= 4, page
