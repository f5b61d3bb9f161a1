"""The code in the README and the docs, run as it stands, and what each page promises about it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from fogplay import evaluate, load, solve
from fogplay.protocols.acpc.replay import replay
from tests.games.specs import every_state
from tests.helpers import ROOT, fogplay

WRITTEN = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "generated"]
PAGES = [ROOT / "README.md", *sorted(WRITTEN)]
INSTALLING = {"README.md"}  # whose commands make an environment
LONG = {
    "docs/matches.md",  # three players: a betting tree of 24 million nodes
    "docs/tutorials/bot-builder.md",  # two minutes of training
}


PROGRAMS = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)  # which commands on the page start


def commands(example: Example) -> None:
    """Type every line of a block, as a user would."""
    for line in example.parsed.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            assert words[0] == "fogplay", line
            done = fogplay(*words[1:], cwd=Path.cwd())
            assert done.returncode == 0, f"{line}: {done.stderr}"


PARSERS: dict[str, Callable[[Document], Any]] = {
    "python": PythonCodeBlockParser(),
    "bash": CodeBlockParser("bash", commands),
}


class Ran(NamedTuple):
    """What is there when all blocks of a page have run."""

    folder: Path
    names: Mapping[str, Any]  # what Python blocks have defined
    printed: str
    source: list[str]  # [blocks]


def parsed(page: str, language: str) -> Document:
    return Document.parse(str(ROOT / page), PARSERS[language])


def blocks(page: str, language: str) -> list[Any]:
    return list(parsed(page, language).examples())


def text_blocks(page: str) -> list[str]:
    """Blocks that do not run."""
    return re.findall(r"^```text\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


WITH_CODE = [
    pytest.param(
        str(page.relative_to(ROOT)),
        language,
        marks=[pytest.mark.slow] if language == "bash" and str(page.relative_to(ROOT)) in LONG else [],
    )
    for page in PAGES
    for language in PARSERS
    if blocks(str(page.relative_to(ROOT)), language)
    and not (language == "bash" and str(page.relative_to(ROOT)) in INSTALLING)
]


# ---- What pages promise


def _own_game(ran: Ran) -> None:
    (ran.folder / "claim.py").write_text(ran.source[0])
    done = fogplay("solve", "claim.py", "-a", "cfr+", "-n", "2000", cwd=ran.folder)
    assert done.returncode == 0, done.stderr
    assert fogplay("inspect", "claim.safetensors", cwd=ran.folder).returncode == 0
    assert fogplay("solve", "claim.py:Claim(stake=3)", "-a", "lp", cwd=ran.folder).returncode == 0
    # By hand: a bluff on tails must not pay: 1 - p - 2p = -1, so player 1 calls with p = 2/3.
    assert ran.names["result"].strategy["player 1 hears a claim"]["1"] == pytest.approx(2 / 3, abs=0.01)


def _responses(ran: Ran) -> None:
    assert {path.name for path in ran.folder.glob("curve.*")} == {"curve.csv", "curve.svg", "curve.png"}


def _learning_holdem(ran: Ran) -> None:
    assert {path.name for path in ran.folder.glob("bot.*.safetensors")} == {"bot.100000.safetensors"}


def _holdem_simulator(ran: Ran) -> None:
    visits, root = ran.names["tables"].cell["visits"], ran.names["simulated"].betting.nodes[0]
    assert visits[root["slot"] :][: 169 * root["stride"]].sum() > 100_000


def _models(ran: Ran) -> None:
    example = re.search(r"^(good\|weak: .*)$", (ROOT / "docs/opponents.md").read_text(encoding="utf-8"), re.M)
    assert example is not None
    assert example[1] in (ran.folder / "hands.txt").read_text()


def _matches_in_python(ran: Ran) -> None:
    assert float(ran.printed.split()[0]) > 300
    assert ran.names["match"].hands == 200


def _matches(ran: Ran) -> None:
    assert len((ran.folder / "hands.log").read_text().splitlines()) == 60_003


def _cards(ran: Ran) -> None:
    first, second, third = ran.printed.splitlines()
    assert first == "7461 full house"
    before, after = map(float, second.split())
    assert 0 < after < before < 1
    assert int(third) == int(after * 1000)


def _competition(ran: Ran) -> None:
    assert replay(ran.folder / "second.log").hands == 2000
    assert (ran.folder / "bo.safetensors").exists()


def _competition_in_python(ran: Ran) -> None:
    assert ran.printed.strip() in ran.source[0]


def _readme(ran: Ran) -> None:
    assert float(ran.printed.split()[0]) < 0.3
    assert (ran.folder / "leduc.safetensors").exists()


PROMISED: dict[tuple[str, str], Callable[[Ran], None]] = {
    ("README.md", "python"): _readme,
    ("docs/write-your-own-game.md", "python"): _own_game,
    ("docs/algorithms/responses.md", "bash"): _responses,
    ("docs/games/holdem.md", "bash"): _learning_holdem,
    ("docs/games/holdem.md", "python"): _holdem_simulator,
    ("docs/opponents.md", "bash"): _models,
    ("docs/matches.md", "python"): _matches_in_python,
    ("docs/matches.md", "bash"): _matches,
    ("docs/cards.md", "python"): _cards,
    ("docs/acpc.md", "bash"): _competition,
    ("docs/acpc.md", "python"): _competition_in_python,
}


@pytest.mark.parametrize(("page", "language"), WITH_CODE)
def test_the_code_on_a_page_runs(
    page: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, program in enumerate(PROGRAMS.findall((ROOT / page).read_text(encoding="utf-8"))):
        (tmp_path / ("my-bot.py" if number == 0 else f"my-bot-{number + 1}.py")).write_text(program)
    document, source = parsed(page, language), []
    for example in document.examples():
        source.append(str(example.parsed))
        example.evaluate()
    check = PROMISED.get((page, language))
    if check is not None:
        check(Ran(tmp_path, document.namespace, capsys.readouterr().out, source))


def test_no_promise_is_of_a_page_without_code() -> None:
    assert PROMISED.keys() <= {parameters.values for parameters in WITH_CODE}


def test_the_game_in_gambits_format(tmp_path: Path) -> None:
    (game,) = [block for block in text_blocks("docs/games/efg.md") if block.startswith("EFG 2")]
    file = tmp_path / "game.efg"
    file.write_text(game)
    assert evaluate(solve(str(file), "lp").strategy).values == pytest.approx([1 / 3, -1 / 3])
    states = [state for state in every_state(load(str(file))) if state.current_player() == 1]
    assert {state.information_state_string(1) for state in states} == {"Bob: a bet"}


# ---- Commands that are shown but not run: they take too long, or need another machine


def commands_shown(page: Path) -> list[str]:
    """Lines in blocks that do not run, and code within sentences, that are commands of fogplay."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shown = "\n".join(block for language, block in blocks if language not in PARSERS).replace("\\\n", " ")
    lines = re.findall(r"^(fogplay [a-z].*)$", shown, re.MULTILINE)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines += re.findall(r"^ {4}(fogplay [a-z].*)$", prose.replace("\\\n", " "), re.MULTILINE)
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`(fogplay [a-z][^`]*)`(?!`)", prose)]
    return [line for line in [*lines, *spans] if not re.search(r"[…\[<|]| - |^fogplay [a-z]+ is ", line)]


def test_every_command_shown_is_one() -> None:
    """Names of commands and options are those that there are; nothing is run."""
    import typer.main

    from fogplay.cli import app

    wrong, seen = [], 0
    for page in [*PAGES, ROOT / "benchmarks/README.md"]:
        for line in commands_shown(page):
            seen += 1
            words = shlex.split(line, comments=True)[1:]
            command: Any = typer.main.get_command(app)
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
            named = [word.partition("=")[0] for word in words if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?", word)]
            unknown = [name for name in named if name not in options]
            if unknown or (hasattr(command, "commands") and words):
                wrong.append(f"{page.relative_to(ROOT)}: {line}")
    assert not wrong, "\n".join(wrong)
    assert seen > 150


def test_every_block_is_known() -> None:
    """A block runs (``python``, ``bash``, ``py`` in a test of its own), or says that it is text."""
    known = {"python", "bash", "py", "text", ""}
    for page in PAGES:
        for language in re.findall(r"^ *```([^\s`{]+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert language in known, f"{page.name}: {language}"


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
