"""The pages of results: an overview of all papers and one page for each, made from kept rows without any run.

Rows are kept as ``PAPER/ITEM.NAME.csv``, with what made them beside as JSON; an item may have several, such as those of
a GPU. ``papers.toml`` has the words around the numbers; numbers in it are names in braces, which reports fill in.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.experiments.reproduce import Experiment, Made, Outcome, experiments, tables_of
from fogplay.experiments.rows import Rows, read_rows_of
from fogplay.experiments.verdicts import DIFFERS, HOLDS, INCONCLUSIVE
from fogplay.jit import num_cores
from fogplay.version import VERSION

POINTS, DOCS = Path("benchmarks/results/papers"), Path("docs")
WORDS = Path(__file__).with_name("papers.toml")
SECONDS = "seconds.json"  # beside the points: what every result took when all were run one after the other
HEADER = "<!-- Written by `fogplay reproduce --all --docs` from {points}: do not edit. -->\n"
LEGEND = """
`holds` and `differs` need a published claim, an error over training runs and two standard errors; all else is
`inconclusive`. ± is one standard error, over as many runs as it says; "one run" has no error over runs. CPU seconds are
processor time, without that of players which another result of the paper has trained already.
""".strip()


@dataclass(frozen=True)
class Kept:
    """One file of rows and what made it."""

    command: str
    seconds: str
    note: str


@dataclass(frozen=True)
class Page:
    """One result on its page."""

    experiment: Experiment
    outcome: Outcome
    kept: list[Kept]
    pictures: list[str]
    words: dict[str, Any]


def keep(made: Made, name: str, scale: str, device: str, points: Path = POINTS) -> Path:
    """Keep the rows of a run for the pages; they replace those of earlier runs with the same scale and device."""
    if not points.is_dir():
        raise FogplayError(f"there is no folder {points} here: run this in a checkout of fogplay")
    target = points / f"{name}.{scale}{'' if device == 'cpu' else f'-{device}'}.csv"
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(made.folder / "points.csv", target)
    command = f"fogplay reproduce {name}{'' if scale == 'quick' else f' --scale {scale}'}"
    command += "" if device == "cpu" else f" --device {device}"
    about = {"command": command, "cpu_seconds": round(made.cpu_seconds), "version": VERSION}
    storage.write_text(target.with_suffix(".json"), json.dumps(about, indent=1) + "\n")
    return target


def write_seconds(folder: Path, results: list[dict[str, Any]]) -> Path:
    """Write what every result of ``fogplay reproduce --all`` took; copied beside the points, it is in the overview."""
    seconds = {each["id"]: round(each["seconds"]) for each in results if "seconds" in each}
    about = {"cores": num_cores(), "version": VERSION, "seconds": seconds}
    storage.write_text(folder / SECONDS, json.dumps(about, indent=1) + "\n")
    return folder / SECONDS


def write_pages(points: Path = POINTS, docs: Path = DOCS) -> list[Path]:
    """Write the overview, a page per paper and their pictures."""
    for folder in (points, docs):
        if not folder.is_dir():
            raise FogplayError(f"there is no folder {folder} here: run this in a checkout of fogplay")
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    pages = {paper: list[Page]() for paper in words["papers"]}
    for experiment in experiments().values():
        paper = experiment.id.partition("/")[0]
        if paper in pages:
            pages[paper].append(_page(experiment, points, docs, words.get(experiment.id, {})))
    (docs / "results").mkdir(exist_ok=True)
    written = []
    for paper, items in pages.items():
        text = _paper(paper, words["papers"][paper], items)
        written.append(docs / "results" / f"{paper}.md")
        storage.write_text(written[-1], text)
    written.append(docs / "results.md")
    timed = json.loads((points / SECONDS).read_text()) if (points / SECONDS).exists() else {"seconds": {}}
    storage.write_text(written[-1], _overview(words, pages, timed))
    return written


def _page(experiment: Experiment, points: Path, docs: Path, words: dict[str, Any]) -> Page:
    """Report on the kept rows of one result, and put its pictures where pages find them."""
    paper, _, item = experiment.id.partition("/")
    files = sorted((points / paper).glob(f"{item}.*.csv"))
    if not files:
        raise FogplayError(f"no rows of {experiment.id} are kept in {points}: fogplay reproduce {experiment.id} --keep")
    rows = Rows(row for file in files for row in read_rows_of(file))
    kept = []
    for file in files:
        about = json.loads(file.with_suffix(".json").read_text())
        seconds = about.get("cpu_seconds")
        kept.append(Kept(about["command"], "" if seconds is None else f"{max(seconds, 1):,}", about.get("note", "")))
    pictures = []
    with tempfile.TemporaryDirectory() as folder:
        outcome = experiment.report(rows, Path(folder))
        for file in outcome.files:
            if file.suffix == ".png":
                pictures.append(f"{paper}-{file.name}")
                shutil.copyfile(file, docs / "pictures" / pictures[-1])
    return Page(experiment, outcome, kept, pictures, words)


def _overview(words: dict[str, Any], pages: dict[str, list[Page]], timed: dict[str, Any]) -> str:
    quick: dict[str, int] = timed["seconds"]
    minutes = f" in {sum(quick.values()) / 60:.0f} minutes on {timed.get('cores')} cores"
    whole = f"{minutes}; the last column has the seconds of each" if quick else ""
    lines = [
        HEADER.format(points="benchmarks/results/papers"),
        "# Results",
        "",
        words["introduction"].strip().format(whole=whole),
        "",
        LEGEND,
    ]
    for paper, items in pages.items():
        lines += ["", f"## [{words['papers'][paper]}](results/{paper}.md)", ""]
        lines += [
            "| result | published | ours | verdict | all its claims | command | CPU seconds |"
            + " quick |" * bool(quick)
        ]
        lines += ["|---|---|---|---|---|---|---:|" + "---:|" * bool(quick)]
        for page in items:
            headline, item = page.outcome.findings[0], page.experiment.id.partition("/")[2]
            link = f"[{item}](results/{paper}.md#{_anchor(page.experiment.id)})"
            commands = "<br>".join(_code(each.command) for each in page.kept)
            seconds = "<br>".join(each.seconds or "–" for each in page.kept)
            lines.append(
                f"| {link}: {headline.whole} | {headline.published} | {headline.measured} | {headline.verdict} | "
                f"{_counted(page.outcome)} | {commands} | {seconds} |"
                + f" {_seconds(quick.get(page.experiment.id))} |"
                * bool(quick)
            )
    lines += ["", words["closing"].strip()]
    return "\n".join(lines).rstrip() + "\n"


def _seconds(quick: int | None) -> str:
    return "–" if quick is None else f"{max(quick, 1)} s"


def _code(command: str) -> str:
    return f"`{command}`" if command.startswith(("fogplay", "python")) else command


def _counted(outcome: Outcome) -> str:
    verdicts = [each.verdict for each in outcome.findings]
    counts = {each: verdicts.count(each) for each in (HOLDS, DIFFERS, INCONCLUSIVE)}
    plural = {HOLDS: "hold", DIFFERS: "differ"}
    return ", ".join(
        f"{count} {each if count == 1 else plural.get(each, each)}" for each, count in counts.items() if count
    )


def _anchor(identity: str) -> str:
    return identity.replace("/", "")


def _paper(paper: str, title: str, items: list[Page]) -> str:
    lines = [HEADER.format(points="benchmarks/results/papers"), f"# {title}", "", LEGEND]
    for page in items:
        lines += ["", f"## {page.experiment.id}", "", f"*{page.experiment.title}.* {_filled(page, 'about')}".rstrip()]
        lines += ["", *tables_of(page.outcome.findings), ""]
        lines += [f"![{page.experiment.title}](../pictures/{picture})\n" for picture in page.pictures]
        lines += ["Made by:", ""]
        for kept in page.kept:
            seconds = f", {kept.seconds} CPU second{'' if kept.seconds == '1' else 's'}" if kept.seconds else ""
            lines.append(f"- {_code(kept.command)}{seconds}{'. ' + kept.note if kept.note else ''}")
        deviations = page.words.get("deviations", ["Nothing that we know of."])
        lines += ["", "What departs from the paper:", "", *(f"- {each}" for each in deviations)]
        cause = _filled(page, "cause")
        if cause:
            lines += ["", f"**Why.** {cause}"]
    return "\n".join(lines).rstrip() + "\n"


def _filled(page: Page, name: str) -> str:
    """Words with numbers from the report; a name that the report does not know is an error."""
    text = str(page.words.get(name, "")).strip()
    try:
        return text.format_map(dict(page.outcome.numbers))
    except KeyError as error:
        raise FogplayError(f"{WORDS.name}: {page.experiment.id} has no number called {error}") from error


def relative(path: Path) -> str:
    """A path as a person would type it."""
    return os.path.relpath(path)
