"""From a fresh clone to a finished hand in the browser: how long the two commands of docs/table.md take.

``python benchmarks/first_hand.py`` clones this repository, makes an empty virtual environment, runs
``pip install ".[table]"`` without pip's cache and ``fogplay serve`` with an empty cache of kernels, sits down at the
first game in headless Chromium and plays a hand to its end. ``--venv FOLDER`` leaves out the first half.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.web import browser
from tests.web.browser import Server, all_of, chromium, is_over, press, status, wait_for

HERE = Path(__file__).parent.parent


def installed(folder: Path) -> Path:
    """A virtual environment with this repository as a user gets it."""
    subprocess.run(["git", "clone", "-q", str(HERE), str(folder / "fogplay")], check=True)
    venv.create(folder / "venv", with_pip=True)
    command = [str(folder / "venv" / "bin" / "pip"), "install", "-q", "--no-cache-dir", ".[table]"]
    subprocess.run(command, check=True, cwd=folder / "fogplay")
    return folder / "venv"


def played(python: Path, folder: Path) -> None:
    """The table is served, and a hand is played."""
    (folder / "rooms").mkdir()
    browser.sys.executable = str(python)  # type: ignore[attr-defined]
    os.environ["FOGPLAY_CACHE"] = str(folder / "cache")
    os.environ.pop("PYTHONPATH", None)
    server = Server(folder / "rooms")
    try:
        with chromium() as driver:
            driver.get(server.url)
            wait_for(driver, lambda _: all_of(driver, ".q-btn"))
            press(driver, ".q-btn")
            wait_for(driver, lambda _: all_of(driver, ".board svg"))
            while not is_over(driver):
                before = status(driver)
                press(driver, "button[data-do=act]")
                wait_for(driver, lambda _, b=before: status(driver) != b)
    finally:
        server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, help="an environment in which the first command was run already")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        made = asked.venv or installed(folder)
        between = time.monotonic()
        played(made / "bin" / "python", folder)
        found = {"install s": between - began, "serve and play s": time.monotonic() - between}
    print(json.dumps({what: round(seconds, 1) for what, seconds in found.items()}))


if __name__ == "__main__":
    main()
