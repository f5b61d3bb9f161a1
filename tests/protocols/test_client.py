"""A player at a dealer's table, without sockets: dialogues line by line."""

from __future__ import annotations

import math
import random
import string
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fogplay as fp
from fogplay.errors import FogplayError
from fogplay.notation.gamedef import load_definition, our_definitions, print_definition
from fogplay.protocols.acpc.client import Client
from fogplay.protocols.acpc.notes import MOST_KINDS, MOST_NOTES, Folded, Notes
from fogplay.protocols.acpc.players import definition_for, seated
from fogplay.protocols.acpc.sockets import Local, run
from fogplay.protocols.acpc.winnings import Winnings, clustered_rate
from tests.helpers import refusal
from tests.protocols.helpers import dealer_of

TWO = our_definitions()["holdem.limit.2p"]


def client(agent: str = "always-call", game: str = "holdem.limit.2p") -> tuple[Client, list[str]]:
    notes: list[str] = []
    return Client(seated(agent, load_definition(game)[1]), seed=1, notes=Notes(notes.append)), notes


def test_a_dialogue() -> None:
    """It answers where it is to act, with the line itself and an action, and nowhere else."""
    mine, notes = client("always-raise")
    assert mine.greeting == "VERSION:2.0.0"
    dialogue = [
        ("MATCHSTATE:1:0::|9hQd", "MATCHSTATE:1:0::|9hQd:r"),
        ("MATCHSTATE:1:0:r:|9hQd", None),
        ("MATCHSTATE:1:0:rc/:|9hQd/8dAs8s", None),
        ("MATCHSTATE:1:0:rc/c:|9hQd/8dAs8s", "MATCHSTATE:1:0:rc/c:|9hQd/8dAs8s:r"),
        ("MATCHSTATE:1:0:rc/crf:|9hQd/8dAs8s", None),
        ("MATCHSTATE:0:1::5d5c|", None),  # now it has the other seat
        ("MATCHSTATE:0:1:r:5d5c|", "MATCHSTATE:0:1:r:5d5c|:r"),
        ("MATCHSTATE:0:1:rrr:5d5c|", "MATCHSTATE:0:1:rrr:5d5c|:c"),  # no more raises
    ]
    for heard, said in dialogue:
        assert mine.receive(heard) == said
    assert (mine.hands, mine.chips, mine.in_hand) == (1, 20, 1)
    assert notes == []


def test_what_a_dealer_may_send_besides() -> None:
    mine, notes = client()
    for line in ("", "# comment", "; comment", "#GUI some line", "GAMEOVER", "SCORE:1|-1:a|b", "STATE:0:f:|:5|-5:a|b"):
        assert mine.receive(line) is None
    assert notes == []
    extended = "MATCHSTATE:1:0::|9hQd:clock=12:more"
    assert mine.receive(extended) == f"{extended}:c"
    over = "MATCHSTATE:1:0:cc/cc/cc/cc:5d5c|9hQd/8dAs8s/4h/6d"
    for _ in range(3):  # told twice, counted once
        assert mine.receive(over) is None
    assert (mine.hands, mine.chips) == (1, -10)


@pytest.mark.parametrize(
    "line",
    [
        "MATCHSTATE:1:0:rrrrr:|9hQd",
        "MATCHSTATE:7:0::|9hQd",
        "MATCHSTATE:1:0:cc/c:|9hQd",
        "MATCHSTATE:1:0::5d5c|",
        "MATCHSTATE:1:0::|9h9h",
        "MATCHSTATE:1:0:cc/cc/cc/cc:|9hQd/8dAs8s/4h/6d",  # a showdown that shows nothing
        "MATCHSTATE:",
        "MATCHSTATE:1:99999999999::|9hQd",
    ],
)
def test_states_that_cannot_be_are_skipped_with_a_remark(line: str) -> None:
    mine, notes = client()
    assert mine.receive("MATCHSTATE:1:0::|9hQd") is not None
    assert mine.receive(line) is None
    assert mine.hands == 0
    (note,) = notes
    assert note.startswith("skipped what the dealer sent: ")
    assert mine.receive("MATCHSTATE:1:0::|9hQd") is not None


def test_remarks_come_to_an_end() -> None:
    mine, notes = client()
    for _ in range(10 * MOST_NOTES):
        mine.receive("MATCHSTATE:x")
    assert len(notes) == MOST_NOTES + 1
    assert mine.notes.count == 10 * MOST_NOTES


def test_another_game_is_told_at_once() -> None:
    for line, says in (
        ("MATCHSTATE:1:0::|9hQd|", "deals 2 cards to each of 3 players, and this game has 2 for each of 2"),
        ("MATCHSTATE:0:0::|9h", "deals 1 cards to each of 2 players, and this game has 2 for each of 2"),
    ):
        mine, _ = client()
        with pytest.raises(FogplayError, match=f"{says}: name the dealer's game with --game"):
            mine.receive(line)


@pytest.mark.parametrize("betting", ["r300", "cr200c/", "cc/r40", "r20000c///"])
def test_a_no_limit_dealer_is_left_at_once(betting: str) -> None:
    mine, notes = client()
    assert mine.receive("MATCHSTATE:1:0::|9hQd") is not None
    with pytest.raises(FogplayError, match=r"the dealer plays no-limit .*; fogplay plays limit games only"):
        mine.receive(f"MATCHSTATE:0:1:{betting}:9hQd|")
    assert notes == []


def test_an_answer_that_the_dealer_does_not_take_shows_another_game() -> None:
    """The dealer asked the other seat, or allows fewer raises; once it took an answer as given, it is trusted."""
    mine, _ = client("always-raise")
    assert mine.receive("MATCHSTATE:1:0::|9hQd") == "MATCHSTATE:1:0::|9hQd:r"
    with pytest.raises(FogplayError, match=r"answered r after '', and the dealer went on with c: .* with --game"):
        mine.receive("MATCHSTATE:1:0:c:|9hQd")
    trusting, notes = client("always-raise")
    for line in (
        "MATCHSTATE:1:0::|9hQd",
        "MATCHSTATE:1:0:r:|9hQd",
        "MATCHSTATE:0:1:r:9hQd|",
        "MATCHSTATE:0:1:rc:9hQd|",
    ):
        trusting.receive(line)
    assert [note for note in notes if "went on" in note] == []


def test_silence_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dealer that waits for another seat than the client thinks would wait for ever."""
    for heard, says in (
        ([], "it may be waiting for other players to connect"),
        (["MATCHSTATE:0:0::5d5c|"], "in hand 0, this player has seat 0, and by its game seat 1 is to act. If it is"),
        (["MATCHSTATE:1:0::|5d5c"], "in hand 0, this player has seat 1 and has answered. If it is the dealer that"),
    ):
        mine, notes = client()
        for line in heard:
            mine.receive(line)
        mine.silence(10)
        (note,) = notes
        assert note.startswith("the dealer has sent nothing for 10 seconds: ")
        assert says in note


def test_stakes_are_the_definitions(tmp_path: Path) -> None:
    """A strategy plays for other stakes, and from other seats; its score is in the chips of the definition."""
    fp.solve("kuhn", "cfr+", iterations=50).strategy.save(tmp_path / "kuhn.safetensors")
    text = print_definition(our_definitions()["kuhn.limit.2p"])
    times_ten = text.replace("blind = 1 1", "blind = 10 10").replace("raiseSize = 1", "raiseSize = 10")
    for name, changed in (("stacks", text.replace("blind", "stack = 2 2\nblind")), ("ten", times_ten)):
        (tmp_path / f"{name}.game").write_text(changed)
        mine, _ = client(str(tmp_path / "kuhn.safetensors"), str(tmp_path / f"{name}.game"))
        for line in ("MATCHSTATE:0:0:cc:As|Ks", "MATCHSTATE:1:1:cc:As|Ks", "MATCHSTATE:0:2:rc:As|Qs"):
            mine.receive(line)
        assert (mine.hands, mine.chips) == (3, 20 if name == "ten" else 2)
    (tmp_path / "turned.game").write_text(text.replace("firstPlayer = 1", "firstPlayer = 2"))
    mine, _ = client(str(tmp_path / "kuhn.safetensors"), str(tmp_path / "turned.game"))
    assert mine.receive("MATCHSTATE:0:0::As|") is None
    assert str(mine.receive("MATCHSTATE:1:0::|Ks"))[-2:] in (":c", ":r")
    assert str(mine.receive("MATCHSTATE:0:1:r:As|"))[-2:] == ":c"  # the best card never folds


def test_actions_depend_on_the_line_alone() -> None:
    """Asked in any order, and again, it says the same: nothing is remembered from line to line."""
    mine, _ = client("uniform")
    asked = [f"MATCHSTATE:1:{hand}::|9hQd" for hand in range(300)]
    said = {line: mine.receive(line) for line in asked}
    random.Random(1).shuffle(asked)
    other, _ = client("uniform")
    assert {line: other.receive(line) for line in asked} == said
    assert {str(answer)[-2:] for answer in said.values()} == {":f", ":c", ":r"}


def test_strategies_of_small_games(tmp_path: Path) -> None:
    """What a saved strategy does at a table is what it says of the infoset."""
    for spec, game, line, infoset in (
        ("leduc", "leduc.limit.2p", "MATCHSTATE:0:{}:cr:As|", "Ks:cr"),
        ("leduc(suits=unseen)", "leduc.limit.2p", "MATCHSTATE:0:{}:rc/:Qh|/Kh", "J:rc/Q:"),
        ("kuhn", "kuhn.limit.2p", "MATCHSTATE:0:{}:cr:Ks|", "Q:pb"),
        ("kuhn(players=3)", "kuhn.limit.3p", "MATCHSTATE:2:{}:cr:||Qs", "2:pb"),
    ):
        strategy = fp.solve(spec, "cfr+", iterations=200).strategy
        file = tmp_path / "saved.safetensors"
        strategy.save(file)
        assert definition_for(str(file)) == load_definition(game)[1]
        mine, notes = client(str(file), game)
        said = [str(mine.receive(line.format(hand)))[-1] for hand in range(4000)]
        assert notes == []
        shares = list(strategy[infoset].values())
        letters = list(mine.game.situation(line.split(":")[3]).actions)
        for letter, share in zip(letters, shares, strict=True):
            assert said.count(letter) / 4000 == pytest.approx(share, abs=0.03)


def test_agents_that_do_not_fit(tmp_path: Path) -> None:
    strategy = fp.solve("kuhn", "cfr+", iterations=10).strategy
    file = tmp_path / "kuhn.safetensors"
    strategy.save(file)
    for agent, game, says in (
        (str(file), "leduc.limit.2p", "is a strategy for kuhn.*not for leduc"),
        (str(file), "holdem.limit.2p", "is a strategy for kuhn.*not for holdem"),
        (
            "rules",
            "kuhn.limit.2p",
            "the bot rules plays holdem, not kuhn.*; an agent is a saved strategy or uniform",
        ),
        ("nobody", "holdem.limit.2p", "there is no file nobody"),
    ):
        with pytest.raises(FogplayError, match=says):
            client(agent, game)


def test_lines_in_any_order_do_no_harm() -> None:
    """The lines of a match doubled, cut short and shuffled: each is answered as if it were alone, or skipped."""
    heard: list[str] = []

    class Heard(Local):
        def send(self, lines: Sequence[str]) -> None:
            heard.extend(lines)
            super().send(lines)

    run(dealer_of("holdem.limit.2p", 100), [Heard(client("probe")[0]), Local(client("uniform")[0])])
    mine, _ = client("probe")
    said = {line: mine.receive(line) for line in heard}
    rng = random.Random(1)
    lines = [*heard, *heard, *(line[: rng.randrange(len(line))] for line in heard)]
    rng.shuffle(lines)
    other, _ = client("probe")
    other.receive(heard[0])
    for line in lines:
        answer = other.receive(line)
        assert answer == said[line] if line in said else answer is None or answer[:-2] == line


MINE, _ = client("probe")


@settings(max_examples=300)
@given(st.text(max_size=100), st.text("fcr/", max_size=30), st.text("23456789TJQKAcdhs|/", max_size=30))
def test_no_line_does_harm(text: str, betting: str, cards: str) -> None:
    for line in (
        text,
        f"MATCHSTATE:{text}",
        f"MATCHSTATE:0:0:{betting}:{cards}",
        f"MATCHSTATE:1:3:{betting}:|9hQd{cards}",
    ):
        if refusal(MINE.receive, line):
            assert "name the dealer's game" in refusal(MINE.receive, line)
        else:
            answer = MINE.receive(line)
            assert answer is None or answer[:-2] == line


def test_remarks_are_folded_by_kind() -> None:
    told: list[str] = []
    folded = Folded(told.append)
    for number in range(5):
        folded.add(f"hand {number}: Bo answered 'it\\'s {number}', taken as a call")
    folded.add("something else")
    for letter in string.ascii_letters:
        folded.add(f"kind {letter}")
    assert told[:3] == ["hand 0: Bo answered 'it\\'s 0', taken as a call", "something else", "kind a"]
    folded.close()
    assert told[MOST_KINDS:] == [f"4 more like this: {told[0]}", f"{2 + 52 - MOST_KINDS} other remarks"]
    assert folded.count == 58
    folded.close()
    assert len(told) == MOST_KINDS + 2


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=50))
def test_rates_are_means_with_standard_errors(results: list[float]) -> None:
    won = Winnings()
    for chips in results:
        won.add(chips)
    mean, error = won.rate(20)
    assert mean == pytest.approx(50 * np.mean(results))
    assert error == pytest.approx(50 * np.std(results, ddof=1) / np.sqrt(len(results)), rel=1e-3, abs=1e-3)
    assert clustered_rate(results, [1] * len(results), 20) == pytest.approx((mean, error), rel=1e-3, abs=1e-3)
    twice = clustered_rate([2 * chips for chips in results], [2] * len(results), 20)
    assert twice == pytest.approx((mean, error), rel=1e-3, abs=1e-3)  # copies of a hand tell nothing new


def test_fewer_than_two_hands_have_no_error() -> None:
    won = Winnings()
    assert won.rate(10)[0] == 0
    won.add(5)
    assert won.rate(10)[0] == 500
    assert math.isnan(won.rate(10)[1])
    assert math.isnan(clustered_rate([5], [1], 10)[1])
