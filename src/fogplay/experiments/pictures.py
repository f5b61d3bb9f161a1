"""Plots of learning curves: a line for the mean and a band for its standard error, as SVG and PNG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay import storage
from fogplay.experiments.runner import Mean
from fogplay.solvers import TradeoffPoint

COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8a4fff", "#e09f3e", "#4a4e69", "#00a6a6", "#9c6644")
MARKERS = ("x", "+", "*", "D")  # of published points


@dataclass(frozen=True)
class Panel:
    """One pair of axes: the measure, the title, the labels and the scales."""

    measure: str
    title: str
    y_label: str
    x_label: str = "simulated episodes"
    log_x: bool = True
    log_y: bool = True
    marks: tuple[tuple[float, float, str], ...] = ()  # published points: x, y, label


def draw_curves(path: Path, means: Sequence[Mean], panels: Sequence[Panel], labels: Sequence[str] = ()) -> list[Path]:
    """Plot every label's mean with its band in each panel; writes ``path``.svg and ``path``.png."""
    figure, axes = new_picture(len(panels))
    labels = labels or list(dict.fromkeys(mean.label for mean in means))
    for axis, panel in zip(axes, panels, strict=True):
        for number, label in enumerate(labels):
            line = sorted(
                (mean for mean in means if mean.label == label and mean.measure == panel.measure),
                key=lambda mean: mean.iteration,
            )
            if not line:
                continue
            x, y = [mean.iteration for mean in line], [mean.mean for mean in line]
            error = [0.0 if math.isnan(mean.standard_error) else mean.standard_error for mean in line]
            colour = COLOURS[number % len(COLOURS)]
            axis.plot(x, y, color=colour, label=label, linewidth=1.6)
            least = 1e-12 if panel.log_y else -math.inf
            low = [max(value - each, least) for value, each in zip(y, error, strict=True)]
            axis.fill_between(
                x, low, [a + b for a, b in zip(y, error, strict=True)], color=colour, alpha=0.2, linewidth=0
            )
        for (x_mark, y_mark, text), marker in zip(panel.marks, MARKERS, strict=False):
            axis.plot([x_mark], [y_mark], marker=marker, color="black", markersize=8, linestyle="none", label=text)
        axis.set_title(panel.title, fontsize=11)
        axis.set_xlabel(panel.x_label)
        axis.set_ylabel(panel.y_label)
        if panel.log_x:
            axis.set_xscale("log")
        if panel.log_y:
            axis.set_yscale("log")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
    return save_picture(figure, path)


def draw_tradeoff(path: Path, games: Mapping[str, Sequence[TradeoffPoint]]) -> list[Path]:
    """Plot exploitation of a model against exploitability, with one panel per game and one line per method."""
    figure, axes = new_picture(len(games), in_a_row=2)
    for axis, (title, points) in zip(axes, games.items(), strict=True):
        for number, method in enumerate(dict.fromkeys(point.method for point in points)):
            line = sorted((point for point in points if point.method == method), key=lambda point: point.confidence)
            x, y = [point.nash_conv for point in line], [point.exploitation for point in line]
            axis.plot(x, y, "o-", color=COLOURS[number % len(COLOURS)], label=method, markersize=4, linewidth=1.4)
            if method != "mixing":
                for point in line:
                    at = (point.nash_conv, point.exploitation)
                    axis.annotate(f"{point.confidence:g}", at, (4, -9), textcoords="offset points", fontsize=7)
        axis.set_title(title, fontsize=11)
        axis.set_xlabel("exploitability (nash_conv)")
        axis.set_ylabel("exploitation")
        axis.grid(True, alpha=0.3)
        axis.legend(fontsize=8, frameon=False)
    return save_picture(figure, path)


def new_picture(panels: int, in_a_row: int = 3) -> tuple[Any, Any]:
    """A figure with ``panels`` pairs of axes, at most ``in_a_row`` side by side; needs no display."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across = min(panels, in_a_row)
    down = -(-panels // across)
    figure, axes = pyplot.subplots(down, across, figsize=(6.4 * across, 4.4 * down), squeeze=False)
    for spare in axes.ravel()[panels:]:
        spare.set_axis_off()
    return figure, axes.ravel()[:panels]


@dataclass(frozen=True)
class Band:
    """A line with the spread around it: one algorithm over the work done or over time."""

    label: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]  # standard deviation over runs; 0 for one run


def draw_bands(panels: Mapping[str, Sequence[Band]], title: str, up: str = "nash_conv") -> Any:
    """A figure with one panel per label of the horizontal axis, both axes logarithmic."""
    figure, axes = new_picture(len(panels))
    for axis, (across, bands) in zip(axes, panels.items(), strict=True):
        for number, band in enumerate(bands):
            colour = COLOURS[number % len(COLOURS)]
            around = list(zip(band.mean, band.deviation, strict=True))
            axis.plot(band.x, band.mean, color=colour, label=band.label, linewidth=1.6, marker=".", markersize=3)
            low, high = [max(y - each, y / 10) for y, each in around], [y + each for y, each in around]
            axis.fill_between(band.x, low, high, color=colour, alpha=0.2, linewidth=0)
        axis.set_title(title, fontsize=11)
        axis.set_xlabel(across)
        axis.set_ylabel(up)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.grid(True, which="major", alpha=0.3)
        if bands:
            axis.legend(fontsize=8, frameon=False)
    return figure


def save_picture_as(figure: Any, file: Path) -> None:
    """Write a figure to a file whose ending says how, and close it."""
    from matplotlib import pyplot

    figure.tight_layout()
    try:
        with storage.atomically(file) as temporary:
            figure.savefig(temporary, format=file.suffix[1:], dpi=130)
    finally:
        pyplot.close(figure)


def save_picture(figure: Any, path: Path) -> list[Path]:
    """Write ``path``.svg and ``path``.png, and close the figure."""
    from matplotlib import pyplot

    figure.tight_layout()
    written = [path.with_name(f"{path.name}.{kind}") for kind in ("svg", "png")]
    options: tuple[dict[str, Any], ...] = ({"metadata": {"Date": None}}, {"dpi": 130})
    try:
        for file, how in zip(written, options, strict=True):
            with storage.atomically(file) as temporary:
                figure.savefig(temporary, format=file.suffix[1:], **how)
    finally:
        pyplot.close(figure)
    return written
