"""Files: whole or not at all, written through devices, FIFOs and links, without zeros where there are many."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fogplay import FogplayError, solve, storage
from fogplay.cli import app
from fogplay.cli.keeping import save
from fogplay.experiments.pictures import new_picture, save_picture
from fogplay.solvers.checkpoints import set_aside


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real" / "file")
    for text in ("first", "second"):  # a link to nothing, then one to a file
        storage.write_text(link, text)
        assert link.is_symlink()
        assert (tmp_path / "real" / "file").read_text() == text
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["file"]


def test_a_fifo_is_written_through(tmp_path: Path) -> None:
    fifo, heard = tmp_path / "fifo", list[str]()
    os.mkfifo(fifo)
    listener = threading.Thread(target=lambda: heard.append(fifo.read_text()))
    listener.start()
    storage.write_text(fifo, "hands")
    listener.join()
    assert heard == ["hands"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_devices_are_never_replaced() -> None:
    before = os.stat("/dev/null").st_ino
    storage.write_text(Path("/dev/null"), "hands")
    with pytest.raises(FogplayError, match="cannot write /dev/full: No space left on device"):
        storage.write_text(Path("/dev/full"), "hands")
    assert os.stat("/dev/null").st_ino == before
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_output_that_goes_to_a_file_is_written_in_order(tmp_path: Path) -> None:
    """Opening /dev/stdout by its name would write over what the shell's redirection has."""
    script = (
        "import sys; from pathlib import Path; from fogplay import storage; print('before')\n"
        "storage.write_text(Path('/dev/stdout'), 'log\\n'); print('after')"
    )
    (tmp_path / "script.py").write_text(script)
    os.system(f"{sys.executable} {tmp_path}/script.py > {tmp_path}/out")
    assert (tmp_path / "out").read_text() == "before\nlog\nafter\n"


def test_what_killed_writers_leave_is_removed_but_not_what_others_write(tmp_path: Path) -> None:
    left, held = tmp_path / ".file.left.part", tmp_path / ".file.held.part"
    for part in (left, held):
        part.write_text("half")
        os.utime(part, (time.time() - 5, time.time() - 5))
    with open(held) as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        storage.write_text(tmp_path / "file", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [held.name, "file"]


def test_zeros_are_not_written_and_come_back(tmp_path: Path) -> None:
    table = np.zeros(1 << 20)
    table[[3, 70_000, 1 << 19]] = 1.5, -0.0, np.nan
    cells = np.zeros(1 << 20, [("visits", np.uint32), ("total", np.float64)])
    cells["visits"][7] = 9
    full = np.arange(1 << 17)
    arrays: dict[str, Any] = {"table": table, "visits": cells["visits"], "full": full, "short": np.zeros(5)}
    storage.prepare(arrays, sparse=True).write(tmp_path / "sparse", "kind", {"at": 1})
    assert (tmp_path / "sparse").stat().st_size < full.nbytes + 5000
    found, about = storage.read(tmp_path / "sparse", "kind")
    assert about == storage.about(tmp_path / "sparse") == {"at": 1}
    assert {name: array.tobytes() for name, array in found.items()} == {
        name: array.tobytes() for name, array in arrays.items()
    }


def test_sparse_files_have_a_format_that_earlier_versions_refuse(tmp_path: Path) -> None:
    storage.prepare({"table": np.zeros(1 << 20)}, sparse=True).write(tmp_path / "new", "kind", {})
    storage.write(tmp_path / "old", "kind", {"table": np.zeros(5)}, {})
    formats = {name: storage._read_header(tmp_path / name)[0]["__metadata__"]["format"] for name in ("new", "old")}
    assert formats == {"new": "2", "old": "1"}
    data = bytearray((tmp_path / "new").read_bytes())
    at = data.index(b"1048576")
    data[at : at + 7] = b"1048577"  # the size of the table, which the digest covers
    (tmp_path / "new").write_bytes(data)
    with pytest.raises(FogplayError, match="do not match its digest"):
        storage.read(tmp_path / "new", "kind")


@pytest.mark.parametrize("algorithm", ["smooth-uct", "os-mccfr", "cfr+"])
def test_a_sparse_checkpoint_resumes_to_the_same_bits(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "SPARSE_FROM", 1)
    solve("leduc", algorithm, 30, checkpoint=tmp_path / "run")
    metadata = storage._read_header(tmp_path / "run")[0]["__metadata__"]
    assert algorithm == "cfr+" or len(json.loads(metadata["sparse"])) >= 2
    resumed = solve("leduc", algorithm, 60, checkpoint=tmp_path / "run", resume=True)
    whole = solve("leduc", algorithm, 60)
    assert resumed.strategy.probabilities.tobytes() == whole.strategy.probabilities.tobytes()


def test_checkpoints_are_announced_and_checked_for_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr("fogplay.solvers.run.LARGE", 100)
    solve("kuhn", "cfr", 10, checkpoint=tmp_path / "run", note=lines.append)
    slots = 24  # regret, average and prediction of each are 8 bytes
    assert lines == [f"writing a checkpoint of {3 * 8 * slots} bytes to {tmp_path / 'run'}"]
    before = (tmp_path / "run").read_bytes()
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 99))  # type: ignore[attr-defined]
    result = solve("kuhn", "cfr", 20, checkpoint=tmp_path / "run", resume=True)
    assert result.iterations == 20
    assert result.trouble is not None
    assert "only 99 bytes are free" in result.trouble
    assert (tmp_path / "run").read_bytes() == before


def test_the_further_checkpoint_is_kept(tmp_path: Path) -> None:
    run, lines = tmp_path / "run", list[str]()
    for iterations in (500, 5, 20):
        solve("kuhn", "cfr", iterations, checkpoint=run, note=lines.append)
    assert [line.split(", at")[0] for line in lines] == [
        "kept the checkpoint of an earlier run",
        "dropped the checkpoint of an earlier run",
    ]
    previous = storage.about(tmp_path / "run.previous")
    assert previous is not None
    assert previous["iteration"] == 500
    solve("kuhn", "cfr+", 5, checkpoint=run, note=lines.append)  # in place of the one at 20, of another algorithm
    solve("kuhn", "cfr", 5, checkpoint=run, note=lines.append)
    assert (tmp_path / "run.previous-2").exists()  # not to be compared with the first
    assert set_aside(tmp_path / "nothing") is None


def test_a_new_run_moves_a_checkpoint_only_when_it_has_its_own(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    solve("kuhn", "cfr", 500, checkpoint=tmp_path / "run")
    before = (tmp_path / "run").read_bytes()
    assert solve("kuhn", "cfr", 10, checkpoint=tmp_path / "run", stop=stop).iterations == 0
    assert (tmp_path / "run").read_bytes() == before
    assert not (tmp_path / "run.previous").exists()


def test_a_full_disk_leaves_no_half_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure, _ = new_picture(1)
    drawn = figure.savefig

    def full(file: str, **options: Any) -> None:
        drawn(file, **options)
        os.truncate(file, 1000)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure, "savefig", full)
    with pytest.raises(FogplayError, match=r"picture.svg: No space left on device"):
        save_picture(figure, tmp_path / "picture")
    assert list(tmp_path.iterdir()) == []


# ---- The commands


def type_in(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command in this process, and return what it says on stderr, without line breaks."""
    capsys.readouterr()
    app(list(words), standalone_mode=False)
    return " ".join(capsys.readouterr().err.split())


def iterations_in(*names: str) -> list[int]:
    return [(storage.about(name) or {})["iterations"] for name in names]


def test_a_better_strategy_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three runs under one name: the long one stays, with its checkpoint."""
    monkeypatch.chdir(tmp_path)
    solve_kuhn = ("solve", "kuhn", "-a", "cfr+", "-n")
    for iterations in ("3000", "10", "20"):
        said = type_in(capsys, *solve_kuhn, iterations)
    assert "kuhn.safetensors holds 3,000 iterations of cfr+" in said
    assert "saving to kuhn-2.safetensors instead" in said
    assert "replaced kuhn-2.safetensors, which held 10 iterations of cfr+" in said
    assert iterations_in("kuhn.safetensors", "kuhn-2.safetensors") == [3000, 20]
    assert (storage.about("kuhn.safetensors.checkpoint") or {})["iteration"] == 3000
    said = type_in(capsys, *solve_kuhn, "5", "--force")
    assert "replaced kuhn.safetensors, which held 3,000 iterations" in said
    assert "kept the checkpoint of an earlier run, at iteration 3,000, as kuhn.safetensors.checkpoint.previous" in said


def test_strategies_of_other_algorithms_are_compared_by_nash_conv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    type_in(capsys, "solve", "kuhn", "-a", "cfr+", "-n", "100", "--out", "k.safetensors")
    type_in(capsys, "solve", "kuhn", "-a", "lp", "--out", "k.safetensors")  # one iteration, and exact
    assert "k-2.safetensors instead" in type_in(
        capsys, "solve", "kuhn", "-a", "uct", "-n", "999", "--out", "k.safetensors"
    )
    assert iterations_in("k.safetensors", "k-2.safetensors") == [1, 999]
    resumed = type_in(capsys, "solve", "leduc", "-a", "uct", "-n", "999", "--out", "k.safetensors")
    assert "replaced k.safetensors, which held 1 iteration of lp on kuhn" in resumed  # of another game


def test_what_cannot_be_compared_is_kept(tmp_path: Path) -> None:
    """Without a measure, another method is another strategy, and of one method the one with fewer iterations loses."""
    few, many = (solve("kuhn", "cfr", count).strategy for count in (5, 50))
    other = solve("kuhn", "uct", 500).strategy
    out = tmp_path / "file"
    assert save(many, out) == out
    assert save(few, out) == tmp_path / "file-2"
    assert save(other, out) == tmp_path / "file-3"
    assert save(many, out) == out
    assert save(few, out, force=True) == out
    assert save(many, Path("/dev/null")) == Path("/dev/null")


@pytest.mark.parametrize(
    ("command", "status", "line"),
    [
        ("games | true", 141, ""),
        ("algorithms > /dev/full", 2, "fogplay: cannot write the output: No space left on device\n"),
        ("algorithms 2> /dev/full > /dev/null", 0, ""),
    ],
)
def test_closed_and_full_outputs(command: str, status: int, line: str, tmp_path: Path) -> None:
    script = f"{sys.executable} -m fogplay.cli {command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (status, line)
