"""Learning curves as files, pictures and TensorBoard's scalars; several algorithms on one picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import JSON, Minutes, Stopped, again, amount, app, file_name, print_json, require_folder
from fogplay.cli.console import Watch, say, table
from fogplay.errors import FogplayError
from fogplay.frames import require_ending, write_table
from fogplay.games.registry import EXAMPLES

PICTURES = (".png", ".svg", ".pdf")
PER_DECADE = 10
SHORT_RUN = 0.2  # minutes

Curve = Annotated[
    Path | None, typer.Option("--curve", help="A file for the learning curve: .csv, .arrow, .feather or .parquet.")
]
Plot = Annotated[Path | None, typer.Option("--plot", help="A picture of the learning curve: .png, .svg or .pdf.")]
TensorBoard = Annotated[Path | None, typer.Option("--tensorboard", help="A folder for TensorBoard's scalars.")]


@dataclass
class Curves:
    """Where the learning curve of one run goes."""

    file: Path | None
    picture: Path | None
    folder: Path | None
    scalars: Any = field(init=False, default=None)
    trouble: FogplayError | None = field(init=False, default=None)  # why a file could not be written

    def __post_init__(self) -> None:
        """Refuse files that cannot be written, and missing packages, before any work is done."""
        if self.file is not None:
            require_folder(self.file, "--curve")
            require_ending(self.file, "--curve")
        if self.picture is not None:
            require_picture(self.picture)
        if self.folder is not None:
            from fogplay.scalars import scalars_in

            self.scalars = scalars_in(self.folder)

    @property
    def wanted(self) -> bool:
        return any(each is not None for each in (self.file, self.picture, self.folder))

    def require_measurable(self, simulator: Any) -> None:
        """Refuse a game whose strategies cannot be measured as they are learned."""
        if not self.wanted:
            return
        if simulator.flat is None:
            why = "is too large for a tree"
        elif simulator.flat.recall_lost is not None:
            why = "has imperfect recall"
        else:
            return
        raise FogplayError(f"--curve, --plot and --tensorboard show nash_conv, but {simulator.name} {why}")

    def points(self, snapshots: list[int], planned: int | None) -> int | list[int]:
        """What to ask ``solve`` for: the points of a curve, and those at which strategies are saved."""
        from fogplay.solvers.run import log_spaced
        from fogplay.solvers.solve import MAX_ITERATIONS

        if not self.wanted:
            return snapshots
        return sorted({*log_spaced(planned or MAX_ITERATIONS, PER_DECADE), *snapshots})

    def measured(self, point: Any) -> None:
        """One more point."""
        if self.scalars is not None:
            for name, value in point.values.items():
                self.scalars.add_scalar(name, value, point.iteration)
            self.scalars.add_scalar("seconds", point.seconds, point.iteration)
            self.scalars.flush()

    def finish(self, result: Any) -> dict[str, str]:
        """Write what was asked for; the names of the files."""
        written: dict[str, str] = {}
        try:
            self._write(result, written)
        except FogplayError as error:  # after everything else was shown
            self.trouble = error
        return written

    def _write(self, result: Any, written: dict[str, str]) -> None:
        if self.scalars is not None:
            if len(result.points()) > len(result.curve):
                self.measured(result.points()[-1])
            self.scalars.close()
            written["tensorboard"] = str(self.folder)
        if self.file is not None:
            write_table(self.file, result.columns())
            written["curve"] = str(self.file)
        if self.picture is not None:
            _draw(self.picture, result)
            written["plot"] = str(self.picture)


def require_picture(path: Path) -> None:
    """Refuse a picture that cannot be written."""
    require_folder(path, "--plot")
    if path.suffix not in PICTURES:
        raise FogplayError(f"--plot {path}: the file's name must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")


def _draw(path: Path, result: Any) -> None:
    from fogplay.experiments.pictures import Band, draw_bands, save_picture_as

    points, zeros = result.points(), (0.0,) * len(result.points())
    values = tuple(max(point.nash_conv, 1e-15) for point in points)
    panels = {
        "iterations": [Band(result.algorithm, tuple(point.iteration for point in points), values, zeros)],
        "seconds of learning": [
            Band(result.algorithm, tuple(max(point.seconds, 1e-9) for point in points), values, zeros)
        ],
    }
    save_picture_as(draw_bands(panels, result.strategy.game), path)


@app.command()
def compare(
    game: Annotated[str, typer.Argument(help=f"A game: {EXAMPLES}.")],
    algorithms: Annotated[list[str], typer.Argument(help="Algorithms; see `fogplay algorithms`.")],
    iterations: Annotated[
        int | None, amount("--iterations", "-n", help="Iterations of each run, instead of --minutes.")
    ] = None,
    minutes: Minutes = None,
    runs: Annotated[int, amount(help="Seeds of each algorithm that has randomness.")] = 5,
    workers: Annotated[int, typer.Option(help="Runs at once; 0: one per core. Use 1 for exact times.", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option(help="How the names of the files begin; GAME-compared by default.")
    ] = None,
    as_json: JSON = False,
) -> None:
    """Draw the learning curves of several algorithms: mean and spread over seeds, by iterations and by time."""
    from fogplay.evaluate.exact import require_perfect_recall
    from fogplay.experiments import compare as comparing
    from fogplay.jit import num_cores

    out = out or Path(f"{file_name(game)}-compared")
    require_folder(out.with_name(f"{out.name}.csv"))
    if iterations is None and minutes is None:
        minutes = SHORT_RUN
    plan = comparing.Plan(game, tuple(algorithms), minutes, iterations, runs)
    points: list[Any] = []
    stopped = False
    with Watch(quiet=as_json) as watch:
        require_perfect_recall(watch.flatten(game))
        amount_of_each = f"{minutes:g} minutes" if minutes is not None else f"{iterations:,} iterations"
        watch.note(f"{len(plan.tasks())} runs of {amount_of_each} each, {workers or num_cores()} at once")
        try:
            for found in comparing.compare(plan, workers, watch.amount):
                points += found
        except KeyboardInterrupt:
            stopped = True
    if stopped and not points:
        raise Stopped(f"stopped before the first run ended; nothing was saved. To start again: {again()}")
    rows = [_last_of(name, [point for point in points if point.algorithm == name]) for name in plan.algorithms]
    ended = [row for row in rows if row is not None]
    try:
        if not as_json:
            _show_compared(ended)
    finally:  # the files after the table, so that a failed write loses one of them only
        files = _write_compared(plan, points, out)
    if as_json:
        print_json({"game": plan.game, "algorithms": ended, "files": files, "interrupted": stopped})
    else:
        say(f"saved to {', '.join(files)}")
    if stopped:
        raise Stopped(f"stopped: these are the runs that were finished. To start again: {again()}")


def _write_compared(plan: Any, points: list[Any], out: Path) -> list[str]:
    """Write every point, the means and the picture; the files' names."""
    from fogplay.experiments import compare as comparing
    from fogplay.experiments.pictures import draw_bands, save_picture
    from fogplay.experiments.runner import write_rows

    found = comparing.bands(points)
    raw, means = (out.with_name(f"{out.name}{ending}") for ending in (".csv", "-means.csv"))
    write_rows(raw, points)
    write_rows(means, comparing.band_points(found, points))
    drawn = save_picture(draw_bands(found, plan.game), out)
    return [str(each) for each in (raw, means, *drawn)]


def _last_of(name: str, points: list[Any]) -> dict[str, Any] | None:
    """How one algorithm's runs ended; None if none did."""
    import statistics

    ends = list({point.seed: point for point in points}.values())  # the last of each run
    if not ends:
        return None
    values = [point.value for point in ends]
    return {
        "algorithm": name,
        "runs": len(ends),
        "iterations": statistics.mean(point.iteration for point in ends),
        "seconds": statistics.mean(point.seconds for point in ends),
        "nash_conv": statistics.mean(values),
        "deviation": statistics.stdev(values) if len(values) > 1 else None,
    }


def _show_compared(rows: list[dict[str, Any]]) -> None:
    show = table("algorithm", "runs", "iterations", "seconds", "nash_conv at the end", "± over seeds")
    for row in rows:
        spread = f"{row['deviation']:.3g}" if row["deviation"] is not None else ""
        ended = (f"{row['iterations']:,.0f}", f"{row['seconds']:.3g}", f"{row['nash_conv']:.4g}")
        show.add_row(row["algorithm"], str(row["runs"]), *ended, spread)
    say(show)
