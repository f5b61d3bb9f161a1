"""The commands that solve games and inspect strategies."""

from __future__ import annotations

import dataclasses
import functools
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import (
    JSON,
    Device,
    Infosets,
    Minutes,
    NodeLimit,
    Stopped,
    Threads,
    again,
    amount,
    app,
    checkpoint_of,
    file_name,
    load_strategy,
    print_json,
    read_settings,
    require_folder,
    resumed,
    where_the_game_is,
)
from fogplay.cli.charts import inspect_betting
from fogplay.cli.console import Watch, say, show_measured, show_result, table
from fogplay.cli.curves import Curve, Curves, Plot, TensorBoard
from fogplay.cli.full import evaluate_fully, evaluate_locally
from fogplay.cli.keeping import Force, choose, save
from fogplay.cli.yardsticks import measured_by_matches
from fogplay.errors import FogplayError
from fogplay.games.registry import EXAMPLES
from fogplay.interrupts import stopping
from fogplay.strategies import BettingStrategy
from fogplay.trees import FlatGame, TooLargeError, named


@app.command()
def solve(
    game: Annotated[str, typer.Argument(help=f"A game: {EXAMPLES}.")],
    algorithm: Annotated[
        str, typer.Option("--algorithm", "-a", help="See `fogplay algorithms`; auto takes one that suits the game.")
    ] = "auto",
    iterations: Annotated[int | None, amount("--iterations", "-n", help="How many iterations.")] = None,
    minutes: Minutes = None,
    infosets: Infosets = None,
    node_limit: NodeLimit = None,
    seed: Annotated[int | None, amount(help="The same seed gives the same bits; 0 by default.")] = None,
    threads: Threads = None,
    device: Device = "cpu",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the algorithm; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file for the strategy; GAME.safetensors by default.")] = None,
    greedy: Annotated[bool, typer.Option(help="Save the greedy strategy instead of the average one.")] = False,
    snapshots: Annotated[
        str, typer.Option(help="Iterations, separated by commas, at which the strategy so far is saved too.")
    ] = "",
    resume: Annotated[bool, typer.Option(help="Continue from the checkpoint beside --out, if there is one.")] = False,
    checkpoint_seconds: Annotated[float, typer.Option(help="How often a checkpoint is written.", min=0.0)] = 10.0,
    force: Force = False,
    curve: Curve = None,
    plot: Plot = None,
    tensorboard: TensorBoard = None,
    matches: Annotated[
        int, typer.Option(help="Hands against each of the game's bots at the end, if it has any; 0 for none.", min=0)
    ] = 100_000,
    as_json: JSON = False,
) -> None:
    """Solve a game and save the strategy."""
    import fogplay
    from fogplay.solvers.algorithms import AUTO, suited, suited_parameters
    from fogplay.solvers.solve import planned_iterations, require_amount, require_countable, require_device

    settings = read_settings(set_ or [], algorithm)
    out = out or Path(f"{file_name(game)}.safetensors")
    require_folder(out)
    asked = out
    require_device(device, algorithm)
    require_amount(iterations, minutes, seed or 0, threads, infosets, device)
    points = _iterations(snapshots)
    curves = Curves(curve, plot, tensorboard)
    beyond = [point for point in points if iterations is not None and point > iterations]
    with Watch(quiet=as_json, node_limit=node_limit) as watch:
        _warn_of_resuming(resume, checkpoint_of(out), watch.note)
        if beyond:
            listed = ", ".join(f"{point:,}" for point in beyond)
            watch.note(f"snapshots after {listed} iterations are beyond -n {iterations:,} and will not be taken")
        check = functools.partial(
            require_countable, algorithm=algorithm, iterations=iterations, minutes=minutes, device=device
        )
        simulator = watch.simulator(game, infosets, suited=algorithm == AUTO and device == "cpu", check=check)
        chosen = algorithm == AUTO
        if chosen:
            algorithm, why = suited(simulator, device, threads)
            settings = suited_parameters(algorithm, simulator)
            watch.note(f"by {algorithm}, {why}; -a names another (`fogplay algorithms`)")
        curves.require_measurable(simulator)
        watch.warn_of_recall(simulator.flat)
        watch.estimate(simulator, algorithm)
        if threads is None:
            threads = watch.default_threads(simulator, algorithm, chosen, seed, device)
        watch.expect_kernels(algorithm, simulator, device)
    planned = planned_iterations(algorithm, simulator, iterations, minutes)
    if not resume:
        out = choose(out, simulator.name, algorithm, planned, force, watch.note)

    def keep(iteration: int, strategy: Any) -> None:
        if iteration in points:
            save(strategy, out.with_name(f"{out.stem}.{iteration}{out.suffix}"), force=force, note=watch.note)

    with stopping():  # from here on, a signal ends the learning, and what was learned is saved
        with watch:
            result = fogplay.solve(
                simulator,
                algorithm,
                iterations,
                minutes=minutes,
                seed=seed or 0,
                threads=threads,
                device=device,
                checkpoint=checkpoint_of(out),
                resume=resume,
                checkpoint_seconds=checkpoint_seconds,
                progress=watch.progress,
                greedy=greedy,
                curve=curves.points(points, planned),
                snapshot=keep if points else None,
                measured=curves.measured,
                note=watch.note,
                **settings,
            )
        if result.interrupted and result.iterations == 0:
            raise Stopped(f"stopped before the first iteration; nothing was saved. To start again: {again()}")
        measure = functools.partial(_nash_conv_of, simulator.flat)
        saved = save(result.strategy, out, force=force, note=watch.note, nash_conv=result.nash_conv, measure=measure)
        if result.trouble is not None:
            print(f"fogplay: the last checkpoint could not be written: {result.trouble}", file=sys.stderr)
        facts = {"game": simulator.name, **_facts(result), "out": str(saved), **curves.finish(result)}
        if result.interrupted and result.stopped is None:
            facts["next"] = resumed(out, asked)
        if simulator.flat is None:
            hands = 0 if result.interrupted else matches
            facts |= measured_by_matches(result.strategy, named(game)[0], hands, as_json)
        if as_json:
            print_json(facts)
        else:
            measured = simulator.flat is not None and simulator.flat.recall_lost is None
            show_result(facts | {"spec": game, "players": simulator.num_players, "measured": measured}, result.strategy)
    if curves.trouble is not None:
        raise curves.trouble
    if result.stopped is not None:
        raise FogplayError(result.stopped)


def _nash_conv_of(flat: FlatGame | None, file: Path) -> float | None:
    """The nash_conv of the strategy in a file; None if it cannot be measured."""
    from fogplay.evaluate.measures import nash_conv

    if flat is None or flat.recall_lost is not None:
        return None
    try:
        return float(nash_conv(flat, load_strategy(file).on(flat)))
    except (FogplayError, AttributeError):  # of another game or kind
        return None


def _warn_of_resuming(resume: bool, checkpoint: Path | None, note: Callable[[str], None]) -> None:
    if resume and (checkpoint is None or not checkpoint.exists()):
        there = f"there is no checkpoint {checkpoint} to resume" if checkpoint is not None else "there is no checkpoint"
        note(f"{there}: the run starts from the beginning")


def _facts(result: Any) -> dict[str, Any]:
    """A result in numbers."""
    return {
        "algorithm": result.algorithm,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "iterations_per_second": result.iterations / max(result.seconds, 1e-9),
        "nash_conv": result.nash_conv,
        "exploitability": result.exploitability,
        "seed": result.seed,
        "interrupted": result.interrupted,
        **({"stopped": result.stopped} if result.stopped is not None else {}),
    }


def _iterations(text: str) -> list[int]:
    """``1000000,1e9`` as whole numbers."""
    try:
        numbers = [float(each) for each in text.split(",") if each.strip()]
        if all(number == int(number) > 0 for number in numbers):
            return [int(number) for number in numbers]
    except (ValueError, OverflowError):
        pass
    raise FogplayError(f"--snapshots takes numbers of iterations, such as 1000000,1e9, not {text!r}")


@app.command()
def evaluate(
    file: Annotated[Path, typer.Argument(help="A saved strategy.")],
    game: Annotated[
        str | None, typer.Option(help="The game, where the file's own name for it cannot be loaded.")
    ] = None,
    node_limit: NodeLimit = None,
    as_json: JSON = False,
    full: Annotated[
        bool, typer.Option("--full", help="Exact best responses in the whole game, not in its buckets; takes hours.")
    ] = False,
    local: Annotated[
        bool,
        typer.Option("--local", help="A lower bound of what --full finds, by a local best response; takes seconds."),
    ] = False,
    flops: Annotated[
        int | None, amount(help="With --full: estimate from this many sampled flops; takes minutes.")
    ] = None,
    hands: Annotated[int | None, amount(help="With --local: how many hands to play, 10,000 by default.")] = None,
    seed: Annotated[int, amount(help="Which flops or deals are sampled.")] = 0,
    threads: Annotated[
        int | None, amount(help="With --full or --local: CPU threads; by default one per core, more with a GPU.")
    ] = None,
    device: Annotated[str, typer.Option(help="With --full: cpu, or cuda for an NVIDIA GPU.")] = "cpu",
    checkpoint: Annotated[
        Path | None, typer.Option(help="With --full: the file to keep results in, NAME.full.")
    ] = None,
) -> None:
    """Measure a strategy exactly: values, nash_conv, exploitability."""
    from fogplay.evaluate import measure

    if full and local:
        raise FogplayError("--full is the exact measure and --local a lower bound: choose one of them")
    if hands is not None and not local:
        raise FogplayError("--hands is for a local best response; add --local")
    if local:
        number = {} if hands is None else {"hands": hands}
        evaluate_locally(file, game, as_json, {"seed": seed, "threads": threads, **number})
        return
    if full:
        settings = {"flops": flops, "seed": seed, "threads": threads, "device": device}
        evaluate_fully(file, game, checkpoint, as_json, settings)
        return
    if flops is not None or checkpoint is not None:
        raise FogplayError("--flops and --checkpoint are for measures of the whole game; add --full")
    strategy = load_strategy(file)
    if isinstance(strategy, BettingStrategy):
        _evaluate_by_matches(strategy, file, as_json)
        return
    with Watch(quiet=as_json, node_limit=node_limit) as watch:
        flat = watch.flatten(game or where_the_game_is(strategy))
    quality = measure(flat, strategy.on(flat))
    if as_json:
        print_json(
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


def _evaluate_by_matches(strategy: BettingStrategy, file: Path, as_json: bool) -> None:
    """A game too large to be measured exactly is measured by its bots."""
    from fogplay.agents.yardsticks import HANDS

    facts = measured_by_matches(strategy, strategy.rules, HANDS, as_json)
    if "matches" not in facts:
        raise FogplayError(
            f"{file} is for {strategy.game}, which is too large to be measured exactly and has no bots: play it with "
            "`fogplay match`"
        )
    if as_json:
        print_json({"file": str(file), "game": strategy.game, "algorithm": strategy.method} | facts)
        return
    say(f"{strategy.game}, by {strategy.method} after {strategy.iterations:,} iterations")
    show_measured(facts)
    say("How: duplicate matches against the game's bots, since the game is too large to be measured exactly.")


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="A saved strategy.")],
    infoset: Annotated[
        str | None,
        typer.Argument(
            help="An infoset's string, or the beginning of some; where cards are in buckets, AsAd or AKs:r."
        ),
    ] = None,
    board: Annotated[str, typer.Option(help="Cards on the board, such as Kh7d2c, for hands by their cards.")] = "",
    game: Annotated[
        str | None, typer.Option(help="The game, where the file's own name for it cannot be loaded.")
    ] = None,
    limit: Annotated[int, amount(help="How many infosets to list.")] = 20,
    export: Annotated[
        Path | None, typer.Option(help="Write all of it as a table instead: .csv, .arrow, .feather or .parquet.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Look up a situation: what the strategy does there, and why."""
    strategy = load_strategy(file)
    if export is not None:
        _export(strategy, file, export, as_json)
        return
    if isinstance(strategy, BettingStrategy):
        inspect_betting(strategy, file, infoset, board, as_json)
        return
    if board:
        raise FogplayError(f"--board is for strategies with cards in buckets; {file} has named infosets")
    if infoset is not None and infoset not in strategy.infosets:
        chosen = [name for name in strategy.infosets if name.startswith(infoset)] or [
            strategy.infosets[strategy.find(infoset)]
        ]
    else:
        chosen = list(strategy.infosets) if infoset is None else [infoset]
    with Watch(quiet=as_json) as watch:
        try:
            flat = watch.flatten(game or where_the_game_is(strategy))
        except TooLargeError as why:
            flat = None
            watch.note(f"{strategy.game} is too large for a tree ({why.size}): what actions earn is not known exactly")
    rows = _looked_up(flat, strategy, chosen[:limit])
    if as_json:
        print_json({"file": str(file), "game": strategy.game, "infosets": len(strategy.infosets), "rows": rows})
        return
    say(f"{strategy.game}, by {strategy.method} after {strategy.iterations:,} iterations")
    _show_rows(rows)
    if len(chosen) > limit:
        say(f"{limit} of {len(chosen):,} infosets; name one, or the beginning of some, or raise --limit.")
    say("earns: the player's average winnings from there if all follow the strategy (exact; nan if it never arises).")


def _export(strategy: Any, file: Path, out: Path, as_json: bool) -> None:
    from fogplay.frames import require_ending
    from fogplay.strategies import TabularStrategy

    require_folder(out, "--export")
    require_ending(out, "--export")
    if not isinstance(strategy, TabularStrategy):
        raise FogplayError(f"--export is for strategies with named infosets; {file} has cards in buckets")
    strategy.export(out)
    rows = len(strategy.columns()["infoset"])
    if as_json:
        print_json({"file": str(file), "game": strategy.game, "rows": rows, "export": str(out)})
    else:
        say(f"{rows:,} rows, one per infoset and action, saved to {out}")


def _looked_up(flat: FlatGame | None, strategy: Any, infosets: list[str]) -> list[dict[str, Any]]:
    """Rows that show a strategy at infosets, one per action; without a tree, what actions earn is unknown."""
    from fogplay.evaluate.situations import situations

    seen, rows = (situations(flat, strategy.on(flat)) if flat is not None else None), []
    for name in infosets:
        where = strategy.slots(name)
        number = flat.infoset_number(name) if flat is not None else -1
        for place, slot in enumerate(range(where.start, where.stop)):
            value = math.nan if flat is None or seen is None else seen.value[flat.slots(number)][place]
            learned = strategy.action_values
            rows.append(
                {
                    "infoset": name,
                    "player": int(strategy.infoset_player[strategy.find(name)]),
                    "action": strategy.actions[slot],
                    "probability": float(strategy.probabilities[slot]),
                    "value": float(value),
                    "likelihood": float(seen.likelihood[number]) if seen is not None else math.nan,
                    "visits": int(strategy.visits[slot]) if strategy.visits is not None else None,
                    "learned_value": float(learned[slot]) if learned is not None else None,
                }
            )
    return rows


def _show_rows(rows: list[dict[str, Any]]) -> None:
    counted, valued = (any(row[name] is not None for row in rows) for name in ("visits", "learned_value"))
    more = [*(["visits"] if counted else []), *(["learned value"] if valued else [])]
    show = table("infoset", "player", "action", "probability", "earns", *more)
    before = None
    for row in rows:
        same = row["infoset"] == before
        extra = [f"{row['visits']:,}"] if counted else []
        extra += [f"{row['learned_value']:+.4f}"] if valued else []
        show.add_row(
            "" if same else row["infoset"], "" if same else str(row["player"]), row["action"],
            f"{row['probability']:.4f}", f"{row['value']:+.4f}", *extra,
        )  # fmt: skip
        before = row["infoset"]
    say(show)
