"""Connections where the operating system has no ``poll``, as on Windows."""

from __future__ import annotations

import select
import socket

import pytest

from fogplay.protocols.acpc.sockets import Gone, Late, Line


@pytest.mark.parametrize("there", [True, False])
def test_lines_are_read_in_time(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not there:
        monkeypatch.delattr(select, "poll")
    listener = socket.create_server(("localhost", 0))
    near = socket.create_connection(listener.getsockname())
    far, _ = listener.accept()
    line = Line(near)
    with pytest.raises(Late):
        line.read(0.02)
    far.sendall(b"one\r\ntwo\r\nthr")
    assert (line.read(1.0), line.read(1.0)) == ("one", "two")
    far.sendall(b"ee\r\n")
    assert line.read(None) == "three"
    far.close()
    with pytest.raises(Gone):
        line.read(1.0)
    near.close()
    listener.close()
