"""Ways to try the wheel: its program, uv, and the container of developers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHORT = """
format = 2
name = "short"
duration = "2 s"
seeds = 1
disciplines = ["tail-drop", "drr"]
[link]
rate = "2 Mbit/s"
delay = "5 ms"
buffer = "20 packets"
[[flow]]
group = "a"
count = 2
source = "bulk"
access = { rate = "10 Mbit/s", delay = "1 ms" }
"""


def printed(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_of_the_wheel_runs_a_contest(tmp_path):
    program = Path(sys.executable).with_name("fairwire-demo")
    lines = printed(program).splitlines()
    assert lines[0].split()[:2] == ["share.tcp", "share.udp"] and lines[1].startswith("tail-drop")
    assert lines == printed(sys.executable, "-m", "fairwire").splitlines()
    (tmp_path / "short.toml").write_text(SHORT)
    assert "drr " in printed(program, tmp_path / "short.toml")
    for wrong, message in [("--help", "the name of a scenario file"), ("absent.toml", "there is no file")]:
        done = subprocess.run([program, wrong], capture_output=True, text=True)
        assert done.returncode == 2 and message in done.stderr


def test_uv_runs_the_wheel_once(tmp_path):
    wheels = sorted((Path(sys.prefix).parent / "wheels").glob("fairwire-*.whl"))
    uvx = shutil.which("uvx", path=str(Path(sys.executable).parent)) or shutil.which("uvx")
    if uvx is None or not wheels:
        pytest.skip("SKIPPED: uv, or the wheel of `make python`, is missing")
    (tmp_path / "short.toml").write_text(SHORT)
    command = [uvx, "--offline", "--python", sys.executable, "--cache-dir", tmp_path / "uv"]
    assert "drr " in printed(*command, "--from", wheels[0], "fairwire-demo", tmp_path / "short.toml")


def test_the_container_uses_existing_make_targets():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    makefile = (ROOT / "Makefile").read_text()
    targets = [step.split()[1] for step in container["postCreateCommand"].split(" && ") if step.startswith("make ")]
    assert targets and all(f"\n{target}:" in makefile for target in targets)
    assert "--cap-add=NET_ADMIN" in container["runArgs"]  # the stage `lab`
