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


def test_temporary_folders_of_killed_processes_go(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "FOGPLAY_CACHE": str(tmp_path / "file"), "TMPDIR": str(tmp_path)}
    wait = f"{ASK}; import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", wait], env=environment, check=False, stdout=subprocess.DEVNULL)
    mine = tmp_path / f"fogplay-kernels-{os.getpid()}-abc"
    mine.mkdir()
    assert len(list(tmp_path.glob("fogplay-kernels-*"))) == 2
    environment["FOGPLAY_CACHE"] = str(tmp_path / "cache")
    subprocess.run([sys.executable, "-c", ASK], env=environment, check=True, stdout=subprocess.DEVNULL)
    assert list(tmp_path.glob("fogplay-kernels-*")) == [mine]


COMPILE = """
import sys
from fogplay.jit import kernel
def twice(value):
    return value + value
kernel(twice)(eval(sys.argv[1]))
"""


def test_processes_never_write_to_the_same_file(tmp_path: Path) -> None:
    """As they would if they compiled a function for different types at the same time: the index is put back between."""
    script = tmp_path / "script.py"
    script.write_text(COMPILE)
    environment = {**os.environ, "FOGPLAY_CACHE": str(tmp_path / "cache")}
    for value in ("1", "1.0"):
        for index in (tmp_path / "cache").rglob("*.nbi"):
            index.unlink()
        subprocess.run([sys.executable, str(script), value], env=environment, check=True)
    assert len(list((tmp_path / "cache").rglob("script.twice*.nbc"))) == 2


SHARED = """
from typing import NamedTuple
from fogplay.jit import kernel

class Known(NamedTuple):
    number: int

@kernel
def number_of(given):
    return given.number
"""
STRANGER = "from typing import NamedTuple\n\nclass Strange(NamedTuple):\n    number: int\n"
STRANGE = """
import sys
sys.path.append(sys.argv[1])
from shared import number_of
from stranger import Strange
assert number_of(Strange(1)) == 1
"""
FAMILIAR = "from shared import Known, number_of\nassert number_of(Known(2)) == 2\n"


def test_another_programs_types_do_no_harm(tmp_path: Path) -> None:
    """A program whose own type a kernel was compiled for leaves a cache that others can still read."""
    environment = os.environ | {"FOGPLAY_CACHE": str(tmp_path / "cache")}
    away = tmp_path / "away"
    away.mkdir()
    (away / "stranger.py").write_text(STRANGER)
    for name, text in {"shared": SHARED, "strange": STRANGE, "familiar": FAMILIAR}.items():
        (tmp_path / f"{name}.py").write_text(text)
    for name in ("strange", "familiar", "strange"):
        subprocess.run([sys.executable, str(tmp_path / f"{name}.py"), str(away)], env=environment, check=True)


def test_a_folder_that_another_version_removed_is_made_again(tmp_path: Path) -> None:
    code = (
        "import shutil; from fogplay import generated, jit; shutil.rmtree(jit.cache_folder());"
        "print(generated.module_from('seven', 'number = 7').number)"
    )
    environment = {**os.environ, "FOGPLAY_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("7\n", "")
