"""Matches between strategies, and models of players from the hands they played."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import JSON, app, file_name, print_json, require_folder, save
from fogplay.errors import FogplayError
from fogplay.games import load
from fogplay.games.holdem import EXACT, Holdem
from fogplay.terminal import Watch, say, table

UNIFORM = "uniform"


@app.command()
def match(
    game: Annotated[str, typer.Argument(help="A game, such as leduc.")],
    agents: Annotated[list[str], typer.Argument(metavar="AGENT", help="Saved strategies, or the word uniform.")],
    hands: Annotated[int, typer.Option("--hands", "-n", help="How many.")] = 100_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same hands.")] = 0,
    log: Annotated[Path | None, typer.Option(help="Where the hand histories go.")] = None,
    seen_by: Annotated[
        str | None, typer.Option(metavar="NAME", help="Log what this player saw only; a name is a file's, shortened.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Play strategies against each other, everybody at every seat in turn."""
    from fogplay.evaluate import play_match
    from fogplay.jit import is_compiled
    from fogplay.kernels.play import play
    from fogplay.opponents import histories, record

    names = _names(agents)
    if seen_by is not None and log is None:
        raise FogplayError("--seen-by says what the log holds; add --log FILE")
    if seen_by is not None and seen_by not in names:
        raise FogplayError(f"--seen-by: nobody called {seen_by!r} plays; there are {', '.join(names)}")
    if log is not None:
        require_folder(log, "--log")
    with Watch(quiet=as_json) as watch:
        flat = watch.flatten(game)
        if len(agents) != flat.num_players:
            raise FogplayError(f"{flat.name} is for {flat.num_players} players; {len(agents)} agents were named")
        strategies = [_strategy(agent, flat) for agent in agents]

        def progress(done: int, total: int) -> None:
            if done > 0:
                watch.amount(done, total)
            elif not is_compiled(play):
                watch.note("compiling the kernels: once, some seconds; from now on a command starts at once")

        outcome = play_match(flat, strategies, hands, seed=seed, keep=log is not None, progress=progress)
        if seen_by is not None and not hasattr(flat.root, "unseen"):
            watch.note(f"{flat.name} does not tell what a player never sees: the log holds everything")
    if log is not None and outcome.ends is not None:
        histories.write(log, record(flat, outcome.ends, names, seen_by))
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "agent": agent,
            "mean": outcome.means[player],
            "standard_error": outcome.standard_errors[player],
            "interval": outcome.interval(player),
        }
        for player, (name, agent) in enumerate(zip(names, agents, strict=True))
    ]
    if as_json:
        rate = {"seconds": outcome.seconds, "hands_per_second": hands / max(outcome.seconds, 1e-9)}
        print_json(
            {"game": flat.name, "hands": hands, "seed": seed, **rate, "players": rows, "log": str(log) if log else None}
        )
        return
    say(f"{flat.name}: {hands:,} hands in {outcome.seconds:.2f} s")
    show = table("player", "wins a hand", "standard error", "95 % interval")
    for row in rows:
        low, high = row["interval"]
        show.add_row(row["name"], f"{row['mean']:+.5f}", f"{row['standard_error']:.5f}", f"{low:+.5f} to {high:+.5f}")
    say(show)
    if log is not None:
        say(f"the hands are in {log}")
        others = [name for name in names if name != seen_by]
        asked = ["fogplay", "model", game, "--from", str(log), "--player", others[-1], "--out", "model.safetensors"]
        say(f"Next:\n  {shlex.join(asked)}")


def _names(agents: list[str]) -> list[str]:
    """A name for every agent: its file's, without what a history cannot hold, and numbered where two are the same."""
    names: list[str] = []
    for agent in agents:
        stem = agent if agent == UNIFORM else Path(agent).stem
        plain = "".join("-" if letter in "|:#;" or not letter.isprintable() else letter for letter in stem).strip()
        name, number = plain or "player", 2
        while name in names:
            name, number = f"{plain or 'player'}-{number}", number + 1
        names.append(name)
    return names


def _strategy(agent: str, flat: Any) -> Any:
    """[slots] what an agent does."""
    from fogplay.strategy import Strategy

    if agent == UNIFORM:
        return flat.uniform()
    try:
        return Strategy.load(agent).on(flat)
    except FogplayError as error:
        if Path(agent).exists():
            raise FogplayError(f"{agent}: {error}" if agent not in str(error) else str(error)) from error
        raise FogplayError(f"there is no file {agent}; an agent is a saved strategy or the word {UNIFORM}") from error


@app.command()
def model(
    game: Annotated[str, typer.Argument(help="A game, such as leduc.")],
    source: Annotated[Path, typer.Option("--from", metavar="HISTORIES", help="A file of hand histories.")],
    out: Annotated[Path | None, typer.Option(help="Where the model goes; GAME-PLAYER.safetensors by default.")] = None,
    player: Annotated[str | None, typer.Option(metavar="NAME", help="Whose model, as the histories name it.")] = None,
    method: Annotated[str, typer.Option(help="counts, or tree: decision trees over the game's features.")] = "counts",
    prior: Annotated[float, typer.Option(help="Observations that every infoset gets beforehand.")] = 1.0,
    toward: Annotated[
        Path | None, typer.Option(help="A saved strategy that these follow; without one, all actions alike.")
    ] = None,
    min_hands: Annotated[float, typer.Option(help="The fewest observations in a leaf of a tree.")] = 20.0,
    rounds: Annotated[int | None, typer.Option(help="The most rounds of completing what was not seen.")] = None,
    as_json: JSON = False,
) -> None:
    """Learn a model of a player from hands it played, as a strategy."""
    import numpy as np

    from fogplay.opponents import histories, learn_model
    from fogplay.strategy import Strategy

    if out is not None:
        require_folder(out)
    rules = load(game)
    if isinstance(rules, Holdem) and rules.grid != EXACT:
        _model_of_holdem(rules, game, source, out, player, prior, min_hands, as_json)
        return
    with Watch(quiet=as_json) as watch:
        flat = watch.flatten(rules)
        hands = histories.read(source)
        began = time.perf_counter()
        learned = learn_model(
            flat,
            hands,
            player,
            method=method,
            prior=prior,
            toward=None if toward is None else Strategy.load(toward),
            min_hands=min_hands,
            rounds=rounds,
            progress=lambda done, total: watch.amount(done, total) if time.perf_counter() - began > 1 else None,
        )
    seconds = time.perf_counter() - began
    name = str(learned.parameters["player"])
    out = out or Path(f"{file_name(game)}-{file_name(name)}.safetensors")
    save(learned, out)
    assert learned.visits is not None
    seen = np.add.reduceat(learned.visits, learned.infoset_start[:-1]) if len(learned.infosets) else np.zeros(0)
    facts = {
        "game": flat.name,
        "method": learned.method,
        "player": name,
        "hands": learned.iterations,
        "hands_in_file": len(hands.order),
        "rounds": learned.parameters["rounds"],
        "observations": int(seen.sum()),
        "infosets_seen": int((seen > 0).sum()),
        "infosets": len(learned.infosets),
        "seconds": seconds,
        "out": str(out),
    }
    if as_json:
        print_json(facts)
        return
    say(f"{flat.name}: a model of {name} from {facts['hands']:,} of {facts['hands_in_file']:,} hands, by {method}")
    say(f"{facts['observations']:,} choices seen, at {facts['infosets_seen']:,} of {facts['infosets']:,} infosets")
    say(f"saved to {out}\nNext:\n  {shlex.join(['fogplay', 'inspect', str(out)])}")
    say(f"  {shlex.join(['fogplay', 'respond', game, '--to', str(out), '--kind', 'dbr', '--confidence', '1'])}")


def _model_of_holdem(
    rules: Holdem,
    game: str,
    log: Path,
    out: Path | None,
    player: str | None,
    prior: float,
    min_hands: float,
    as_json: bool,
) -> None:
    """The same for hold'em with buckets: from a competition log, by decision trees, as a profile."""
    from fogplay.opponents.holdem import learn_holdem

    with Watch(quiet=as_json) as watch:
        watch.arena(rules)  # builds the tables of hand strength, where they are not there
        learned = learn_holdem(rules, log, player, prior=prior, min_hands=min_hands, progress=watch.amount)
    name = str(learned.parameters["player"])
    out = out or Path(f"{file_name(game)}-{file_name(name)}.safetensors")
    save(learned, out)
    if as_json:
        facts = {"game": learned.game, "method": learned.method, "player": name, "hands": learned.iterations}
        print_json(facts | {"out": str(out)})
        return
    say(f"{learned.game}: a model of {name} from {learned.iterations:,} hands, by decision trees")
    say(f"saved to {out}\nNext:")
    asked = ["fogplay", "respond", game, "--to", str(out), "--kind", "dbr", "-a", "os-mccfr"]
    say(f"  {shlex.join(asked)}")
