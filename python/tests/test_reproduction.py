"""The exhibits of papers as tables."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import fairwire as fw
import pytest

STUDIES = Path(__file__).resolve().parents[2] / "studies"


@pytest.fixture(scope="module")
def all_of_them() -> fw.Reproduction:
    return fw.Reproduction(cache=False)


@pytest.fixture(scope="module")
def table1(all_of_them) -> fw.Exhibit:
    return all_of_them.run("faba.table1")


def rows(table: fw.Table) -> list[dict]:
    columns = table.to_dict()
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def test_every_exhibit_is_listed_with_its_recorded_verdicts(all_of_them):
    exhibits = rows(all_of_them.exhibits)
    papers = [row for row in exhibits if not row["name"].startswith("beyond-")]
    assert len({row["name"].split(".")[0] for row in papers}) == 5
    studies = [path.read_text().splitlines() for path in STUDIES.glob("*/study.toml")]
    assert len(exhibits) == sum(lines.count("[[exhibit]]") for lines in studies) > 57
    (one,) = (row for row in exhibits if row["name"] == "faba.table1")
    assert "Kamra" in one["source"] and one["claims"] == one["holds"] + one["does_not_hold"] + one["not_testable"]
    assert {row["recorded"] for row in papers if row["claims"]} <= {"full", "quick"}
    assert f"{len(exhibits)} exhibits" in repr(all_of_them)


def test_the_number_of_the_paper_is_next_to_ours_with_interval_and_verdict(table1):
    assert table1.name == "faba.table1" and "Kamra" in table1.source
    values = {(row["discipline"], row["point"]): row for row in rows(table1.values)}
    assert len(values) == 25
    red = values["RED", "P/10"]
    assert red["printed"] == 0.551 and red["printed_in"] == "table 1" and red["x"] == 78
    assert abs(red["ours"] - 0.551) < 0.02 and red["half_width_95"] > 0  # the tolerance of the claim
    verdicts = {row["verdict"] for row in values.values()}
    assert verdicts <= {"holds", "unclear", "does not hold"} and "holds" in verdicts


def test_the_verdicts_on_values_agree_with_those_on_claims(table1):
    claims = {row["name"]: row["verdict"] for row in rows(table1.claims)}
    for discipline in ["RED", "CHOKe", "FRED", "SFED", "FABA"]:
        each = [row["verdict"] for row in rows(table1.values) if row["discipline"] == discipline]
        assert (claims[f"{discipline.lower()}-as-printed"] == "holds") == (set(each) == {"holds"})


def test_an_exhibit_is_json_and_a_picture_in_a_notebook(table1):
    record = json.loads(table1.to_json())
    assert record["id"] == "table1" and record["depth"] == "quick" and len(record["claims"]) == len(table1.claims)
    html = table1._repr_html_()
    assert html.startswith("<img ") and "does not hold" in html and "<style>" not in html
    assert table1.notes == record.get("notes", [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("faba.tabel1", "unknown exhibit `faba.tabel1`; allowed: .*did you mean `faba.table1`"),
        ("fabba", "unknown exhibit `fabba`; allowed: `sut`.*did you mean `faba`"),
        ("faba", "`faba` is a paper; allowed: one of its exhibits, .*`faba.table1`"),
    ],
)
def test_an_unknown_exhibit_comes_with_the_nearest_spelling(all_of_them, given, message):
    with pytest.raises(LookupError, match=message):
        all_of_them.run(given)


def test_a_depth_is_quick_or_full(all_of_them):
    with pytest.raises(ValueError, match="`depth` is `fast`; allowed: `quick` or `full`"):
        all_of_them.run("faba.table1", depth="fast")


def test_finished_runs_are_kept_and_give_the_same_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    seen: list[float] = []
    first = fw.Reproduction().run("faba.fig6", jobs=1, progress=seen.append)
    kept = sorted(tmp_path.rglob("*.result"))
    assert kept and seen[-1] == 1.0
    again = fw.Reproduction().run("faba.fig6")
    assert first.to_json() == again.to_json()
    assert sorted(tmp_path.rglob("*.result")) == kept


def test_ctrl_c_stops_a_reproduction():
    code = """
import fairwire as fw
print("begins", flush=True)
try:
    fw.Reproduction(cache=False).run("faba.table1", depth="full")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    answer, _ = process.communicate(timeout=60)
    assert answer == "stopped\n"
