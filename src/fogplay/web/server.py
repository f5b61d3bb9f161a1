"""The server: pages, the guard before them, and how they start."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from nicegui import app, core, ui

from fogplay.pictures.cards import FACES
from fogplay.rooms import Hall
from fogplay.rooms.training import Trainings
from fogplay.web import drill, explore, hands, lobby, room, train
from fogplay.web.frames import Frames
from fogplay.web.guard import Guard

FOLDER = Path(__file__).parent
YEAR = 365 * 24 * 3600  # seconds for which a browser keeps pictures: their address changes with them
LARGEST_MESSAGE = 20_000  # bytes that a page may send at once


@dataclass(frozen=True)
class Address:
    """Where the server listens, and the token that others need; None if only this machine gets in."""

    host: str
    port: int
    token: str | None = None

    @property
    def url(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")


def run(hall: Hall, trainings: Trainings, address: Address) -> None:
    """Serve until the process is stopped."""
    app.add_middleware(Guard, host=address.host, token=address.token)
    core.sio.eio.max_http_buffer_size = LARGEST_MESSAGE
    Frames(core.sio).install()
    cards = f"/cards-{hashlib.sha256(FACES.read_bytes()).hexdigest()[:12]}.svg"
    app.add_static_file(local_file=FACES, url_path=cards, max_cache_age=YEAR)
    ui.add_head_html(f'<meta name="fogplay-cards" content="{cards}">', shared=True)
    ui.add_head_html(f"<style>{(FOLDER / 'style.css').read_text()}</style>", shared=True)
    ui.add_body_html(f"<script>{(FOLDER / 'table.js').read_text()}</script>", shared=True)
    lobby.add_page(hall)
    room.add_page(hall)
    hands.add_page(hall)
    drill.add_page(hall)
    explore.add_page(hall, trainings)
    train.add_page(hall, trainings)
    app.on_shutdown(trainings.stop_all)
    ui.run(
        host=address.host,
        port=address.port,
        title="fogplay",
        dark=None,
        reload=False,
        show=False,
        tailwind=False,
        show_welcome_message=False,
        reconnect_timeout=20.0,
        uvicorn_logging_level="error",
        ws_per_message_deflate=False,  # pages are small, and compressing them costs more than all else
    )
