"""The commands that list games and algorithms."""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import JSON, app, print_json, require_folder
from fogplay.cli.console import UncountedError, Watch, say, table
from fogplay.errors import FogplayError

PATIENCE = 10.0  # seconds to count the nodes of a game


@app.command()
def games(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Describe this one.")] = None,
    efg: Annotated[
        Path | None, typer.Option("--efg", help="Write the game to this file in Gambit's format instead.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """List the games, their parameters and sizes; or describe one of them."""
    from fogplay.games.gdl import own_sheets
    from fogplay.games.registry import presets, registered
    from fogplay.trees import flatten

    if efg is not None:
        _write_efg(name, efg, as_json)
        return
    if name is not None:
        _describe(name, as_json)
        return
    rows = [_facts(each(), flatten) for each in registered().values()]
    if as_json:
        print_json({"games": rows, "presets": presets()})
        return
    show = table("game and its parameters", "players", "nodes", "infosets", "")
    for row in rows:
        sizes = ["too many" if size is None else f"{size:,}" for size in (row["nodes"], row["infosets"])]
        sizes[0] += "" if row["tree"] or row["nodes"] is None else "*"
        show.add_row(row["spec"], str(row["players"]), *sizes, row["summary"])
    say(show)
    say("* Too large for a tree: decisions of the betting alone, and infosets with cards in buckets.")
    say(f"By a short name: {', '.join(f'{short} = {spec}' for short, spec in presets().items())}.")
    say("One of them in detail: fogplay games NAME.")
    say(
        "Your own: fogplay solve mygame.py (docs/write-your-own-game.md); a file of Gambit's: fogplay solve game.efg; "
        f"a rule sheet in GDL: fogplay solve rules.kif ({', '.join(own_sheets())} come along); "
        "OpenSpiel's: fogplay solve pyspiel:NAME."
    )


def _write_efg(name: str | None, file: Path, as_json: bool) -> None:
    from fogplay.trees.efg import write_efg

    if name is None:
        raise FogplayError("--efg writes one game: fogplay games GAME --efg FILE.efg")
    require_folder(file, "--efg")
    with Watch(quiet=as_json) as watch:
        flat = write_efg(watch.flatten(name), file)
    if as_json:
        print_json({"game": flat.name, "nodes": flat.num_nodes, "infosets": flat.num_infosets, "efg": str(file)})
    else:
        say(f"{flat.name}: {flat.num_nodes:,} nodes, {flat.num_infosets:,} infosets, saved to {file}")


def _facts(game: Any, flatten: Any) -> dict[str, Any]:
    """A game in words and numbers; its size is None if nothing tells it."""
    from fogplay.games.game import Game, spec_of
    from fogplay.trees import TooLargeError

    public = game.public_size() if hasattr(game, "public_size") else None
    nodes, infosets, large, uncounted = None, None, None, False
    if public is not None:
        nodes, infosets = public
    else:
        try:
            flat = flatten(game)
            nodes, infosets = flat.num_nodes, flat.num_infosets
        except TooLargeError as why:
            large, uncounted = why.size, isinstance(why, UncountedError)
    return {
        "game": getattr(game, "name", type(game).__name__),
        "spec": spec_of(game),
        "summary": _plain((type(game).__doc__ or "").strip().partition("\n")[0]),
        "parameters": _parameters(game),
        "players": game.num_players(),
        "nodes": nodes,
        "infosets": infosets,
        "tree": public is None and large is None,
        **({"size": large} if large is not None else {}),
        **({"uncounted": True} if uncounted else {}),
        **({"remarks": [*game.remarks()]} if isinstance(game, Game) and game.remarks() else {}),
    }


def _parameters(game: Any) -> dict[str, Any]:
    """The parameters that a spec can set."""
    if not dataclasses.is_dataclass(game):
        return {}
    return {each.name: _plain_value(getattr(game, each.name)) for each in dataclasses.fields(game) if each.init}


def _plain_value(value: Any) -> Any:
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


def _plain(text: str) -> str:
    """A docstring without its marks."""
    return re.sub(r"``([^`]*)``", r"\1", text)


def _describe(name: str, as_json: bool) -> None:
    from fogplay.games.registry import registered

    with Watch(quiet=as_json) as watch:
        game, spec = watch.named(name)
        facts = _facts(game, functools.partial(watch.flatten, seconds=PATIENCE)) | (
            {"spec": spec} if ".py" in name else {}
        )
    if as_json:
        print_json(facts)
        return
    say(facts["spec"])
    if facts["summary"]:
        say(_plain(" ".join((type(game).__doc__ or "").split())))
    for parameter, value in facts["parameters"].items():
        say(f"  {parameter} = {value}")
    for remark in facts.get("remarks", ()):
        say(remark)
    size = f"{facts['nodes']:,} nodes, {facts['infosets']:,} infosets" if facts["nodes"] is not None else facts["size"]
    why = f"not counted: that takes over {PATIENCE:g} seconds" if "uncounted" in facts else "too large for a tree"
    where = "" if facts["tree"] else f" ({why})"
    say(f"{facts['players']} players, {size}{where}")
    if facts["game"] in registered():
        say(f"More: docs/games/{facts['game']}.md")


@app.command()
def algorithms(as_json: JSON = False) -> None:
    """List the algorithms and their parameters."""
    from fogplay.solvers import ALGORITHMS

    if as_json:
        print_json({"algorithms": {name: list(each.parameters) for name, each in ALGORITHMS.items()}})
        return
    show = table("algorithm", "parameters (--set NAME=VALUE)", "")
    for each in ALGORITHMS.values():
        show.add_row(each.name, ", ".join(each.parameters), each.summary)
    say(show)
