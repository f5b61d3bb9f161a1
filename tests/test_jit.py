"""The folder of compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from fogplay import jit

ASK = "from fogplay.jit import cache_folder; print(cache_folder())"


def ask(cache: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "FOGPLAY_CACHE": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


def test_the_folder_in_use_stays_and_old_ones_go(tmp_path: Path) -> None:
    mine = ask(tmp_path)
    os.utime(mine, (1, 1))
    for number in range(5):
        other = tmp_path / "kernels" / f"other-{number}"
        other.mkdir()
        os.utime(other, (time.time() - 100 + number,) * 2)
    assert ask(tmp_path) == mine
    left = sorted(path.name for path in (tmp_path / "kernels").iterdir())
    assert left == sorted([mine.name, "other-3", "other-4"])


def test_every_file_with_compiled_code_counts() -> None:
    marked = {path.name for path in jit.PACKAGE.rglob("*.py") if b"@piece" in path.read_bytes()}
    assert "streams.py" in marked


def test_a_temporary_folder_is_removed_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = ask(tmp_path / "file")
    assert "fogplay-kernels-" in folder.name
    assert not folder.exists()
