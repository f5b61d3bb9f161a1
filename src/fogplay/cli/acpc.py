"""The commands for the Annual Computer Poker Competition: deal matches, join them, replay logs."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import JSON, Stopped, again, amount, app, print_json, require_folder
from fogplay.cli.console import Watch, say, table
from fogplay.cli.matches import ready
from fogplay.errors import FogplayError
from fogplay.notation.gamedef import DEFAULT

acpc = typer.Typer(no_args_is_help=True, help="Speak the Annual Computer Poker Competition's protocol.")
app.add_typer(acpc, name="acpc")

SHOWN_EVERY = 0.1  # seconds


@acpc.command()
def games(
    name: Annotated[str | None, typer.Argument(metavar="[GAMEDEF]", help="Print this definition.")] = None,
) -> None:
    """The game definitions that come with fogplay; or one of them, as a file for other dealers."""
    from fogplay.notation.gamedef import game_of, load_definition, our_definitions, print_definition

    if name is not None:
        print(print_definition(load_definition(name)[1]), end="")
        return
    show = table("definition", "game")
    for ours, definition in our_definitions().items():
        show.add_row(ours, str(game_of(definition)))
    say(show)


@acpc.command()
def join(
    host: Annotated[str, typer.Argument(help="The dealer's machine, such as localhost.")],
    port: Annotated[int, typer.Argument(help="The dealer's port.", min=1, max=65535)],
    agent: Annotated[str, typer.Option(help="A saved strategy, or a bot's name.")],
    game: Annotated[
        str | None, typer.Option(metavar="GAMEDEF", help=f"The dealer's game; by default the file's, or {DEFAULT}.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same actions.", min=0)] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to keep trying to connect.")] = 0.0,
    as_json: JSON = False,
) -> None:
    """Play at a dealer's table until it ends the match."""
    from fogplay.notation.gamedef import game_of, load_definition
    from fogplay.protocols.acpc.client import Client
    from fogplay.protocols.acpc.notes import Notes
    from fogplay.protocols.acpc.players import definition_for, seated
    from fogplay.protocols.acpc.sockets import BY_HAND, connect
    from fogplay.protocols.acpc.sockets import join as play

    own = None if game is not None else definition_for(agent)
    definition = own or load_definition(game or DEFAULT)[1]
    chosen = secrets.randbits(32) if seed is None else seed
    with Watch(quiet=as_json) as watch:
        ready(watch, [agent], game_of(definition))
        client = Client(seated(agent, definition), seed=chosen, notes=Notes(watch.note))
        line = connect(host, port, wait)
        watch.note(f"connected to {host}:{port}")
        began = time.perf_counter()
        why = play(line, client)
    facts = {
        "game": str(client.game.game),
        "agent": agent,
        "hands": client.hands,
        "chips": client.chips,
        "seconds": time.perf_counter() - began,
        "seed": chosen,
        "remarks": client.notes.count,
        "finished": client.in_hand is None,
    }
    if as_json:
        print_json(facts)
    else:
        say(f"{client.hands:,} hands, {_chips(client.chips)} chips (seed {chosen})")
    if why == BY_HAND:
        raise Stopped(f"stopped after {client.hands:,} hands; the dealer's log holds them. To join again: {again()}")
    if client.in_hand is not None:
        raise FogplayError(f"the dealer went away in the middle of hand {client.in_hand}: {why}")
    if client.hands == 0:
        raise FogplayError(f"the dealer went away before the first hand was over: {why}")


@dataclass(frozen=True)
class Place:
    """A player as the user named it: a name, and an agent or the port to which it connects."""

    name: str
    agent: str | None  # a fogplay agent, in this process
    port: int | None  # for a player over the network


@acpc.command()
def deal(
    game: Annotated[str, typer.Argument(metavar="GAMEDEF", help="A game definition's file, or a name from fogplay.")],
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYER", help="[NAME=]AGENT for a strategy or bot; [NAME=]:PORT for a player that connects."
        ),
    ],
    hands: Annotated[int, amount("--hands", "-n", help="How many.")] = 3000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same cards.")] = 0,
    turn: Annotated[
        int, typer.Option(help="Rotate everybody by this many seats: with the same seed, a duplicate.")
    ] = 0,
    log: Annotated[Path | None, typer.Option(help="The file for the hands.")] = None,
    forfeit: Annotated[
        bool, typer.Option("--forfeit", help="Continue without a player that fails: it checks or folds from then on.")
    ] = False,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 accepts other machines.")] = "127.0.0.1",
    t_response: Annotated[float, typer.Option(metavar="SECONDS", help="The longest answer.")] = 600.0,
    t_hand: Annotated[float, typer.Option(metavar="SECONDS", help="A player's longest hand.")] = 600.0,
    t_per_hand: Annotated[float, typer.Option(metavar="SECONDS", help="A player's average time per hand.")] = 7.0,
    start_timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How long to wait for players; by default, no limit.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Host a match between fogplay agents and players that connect."""
    from fogplay.notation.gamedef import game_of, load_definition
    from fogplay.protocols.acpc.dealer import Dealer, Limits, Terms
    from fogplay.protocols.acpc.game import AcpcGame
    from fogplay.protocols.acpc.sockets import BY_HAND, Local, accept, listen, run

    name, definition = load_definition(game)
    places = places_of(players)
    if len(places) != definition.players:
        raise FogplayError(f"{name} is for {definition.players} players; {len(places)} were named")
    match = log.name if log is not None else "match"
    terms = Terms(match, name, hands, seed, turn, Limits(t_response, t_hand, t_per_hand), forfeit)
    ground = AcpcGame(definition)
    if log is not None:
        require_folder(log, "--log")
    with Watch(quiet=as_json) as watch:
        chairs: list[Any] = [None] * len(places)
        for number, place in enumerate(places):
            if place.agent is not None:
                ready(watch, [place.agent], game_of(definition))
                chairs[number] = Local(_client(place.agent, definition, seed))
        listening = [None if place.port is None else listen(host, place.port) for place in places]
        ports = [each.getsockname()[1] for each in listening if each is not None]
        if ports:
            print(*ports, flush=True)
        for number, (place, door) in enumerate(zip(places, listening, strict=True)):
            if door is not None:
                watch.note(f"waiting for {place.name} at {host}:{door.getsockname()[1]}")
                chairs[number] = accept(door, place.name, start_timeout)
        with _Log(log, watch) as lines:
            began = time.perf_counter()
            dealer = Dealer(ground, [place.name for place in places], terms, lines.write)
            run(dealer, chairs, _now_and_then(lambda done: watch.amount(done, hands)))
            seconds = time.perf_counter() - began
    unit = max(definition.blinds)
    rows: list[dict[str, Any]] = [
        {
            "name": place.name,
            "agent": place.agent,
            "chips": dealer.totals[number],
            "mb/h": 1000 * dealer.totals[number] / (unit * max(dealer.hand, 1)),
            "out": dealer.gone.get(number),
        }
        for number, place in enumerate(places)
    ]
    if as_json:
        facts = {"game": name, "hands": dealer.hand, "seed": seed, "turn": turn, "seconds": seconds}
        rate = {"hands_per_second": dealer.hand / max(seconds, 1e-9), "ended": dealer.ended}
        print_json(facts | rate | {"remarks": dealer.notes.count, "players": rows, "log": str(log) if log else None})
    else:
        say(f"{name}: {dealer.hand:,} of {hands:,} hands in {seconds:.2f} s")
        show = table("player", "chips", "mb/h")
        for row in rows:
            show.add_row(row["name"], _chips(row["chips"]), f"{row['mb/h']:+,.1f}")
        say(show)
        if log is not None and lines.trouble is None:
            say(f"the hands are in {log}")
    if lines.trouble is not None:
        raise FogplayError(lines.trouble)
    if dealer.ended == BY_HAND:
        raise Stopped(f"stopped after {dealer.hand:,} of {hands:,} hands. To play them all: {again()}")
    if dealer.ended is not None:
        raise FogplayError(f"the match ended early: {dealer.ended}")


def places_of(players: list[str]) -> list[Place]:
    """Parse what was typed into names and agents or ports."""
    from fogplay.agents import names_of

    typed: list[tuple[str, str]] = []
    for player in players:
        name, equals, what = player.partition("=")
        typed.append((name, what) if equals and not Path(player).exists() else ("", player))
    wished = [name or ("player" if what.startswith(":") else Path(what).stem) for name, what in typed]
    names, places = names_of(wished, wished), []
    for name, (_, what) in zip(names, typed, strict=True):
        if not what.startswith(":"):
            places.append(Place(name, what, None))
        elif what[1:].isdigit() and int(what[1:]) <= 65535:
            places.append(Place(name, None, int(what[1:])))
        else:
            raise FogplayError(f"{what!r} is not a port; a player who connects is :PORT, or :0 for any free port")
    return places


def _client(agent: str, definition: Any, seed: int) -> Any:
    from fogplay.protocols.acpc.client import Client
    from fogplay.protocols.acpc.players import seated

    return Client(seated(agent, definition), seed=seed)


def _now_and_then(show: Callable[[int], None]) -> Callable[[int], None]:
    """The same callback, called at most every ``SHOWN_EVERY`` seconds."""
    last = time.monotonic()

    def perhaps(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > SHOWN_EVERY:
            last = now
            show(done)

    return perhaps


def _chips(won: float) -> str:
    """Chips as text; a split pot can give fractions."""
    return f"{won:+,.0f}" if won == round(won) else f"{won:+,.2f}"


class _Log:
    """A log written line by line, so that an interrupted match keeps its hands; remarks are also shown."""

    def __init__(self, path: Path | None, watch: Watch) -> None:
        self.path, self.watch = path, watch
        self.file: Any = None
        self.trouble: str | None = None  # why it is incomplete

    def __enter__(self) -> _Log:
        if self.path is not None:
            try:
                self.file = open(self.path, "w", buffering=1, encoding="utf-8")
            except OSError as error:
                raise FogplayError(f"cannot write {self.path}: {error.strerror}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._do("close")

    def write(self, line: str) -> None:
        if line.startswith("# hand"):
            self.watch.note(line[2:])
        self._do("write", f"{line}\n")

    def _do(self, what: str, *arguments: str) -> None:
        """Use the file; if that fails, as on a full disk, go on without it: the match is worth more than its log."""
        if self.file is None:
            return
        try:
            getattr(self.file, what)(*arguments)
        except OSError as error:
            self.file, self.trouble = None, f"cannot write {self.path}: {error.strerror}; the log is incomplete"
            self.watch.note(self.trouble)


@acpc.command()
def replay(
    log: Annotated[Path, typer.Argument(help="A log as the competition writes it.")],
    game: Annotated[
        str | None, typer.Option(metavar="GAMEDEF", help="The log's game; by default the one it names.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Replay a log: check every hand's result by the rules, or report the first line that breaks them."""
    from fogplay.protocols.acpc.replay import replay as play_again

    played = play_again(log, game)
    rows: list[dict[str, Any]] = [
        {"name": name, "chips": chips, "chips_a_hand": chips / played.hands} for name, chips in played.totals.items()
    ]
    if as_json:
        facts = {"log": str(log), "game": played.game, "hands": played.hands, "finished": played.score is not None}
        print_json(facts | {"players": rows})
        return
    end = "" if played.score is not None else "; there is no score: the match was cut off"
    say(f"{log}: {played.hands:,} hands of {played.game} follow the rules{end}")
    show = table("player", "chips", "chips a hand")
    for row in rows:
        show.add_row(row["name"], _chips(row["chips"]), f"{row['chips_a_hand']:+.4g}")
    say(show)
