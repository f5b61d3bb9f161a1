"""The command line: every command is a few lines over the Python interface."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.errors import FogplayError
from fogplay.terminal import Watch, say, show_result, table

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Solve and play games of hidden information, by self-play, at compiled speed.",
)

JSON = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout instead.")]


@app.command()
def games(as_json: JSON = False) -> None:
    """List the games, their parameters and sizes."""
    from fogplay.games.registry import presets, registered
    from fogplay.trees import flatten

    rows: list[dict[str, Any]] = []
    for name, game_class in registered().items():
        game = game_class()
        flat = flatten(game)
        rows.append(
            {
                "game": name,
                "spec": str(game),
                "summary": (game_class.__doc__ or "").splitlines()[0],
                "parameters": dataclasses.asdict(game) if dataclasses.is_dataclass(game) else {},
                "players": flat.num_players,
                "nodes": flat.num_nodes,
                "infosets": flat.num_infosets,
            }
        )
    if as_json:
        _print_json({"games": rows, "presets": presets()})
        return
    show = table("game and its parameters", "players", "nodes", "infosets", "")
    for row in rows:
        show.add_row(row["spec"], str(row["players"]), f"{row['nodes']:,}", f"{row['infosets']:,}", row["summary"])
    say(show)
    say(f"By a short name: {', '.join(f'{short} = {spec}' for short, spec in presets().items())}.")
    say("Your own: fogplay solve mygame.py (docs/write-your-own-game.md); OpenSpiel's: fogplay solve pyspiel:NAME.")


@app.command()
def solve(
    game: Annotated[str, typer.Argument(help="A game, such as leduc or 'goofspiel(cards=5)' or mygame.py.")],
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help="See `fogplay algorithms`.")] = "smooth-uct",
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", help="How many.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    threads: Annotated[int, typer.Option(help="Threads that share the tables of a sampling algorithm.")] = 1,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the algorithm; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where the strategy goes; GAME.safetensors by default.")] = None,
    greedy: Annotated[bool, typer.Option(help="Save the greedy strategy instead of the average one.")] = False,
    resume: Annotated[bool, typer.Option(help="Go on from the checkpoint beside --out, if there is one.")] = False,
    checkpoint_seconds: Annotated[float, typer.Option(help="How often a checkpoint is written.", min=0.0)] = 10.0,
    as_json: JSON = False,
) -> None:
    """Solve a game and save the strategy."""
    import fogplay
    from fogplay.evaluate import measure

    settings = _settings(set_ or [], algorithm)
    out = out or Path(f"{_file_name(game)}.safetensors")
    _require_folder(out)
    with Watch(quiet=as_json) as watch:
        flat = watch.flatten(game)
        watch.warn_of_recall(flat)
        watch.expect_kernels(algorithm)
        result = fogplay.solve(
            flat,
            algorithm,
            iterations,
            seed=seed,
            threads=threads,
            checkpoint=out.with_name(out.name + ".checkpoint"),
            resume=resume,
            checkpoint_seconds=checkpoint_seconds,
            progress=watch.progress,
            **settings,
        )
    strategy, nash_conv, exploitability = result.strategy, result.nash_conv, result.exploitability
    if greedy:
        strategy = strategy.greedy()
        if flat.recall_lost is None:
            quality = measure(flat, strategy.probabilities)
            nash_conv, exploitability = quality.nash_conv, quality.exploitability
    _save(strategy, out)
    if result.trouble is not None:
        print(f"fogplay: the last checkpoint could not be written: {result.trouble}", file=sys.stderr)
    facts = {
        "game": flat.name,
        "algorithm": algorithm,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "iterations_per_second": result.iterations / max(result.seconds, 1e-9),
        "nash_conv": nash_conv,
        "exploitability": exploitability,
        "seed": result.seed,
        "interrupted": result.interrupted,
        "out": str(out),
    }
    if as_json:
        _print_json(facts)
    else:
        show_result(facts, strategy)


@app.command()
def algorithms(as_json: JSON = False) -> None:
    """List the algorithms and their parameters."""
    from fogplay.solvers import ALGORITHMS

    if as_json:
        _print_json({"algorithms": {name: list(each.parameters) for name, each in ALGORITHMS.items()}})
        return
    show = table("algorithm", "parameters (--set NAME=VALUE)", "")
    for each in ALGORITHMS.values():
        show.add_row(each.name, ", ".join(each.parameters), each.summary)
    say(show)


@app.command()
def evaluate(
    file: Annotated[Path, typer.Argument(help="A saved strategy.")],
    game: Annotated[
        str | None, typer.Option(help="The game, where the file's own name for it cannot be loaded.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Measure a strategy exactly: values, nash_conv, exploitability."""
    from fogplay.evaluate import measure
    from fogplay.strategy import Strategy

    strategy = Strategy.load(file)
    with Watch(quiet=as_json) as watch:
        flat = watch.flatten(game or strategy.game)
    quality = measure(flat, strategy.on(flat))
    if as_json:
        _print_json(
            {"file": str(file), "game": strategy.game, "algorithm": strategy.method} | dataclasses.asdict(quality)
        )
        return
    say(f"{strategy.game}, by {strategy.method} after {strategy.iterations:,} iterations")
    show = table("player", "earns", "could earn by a best response", "gain")
    for player, (value, best) in enumerate(zip(quality.values, quality.best_response_values, strict=True)):
        show.add_row(str(player), f"{value:+.6f}", f"{best:+.6f}", f"{best - value:.6f}")
    say(show)
    say(f"nash_conv {quality.nash_conv:.6g} (all gains), exploitability {quality.exploitability:.6g} (per player)")
    say(f"How: {quality.method}.")


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="A saved strategy.")],
    infoset: Annotated[str | None, typer.Argument(help="An infoset's string, or the beginning of some.")] = None,
    game: Annotated[
        str | None, typer.Option(help="The game, where the file's own name for it cannot be loaded.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many infosets to list.", min=1)] = 20,
    as_json: JSON = False,
) -> None:
    """Look a situation up: what does the strategy do there, and why."""
    from fogplay.evaluate.situations import situations
    from fogplay.strategy import Strategy

    strategy = Strategy.load(file)
    if infoset is not None and infoset not in strategy.infosets:
        chosen = [name for name in strategy.infosets if name.startswith(infoset)] or [
            strategy.infosets[strategy.find(infoset)]
        ]
    else:
        chosen = list(strategy.infosets) if infoset is None else [infoset]
    with Watch(quiet=as_json) as watch:
        flat = watch.flatten(game or strategy.game)
    seen = situations(flat, strategy.on(flat))
    rows: list[dict[str, Any]] = []
    for name in chosen[:limit]:
        where, number = strategy.slots(name), flat.infosets.index(name)
        here = flat.slots(number)
        for action, probability, value, slot in zip(
            strategy.actions[where],
            strategy.probabilities[where],
            seen.value[here],
            range(where.start, where.stop),
            strict=True,
        ):
            rows.append(
                {
                    "infoset": name,
                    "player": int(flat.tree.infoset_player[number]),
                    "action": action,
                    "probability": float(probability),
                    "value": float(value),
                    "likelihood": float(seen.likelihood[number]),
                    "visits": int(strategy.visits[slot]) if strategy.visits is not None else None,
                    "learned_value": float(strategy.values[slot]) if strategy.values is not None else None,
                }
            )
    if as_json:
        _print_json({"file": str(file), "game": strategy.game, "infosets": len(strategy.infosets), "rows": rows})
        return
    say(f"{strategy.game}, by {strategy.method} after {strategy.iterations:,} iterations")
    counted = strategy.visits is not None
    show = table(
        "infoset", "player", "action", "probability", "earns", *(["visits", "learned value"] if counted else [])
    )
    before = None
    for row in rows:
        same = row["infoset"] == before
        extra = [f"{row['visits']:,}", f"{row['learned_value']:+.4f}"] if counted else []
        show.add_row(
            "" if same else row["infoset"], "" if same else str(row["player"]), row["action"],
            f"{row['probability']:.4f}", f"{row['value']:+.4f}", *extra,
        )  # fmt: skip
        before = row["infoset"]
    say(show)
    if len(chosen) > limit:
        say(f"{limit} of {len(chosen):,} infosets; name one, or the beginning of some, or raise --limit.")
    say("earns: the player's average winnings from there if all follow the strategy (exact; nan if it never arises).")


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="[ID]", help="paper/item or a paper; none: list all.")] = None,
    scale: Annotated[str, typer.Option(help="quick: about a minute; paper: the paper's own budget.")] = "quick",
    out: Annotated[Path, typer.Option(help="The folder that data and pictures go under.")] = Path("reproduced"),
    engine: Annotated[str, typer.Option(help="loky: local processes; ray: a Ray cluster; sequential.")] = "loky",
    workers: Annotated[int, typer.Option(help="How many runs at a time; 0: one for each core.", min=0)] = 0,
    as_json: JSON = False,
) -> None:
    """Make a paper's figure or table again: data, picture, the published numbers beside ours."""
    from fogplay.experiments.reproduce import experiments
    from fogplay.experiments.reproduce import reproduce as run

    known = experiments()
    if name is None:
        if as_json:
            _print_json({"experiments": {each.id: each.title for each in known.values()}})
            return
        show = table("id", "")
        for each in known.values():
            show.add_row(each.id, each.title)
        say(show)
        say("fogplay reproduce ID [--scale paper] makes one again; what is stopped goes on where it was.")
        return
    results = []
    for wanted in [key for key in known if key.startswith(f"{name}/")] or [name]:
        with Watch(quiet=as_json) as watch:
            outcome, folder = run(wanted, scale, out, engine=engine, workers=workers, progress=watch.amount)
        findings = [dataclasses.asdict(finding) for finding in outcome.findings]
        results.append(
            {"id": wanted, "scale": scale, "folder": str(folder), "findings": findings, "notes": outcome.notes}
        )
        if as_json:
            continue
        show = table(wanted, "published", "measured", "")
        for finding in outcome.findings:
            verdict = {True: "holds", False: "differs", None: ""}[finding.holds]
            show.add_row(finding.what, finding.published, finding.measured, verdict)
        say(show)
        for note in outcome.notes:
            say(note)
        say(f"data, pictures and report.md are in {folder}")
    if as_json:
        _print_json(results[0] if len(results) == 1 else {"results": results})


@app.command()
def bench(
    suite: Annotated[str, typer.Argument(help="What to measure.")] = "full-width",
    seconds: Annotated[float, typer.Option(help="For each measurement.")] = 5.0,
    games: Annotated[str | None, typer.Option(help="Some games only, such as 'leduc,bluff(1,1,5)'.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the numbers go, as CSV.")] = None,
    as_json: JSON = False,
) -> None:
    """Measure speed and memory side by side with the peers that are installed."""
    from fogplay.experiments import bench as benchmark

    if out is not None:
        _require_folder(out)
    missing = benchmark.missing_peers(suite)
    with Watch(quiet=as_json) as watch:
        for name in missing:
            watch.note(f"{name} is not installed, so it is left out; pip install 'fogplay[peers]' brings the peers")
        task = watch.bar.add_task("measuring", total=None, done="", note="")

        def progress(now: benchmark.Progress) -> None:
            watch.bar.start()
            watch.bar.update(
                task, completed=now.done - 1, total=now.steps, done=f"{now.done} of {now.steps}", note=now.what
            )

        rows = benchmark.run_bench(suite, seconds, progress, games=benchmark.split_games(games) if games else None)
        watch.bar.remove_task(task)
    if out is not None:
        benchmark.write_csv(rows, out)
    if as_json:
        compared = [dataclasses.asdict(each) for each in benchmark.compare(rows)]
        told = {"rows": [dataclasses.asdict(row) for row in rows], "compared": compared, "missing": missing}
        _print_json({"suite": suite, "seconds": seconds, **told, "out": str(out) if out else None})
        return
    for each in benchmark.tables(rows):
        show = table(*each.columns)
        show.title, show.title_justify = each.title, "left"
        for line in each.lines:
            show.add_row(*line)
        say(show)
    if out is not None:
        say(f"saved to {out}")


def _settings(pairs: list[str], algorithm: str) -> dict[str, Any]:
    """``--set name=value`` into parameters of the algorithm; numbers and true/false are read as such."""
    from fogplay.solvers.algorithms import algorithm_called, check_parameters

    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise FogplayError(f"--set takes NAME=VALUE, not {pair!r}")
        lowered = text.strip().lower()
        if lowered in ("true", "false"):
            settings[name.strip()] = lowered == "true"
            continue
        read = [_number(part) for part in text.split(",")]
        settings[name.strip()] = read[0] if len(read) == 1 else read
    check_parameters(algorithm_called(algorithm), settings)
    return settings


def _number(text: str) -> int | float | str:
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text.strip()


def _file_name(game: str) -> str:
    """A game's spec as the stem of a file's name."""
    stem = Path(game).stem if ".py" in game else game
    kept = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in stem)
    short = "-".join(part for part in kept.split("-") if part)[:100] or "strategy"
    return f"{short}-{hashlib.sha256(game.encode()).hexdigest()[:6]}" if "[" in game else short  # numbers lose signs


def _save(strategy: Any, out: Path) -> None:
    """Save a strategy, in the folder for temporary files if it cannot be where it should: nothing learned is lost."""
    try:
        strategy.save(out)
    except FogplayError as error:
        elsewhere = Path(tempfile.gettempdir()) / out.name
        if elsewhere.resolve() == out.resolve():
            raise
        strategy.save(elsewhere)
        raise FogplayError(f"{error}; the strategy is in {elsewhere} instead") from error


def _require_folder(out: Path) -> None:
    if out.is_dir():
        raise FogplayError(f"{out} is a folder; --out takes a file's name")
    if not out.parent.is_dir():
        raise FogplayError(f"there is no folder {out.parent} to write {out.name} into")
    if not os.access(out.parent, os.W_OK):
        raise FogplayError(f"the folder {out.parent} cannot be written to; choose another with --out")


def _print_json(facts: dict[str, Any]) -> None:
    print(json.dumps(_plain(facts), allow_nan=False), flush=True)


def _plain(value: Any) -> Any:
    """What JSON can hold: NaN and infinity become null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main() -> None:
    """Run the command line; a user's mistake ends in one line on stderr and exit code 2."""
    try:
        app(standalone_mode=False)
    except FogplayError as error:
        _stop(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        _stop("stopped", 130)
    except Exception as error:  # the command line library's own, told apart by what they can do
        if type(error).__name__ == "Abort":
            _stop("stopped", 130)
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            sys.exit(0)
        if not hasattr(error, "format_message"):
            raise
        command = getattr(getattr(error, "ctx", None), "command_path", "fogplay").replace(
            "python -m fogplay.cli", "fogplay"
        )
        _stop(f"{error.format_message().rstrip('.')} (see `{command} --help`)", 2)


def _stop(line: str, status: int) -> None:
    print(f"fogplay: {' '.join(line.split())}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
