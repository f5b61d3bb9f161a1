"""The command that learns a model of a player from the hands it played."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import JSON, NodeLimit, amount, app, file_name, load_strategy, print_json, require_folder
from fogplay.cli.console import Watch, say
from fogplay.cli.keeping import Force, save
from fogplay.errors import FogplayError
from fogplay.games import load
from fogplay.games.game import fits_in_tree


@app.command()
def model(
    game: Annotated[str, typer.Argument(help="A game; see `fogplay games`.")],
    source: Annotated[Path, typer.Option("--from", metavar="HISTORIES", help="A file of hand histories.")],
    out: Annotated[
        Path | None, typer.Option(help="The file for the model; GAME-PLAYER.safetensors by default.")
    ] = None,
    player: Annotated[
        str | None, typer.Option(metavar="NAME", help="The player to model, as named in the histories.")
    ] = None,
    method: Annotated[str, typer.Option(help="counts, or tree: decision trees over the game's features.")] = "counts",
    prior: Annotated[float, typer.Option(help="Observations added at every infoset.")] = 1.0,
    toward: Annotated[
        Path | None, typer.Option(help="A saved strategy that says how to spread these; uniform by default.")
    ] = None,
    min_hands: Annotated[float, typer.Option(help="The fewest observations in a leaf of a tree.")] = 20.0,
    rounds: Annotated[int | None, amount(help="The most rounds of completing unseen cards.")] = None,
    node_limit: NodeLimit = None,
    force: Force = False,
    as_json: JSON = False,
) -> None:
    """Learn a model of a player, as a strategy, from the hands it played."""
    from fogplay.opponents import histories, learn_model
    from fogplay.opponents.learn import check_settings
    from fogplay.strategies.tabular import require_tabular

    if out is not None:
        require_folder(out)
    check_settings(method, prior, min_hands, rounds)
    if not source.exists():
        raise FogplayError(f"there is no file {source} to read hands from")
    rules = load(game)
    if not fits_in_tree(rules):
        _betting_model(game, source, out, player, prior, min_hands, force, as_json)
        return
    with Watch(quiet=as_json, node_limit=node_limit) as watch:
        flat = watch.flatten(game)
        hands = histories.read(source)
        began = time.perf_counter()
        learned = learn_model(
            flat,
            hands,
            player,
            method=method,
            prior=prior,
            toward=None if toward is None else require_tabular(load_strategy(toward), flat.name),
            min_hands=min_hands,
            rounds=rounds,
            progress=lambda done, total: watch.amount(done, total) if time.perf_counter() - began > 1 else None,
        )
    seconds = time.perf_counter() - began
    name = str(learned.parameters["player"])
    out = out or Path(f"{file_name(game)}-{file_name(name)}.safetensors")
    out = save(learned, out, force=force, note=watch.note)
    facts = {
        "game": flat.name,
        "hands_in_file": len(hands.order),
        **_facts(learned),
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


def _facts(learned: Any) -> dict[str, Any]:
    """A model in numbers."""
    import numpy as np

    seen = np.add.reduceat(learned.visits, learned.infoset_start[:-1]) if len(learned.infosets) else np.zeros(0)
    return {
        "method": learned.method,
        "player": learned.parameters["player"],
        "hands": learned.iterations,
        "rounds": learned.parameters["rounds"],
        "observations": int(seen.sum()),
        "infosets_seen": int((seen > 0).sum()),
        "infosets": len(learned.infosets),
    }


def _betting_model(
    game: str,
    log: Path,
    out: Path | None,
    player: str | None,
    prior: float,
    min_hands: float,
    force: bool,
    as_json: bool,
) -> None:
    """Learn a model for a game without a tree: from a competition log, by decision trees."""
    from fogplay.opponents.betting import learn_betting

    with Watch(quiet=as_json) as watch:
        simulator: Any = watch.simulator(game)
        learned = learn_betting(simulator, log, player, prior=prior, min_hands=min_hands, progress=watch.amount)
    name = str(learned.parameters["player"])
    out = out or Path(f"{file_name(game)}-{file_name(name)}.safetensors")
    out = save(learned, out, force=force, note=watch.note)
    if as_json:
        facts = {"game": learned.game, "method": learned.method, "player": name, "hands": learned.iterations}
        print_json(facts | {"out": str(out)})
        return
    say(f"{learned.game}: a model of {name} from {learned.iterations:,} hands, by decision trees")
    say(f"saved to {out}\nNext:")
    asked = ["fogplay", "respond", game, "--to", str(out), "--kind", "dbr", "-a", "os-mccfr"]
    say(f"  {shlex.join(asked)}")
