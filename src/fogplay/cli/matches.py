"""Matches between agents."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay import checks
from fogplay.cli.app import JSON, again, amount, app, print_json, require_folder
from fogplay.cli.console import Watch, say, table
from fogplay.cli.full import match_exactly
from fogplay.cli.teams import Order, show_sides, show_troubles, write_decks
from fogplay.errors import FogplayError
from fogplay.games.registry import EXAMPLES
from fogplay.interrupts import stopping
from fogplay.storage import is_stream

LARGE_TREE = 1_000_000  # decisions


@app.command()
def match(
    game: Annotated[str, typer.Argument(help=f"A game: {EXAMPLES}.")],
    agents: Annotated[
        list[str], typer.Argument(metavar="AGENT", help="Saved strategies, uniform, or bots of the game, by name.")
    ],
    hands: Annotated[
        int | None,
        amount(
            "--hands",
            "-n",
            help="How many hands, rounded up to whole deals; by default 100,000, or as many as take a minute.",
        ),
    ] = None,
    seed: Annotated[int, amount(help="The same seed gives the same hands.")] = 0,
    log: Annotated[Path | None, typer.Option(help="The file for the hand histories.")] = None,
    seen_by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Log only what this player saw; give its name as the result shows it."),
    ] = None,
    as_json: JSON = False,
    decks: Annotated[int | None, amount(help="How many deals, instead of --hands; for teams 1,000 by default.")] = None,
    deck_file: Annotated[Path | None, typer.Option(help="Play the decks of this file (a game of teams).")] = None,
    save_decks: Annotated[Path | None, typer.Option(help="Write the decks that are played to this file.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each decision.")] = None,
    workers: Annotated[
        int | None, amount(help="Processes; for teams as many as there are cores, else 1 by default.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="The expected value over all cards instead of hands, where a game has it.")
    ] = False,
    flops: Annotated[int | None, amount(help="With --exact: estimate from this many sampled flops.")] = None,
    threads: Annotated[
        int | None, amount(help="With --exact: CPU threads; by default one per core, more with a GPU.")
    ] = None,
    device: Annotated[str, typer.Option(help="With --exact: cpu, or cuda for an NVIDIA GPU.")] = "cpu",
) -> None:
    """Play agents against each other, everybody at every seat; in a game of teams, one agent for each side."""
    from fogplay.agents import match as play_match
    from fogplay.agents import names_of
    from fogplay.agents.resolve import known_names
    from fogplay.opponents import write_log
    from fogplay.play import require_seats

    if hands is not None:
        checks.hands(hands)
    checks.seed(seed)
    for file, option in ((log, "--log"), (save_decks, "--save-decks")):
        if file is not None:
            require_folder(file, option)
    with Watch(quiet=as_json) as watch:
        rules, spec = watch.named(game)
    require_seats(rules, spec, len(agents))
    if exact:
        settings = {"flops": flops, "seed": seed, "threads": threads, "device": device}
        match_exactly(spec, rules, agents, None, as_json, settings)
        return
    order = Order.read(rules, spec, agents, hands, decks, deck_file, save_decks, time_limit, workers)
    names = names_of(agents, known_names(rules))
    _check_seen_by(rules, names, log, seen_by)
    with Watch(quiet=as_json) as watch:
        ready(watch, agents, rules)
    with stopping():  # from here on, a signal ends the match, and the hands played are shown and written
        with watch, watch.building() as building:
            outcome = play_match(
                rules,
                agents,
                order.hands,
                spec=spec,
                seed=seed,
                decks=order.decks,
                limit=order.limit,
                workers=order.workers,
                keep=log is not None,
                names=names,
                building=building,
                progress=watch.hands,
                note=watch.note,
                expect=watch.expect,
                flatten=watch.flatten,
            )
            if seen_by is not None and not hasattr(outcome.start, "unseen"):
                watch.note(f"{spec} does not tell what a player never sees: the log holds everything")
        facts = _facts(outcome, agents, log, order.hands)
        try:
            if as_json:
                print_json(facts)
            elif outcome.by_side:
                show_sides(game, outcome, order.hands)
            else:
                _show(game, outcome, facts["players"], order.hands)
            if not as_json:
                show_troubles(outcome)
        finally:  # the log after the result, so that a failed write loses one of them only
            if log is not None:
                write_log(log, outcome, seen_by)
            if save_decks is not None:
                write_decks(save_decks, rules, spec, outcome)
        if not as_json:
            _say_next(game, outcome, log, seen_by)


def ready(watch: Watch, agents: Sequence[str], rules: Any) -> None:
    """Refuse unknown agents, then build the tables that the game's players need, with a note if that is slow."""
    from fogplay.agents import require_known
    from fogplay.simulators import prepare

    require_known(agents, rules)  # before any slow step
    with watch.building() as progress:
        prepare(rules, progress)
    size = rules.public_size() if hasattr(rules, "public_size") else None
    if size is not None and size[0] > LARGE_TREE and not any(Path(agent).exists() for agent in agents):
        watch.note(f"a betting tree of {size[0]:,} decisions: some seconds, some gigabytes")


def _check_seen_by(rules: Any, names: Sequence[str], log: Path | None, seen_by: str | None) -> None:
    from fogplay.opponents.logs import refuse_seen_by
    from fogplay.play import format_for

    if seen_by is None:
        return
    refuse_seen_by(format_for(rules), seen_by)
    if log is None:
        raise FogplayError("--seen-by says what the log holds; add --log FILE")
    if seen_by not in names:
        raise FogplayError(f"--seen-by: nobody called {seen_by!r} plays; there are {', '.join(names)}")


def _facts(outcome: Any, agents: Sequence[str], log: Path | None, asked: int | None) -> dict[str, Any]:
    """The results of a match; deals and points are included if they differ from hands and means."""
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "agent": agent,
            "mean": outcome.means[player],
            "standard_error": outcome.standard_errors[player],
            "interval": outcome.interval(player),
        }
        for player, (name, agent) in enumerate(zip(outcome.names, agents, strict=True))
    ]
    facts = {"game": outcome.game, "hands": outcome.hands, "seed": outcome.seed}
    if outcome.deals != outcome.hands:
        facts |= {"unit": outcome.unit, "deals": outcome.deals, "interrupted": outcome.interrupted}
        rows = [row | {outcome.format.points: won} for row, won in zip(rows, outcome.totals, strict=True)]
    if outcome.interrupted:
        facts |= {"interrupted": True, "hands_asked": asked}
    if outcome.by_side:
        facts["sides"] = [row._asdict() | {"player": outcome.names[row.player]} for row in outcome.by_side]
    if outcome.troubles:
        facts["troubles"] = [each._asdict() | {"player": outcome.names[each.player]} for each in outcome.troubles]
    rate = {"seconds": outcome.seconds, "hands_per_second": outcome.hands / max(outcome.seconds, 1e-9)}
    return facts | rate | {"players": rows, "log": str(log) if log else None}


def _show(game: str, outcome: Any, rows: list[dict[str, Any]], asked: int | None) -> None:
    early = "stopped early, " if outcome.interrupted else ""
    of = f" of {asked:,}" if outcome.interrupted and asked is not None else ""
    paired = outcome.deals != outcome.hands
    turns = outcome.hands // outcome.deals
    hand = "hand" if (asked if outcome.interrupted else outcome.hands) == 1 else "hands"
    dealt = f" ({outcome.deals:,} deals in {turns} seatings)" if paired else ""
    say(f"{game}: {early}{outcome.hands:,}{of} {hand}{dealt} in {outcome.seconds:.2f} s")
    points, digits = outcome.format.points, outcome.format.digits
    unit = outcome.unit if paired else f"wins {outcome.unit}"
    show = table("player", unit, "standard error", "95 % interval", *([points] if paired else []))
    for row in rows:
        low, high = row["interval"]
        shown = [f"{row['mean']:+.{digits}f}", f"{row['standard_error']:.{digits}f}"]
        shown += [f"{low:+.{digits}f} to {high:+.{digits}f}", *([f"{row[points]:+,.0f}"] if paired else [])]
        show.add_row(row["name"], *shown)
    say(show)


def _say_next(game: str, outcome: Any, log: Path | None, seen_by: str | None) -> None:
    """Where the hands are, and what to type next."""
    if outcome.interrupted:
        say(f"To play all hands, or others with another --seed:\n  {again()}")
    if log is None or is_stream(log):
        return
    say(f"the hands are in {log}")
    if outcome.deals == outcome.hands and outcome.format.flat is None:
        return  # a model needs the tree
    other = [name for name in outcome.names if name != seen_by][-1]
    asked = ["fogplay", "model", game, "--from", str(log), "--player", other, "--out", "model.safetensors"]
    say(f"Next:\n  {shlex.join(asked)}")
