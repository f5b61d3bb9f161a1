"""The commands for responses to a model, and for the tradeoff between exploitation and exploitability."""

from __future__ import annotations

import dataclasses
import glob
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import (
    JSON,
    Device,
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
)
from fogplay.cli.console import Watch, say, table
from fogplay.cli.keeping import Force, choose, save
from fogplay.errors import FogplayError
from fogplay.evaluate.responses import AgainstModel
from fogplay.interrupts import stopping

Game = Annotated[str, typer.Argument(help="A name from `fogplay games`, mygame.py, game.efg or rules.kif.")]
To = Annotated[Path, typer.Option(help="The model: a strategy saved by `fogplay model` or `fogplay solve`.")]
Kind = Annotated[str, typer.Option(help="rnr: trust the model equally everywhere; dbr: by how much was observed.")]
Half = Annotated[float, typer.Option(help="With dbr: how many observations give half the confidence.")]
AlgorithmName = Annotated[str, typer.Option("--algorithm", "-a", help="See `fogplay algorithms`.")]
Iterations = Annotated[int | None, amount("--iterations", "-n", help="Iterations per seat.")]
Seed = Annotated[int, amount(help="The same seed gives the same bits.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the algorithm; repeatable.")
]


@app.command()
def respond(
    game: Game,
    to: To,
    confidence: Annotated[
        float, typer.Option(help="Confidence in the model, from 0 (equilibrium) to 1 (best response).")
    ] = 0.75,
    kind: Kind = "rnr",
    half: Half = 10.0,
    algorithm: AlgorithmName = "cfr+",
    iterations: Iterations = None,
    minutes: Minutes = None,
    seed: Seed = 0,
    threads: Threads = None,
    device: Device = "cpu",
    set_: Settings = None,
    node_limit: NodeLimit = None,
    out: Annotated[
        Path | None, typer.Option(help="The file for the strategy; GAME-response.safetensors by default.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Continue from the checkpoints beside --out, if there are any.")] = False,
    force: Force = False,
    as_json: JSON = False,
) -> None:
    """Exploit a model of the others; the lower the confidence, the harder the response is to exploit."""
    import fogplay
    from fogplay.solvers.respond import require_response
    from fogplay.solvers.solve import planned_iterations, require_amount, require_device

    settings = read_settings(set_ or [], algorithm)
    require_amount(iterations, minutes, seed, threads, device=device)
    require_response(kind, confidence, half)
    out = out or Path(f"{file_name(game)}-response.safetensors")
    require_folder(out)
    asked = out
    require_device(device, algorithm)
    model = load_strategy(to)
    if out.exists() and out.samefile(to):
        raise FogplayError(f"--out would overwrite the model {to}; choose another name")
    with Watch(quiet=as_json, node_limit=node_limit) as watch:
        simulator = watch.simulator(game)
        watch.expect_kernels(algorithm, simulator, device)
    if not resume:
        planned = planned_iterations(algorithm, simulator, iterations, minutes)
        out = choose(out, simulator.name, kind, planned, force, watch.note)
    checkpoint = checkpoint_of(out)
    if resume and checkpoint is not None and not Path(f"{checkpoint}.0").exists():
        watch.note(f"there is no checkpoint {checkpoint}.0 to resume: the run starts from the beginning")
    with stopping():  # from here on, a signal ends the learning, and what was learned is saved
        try:
            with watch:
                response = fogplay.respond(
                    simulator,
                    model,
                    confidence,
                    kind=kind,
                    half=half,
                    algorithm=algorithm,
                    iterations=iterations,
                    minutes=minutes,
                    seed=seed,
                    threads=threads,
                    device=device,
                    checkpoint=checkpoint,
                    resume=resume,
                    progress=watch.progress,
                    note=watch.note,
                    **settings,
                )
        except KeyboardInterrupt as stopped:
            if as_json:
                facts = {"game": simulator.name, "to": str(to), "kind": kind, "confidence": confidence}
                print_json(facts | {"algorithm": algorithm, "interrupted": True, "next": resumed(out, asked)})
            raise _stopped(stopped, checkpoint, resumed(out, asked)) from None
        out = save(response.strategy, out, force=force, note=watch.note)
    quality = response.quality
    if as_json:
        facts = {"game": simulator.name, "to": str(to), "kind": kind, "confidence": confidence, "algorithm": algorithm}
        facts |= {"iterations": response.strategy.iterations, "seconds": response.seconds}
        print_json(facts | (dataclasses.asdict(quality) if quality else {}) | {"out": str(out)})
        return
    say(f"{simulator.name}: {kind} of confidence {confidence:g} to {to}, by {algorithm} in {response.seconds:.2f} s")
    if quality is not None:
        _show_quality(quality)
        then = ["tradeoff", game, "--to", str(to)]
    else:
        then = ["match", game, str(out), *[str(to)] * (simulator.num_players - 1), "--hands", "100000"]
    say(f"saved to {out}\nNext:\n  {shlex.join(['fogplay', *then])}")


def _stopped(why: KeyboardInterrupt, checkpoint: Path | None, command: str) -> Stopped:
    """What is left of a response that was interrupted, and how to go on."""
    kept = [] if checkpoint is None else sorted(checkpoint.parent.glob(f"{glob.escape(checkpoint.name)}.[0-9]*"))
    if not kept:
        return Stopped(f"stopped; nothing was finished, and no file was changed. To start again: {again()}")
    return Stopped(f"stopped ({why}); the checkpoints keep what was learned. To go on: {command}")


def _show_quality(quality: AgainstModel) -> None:
    at_worst = quality.guaranteed or ()
    show = table("seat", "wins against the model", *(["wins in the worst case"] if at_worst else []))
    for seat, winnings in enumerate(quality.winnings):
        show.add_row(str(seat), f"{winnings:+.6f}", *(f"{value:+.6f}" for value in at_worst[seat : seat + 1]))
    say(show)
    say(f"nash_conv {quality.nash_conv:.6g}: what all seats together could lose to best responses")


@app.command()
def tradeoff(
    game: Game,
    to: To,
    confidences: Annotated[
        str, typer.Option(help="Numbers from 0 to 1, separated by commas; 0 is always included.")
    ] = "0,0.5,0.7,0.8,0.9,0.93,0.97,1",
    kind: Kind = "rnr",
    half: Half = 10.0,
    algorithm: AlgorithmName = "cfr+",
    iterations: Iterations = None,
    seed: Seed = 0,
    threads: Threads = None,
    device: Device = "cpu",
    set_: Settings = None,
    node_limit: NodeLimit = None,
    out: Annotated[Path | None, typer.Option(help="The files .csv, .svg and .png; GAME-tradeoff by default.")] = None,
    as_json: JSON = False,
) -> None:
    """Plot exploitation of a model against exploitability for several confidences, with mixing for comparison."""
    import fogplay
    from fogplay.experiments.pictures import draw_tradeoff
    from fogplay.experiments.runner import write_rows
    from fogplay.solvers.respond import require_response
    from fogplay.solvers.solve import require_amount, require_device

    settings = read_settings(set_ or [], algorithm)
    require_amount(iterations, None, seed, threads, device=device)
    wanted = _numbers(confidences)
    for each in wanted:
        require_response(kind, each, half)
    out = out or Path(f"{file_name(game)}-tradeoff")
    if out.suffix in (".csv", ".svg", ".png"):
        out = out.with_suffix("")
    require_folder(out.with_name(out.name + ".csv"))
    require_device(device, algorithm)
    model = load_strategy(to)
    with Watch(quiet=as_json, node_limit=node_limit) as watch:
        simulator = watch.simulator(game)
        watch.expect_kernels(algorithm, simulator, device)
    with stopping():  # from here on, a signal ends the curve, and the points so far are saved
        with watch:
            points = fogplay.tradeoff(
                simulator,
                model,
                wanted,
                kind=kind,
                half=half,
                algorithm=algorithm,
                iterations=iterations,
                seed=seed,
                threads=threads,
                device=device,
                progress=watch.progress,
                **settings,
            )
        files, trouble = list[Path](), None
        try:
            data = out.with_name(out.name + ".csv")
            write_rows(data, points)
            files = [data, *draw_tradeoff(out, {f"{simulator.name} against {to.stem}": points})]
        except FogplayError as error:  # show what was found all the same
            trouble = error
        made, asked = sum(point.method == kind for point in points), len({0.0, *wanted})
        if as_json:
            rows: list[dict[str, Any]] = [dataclasses.asdict(point) for point in points]
            facts = {"game": simulator.name, "to": str(to), "algorithm": algorithm, "points": rows}
            early = {"interrupted": True} if made < asked else {}
            print_json(facts | early | {"out": [str(file) for file in files]})
        else:
            _show_points(points)
            if files:
                say(f"saved to {', '.join(map(str, files))}")
            if made < asked:
                say(f"stopped early, after {made} of {asked} confidences. To start again:\n  {again()}")
        if trouble is not None:
            raise trouble


def _numbers(confidences: str) -> list[float]:
    try:
        return [float(text) for text in confidences.split(",") if text.strip()]
    except ValueError:
        raise FogplayError(
            f"--confidences must be numbers from 0 to 1, separated by commas, such as 0,0.5,1, not {confidences!r}"
        ) from None


def _show_points(points: list[Any]) -> None:
    show = table("", "confidence", "exploitation", "nash_conv", "wins, by seat")
    for point in points:
        seats = " / ".join(f"{value:+.3f}" for value in point.winnings)
        show.add_row(
            point.method, f"{point.confidence:g}", f"{point.exploitation:.5f}", f"{point.nash_conv:.5f}", seats
        )
    say(show)
    say("wins: against the model; exploitation: their sum over all seats, beyond what the equilibrium strategy wins;")
    say("confidence of mixing: the probability of playing the best response instead of the equilibrium.")
