"""The command that trains networks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay import checks
from fogplay.cli.app import JSON, Stopped, again, amount, app, parse_settings, print_json
from fogplay.cli.console import Watch, say
from fogplay.errors import FogplayError
from fogplay.interrupts import stopping
from fogplay.simulators import part_of

BOTS = "fogplay.bots"
FOR_EVER = 1e12  # minutes
SEARCH = "search_"  # before the name of a bot, in a judgement of networks with search


@app.command()
def train(
    game: Annotated[str, typer.Argument(help="A game whose bots are networks; see `fogplay games`.")],
    out: Annotated[Path | None, typer.Option(help="The folder of the run; GAME-networks by default.")] = None,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after this many minutes, with --episodes also within one.", min=0.0)
    ] = None,
    decisions: Annotated[
        int | None, amount("--decisions", "-n", help="Learn from this many decisions, those before --resume included.")
    ] = None,
    episodes: Annotated[
        int | None, amount(help="Learn in this many episodes of self-play with search, as DeltaDou did.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where networks learn: cpu, or cuda (an NVIDIA GPU).")] = "cpu",
    engine: Annotated[
        str, typer.Option(help="Where --episodes plays: threads; loky: local processes; ray: a Ray cluster.")
    ] = "threads",
    seed: Annotated[
        int | None, amount(help="For the deals and the first weights; 0, or with --resume that of the run.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in --out.")] = False,
    decks: Annotated[int, amount(help="Decks that are played against each bot to judge the networks.")] = 1000,
    judge_minutes: Annotated[float, typer.Option(help="How often networks are judged.", min=0.0)] = 2.0,
    save_minutes: Annotated[float, typer.Option(help="How often the run is saved.", min=0.0)] = 2.0,
    tensorboard: Annotated[Path | None, typer.Option(help="A folder for TensorBoard's scalars.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the run; repeatable. --resume keeps the others."
        ),
    ] = None,
    as_json: JSON = False,
) -> None:
    """Train networks by self-play; the run can be stopped and resumed at any time."""
    if seed is not None:
        checks.seed(seed)
    checks.whole("--decks", decks, 1)
    if episodes is not None:
        checks.whole("--episodes", episodes, 0)
    if engine != "threads" and episodes is None:
        raise FogplayError("--engine is for --episodes; without it, games are played where the networks learn")
    with Watch(quiet=as_json) as watch:
        rules, name = watch.named(game)
        found = part_of(rules, "trainer", BOTS)
        if found is None:
            raise FogplayError(f"fogplay cannot train networks for {name}; `fogplay solve {name}` learns it by tables")
        if importlib.util.find_spec("torch") is None:
            raise FogplayError("training needs an extra package: pip install 'fogplay[neural]'")
        folder = out or Path(f"{name.partition('(')[0]}-networks")
        _require_own(folder, resume)
        chosen = parse_settings(set_ or [])
        if resume:
            from fogplay.nets.runs import read_index

            index = read_index(folder)
            chosen, seed = {**index.get("settings", {}), **chosen}, index.get("seed", 0) if seed is None else seed
        run, judge = found(rules, folder, device, seed or 0, chosen, episodes is not None, engine)
        if resume:
            run.resume()
        if tensorboard is not None:
            run.log_to_tensorboard(tensorboard)
        if episodes is not None:
            last = _in_episodes(watch, run, judge, episodes, FOR_EVER if minutes is None else minutes, decks)
        else:
            last = _learn(watch, run, judge, _plan(run, minutes, decisions, save_minutes, judge_minutes), decks)
    facts = {"game": name, "folder": str(folder), "decisions": run.learner.decisions, **last}
    if as_json:
        print_json(facts)
        return
    say(f"{run.learner.decisions:,} decisions; the networks are in {folder}")
    for line in judged(last):
        say(line)


def _require_own(folder: Path, resume: bool) -> None:
    """Refuse to begin a run over another one, or to resume none."""
    there = (folder / "run.json").exists()
    if there and not resume:
        raise FogplayError(f"{folder} holds a run: add --resume to go on with it, or choose another folder with --out")
    if resume and not there:
        raise FogplayError(f"{folder} holds no run to resume")
    if folder.exists() and not folder.is_dir():
        raise FogplayError(f"{folder} is a file; --out takes a folder")


def _plan(run: Any, minutes: float | None, decisions: int | None, save_minutes: float, judge_minutes: float) -> Any:
    from fogplay.nets.training import Plan

    if decisions is None:
        decisions = int(run.learner.settings.decisions) if minutes is None else 2**62
    return Plan(decisions, FOR_EVER if minutes is None else minutes, save_minutes, judge_minutes)


def _learn(watch: Watch, run: Any, judge: Any, plan: Any, decks: int) -> dict[str, Any]:
    with stopping() as stop:
        total = min(plan.decisions, int(run.learner.settings.decisions))

        def report(row: dict[str, Any]) -> None:
            watch.amount(row["decisions"], max(total, row["decisions"]))
            for line in judged(row):
                watch.note(f"{row['decisions']:,} decisions: {line}")

        last: dict[str, Any] = run.run(plan, lambda evaluate: judge(evaluate, decks), report, stop.is_set)
        watch.end(run.learner.decisions)
        if stop.is_set():
            raise Stopped(f"stopped after {run.learner.decisions:,} decisions; continue: {again('--resume')}")
    return last


def _in_episodes(watch: Watch, run: Any, judge: Any, episodes: int, minutes: float, decks: int) -> dict[str, Any]:
    with stopping() as stop:

        def report(row: dict[str, Any]) -> None:
            watch.amount(row["episode"], episodes)
            for line in judged(row):
                watch.note(f"episode {row['episode']}: {line}")

        last: dict[str, Any] = run.run(episodes, minutes, lambda evaluate: judge(evaluate, decks), report, stop.is_set)
        if stop.is_set() and run.done == 0:
            raise Stopped("stopped before the first networks were saved; the same command begins again")
        now = run.done - (run.unjudged is not None)
        if stop.is_set():
            raise Stopped(f"stopped in episode {now}, which is not lost; continue: {again('--resume')}")
    if run.done > 0 and now <= episodes:
        watch.note(f"time is up in episode {now}, which is not lost; continue: {again('--resume')}")
    return last


def judged(row: dict[str, Any]) -> list[str]:
    """What a judgement says, a line for each bot."""
    names = [key.removesuffix("_wins") for key in row if key.endswith("_wins")]
    return [
        f"{'with search, they' if name.startswith(SEARCH) else 'the networks alone'} win {row[f'{name}_wins']:.1%} ± "
        f"{row[f'{name}_wins_error']:.1%} of their games against {name.removeprefix(SEARCH)}, "
        f"{row[f'{name}_points']:+.2f} ± {row[f'{name}_points_error']:.2f} points per game"
        for name in names
    ]
