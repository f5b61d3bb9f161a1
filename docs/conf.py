"""How the documentation site is built: ``sphinx-build -W -n docs site``."""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent / "src"))

from fogplay.version import VERSION  # noqa: E402

project = html_title = "fogplay"
author = copyright = "the authors of fogplay"
version = release = VERSION
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
myst_heading_anchors = 4
autodoc_typehints = "none"
autodoc_member_order = "bysource"
exclude_patterns = ["site"]

# Pages that lie outside docs/ for those who read the repository, and their names on the site.
ROOT = DOCS.parent
GENERATED = DOCS / "generated"
OUTSIDE = {
    ROOT / "benchmarks" / "README.md": GENERATED / "benchmarks.md",
    ROOT / "ARCHITECTURE.md": GENERATED / "architecture.md",
    ROOT / "CHANGELOG.md": GENERATED / "changes.md",
    ROOT / "README.md": DOCS / "index.md",
}
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def with_links(text: str, lies: Path, becomes: Path) -> str:
    """A page's text with its relative links as they must be on the site; those to other files become plain names."""

    def link(found: re.Match[str]) -> str:
        words, target, part = found[1], (lies.parent / found[2]).resolve(), found[3] or ""
        target = OUTSIDE.get(target, target)
        if not target.is_relative_to(DOCS):
            return words
        return f"[{words}]({os.path.relpath(target, becomes.parent)}{part})"

    return LINK.sub(link, text)


def point_inside(app: Any, page: str, source: list[str]) -> None:
    """Let links to pages outside docs/ lead to their copies on the site."""
    lies = DOCS / f"{page}.md"
    if lies.parent != GENERATED:
        source[0] = with_links(source[0], lies, lies)


def bring_in(app: Any) -> None:
    """Copy the pages that lie outside."""
    GENERATED.mkdir(exist_ok=True)
    for outside, inside in OUTSIDE.items():
        if inside.parent == GENERATED:
            _write(inside, with_links(outside.read_text(), outside, inside))


def write_commands(app: Any) -> None:
    """The page of all commands, as they describe themselves."""
    import typer.main

    from fogplay.cli import app as commands

    text = ["# Command reference\n", "What `fogplay COMMAND --help` says, for every command.\n"]
    text += _described(typer.main.get_command(commands), "fogplay")
    _write(GENERATED / "commands.md", "\n".join(text) + "\n")


def _described(command: Any, name: str) -> list[str]:
    """Markdown for a command and those below it."""
    text = [] if name == "fogplay" else [f"## `{name}`\n", inspect.cleandoc(command.help or "") + "\n"]
    rows = [_row(each) for each in command.params if not getattr(each, "hidden", False) and name != "fogplay"]
    if rows:
        text += ["| | |", "|---|---|", *rows, ""]
    for below in sorted(getattr(command, "commands", {})):
        each = command.commands[below]
        if not each.hidden:
            text += _described(each, f"{name} {below}")
    return text


def _row(each: Any) -> str:
    """A line of a table: an argument or option, and what it does."""
    names = (
        ", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts))
        if each.opts[0][0] == "-"
        else (f"`{(each.metavar or each.name).upper()}`")
    )
    about = " ".join((getattr(each, "help", None) or "").split())
    default = each.default if isinstance(each.default, int | float | str) and not isinstance(each.default, bool) else ""
    return f"| {names} | {about.replace('|', chr(92) + '|')}{f' Default: {default}.' if default != '' else ''} |"


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def setup(app: Any) -> None:
    """Connect what is done before pages are read, and to each page."""
    app.connect("builder-inited", bring_in)
    app.connect("builder-inited", write_commands)
    app.connect("source-read", point_inside)
