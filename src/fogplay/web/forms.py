"""Pages with fields to fill in: the first page, exploring and training open alike."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nicegui import ui

from fogplay.agents import resolve
from fogplay.errors import FogplayError
from fogplay.games.registry import load
from fogplay.pictures.svg import escape
from fogplay.rooms.company import BEST, company_for
from fogplay.strategies import load as load_strategy
from fogplay.web.markup import head

PATIENCE = 30.0  # seconds in which a page must be made; a busy machine may need more than NiceGUI's three
MOST_FILES = 4  # strategies that stay in memory after they were looked at


def add_form_page(path: str, title: str, fill: Callable[[], Any]) -> None:
    """Serve a page at a path; ``fill`` puts its parts there, for every browser that opens it."""

    @ui.page(path, response_timeout=PATIENCE)
    def page() -> None:
        with ui.element("div").classes("page"):
            ui.html(head(title, path), sanitize=False)
            fill()


@dataclass(frozen=True)
class Bot:
    """A player of a game by its name, as something to look at."""

    game: str  # the spec
    name: str


def opened(source: Path | Bot) -> Any:
    """The strategy of a file, or a player of a game."""
    if isinstance(source, Bot):
        return _seated(source)
    try:
        return _read(source, source.stat().st_mtime_ns)
    except OSError as error:
        raise FogplayError(f"{source.name} cannot be read: {error.strerror}") from error


@functools.lru_cache(maxsize=MOST_FILES)
def _seated(bot: Bot) -> Any:
    if bot.name == BEST:
        return company_for(bot.game, BEST).reference.agent
    return resolve([bot.name], load(bot.game))[0]


@functools.lru_cache(maxsize=MOST_FILES)
def _read(path: Path, _: int) -> Any:
    """A strategy as it was at some time."""
    return load_strategy(path)


def said(error: object) -> str:
    """Why something cannot be shown."""
    return f'<p class="bad" role="alert">{escape(error)}</p>'
