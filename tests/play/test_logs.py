"""Logs in the competition's format: every line replayed by the rules, values and all."""

from __future__ import annotations

from pathlib import Path

import pytest
from pokerkit import FixedLimitTexasHoldem
from pokerkit.notation import ACPCProtocolParser

from fogplay.agents import match
from fogplay.cards.deck import parse_cards
from fogplay.errors import FogplayError
from fogplay.games.holdem import Holdem
from fogplay.games.limit import LETTERS
from fogplay.games.registry import load
from fogplay.opponents import log_lines, write_log
from fogplay.play import format_for
from fogplay.simulators.holdem_duplicate import Story, state_line
from fogplay.strategies.betting import betting_of
from fogplay.trees.betting import node_after

TWO, THREE = load("holdem"), load("holdem(players=3,max_raises=[2,1,1,1])")


def replay(rules: Holdem, line: str) -> tuple[int, list[str]]:
    """Play a line by the rules and compare what it says each seat won; its number and names."""
    _, number, betting, cards, values, names = line.split(":")
    held, *boards = cards.split("/")
    assert len(boards) == betting.count("/")
    dealt = [sorted(parse_cards(each)) for each in (*held.split("|"), *boards)]
    order = [card for each in dealt for card in each]
    assert len(set(order)) == len(order)
    state, letters = rules.new_initial_state(), betting.replace("/", "")
    while not state.is_terminal():
        if state.is_chance_node():
            state = state.child(order[len(state.cards)])
            continue
        action = LETTERS.index(letters[0])
        assert action in state.legal_actions()
        state, letters = state.child(action), letters[1:]
    assert letters == ""
    assert "/".join(state.betting) == betting
    assert list(map(float, values.split("|"))) == pytest.approx(state.returns(), abs=1e-6)
    return int(number), names.split("|")


@pytest.mark.parametrize(
    ("rules", "agents"),
    [(TWO, ["rules", "sparring"]), (TWO, ["probe", "uniform"]), (THREE, ["rules", "uniform", "probe"])],
)
def test_every_line_follows_the_rules(rules: Holdem, agents: list[str]) -> None:
    played = match(rules, agents, 300, seed=2, keep=True)
    comment, more, *states, score = log_lines(played)
    assert comment.startswith("#")
    assert more.startswith("#")
    ways = format_for(rules).seatings(0)
    won = dict.fromkeys(agents, 0.0)
    for place, line in enumerate(states):
        number, names = replay(rules, line)
        assert number == place
        assert names == [agents[player] for player in ways[place % len(ways)]]
        for name, value in zip(names, line.split(":")[4].split("|"), strict=True):
            won[name] += float(value)
    assert len(states) == played.hands
    _, values, names = score.split(":")
    assert names == "|".join(agents)
    assert list(map(float, values.split("|"))) == pytest.approx(list(won.values()), abs=1e-3)


@pytest.mark.parametrize(
    ("rules", "agents", "blinds"),
    [(TWO, ["rules", "sparring"], (5, 10)), (THREE, ["rules", "uniform", "probe"], (5, 10, 0))],
)
def test_pokerkit_reads_it(rules: Holdem, agents: list[str], blinds: tuple[int, ...]) -> None:
    """Another program's parser takes every line, and its rules pay what the line says."""
    played = match(rules, agents, 120, seed=1, keep=True)
    parser = ACPCProtocolParser(FixedLimitTexasHoldem((), True, 0, blinds, 10, 20), 10_000)
    text, read = "\n".join(log_lines(played)), 0
    for hand in parser(text, parse_value=float, error_status=True):
        *_, end = hand
        assert end.payoffs == pytest.approx(hand.user_defined_fields["_results"], abs=1)  # it has no odd chips
        read += 1
    assert read == played.hands


def test_the_competitions_own_example() -> None:
    rules = load("holdem(grid=ehs:1/1/1/1)")
    betting = betting_of(str(rules))
    end = node_after(betting, ("rc", "rrc", "rc", "cc"))
    cards = parse_cards("8dAs8s4h6d5d5c9hQd")
    line = state_line(0, Story(rules, betting), cards, end, ["Alice", "Bob"])
    assert line == "STATE:0:rc/rrc/rc/cc:5d5c|9hQd/8dAs8s/4h/6d:60|-60:Alice|Bob"


def test_a_log_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    played = match(TWO, ["probe", "uniform"], 10, keep=True)
    write_log(tmp_path / "log.txt", played)
    assert (tmp_path / "log.txt").read_text().splitlines() == list(log_lines(played))
    with pytest.raises(FogplayError, match="cannot write"):
        write_log(tmp_path / "nowhere" / "log.txt", played)
    unkept = match(TWO, ["probe", "uniform"], 10)
    with pytest.raises(FogplayError, match="not kept"):
        list(log_lines(unkept))
