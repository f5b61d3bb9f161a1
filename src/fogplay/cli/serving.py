"""The command that serves the table in the browser."""

from __future__ import annotations

import importlib.util
import secrets
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fogplay.cli.app import Stopped, again, amount, app
from fogplay.cli.console import say
from fogplay.errors import FogplayError

LOCAL = "127.0.0.1"


@app.command()
def serve(
    host: Annotated[
        str | None,
        typer.Option(help="Listen at this address too, such as 0.0.0.0; then only with the token that is printed."),
    ] = None,
    port: Annotated[int, amount(help="The port to listen at.")] = 8080,
    game: Annotated[
        list[str] | None, typer.Option(metavar="GAME", help="Offer this game too, such as mygame.py or rules.kif.")
    ] = None,
    strategies: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Offer the saved strategies in this folder as opponents.")
    ] = None,
    opponent: Annotated[
        list[str] | None,
        typer.Option(metavar="AGENT", help="Offer this opponent too, such as search:uct:1s or program:./my-bot."),
    ] = None,
    rooms: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep rooms and runs here instead of in your data folder.")
    ] = None,
) -> None:
    """Play, review and train in the browser, at this machine's own address unless --host is given."""
    if importlib.util.find_spec("nicegui") is None:
        raise FogplayError('the table in the browser needs NiceGUI: pip install "fogplay[table]"')
    if not 1 <= port <= 65535:
        raise FogplayError(f"--port must be a whole number from 1 to 65535, not {port}")
    if strategies is not None and not strategies.is_dir():
        raise FogplayError(f"there is no folder {strategies} with strategies")
    _require_free(host or LOCAL, port)
    import platformdirs

    from fogplay.games.offers import OFFERED
    from fogplay.games.registry import load
    from fogplay.rooms import Hall, Store
    from fogplay.rooms.training import Trainings
    from fogplay.web.server import Address, run

    games = [*(game or ()), *OFFERED]
    for spec in game or ():
        load(spec)
    for text in opponent or ():
        _require_opponent(text, games)
    folder = rooms or Path(platformdirs.user_data_dir("fogplay"))
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(strategies.glob("*.safetensors")) if strategies is not None else []
    hall = Hall(Store(folder / "rooms.sqlite"), games, files, opponent or ())
    token = None if host in (None, LOCAL, "localhost", "::1") else secrets.token_urlsafe(18)
    address = Address(host or LOCAL, port, token)
    say(f"The table is at {address.url}   (Ctrl-C ends it; rooms are kept in {folder})")
    try:
        run(hall, Trainings(folder / "runs"), address)
    except KeyboardInterrupt as error:
        raise Stopped(f"the table is closed; all rooms are kept. To open it again: {again()}") from error


def _require_opponent(text: str, games: Sequence[str]) -> None:
    """Refuse an opponent that cannot play any of the games."""
    from fogplay.agents.resolve import require_known
    from fogplay.games.registry import load

    trouble: FogplayError | None = None
    for spec in games:
        try:
            require_known([text], load(spec))
            return
        except FogplayError as error:
            trouble = trouble or error
    raise trouble or FogplayError(f"there is no opponent {text}")


def _require_free(host: str, port: int) -> None:
    """Refuse an address that cannot be used, before anything else is read."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, port))
    except OSError as error:
        why = error.strerror or str(error)
        raise FogplayError(f"cannot listen at {host} port {port} ({why}); choose another --port or --host") from error
