"""Matches between strategies: duplicate matches of hold'em, and hands of games that fit in a tree."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import JSON, app, print_json, require_folder
from fogplay.cli.console import Watch, say, table
from fogplay.errors import FogplayError
from fogplay.notation.acpc import plain_name

LARGE_TREE = 1_000_000  # decisions
UNIFORM = "uniform"


@app.command()
def match(
    game: Annotated[str, typer.Argument(help="A game, such as leduc or holdem.")],
    agents: Annotated[
        list[str], typer.Argument(metavar="AGENT", help="Saved strategies; or uniform; or, of hold'em, a bot's name.")
    ],
    hands: Annotated[int, typer.Option("--hands", "-n", help="How many; of hold'em, in whole deals.")] = 100_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same hands.")] = 0,
    log: Annotated[Path | None, typer.Option(help="Where the hand histories go.")] = None,
    seen_by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Log what this player saw only; a name is a file's, shortened.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Play strategies against each other, everybody at every seat."""
    if log is not None:
        require_folder(log, "--log")
    rules = holdem_of(game)
    if rules is not None:
        if seen_by is not None:
            raise FogplayError("--seen-by is for games that fit in a tree; a log of hold'em holds all that happened")
        _match_holdem(rules, agents, hands, seed, log, as_json)
    else:
        _match_tree(game, agents, hands, seed, log, seen_by, as_json)


def holdem_of(game: str) -> Any:
    """The rules, if the game is hold'em with all its cards, which is played without a tree; else None."""
    if not game.strip().startswith("holdem"):
        return None
    from fogplay.games.holdem import Holdem
    from fogplay.games.registry import load

    rules = load(game)
    return rules if isinstance(rules, Holdem) and rules.is_full() else None


def build_tables(watch: Watch, agents: Sequence[str]) -> None:
    """Build the tables of hand strength for those who play, if they are not there yet."""
    from fogplay.agents import require_agent
    from fogplay.cards import tables

    for agent in agents:  # before anything that takes long
        require_agent(agent)
    if not any(tables.folder().glob("strength-river*")):
        with watch.building() as progress:
            tables.load("ehs2", lambda done, total: progress(tables.WHAT, done, total))


def seated(watch: Watch, agents: list[str], rules: Any) -> Any:
    """The players of a table of hold'em; says so where they take long to come."""
    from fogplay.agents import BOTS, policies

    build_tables(watch, agents)
    decisions = sum(rules.decisions())
    if decisions > LARGE_TREE and all(agent in BOTS for agent in agents):  # a file may still be refused
        watch.note(f"a betting tree of {decisions:,} decisions: some seconds, some gigabytes")
    return policies(agents, rules)


def _rows(outcome: Any, names: Sequence[str], agents: Sequence[str]) -> list[dict[str, Any]]:
    """What is told of every player of a match."""
    return [
        {
            "name": name,
            "agent": agent,
            "mean": outcome.means[player],
            "standard_error": outcome.standard_errors[player],
            "interval": outcome.interval(player),
        }
        for player, (name, agent) in enumerate(zip(names, agents, strict=True))
    ]


def _match_holdem(rules: Any, agents: list[str], hands: int, seed: int, log: Path | None, as_json: bool) -> None:
    from fogplay.agents import BOTS, play_duplicate, write_log
    from fogplay.kernels.duplicate import play_block

    if len(agents) != rules.players:
        raise FogplayError(f"{rules} is for {rules.players} players; {len(agents)} agents were named")
    names = names_of(agents, BOTS)
    with Watch(quiet=as_json) as watch:
        playing = seated(watch, agents, rules)
        outcome = play_duplicate(
            rules, playing, hands, seed=seed, keep=log is not None, progress=watch.hands(play_block)
        )
    rows = [row | {"chips": chips} for row, chips in zip(_rows(outcome, names, agents), outcome.chips, strict=True)]
    facts = {
        "game": str(rules),
        "unit": "mb/h",
        "hands": outcome.hands,
        "deals": outcome.deals,
        "seed": seed,
        "interrupted": outcome.interrupted,
        "seconds": outcome.seconds,
        "hands_per_second": outcome.hands / max(outcome.seconds, 1e-9),
        "players": rows,
        "log": str(log) if log else None,
    }
    if as_json:
        print_json(facts)
    else:
        _show_holdem_match(rules, outcome, rows)
    if log is not None:
        write_log(log, outcome, names)  # what cannot be written costs the log alone
        if not as_json:
            say(f"the hands are in {log}")


def _show_holdem_match(rules: Any, outcome: Any, rows: list[dict[str, Any]]) -> None:
    early = "stopped early, " if outcome.interrupted else ""
    seats = outcome.hands // outcome.deals
    say(
        f"hold'em, {rules.players} players: {early}{outcome.hands:,} hands ({outcome.deals:,} deals in {seats} "
        f"seatings) in {outcome.seconds:.2f} s"
    )
    show = table("player", "mb/h", "standard error", "95 % interval", "chips")
    for row in rows:
        low, high = row["interval"]
        shown = f"{row['standard_error']:.1f}", f"{low:+.1f} to {high:+.1f}", f"{row['chips']:+,.0f}"
        show.add_row(row["name"], f"{row['mean']:+.1f}", *shown)
    say(show)


def _match_tree(
    game: str, agents: list[str], hands: int, seed: int, log: Path | None, seen_by: str | None, as_json: bool
) -> None:
    from fogplay.evaluate import play_match
    from fogplay.kernels.play import play
    from fogplay.opponents import histories, record

    names = names_of(agents)
    if seen_by is not None and log is None:
        raise FogplayError("--seen-by says what the log holds; add --log FILE")
    if seen_by is not None and seen_by not in names:
        raise FogplayError(f"--seen-by: nobody called {seen_by!r} plays; there are {', '.join(names)}")
    with Watch(quiet=as_json) as watch:
        flat = watch.flatten(game)
        if len(agents) != flat.num_players:
            raise FogplayError(f"{flat.name} is for {flat.num_players} players; {len(agents)} agents were named")
        strategies = [strategy_of(agent, flat) for agent in agents]
        outcome = play_match(flat, strategies, hands, seed=seed, keep=log is not None, progress=watch.hands(play))
        if seen_by is not None and not hasattr(flat.root, "unseen"):
            watch.note(f"{flat.name} does not tell what a player never sees: the log holds everything")
    rows = _rows(outcome, names, agents)
    if as_json:
        rate = {"seconds": outcome.seconds, "hands_per_second": hands / max(outcome.seconds, 1e-9)}
        print_json(
            {"game": flat.name, "hands": hands, "seed": seed, **rate, "players": rows, "log": str(log) if log else None}
        )
    else:
        _show_tree_match(flat.name, hands, outcome.seconds, rows)
    if log is None:
        return
    assert outcome.ends is not None
    histories.write(log, record(flat, outcome.ends, names, seen_by))
    if not as_json:
        say(f"the hands are in {log}")
        others = [name for name in names if name != seen_by]
        asked = ["fogplay", "model", game, "--from", str(log), "--player", others[-1], "--out", "model.safetensors"]
        say(f"Next:\n  {shlex.join(asked)}")


def _show_tree_match(game: str, hands: int, seconds: float, rows: list[dict[str, Any]]) -> None:
    say(f"{game}: {hands:,} hands in {seconds:.2f} s")
    show = table("player", "wins a hand", "standard error", "95 % interval")
    for row in rows:
        low, high = row["interval"]
        show.add_row(row["name"], f"{row['mean']:+.5f}", f"{row['standard_error']:.5f}", f"{low:+.5f} to {high:+.5f}")
    say(show)


def names_of(agents: list[str], words: Collection[str] = (UNIFORM,)) -> list[str]:
    """A name for every agent: its file's, without what a history cannot hold, and numbered where two are the same."""
    names: list[str] = []
    for agent in agents:
        stem = agent if agent in words else Path(agent).stem
        plain = plain_name(stem)
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}-{number}", number + 1
        names.append(name)
    return names


def strategy_of(agent: str, flat: Any) -> Any:
    """[slots] what an agent does."""
    from fogplay.strategies import TabularStrategy

    if agent == UNIFORM:
        return flat.uniform()
    try:
        return TabularStrategy.read(agent).on(flat)
    except FogplayError as error:
        if Path(agent).exists():
            raise FogplayError(f"{agent}: {error}" if agent not in str(error) else str(error)) from error
        from fogplay.agents import BOTS

        what = f"the bot {agent} plays hold'em" if agent in BOTS else f"there is no file {agent}"
        raise FogplayError(f"{what}; an agent is a saved strategy or the word {UNIFORM}") from error
