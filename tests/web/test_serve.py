"""The command, without a browser."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from fogplay.cli.serving import serve
from fogplay.errors import FogplayError
from tests.web.browser import Server


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FogplayError, match="choose another --port"):
            serve(port=port)
    with pytest.raises(FogplayError, match="from 1 to 65535"):
        serve(port=0)
    with pytest.raises(FogplayError, match="there is no folder"):
        serve(port=port, strategies=tmp_path / "none")
    with pytest.raises(FogplayError, match="no game is called"):
        serve(port=port, game=["nonsense"], rooms=tmp_path)


def test_without_nicegui_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(FogplayError, match=r'pip install "fogplay\[table\]"'):
        serve()


def test_ctrl_c_closes_the_table_and_keeps_the_rooms(tmp_path: Path) -> None:
    pytest.importorskip("nicegui")
    server = Server(tmp_path)
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(60) == 130
    server.log.close()
    assert "the table is closed; all rooms are kept" in (tmp_path / "log").read_text()
    assert (tmp_path / "rooms.sqlite").exists()
