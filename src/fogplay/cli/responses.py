"""Responses to a model of the others, and the whole curve from equilibrium to best response."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import (
    JSON,
    Device,
    Minutes,
    Threads,
    app,
    file_name,
    load_strategy,
    print_json,
    read_settings,
    require_folder,
    save,
)
from fogplay.cli.console import Watch, say, table
from fogplay.errors import FogplayError
from fogplay.evaluate.responses import AgainstModel

Game = Annotated[str, typer.Argument(help="Such as leduc, 'goofspiel(cards=5)', mygame.py or game.efg.")]
To = Annotated[Path, typer.Option(help="The model: a saved strategy, by `fogplay model` or `fogplay solve`.")]
Kind = Annotated[str, typer.Option(help="rnr: trust the model alike everywhere; dbr: by what was observed.")]
Half = Annotated[float, typer.Option(help="dbr: observations at which half the confidence is reached.")]
AlgorithmName = Annotated[str, typer.Option("--algorithm", "-a", help="See `fogplay algorithms`.")]
Iterations = Annotated[int | None, typer.Option("--iterations", "-n", help="How many, for each seat.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same bits.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the algorithm; repeatable.")
]


@app.command()
def respond(
    game: Game,
    to: To,
    confidence: Annotated[float, typer.Option(help="In the model, from 0 (equilibrium) to 1 (best response).")] = 0.75,
    kind: Kind = "rnr",
    half: Half = 10.0,
    algorithm: AlgorithmName = "cfr+",
    iterations: Iterations = None,
    minutes: Minutes = None,
    seed: Seed = 0,
    threads: Threads = None,
    device: Device = "cpu",
    set_: Settings = None,
    out: Annotated[
        Path | None, typer.Option(help="Where the strategy goes; GAME-response.safetensors by default.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the checkpoints beside --out, if there are any.")] = False,
    as_json: JSON = False,
) -> None:
    """Exploit a model of the others, and stay hard to exploit to the degree that confidence is low."""
    import fogplay
    from fogplay.solvers.solve import require_device

    settings = read_settings(set_ or [], algorithm)
    out = out or Path(f"{file_name(game)}-response.safetensors")
    require_folder(out)
    require_device(device, algorithm)
    model = load_strategy(to)
    if out.exists() and out.samefile(to):
        raise FogplayError(f"--out would overwrite the model {to}; choose another name")
    with Watch(quiet=as_json) as watch:
        simulator = watch.simulator(game)
        watch.expect_kernels(algorithm, device)
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
            checkpoint=out.with_name(out.name + ".checkpoint"),
            resume=resume,
            progress=watch.progress,
            **settings,
        )
    save(response.strategy, out)
    quality = response.quality
    if as_json:
        facts = {"game": simulator.name, "to": str(to), "kind": kind, "confidence": confidence, "algorithm": algorithm}
        facts |= {"iterations": response.strategy.iterations, "seconds": response.seconds}
        print_json(facts | (dataclasses.asdict(quality) if quality else {}) | {"out": str(out)})
        return
    say(f"{simulator.name}: {kind} of confidence {confidence:g} to {to}, by {algorithm} in {response.seconds:.2f} s")
    if quality is not None:
        _show_quality(quality)
    say(f"saved to {out}")
    say("Next:")
    if quality is not None:
        say(f"  fogplay tradeoff {shlex.quote(game)} --to {shlex.quote(str(to))}")
    else:
        others = [str(to)] * (simulator.num_players - 1)
        say(f"  {shlex.join(['fogplay', 'match', game, str(out), *others, '--hands', '100000'])}")


def _show_quality(quality: AgainstModel) -> None:
    at_worst = quality.guaranteed or ()
    show = table("seat", "wins from the model", *(["wins at worst"] if at_worst else []))
    for seat, winnings in enumerate(quality.winnings):
        show.add_row(str(seat), f"{winnings:+.6f}", *(f"{value:+.6f}" for value in at_worst[seat : seat + 1]))
    say(show)
    say(f"nash_conv {quality.nash_conv:.6g}: what all seats together lose to best responses")


@app.command()
def tradeoff(
    game: Game,
    to: To,
    confidences: Annotated[
        str, typer.Option(help="Which, separated by commas; 0 is always among them.")
    ] = "0,0.5,0.7,0.8,0.9,0.93,0.97,1",
    kind: Kind = "rnr",
    half: Half = 10.0,
    algorithm: AlgorithmName = "cfr+",
    iterations: Iterations = None,
    seed: Seed = 0,
    threads: Threads = None,
    device: Device = "cpu",
    set_: Settings = None,
    out: Annotated[Path | None, typer.Option(help="Where .csv, .svg and .png go; GAME-tradeoff by default.")] = None,
    as_json: JSON = False,
) -> None:
    """Draw what is won from a model against what is risked, for all confidences, with mixing beside it."""
    import fogplay
    from fogplay.experiments.pictures import draw_tradeoff
    from fogplay.experiments.runner import write_rows
    from fogplay.solvers.solve import require_device

    settings = read_settings(set_ or [], algorithm)
    out = out or Path(f"{file_name(game)}-tradeoff")
    if out.suffix in (".csv", ".svg", ".png"):
        out = out.with_suffix("")
    require_folder(out.with_name(out.name + ".csv"))
    try:
        wanted = [float(text) for text in confidences.split(",") if text.strip()]
    except ValueError:
        raise FogplayError(
            f"--confidences takes numbers from 0 to 1 with commas between, not {confidences!r}"
        ) from None
    require_device(device, algorithm)
    model = load_strategy(to)
    with Watch(quiet=as_json) as watch:
        simulator = watch.simulator(game)
        watch.expect_kernels(algorithm, device)
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
    data = out.with_name(out.name + ".csv")
    write_rows(data, points)
    files = [data, *draw_tradeoff(out, {f"{simulator.name} against {to.stem}": points})]
    if as_json:
        rows: list[dict[str, Any]] = [dataclasses.asdict(point) for point in points]
        facts = {"game": simulator.name, "to": str(to), "algorithm": algorithm, "points": rows}
        print_json(facts | {"out": [str(file) for file in files]})
        return
    show = table("", "confidence", "exploitation", "nash_conv", "wins, by seat")
    for point in points:
        seats = " / ".join(f"{value:+.3f}" for value in point.winnings)
        show.add_row(point.way, f"{point.confidence:g}", f"{point.exploitation:.5f}", f"{point.nash_conv:.5f}", seats)
    say(show)
    say("wins: from the model; exploitation: the same beyond what the equilibrium strategy wins, over all seats;")
    say("confidence of mixing: how often the best response is played instead of the equilibrium.")
    say(f"saved to {', '.join(map(str, files))}")
