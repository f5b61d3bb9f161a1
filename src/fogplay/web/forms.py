"""Pages with fields to fill in: the first page, exploring and training open alike."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import ui

from fogplay.errors import FogplayError
from fogplay.pictures.svg import escape
from fogplay.rooms.company import BEST, company_for
from fogplay.strategies import load as load_strategy
from fogplay.web.markup import PRIMARY, head

MOST_FILES = 4  # strategies that stay in memory after they were looked at


def add_form_page(path: str, title: str, fill: Callable[[], Any]) -> None:
    """Serve a page at a path; ``fill`` puts its parts there, for every browser that opens it."""

    @ui.page(path)
    def page() -> None:
        ui.colors(primary=PRIMARY)
        with ui.element("div").classes("page"):
            ui.html(head(title, path), sanitize=False)
            fill()


def opened(source: Any) -> Any:
    """The strategy of a file, or the best player of a game by its spec."""
    if isinstance(source, Path):
        try:
            return _read(source, source.stat().st_mtime_ns)
        except OSError as error:
            raise FogplayError(f"{source.name} cannot be read: {error.strerror}") from error
    return company_for(source, BEST).reference.agent


@functools.lru_cache(maxsize=MOST_FILES)
def _read(path: Path, _: int) -> Any:
    """A strategy as it was at some time."""
    return load_strategy(path)


def said(error: object) -> str:
    """Why something cannot be shown."""
    return f'<p class="bad" role="alert">{escape(error)}</p>'
