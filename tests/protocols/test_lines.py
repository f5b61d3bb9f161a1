"""Other programs at the table: good ones in all three manners, and bad ones, which never stop a match."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

import fogplay as fp
from fogplay.agents import resolve
from fogplay.play import Seeded, Table, play_hand
from fogplay.protocols.lines import ProgramAgent
from fogplay.protocols.lines.player import EXITS, KEEPS, PATIENCE, WAITS
from fogplay.protocols.lines.process import Process, TroubleError
from tests.helpers import ROOT

HEAD = f"#!{sys.executable} -IS\nimport json, sys, time\n"
KEEP = '">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"'
WAITING = """
for line in sys.stdin:
    request = json.loads(line)["requests"][-1]
    print(json.dumps({"response": request["legal"][-1]}), flush=True)
"""
EXITING = """
request = json.loads(input())["requests"][-1]
print(json.dumps({"response": request["legal"][-1]}))
"""
KEEPING = f"""
request = json.loads(input())["requests"][-1]
while True:
    print(json.dumps({{"response": request["legal"][-1]}}))
    print({KEEP}, flush=True)
    request = json.loads(input())
"""
BOTZONE = """
def level(card):
    return card // 4 + card // 53

def answer(own, history):
    to_beat = history[1] or history[0]
    if not to_beat:
        return [min(own)]
    if len(to_beat) > 1:
        return []
    higher = [card for card in sorted(own) if level(card) > level(to_beat[0])]
    return higher[:1]

first = json.loads(input())
own = set(first["requests"][0]["own"])
for response in first["responses"]:
    own -= set(response)
request = first["requests"][-1]
while True:
    cards = answer(own, request["history"])
    own -= set(cards)
    print(json.dumps({"response": cards}))
    MANNER
    request = json.loads(input())
"""


class Last:
    """What the good programs here do."""

    def act(self, view: fp.View) -> int:
        return view.legal[-1]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str, name: str = "bot") -> str:
        path = tmp_path / name
        path.write_text(HEAD + text)
        path.chmod(0o755)
        return str(path)

    return write


def children() -> list[psutil.Process]:
    return [each for each in psutil.Process().children(recursive=True) if each.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize(("text", "manner"), [(WAITING, WAITS), (EXITING, EXITS), (KEEPING, KEEPS)])
def test_a_program_plays_as_the_same_agent_in_python(write: Any, text: str, manner: str) -> None:
    before = children()
    (agent,) = resolve([write(text)], fp.load("leduc"))
    assert isinstance(agent, ProgramAgent)
    scores, wanted = [], []
    for hand in range(3):
        table = play_hand(fp.load("leduc"), Seeded(hand), [agent, Last()])
        scores.append(table.scores)
        wanted.append(play_hand(fp.load("leduc"), Seeded(hand), [Last(), Last()]).scores)
    assert scores == wanted
    assert agent.manner == manner
    assert agent.take_troubles() == []
    agent.close()
    assert children() == before


def examples() -> list[str]:
    page = (ROOT / "docs/external-agents.md").read_text(encoding="utf-8")
    return re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", [0, 1])
def test_the_programs_in_the_docs_play(tmp_path: Path, number: int) -> None:
    path = tmp_path / "bot.py"
    path.write_text(examples()[number])
    outcome = fp.match("doudizhu", [f"program:{sys.executable} -IS {path}", Last()], 2, seed=3)
    assert outcome.hands == 2
    assert outcome.troubles == ()


@pytest.mark.parametrize("manner", [f"print({KEEP}, flush=True)", "sys.exit()"])
def test_a_botzone_program_plays_doudizhu(write: Any, manner: str) -> None:
    """Single cards only, chosen by number from its own cards: every answer is legal, in both of Botzone's manners."""
    path = write(BOTZONE.replace("MANNER", manner))
    outcome = fp.match("doudizhu", [path, Last()], 2, seed=3)
    assert outcome.troubles == ()
    assert outcome.hands == 2


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("time.sleep(60)", "did not answer in time", "no line came before the time limit"),
        ("print('hello world', flush=True); time.sleep(60)", "printed no JSON", "it printed 'hello world'"),
        ("print('x' * 2_000_000, flush=True)", "printed no JSON", "bytes without an end of line"),
        ('print(json.dumps({"move": 3}))', "printed no JSON", 'there is no "response"'),
        ('print(json.dumps({"response": "raise the roof"}))', "made an illegal move", "answer with one of the texts"),
        ('print(json.dumps({"response": {"a": [None]}}))', "made an illegal move", "answer with one of the texts"),
        ("raise SystemExit(3)", "died", "exit status 3"),
        ("no_such_name", "died", "NameError: name 'no_such_name' is not defined"),
        ("import os; os.kill(os.getpid(), 9)", "died", "signal SIGKILL"),
    ],
)
def test_what_a_program_does_wrong_is_counted_and_the_match_goes_on(
    write: Any, text: str, kind: str, detail: str
) -> None:
    before = children()
    limit = 0.2 if "time" in kind else 30.0  # of a machine that may be busy
    outcome = fp.match("kuhn", [write(text), "uniform"], 2, seed=1, limit=limit)
    assert outcome.hands == 2
    assert sum(each.times for each in outcome.troubles) >= 1
    trouble = outcome.troubles[0]
    assert (trouble.player, trouble.kind) == (0, kind)
    assert detail in trouble.first
    assert children() == before


def test_a_program_may_answer_without_reading_and_be_gone() -> None:
    process = Process([sys.executable, "-c", "print(7)"])
    assert process.has_ended(30.0)
    process.send("x" * 1_000_000, time.monotonic() + 30.0)
    assert process.receive(time.monotonic() + 30.0) == "7"
    with pytest.raises(TroubleError, match="died: exit status 0"):
        process.send("x", time.monotonic() + 30.0)
    process.end()


def test_a_forfeited_move_is_the_first_legal_one(write: Any) -> None:
    agent = ProgramAgent([write("print('[]')")], fp.load("kuhn"))
    view = Table(fp.load("kuhn"), Seeded(1)).view(0)
    assert agent.act(view) == view.legal[0]
    agent.close()


def test_a_program_that_fails_again_and_again_is_not_asked_any_more(write: Any, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    agent = ProgramAgent([write(f"open({str(runs)!r}, 'a').write('x'); sys.exit(1)")], fp.load("kuhn"))
    for hand in range(PATIENCE + 2):
        play_hand(fp.load("kuhn"), Seeded(hand), [agent, Last()])
    assert runs.read_text() == "x" * PATIENCE
    assert ("was not asked any more", f"after {PATIENCE} failures in a row") in agent.take_troubles()


def test_a_program_that_starts_others_is_ended_with_them(write: Any) -> None:
    before = children()
    agent = ProgramAgent([write("import subprocess; subprocess.run(['sleep', '77'])")], fp.load("kuhn"), seconds=0.3)
    agent.act(Table(fp.load("kuhn"), Seeded(1)).view(0))
    assert children() == before
    end = time.monotonic() + 40.0  # a killed process may need a moment to be gone
    while any(each.info["cmdline"] == ["sleep", "77"] for each in psutil.process_iter(["cmdline"])):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_programs_that_cannot_be_started_are_refused(tmp_path: Path) -> None:
    rules = fp.load("kuhn")
    (tmp_path / "plain").write_text("")
    with pytest.raises(fp.FogplayError, match="is not executable; type chmod"):
        resolve([f"program:{tmp_path}/plain"], rules)
    with pytest.raises(fp.FogplayError, match="there is no program no-such-program"):
        resolve(["program:no-such-program -v"], rules)
    with pytest.raises(fp.FogplayError, match="write program:COMMAND"):
        resolve(["program:"], rules)
    with pytest.raises(fp.FogplayError, match="No closing quotation"):
        resolve(["program:bot 'a"], rules)
