"""The commands for general game playing: a player that waits for servers, and matches between players."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay import storage
from fogplay.cli.app import JSON, Stopped, again, app, print_json, require_folder
from fogplay.cli.console import Watch, say, table
from fogplay.errors import FogplayError

ggp = typer.Typer(no_args_is_help=True, help="Play games whose rules arrive in GDL, over HTTP.")
app.add_typer(ggp, name="ggp")

PORT = 9147


@ggp.command()
def player(
    port: Annotated[int, typer.Option(help="Where to listen.", min=0, max=65535)] = PORT,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 is all of them.")] = "127.0.0.1",
    agent: Annotated[str, typer.Option(help="Who plays, such as ggp:auto, ggp:uct or uniform.")] = "ggp:auto:86400s",
    seed: Annotated[int, typer.Option(help="The same seed draws the same moves.", min=0)] = 0,
    memory: Annotated[float, typer.Option(help="Gigabytes; rules that need more are refused.", min=0.5)] = 4.0,
) -> None:
    """Wait for a server's messages and play its matches, until Ctrl-C."""
    from fogplay.protocols.ggp.http import PlayerServer
    from fogplay.protocols.ggp.player import Player

    with Watch(quiet=False) as watch:
        playing = Player(agent, seed, memory=int(memory * 1e9))
        server = PlayerServer(playing, host, port)
        problems: list[BaseException] = []

        def compiled(problem: BaseException | None) -> None:
            if problem is None:
                watch.note("compiled: matches from now on are played at full speed")
            else:
                problems.append(problem)
                server.shutdown()

        try:
            watch.note(f"{agent} waits at {host}:{server.server_port} (Ctrl-C ends it)")
            playing.compile(compiled)
            server.serve_forever(poll_interval=0.1)
        finally:
            playing.close()
            server.server_close()
        for problem in problems:
            raise problem


@ggp.command()
def match(
    rules: Annotated[str, typer.Argument(help="A rule sheet, such as tictactoe.kif.")],
    players: Annotated[list[str], typer.Argument(help="For every role: HOST:PORT, ggp:uct, uniform, …")],
    start_clock: Annotated[float, typer.Option("--startclock", help="Seconds before the first move.", min=1)] = 60.0,
    play_clock: Annotated[float, typer.Option("--playclock", help="Seconds per move.", min=1)] = 20.0,
    matches: Annotated[int, typer.Option(help="How many matches; the players change roles.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="For random's moves and ours.", min=0)] = 0,
    log: Annotated[Path | None, typer.Option(help="Write the matches to this file, one JSON object per line.")] = None,
    as_json: JSON = False,
) -> None:
    """Host matches between players, ours and others over the network, and show what they scored."""
    import numpy as np

    from fogplay.agents import resolve
    from fogplay.games.gdl import ENDING, GdlGame
    from fogplay.gdl.parameters import split_spec
    from fogplay.protocols.ggp.host import Host
    from fogplay.protocols.ggp.http import Seat, is_address, require_there, run

    if not split_spec(rules)[0].endswith(ENDING):
        raise FogplayError(f"{rules} is not a rule sheet; its name ends in {ENDING}, such as tictactoe.kif")
    game = GdlGame(rules)
    if len(players) != game.num_players():
        raise FogplayError(f"{rules} has {game.num_players()} roles for players; name as many, not {len(players)}")
    if log is not None:
        require_folder(log, "--log")
    seats = [Seat(text, seed + place) for place, text in enumerate(players)]
    text = _plain(game.sheet.source.text)
    records: list[dict[str, Any]] = []
    scores = [0.0] * len(seats)
    with Watch(quiet=as_json) as watch:
        for each in players:
            require_there(each) if is_address(each) else resolve([each], game)
        try:
            for number in range(matches):
                order = [(place + number) % len(seats) for place in range(len(seats))]  # by role
                rng = np.random.default_rng(seed + number)
                host = Host(game, f"fogplay.{seed}.{number}", text, start_clock, play_clock, rng)
                run(host, [seats[place] for place in order])
                records.append(host.record([players[place] for place in order]))
                for place, goal in zip(order, host.goals, strict=True):
                    scores[place] += goal
                if log is not None:
                    storage.write_text(log, "".join(json.dumps(record) + "\n" for record in records))
                watch.note(f"match {number + 1}: {' '.join(map(str, host.goals))} after {len(host.steps)} steps")
        except KeyboardInterrupt:
            if not records:
                raise
    _show_matches(rules, players, scores, records, as_json, len(records) < matches)
    if len(records) < matches:
        raise Stopped(f"stopped after {len(records)} of {matches} matches. To start again: {again()}")


def _show_matches(
    rules: str, players: list[str], scores: list[float], records: list[dict[str, Any]], as_json: bool, early: bool
) -> None:
    means = [score / len(records) for score in scores]
    faults = [sum(fault["player"] == text for record in records for fault in record["faults"]) for text in players]
    if as_json:
        facts = {"rules": rules, "players": players, "mean_goals": means, "matches": records}
        print_json(facts | ({"interrupted": True} if early else {}))
        return
    show = table("player", "mean goal", "replaced moves")
    for place, name in enumerate(players):
        show.add_row(name, f"{means[place]:.1f}", str(faults[place]))
    say(show)


def _plain(text: str) -> str:
    """Rules without comments, on one line: what a START holds."""
    from fogplay.gdl.kif import parse, unparse

    return " ".join(unparse(form) for form, _ in parse(text))
