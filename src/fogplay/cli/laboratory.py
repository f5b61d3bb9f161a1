"""The commands that reproduce the papers' figures and tables, and that run the benchmarks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import JSON, Device, Stopped, again, app, print_json, require_folder
from fogplay.cli.console import Watch, say, table
from fogplay.interrupts import received


@app.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="paper/item, or a paper for all its items; without it, list them."),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            help="quick: about a minute; paper: the paper's own budget; for some also wire and wire-paper: over HTTP."
        ),
    ] = "quick",
    out: Annotated[Path, typer.Option(help="The folder for data and pictures.")] = Path("reproduced"),
    engine: Annotated[str, typer.Option(help="loky: local processes; ray: a Ray cluster; sequential.")] = "loky",
    workers: Annotated[int, typer.Option(help="How many runs at once; 0: one per core.", min=0)] = 0,
    device: Device = "cpu",
    as_json: JSON = False,
) -> None:
    """Reproduce a paper's figure or table: data, pictures, and published beside measured numbers."""
    from fogplay.experiments.reproduce import experiments
    from fogplay.experiments.reproduce import reproduce as run

    known = experiments()
    if name is None:
        if as_json:
            print_json({"experiments": {each.id: each.title for each in known.values()}})
            return
        show = table("id", "")
        for each in known.values():
            show.add_row(each.id, each.title)
        say(show)
        say("fogplay reproduce ID [--scale paper] reproduces one; a stopped experiment continues where it was.")
        return
    results: list[dict[str, Any]] = []
    for wanted in [key for key in known if key.startswith(f"{name}/")] or [name]:
        try:
            with Watch(quiet=as_json) as watch:
                outcome, folder = run(
                    wanted, scale, out, engine=engine, workers=workers, device=device, progress=watch.amount
                )
        except KeyboardInterrupt:
            if as_json and results:
                print_json({"results": results, "interrupted": True})
            kept = f"{out} keeps the runs that were finished, and checkpoints of the others"
            raise Stopped(f"{wanted} was stopped; {kept}. To go on: {again()}") from None
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
        print_json(results[0] if len(results) == 1 else {"results": results})


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
