"""The commands for the Annual Computer Poker Competition: deal matches, join them, replay logs."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.acpc_results import Place, report_dealt, report_joined, report_replayed
from fogplay.cli.app import JSON, Stopped, again, amount, app, require_folder
from fogplay.cli.console import Watch, counted, say, table
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
    port: Annotated[str, typer.Argument(help="The dealer's port.")],
    agent: Annotated[str | None, typer.Option(help="A saved strategy, or a bot's name; required.")] = None,
    game: Annotated[
        str | None, typer.Option(metavar="GAMEDEF", help=f"The dealer's game; by default the file's, or {DEFAULT}.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same actions.", min=0)] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds to keep trying to connect.")] = 0.0,
    as_json: JSON = False,
) -> None:
    """Play at a dealer's table until it ends the match."""
    from fogplay.notation.gamedef import game_of, load_definition
    from fogplay.protocols.acpc.client import Client
    from fogplay.protocols.acpc.notes import Folded
    from fogplay.protocols.acpc.players import definition_for, seated
    from fogplay.protocols.acpc.sockets import BY_HAND, connect
    from fogplay.protocols.acpc.sockets import join as play

    number = port_of(host, port)
    if agent is None:  # asked for only now, since words in the wrong order matter more
        raise FogplayError(f"--agent is missing: fogplay acpc join {host} {port} --agent FILE, or a bot's name")
    own = None if game is not None else definition_for(agent)
    definition = own or load_definition(game or DEFAULT)[1]
    chosen = secrets.randbits(32) if seed is None else seed
    with Watch(quiet=as_json) as watch:
        ready(watch, [agent], game_of(definition))
        notes, why, trouble = Folded(watch.note), "", None
        with watch.building() as building:
            client = Client(seated(agent, definition, building), seed=chosen, notes=notes)
        line = connect(host, number, wait)
        watch.note(f"connected to {host}:{number}")
        began = time.perf_counter()
        try:
            why = play(line, client)
        except FogplayError as error:
            trouble = error
        notes.close()
    report_joined(client, agent, chosen, time.perf_counter() - began, as_json)
    if trouble is not None:
        raise trouble
    if why == BY_HAND:
        done = counted(client.hands, "hand")
        raise Stopped(f"stopped after {done}; the dealer's log holds them. To join again: {again()}")
    if client.in_hand is not None:
        raise FogplayError(f"the dealer went away in the middle of hand {client.in_hand}: {why}")
    if client.hands == 0:
        raise FogplayError(f"the dealer went away before the first hand was over: {why}")


def port_of(host: str, port: str) -> int:
    """The number of a port as typed after a host."""
    if re.fullmatch("[0-9]{1,5}", port) and 1 <= int(port) <= 65535:
        return int(port)
    if re.fullmatch("[0-9]{1,5}", host):
        raise FogplayError(f"HOST comes before PORT: fogplay acpc join {port} {host}")
    raise FogplayError(f"PORT must be a whole number from 1 to 65535, not {port!r}; the dealer prints its ports")


@acpc.command()
def deal(
    game: Annotated[str, typer.Argument(metavar="GAMEDEF", help="A game definition's file, or a name from fogplay.")],
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYER", help="[NAME=]AGENT for a strategy or bot; [NAME=]:PORT for a player that connects."
        ),
    ],
    hands: Annotated[int, amount("--hands", "-n", help="How many hands.")] = 3000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same cards.")] = 0,
    turn: Annotated[
        int, typer.Option(help="Rotate everybody by this many seats: with the same seed, a duplicate.")
    ] = 0,
    log: Annotated[Path | None, typer.Option(help="The file for the hands.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the match in --log where it was cut off, if it has begun.")
    ] = False,
    forfeit: Annotated[
        bool, typer.Option("--forfeit", help="Continue without a player that fails: it checks or folds from then on.")
    ] = False,
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 accepts other machines.")] = "127.0.0.1",
    t_response: Annotated[float, typer.Option(metavar="SECONDS", help="Seconds per answer.")] = 600.0,
    t_hand: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds per player for all answers in a hand.")
    ] = 600.0,
    t_per_hand: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds per player and hand, on average over the match.")
    ] = 7.0,
    start_timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Seconds for all players to connect and greet; by default, no limit."),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Host a match between fogplay agents and players that connect."""
    from fogplay.notation.gamedef import load_definition
    from fogplay.protocols.acpc.dealer import Dealer, Limits, Terms
    from fogplay.protocols.acpc.game import AcpcGame
    from fogplay.protocols.acpc.sockets import BY_HAND, run

    name, definition = load_definition(game)
    places = places_of(players)
    if len(places) != definition.players:
        raise FogplayError(f"{name} is for {definition.players} players; {len(places)} were named")
    match = log.name if log is not None else "match"
    terms = Terms(match, name, hands, seed, turn, Limits(t_response, t_hand, t_per_hand), forfeit)
    ground, names = AcpcGame(definition), [place.name for place in places]
    past = _past(log, resume, ground, names, terms)
    before = 0 if past is None else past.hands
    with Watch(quiet=as_json) as watch:
        chairs, patience = _seat(watch, places, ground, terms, host, start_timeout) if before < hands else ([], None)
        with _Log(log, watch, past) as lines:
            began = time.perf_counter()
            dealer = Dealer(ground, names, terms, lines.write, past)
            run(dealer, chairs, _now_and_then(lambda done: watch.amount(done, hands)), patience)
            watch.end(dealer.hand)
            seconds = time.perf_counter() - began
    report_dealt(dealer, places, before, seconds, log, as_json)
    if log is not None and lines.trouble is None and not as_json:
        say(f"the hands are in {log}")
    if lines.trouble is not None:
        raise FogplayError(lines.trouble)
    if dealer.ended is None:
        return
    further = again("--resume") if log is not None and log.is_file() else None
    if dealer.ended == BY_HAND:
        rest = f"continue: {further}" if further else f"play them all: {again()}"
        raise Stopped(f"stopped after {dealer.hand:,} of {counted(hands, 'hand')}. To {rest}")
    raise FogplayError(f"the match ended early: {dealer.ended}" + (f". To continue it: {further}" if further else ""))


def _past(log: Path | None, resume: bool, ground: Any, names: Sequence[str], terms: Any) -> Any:
    """What a log already holds of this match; None for a new match."""
    from fogplay.protocols.acpc.resume import read_past, require_new

    if log is None:
        if resume:
            raise FogplayError("--resume continues the match in a log; name it with --log FILE")
        return None
    require_folder(log, "--log")
    if not resume:
        require_new(log)
        return None
    return read_past(log, ground, names, terms) if log.is_file() and log.stat().st_size > 0 else None


def _seat(watch: Watch, places: Sequence[Place], ground: Any, terms: Any, host: str, seconds: float | None) -> Any:
    """Load our agents and wait for the players that connect; the chairs, and the patience left for greetings."""
    from fogplay.protocols.acpc.client import Client
    from fogplay.protocols.acpc.players import seated
    from fogplay.protocols.acpc.sockets import Local, Patience, accept, listen

    chairs: list[Any] = [None] * len(places)
    for number, place in enumerate(places):
        if place.agent is not None:
            ready(watch, [place.agent], ground.game)
            with watch.building() as building:
                own = seated(place.agent, ground.definition, building)
            chairs[number] = Local(Client(own, seed=terms.seed))
    doors = {number: listen(host, place.port) for number, place in enumerate(places) if place.port is not None}
    if doors:
        print(*(door.getsockname()[1] for door in doors.values()), flush=True)
    patience = Patience(seconds)
    for number, door in doors.items():
        watch.note(f"waiting for {places[number].name} at {host}:{door.getsockname()[1]}")
        chairs[number] = accept(door, places[number].name, patience)
    return chairs, patience


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


class _Log:
    """A log written line by line, so that an interrupted match keeps its hands; remarks are also shown."""

    def __init__(self, path: Path | None, watch: Watch, past: Any) -> None:
        """``past`` is what the file already holds of the match; anything after it is half a line."""
        from fogplay.protocols.acpc.notes import Folded

        self.path, self.watch, self.past = path, watch, past
        self.remarks = Folded(watch.note)
        self.file: Any = None
        self.trouble: str | None = None  # why it is incomplete

    def __enter__(self) -> _Log:
        if self.path is not None:
            try:
                self.file = open(self.path, "w" if self.past is None else "r+", buffering=1, encoding="utf-8")
                if self.past is not None:
                    self.file.seek(self.past.size)
                    self.file.truncate()
            except OSError as error:
                raise FogplayError(f"cannot write {self.path}: {error.strerror}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self.remarks.close()
        self._do("close")

    def write(self, line: str) -> None:
        if line.startswith("# hand"):
            self.remarks.add(line[2:])
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
    logs: Annotated[list[Path], typer.Argument(metavar="LOG", help="Logs as the competition writes them.")],
    game: Annotated[
        str | None, typer.Option(metavar="GAMEDEF", help="The logs' game; by default the one that they name.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(help="A file for the hands: .csv, or .phhs, which pokerkit reads, if the game has it."),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Replay logs: check every hand's result by the rules, or report the first line that breaks them.

    Several logs are combined; hands with the same cards, as in duplicate matches, count as one deal.
    """
    from fogplay.protocols.acpc.records import write_records
    from fogplay.protocols.acpc.replay import combine
    from fogplay.protocols.acpc.replay import replay as play_again

    if len({log.resolve() for log in logs}) < len(logs):
        raise FogplayError("the same log is named twice")
    if export is not None:
        require_folder(export)
    played = [play_again(log, game) for log in logs]
    combined = combine(played)
    if export is not None:
        write_records(export, played)
    report_replayed(played, combined, export, as_json)
