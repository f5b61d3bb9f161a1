"""Every command that writes, where its output cannot be written: one line, exit code as documented, nothing left."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import fogplay
from fogplay.opponents import write_log

SMALL = 600  # bytes that a file may have on a full disk

WRITING = {
    "solve": "solve leduc -n 5 --out {folder}/s.safetensors",
    "snapshots": "solve leduc -n 5 --snapshots 2 --out {folder}/s.safetensors",
    "curve": "solve kuhn -n 5 --curve {folder}/c.csv --plot {folder}/c.png --out /dev/null",
    "compare": "compare kuhn cfr+ es-mccfr -n 50 --runs 1 --workers 1 --out {folder}/c",
    "respond": "respond leduc --to leduc.safetensors -n 2 --out {folder}/r.safetensors",
    "tradeoff": "tradeoff leduc --to leduc.safetensors -n 2 --confidences 1 --out {folder}/t",
    "match": "match leduc leduc.safetensors uniform --hands 100 --log {folder}/hands.log",
    "model": "model leduc --from l.log --player a --out {folder}/m.safetensors",
    "deal": "acpc deal leduc.limit.2p uniform uniform --hands 100 --log {folder}/deal.log",
    "bench": "bench --games kuhn --seconds 0.01 --out {folder}/b.csv",
    "reproduce": "reproduce uct-vs-cfr-2009/rps --out {folder}/again",
}
READING = ("games", "algorithms", "evaluate leduc.safetensors", "inspect leduc.safetensors", "acpc games", "reproduce")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a strategy and a log."""
    folder = tmp_path_factory.mktemp("work")
    fogplay.solve("leduc", "cfr+", 50).strategy.save(folder / "leduc.safetensors")
    write_log(folder / "l.log", fogplay.match("leduc", ["uniform"] * 2, 2000, names=("a", "b"), keep=True))
    return folder


def run(script: str, work: Path, full: bool = False) -> subprocess.CompletedProcess[str]:
    """Run ``fogplay`` in a shell; ``full`` limits the size of its files, which fails as a full disk does."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))

    function = f'fogplay() {{ {shlex.quote(sys.executable)} -m fogplay.cli "$@"; }}'
    command = ["bash", "-c", f"{function}\n{script}"]
    return subprocess.run(
        command, cwd=work, capture_output=True, text=True, check=False, timeout=300, preexec_fn=limit if full else None
    )


def check_failure(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert reason in done.stderr
    assert done.stderr.splitlines()[-1].startswith("fogplay: ")


def _full(name: str, work: Path, folder: Path) -> None:
    done = run(f"fogplay {WRITING[name].format(folder=folder)}", work, full=True)
    check_failure(done, "File too large")
    assert not [path for path in folder.rglob("*") if path.suffix in (".part", ".svg", ".png", ".safetensors")]


def test_a_full_disk_is_one_line(work: Path, tmp_path: Path) -> None:
    _full("deal", work, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_every_command_on_a_full_disk(name: str, work: Path, tmp_path: Path) -> None:
    _full(name, work, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_every_command_in_a_read_only_folder(name: str, work: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    if os.access(tmp_path, os.W_OK):  # of the superuser
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", str(tmp_path)], check=False)
        if made.returncode != 0:
            pytest.skip("the superuser writes everywhere, and mounting is not permitted")
    try:
        done = run(f"fogplay {WRITING[name].format(folder=tmp_path)}", work)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=False, capture_output=True)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert str(tmp_path) in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_every_command_with_a_closed_pipe_writes_its_files(name: str, work: Path, tmp_path: Path) -> None:
    done = run(f"fogplay {WRITING[name].format(folder=tmp_path)} | true; exit ${{PIPESTATUS[0]}}", work)
    assert done.returncode == 141, done.stderr
    assert "Traceback" not in done.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if path.suffix == ".part"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [*READING, *(words for words in WRITING.values())])
def test_every_command_with_stdout_on_a_full_disk(command: str, work: Path, tmp_path: Path) -> None:
    check_failure(run(f"fogplay {command.format(folder=tmp_path)} > /dev/full", work), "No space left on device")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solve", "respond", "match", "model", "deal", "bench"])
def test_every_command_writes_through_a_fifo_and_a_device(name: str, work: Path, tmp_path: Path) -> None:
    words = WRITING[name].format(folder=tmp_path)
    fifo, heard = Path(words.split()[-1]), list[bytes]()
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: heard.append(fifo.read_bytes()))
    reader.start()
    assert run(f"fogplay {words}", work).returncode == 0
    reader.join(60)
    assert len(heard[0]) > SMALL / 2
    assert fifo.is_fifo()
    assert os.listdir(tmp_path) == [fifo.name]
    device = words.replace(str(fifo), "/dev/full")
    check_failure(run(f"fogplay {device}", work), "No space left on device")
    assert Path("/dev/full").is_char_device()
