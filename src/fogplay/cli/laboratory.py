"""The commands that reproduce the papers' figures and tables, and that run the benchmarks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.checks import one_of
from fogplay.cli.app import JSON, Device, Stopped, again, app, print_json, require_folder
from fogplay.cli.console import Watch, say, table
from fogplay.errors import FogplayError
from fogplay.interrupts import received


@app.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="paper/item, or a paper for all its items; without it, list them."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All results of all papers.")] = False,
    scale: Annotated[
        str,
        typer.Option(
            help="quick: seconds; medium: several training runs, minutes; paper: the paper's own budget; for some also "
            "wire and wire-paper: over HTTP."
        ),
    ] = "quick",
    out: Annotated[Path, typer.Option(help="The folder for data and pictures.")] = Path("reproduced"),
    engine: Annotated[str, typer.Option(help="loky: local processes; ray: a Ray cluster; sequential.")] = "loky",
    workers: Annotated[int, typer.Option(help="How many runs at once; 0: one per core.", min=0)] = 0,
    device: Device = "cpu",
    keep: Annotated[bool, typer.Option(help="In a checkout: keep the points for the pages of results.")] = False,
    docs: Annotated[
        bool, typer.Option("--docs", help="With --all, in a checkout: write those pages from kept points; run nothing.")
    ] = False,
    as_json: JSON = False,
) -> None:
    """Reproduce a paper's figure or table: data, pictures, and published beside measured numbers."""
    from fogplay.experiments.pages import write_seconds
    from fogplay.experiments.reproduce import experiments

    if docs:
        _write_pages(name, every, as_json)
        return
    known = experiments()
    if name is None and not every:
        _list_experiments({each.id: each.title for each in known.values()}, as_json)
        return
    if name is not None and every:
        raise FogplayError(f"--all is for all results: leave out {name}, or --all")
    wanted = [key for key in known if key.startswith(f"{name}/") or (every and not key.startswith("beyond/"))]
    if every:
        one_of("scale", scale, dict.fromkeys(scale for key in wanted for scale in known[key].scales))
    results: list[dict[str, Any]] = []
    for each in wanted or [str(name)]:
        results.append(_reproduce_one(each, scale, out, engine, workers, device, keep, as_json, every, results))
    if every:
        write_seconds(out, results)
    if every and not as_json:
        _show_overview(results)
    if as_json:
        print_json(results[0] if len(results) == 1 else {"results": results})
    if any("error" in each for each in results):
        raise typer.Exit(2)


def _write_pages(name: str | None, every: bool, as_json: bool) -> None:
    from fogplay.experiments.pages import relative, write_pages

    if name is not None or not every:
        raise FogplayError("--docs writes the pages of all results: fogplay reproduce --all --docs")
    written = [relative(path) for path in write_pages()]
    if as_json:
        print_json({"written": written})
    else:
        say(f"wrote {', '.join(written)} and their pictures")


def _list_experiments(titles: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json({"experiments": titles})
        return
    show = table("id", "")
    for name, title in titles.items():
        show.add_row(name, title)
    say(show)
    say("fogplay reproduce ID [--scale paper] reproduces one; a stopped experiment continues where it was.")


def _reproduce_one(
    name: str,
    scale: str,
    out: Path,
    engine: str,
    workers: int,
    device: str,
    kept: bool,
    as_json: bool,
    one_of_all: bool,
    before: list[dict[str, Any]],
) -> dict[str, Any]:
    """Run and show one experiment; among all of them, one that cannot run does not stop the others."""
    from fogplay.experiments.pages import keep as keep_points
    from fogplay.experiments.reproduce import reproduce as run
    from fogplay.experiments.reproduce import told

    try:
        with Watch(quiet=as_json) as watch:
            made = run(name, scale, out, engine=engine, workers=workers, device=device, progress=watch.amount)
    except KeyboardInterrupt:
        if as_json and before:
            print_json({"results": before, "interrupted": True})
        saved = f"{out} keeps the runs that were finished, and checkpoints of the others"
        raise Stopped(f"{name} was stopped; {saved}. To go on: {again()}") from None
    except FogplayError as error:
        if not one_of_all:
            raise
        if not as_json:
            say(f"{name} was left out: {error}")
        return {"id": name, "error": str(error)}
    if kept:
        keep_points(made, name, scale, device)
    if not as_json:
        show = table(name, "published", "measured", "")
        for finding in made.outcome.findings:
            show.add_row(finding.what, finding.published, finding.measured, finding.verdict)
        say(show)
        say(f"{made.seconds:.0f} seconds; data, pictures and report.md are in {made.folder}")
    about = {"id": name, "scale": scale, "folder": str(made.folder), "seconds": round(made.seconds, 1)}
    return about | {"cpu_seconds": round(made.cpu_seconds, 1), "findings": told(made.outcome)}


def _show_overview(results: list[dict[str, Any]]) -> None:
    show = table("result", "published", "measured", "", "seconds")
    for each in results:
        if "error" in each:
            show.add_row(each["id"], "", each["error"], "", "")
        else:
            first = each["findings"][0]
            show.add_row(each["id"], first["published"], first["measured"], first["verdict"], f"{each['seconds']:.0f}")
    say(show)
    say(f"{sum(each.get('seconds', 0.0) for each in results):.0f} seconds in all")


@app.command()
def bench(
    suite: Annotated[str, typer.Argument(help="full-width, sampling or threads.")] = "full-width",
    seconds: Annotated[float, typer.Option(help="Seconds per measurement.")] = 5.0,
    games: Annotated[
        str | None, typer.Option(help="Only these games, separated by commas; see `fogplay games`.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A CSV file for the numbers.")] = None,
    as_json: JSON = False,
) -> None:
    """Measure speed and memory side by side with the peers that are installed."""
    from fogplay.experiments import bench as benchmark
    from fogplay.experiments.bench_rows import write_csv

    if out is not None:
        require_folder(out)
    missing = benchmark.missing_peers(suite)
    with Watch(quiet=as_json) as watch:
        for name in missing:
            watch.note(f"{name} is not installed and is left out; pip install 'fogplay[peers]' installs the peers")
        task = watch.bar.add_task("measuring", total=None, done="", note="")

        def progress(now: benchmark.Progress) -> None:
            watch.bar.start()
            watch.bar.update(
                task, completed=now.done - 1, total=now.steps, done=f"{now.done} of {now.steps}", note=now.what
            )

        rows = benchmark.run_bench(suite, seconds, progress, games=benchmark.split_games(games) if games else None)
        watch.bar.remove_task(task)
    facts = {"suite": suite, "seconds": seconds, "missing": missing, "out": str(out) if out else None}
    try:
        _show_bench(rows, facts, as_json)
    finally:  # the file after the tables, so that a failed write loses one of them only
        if out is not None:
            write_csv(rows, out)


def _show_bench(rows: list[Any], facts: dict[str, Any], as_json: bool) -> None:
    from fogplay.experiments.bench_report import report_tables
    from fogplay.experiments.bench_rows import compare

    if as_json:
        found = {"rows": rows, "compared": compare(rows)}
        listed = {name: [dataclasses.asdict(each) for each in every] for name, every in found.items()}
        print_json(facts | listed | ({"interrupted": True} if received() else {}))
        return
    for each in report_tables(rows):
        show = table(*each.columns)
        show.title, show.title_justify = each.title, "left"
        for line in each.lines:
            show.add_row(*line)
        say(show)
    if facts["out"] is not None:
        say(f"saved to {facts['out']}")
    if received():
        say(f"stopped early: these are the measurements so far. To start again:\n  {again()}")
