"""The package as others install it: one version, complete metadata, and a wheel that runs outside the checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import typer.main

import fogplay
from benchmarks.installed import covered
from fogplay.cli import app
from tests.helpers import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_in_one_place() -> None:
    settings = PROJECT["tool"]["hatch"]["version"]
    found = re.search(settings["pattern"], (ROOT / settings["path"]).read_text())
    assert found is not None
    assert found["version"] == fogplay.__version__
    assert "version" in PROJECT["project"]["dynamic"]
    assert "version" not in PROJECT["project"]


def test_metadata_is_complete() -> None:
    project = PROJECT["project"]
    needed = ("name", "description", "readme", "requires-python", "license", "authors", "keywords", "classifiers")
    assert all(project[key] for key in needed)
    assert (ROOT / "src/fogplay/py.typed").exists()
    for extra in project["optional-dependencies"]:
        assert extra in ("peers", "test") or any(
            re.search(rf"fogplay\\?\[[a-z,]*{extra}", page.read_text())
            for page in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
        ), f"nothing says what the extra {extra} is for"


def test_other_packages_are_not_imported_with_fogplay() -> None:
    """Optional packages cost nothing until they are used."""
    optional = ("pandas", "pyarrow", "tensorboard", "pettingzoo", "gymnasium", "pyspiel", "torch", "nicegui", "ray")
    program = f"import fogplay, sys; print([each for each in {optional} if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_smoke_test_runs_every_command() -> None:
    """``python benchmarks/installed.py smoke`` installs wheel and sdist elsewhere, which takes minutes."""

    def names(command: Any, words: str = "") -> set[str]:
        below = getattr(command, "commands", {})
        return {words.strip()} if not below else {n for w, each in below.items() for n in names(each, f"{words} {w}")}

    assert covered() == names(typer.main.get_command(app))


@pytest.mark.slow
def test_the_wheel_runs_outside_the_checkout(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    there = {str(path.relative_to(tmp_path / "installed")) for path in (tmp_path / "installed").rglob("*.*")}
    here = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src/fogplay").rglob("*.*")}
    missing = {each for each in here - there if "__pycache__" not in each}
    assert not missing
    (tmp_path / "elsewhere").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    for arguments in (["--version"], ["games"], ["solve", "kuhn", "-n", "100"], ["evaluate", "kuhn.safetensors"]):
        done = subprocess.run(
            [sys.executable, "-m", "fogplay", *arguments],
            cwd=tmp_path / "elsewhere", env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
