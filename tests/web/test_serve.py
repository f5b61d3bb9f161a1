"""The command, without a browser."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web.browser import Server


def serve(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fogplay", "serve", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_wrong_options_are_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for options, why in (
            (("--port", "0"), "from 1 to 65535"),
            (("--port", port), "choose another --port"),
            (("--strategies", str(tmp_path / "none")), "there is no folder"),
        ):
            ended = serve(*options)
            assert ended.returncode == 2
            assert why in ended.stderr
            assert len(ended.stderr.strip().splitlines()) == 1


def test_ctrl_c_closes_the_table_and_keeps_the_rooms(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    server = Server(tmp_path)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(20) == 130
    server.log.close()
    assert "the table is closed; all rooms are kept" in (tmp_path / "log").read_text()
    assert (tmp_path / "rooms.sqlite").exists()
