"""The text of hand histories: parsing and printing are inverse, and errors name the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fogplay.errors import FogplayError
from fogplay.opponents.histories import Hand, Histories, parse, read, require_game, to_text, write
from fogplay.opponents.walk import complete
from fogplay.trees import flatten

LEDUC = flatten("leduc")
GOOD = "alice|bob: deal Js; deal Qh; call; raise; fold"


def test_the_example_of_the_docs() -> None:
    text = (
        "# fogplay histories 1\n"
        "# game: leduc(players=2,suits=seen)\n"
        "alice|bob: deal Js; ?; raise; call; deal Kh; call; raise; fold\n"
        "bob|alice: deal Qs; ?; raise; fold\n"
        "alice|bob: deal Js; ?; raise; call; deal Kh; call; raise; fold\n"
    )
    histories = parse(text)
    assert histories.game == "leduc(players=2,suits=seen)"
    assert histories.names == ("alice", "bob")
    assert histories.order.tolist() == [0, 1, 0]
    assert histories.counts.tolist() == [2, 1]
    assert histories.lines == (3, 4)
    assert histories.hands[1] == Hand(("bob", "alice"), ("deal Qs", "?", "raise", "fold"))
    assert to_text(histories) == text
    assert complete(LEDUC, histories).start.tolist() == [0, 4, 9]  # five unseen cards, less the king on the table


def test_blanks_comments_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "h.txt").write_bytes(
        b"\xef\xbb\xbf# anything\r\n\r\n  alice | bob :deal Js;deal Qh; call;raise;fold \r\n#\n" + GOOD.encode()
    )
    histories = read(tmp_path / "h.txt")
    assert histories.game is None
    assert {str(hand) for hand in histories.hands} == {GOOD}
    assert histories.lines[0] == 3
    assert len(histories.order) == 2


WORD = st.text(st.characters(exclude_characters="|:;#?\n\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda word: word == word.strip()
)
HANDS = st.lists(
    st.builds(
        Hand,
        st.lists(WORD, min_size=1, max_size=4).map(tuple),
        st.lists(WORD | st.just("?"), max_size=6).map(tuple),
    ),
    min_size=1,
    max_size=5,
    unique=True,
)


@given(HANDS, st.lists(st.integers(0, 4), max_size=8), st.none() | WORD)
def test_print_then_parse(hands: list[Hand], more: list[int], game: str | None) -> None:
    order = [*range(len(hands)), *(each % len(hands) for each in more)]
    histories = Histories(tuple(hands), np.array(order), game)
    again = parse(to_text(histories))
    assert again.hands == histories.hands
    assert again.order.tolist() == order
    assert again.game == game
    assert to_text(again) == to_text(histories)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.text("ab|:;?# \n"))
def test_any_text_is_parsed_or_refused_in_one_line(text: str) -> None:
    try:
        histories = parse(text)
    except FogplayError as error:
        message = str(error)
    else:
        again = parse(to_text(histories))
        assert [histories.hands[each] for each in histories.order] == [again.hands[each] for each in again.order]
        return
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "h.txt has no hands; expected lines like 'alice|bob: move; move; "),
        (b"\n\n# only a comment\n", "has no hands"),
        (b"\x80\x81", "line 1: not text in UTF-8"),
        (GOOD.encode() + b"\nalice|b\xffb: fold\n", "line 2: not text in UTF-8"),
        (GOOD.encode() + b"\n\n\0\0\0", "line 3: not text in UTF-8"),
        (b"# fogplay histories 2\n" + GOOD.encode(), "line 1: format '2' is unknown; this version reads up to 1"),
        (b"# fogplay histories x\n" + GOOD.encode(), "line 1: format 'x'"),
        (b"# game: kuhn\n# game: leduc\n", "line 2: the game is leduc here and kuhn before"),
        (b"# c\nalice bob fold", "line 2: no colon after the names in 'alice bob fold'"),
        (b"x" * 100_000, "no colon after the names in 'xxx"),
        (b"alice|: fold", "line 1: a name is missing in 'alice|'"),
        (b": fold", "line 1: a name is missing"),
        (b"alice|bob: deal Js;; fold", "line 1, move 2: there is nothing between two semicolons; write '?'"),
    ],
)
def test_files_that_are_no_histories(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "h.txt").write_bytes(content)
    with pytest.raises(FogplayError) as error:
        read(tmp_path / "h.txt")
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "h.txt"))
    assert len(str(error.value)) < 300


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FogplayError, match="there is no file"):
        read(tmp_path / "none")
    with pytest.raises(FogplayError, match="is a folder"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "alice|bob: deal Js; deal Qh; call; bet; fold",
            "line 3, move 4: 'bet' is not possible after deal Js; deal Qh; call; expected one of call, raise",
        ),
        (
            "alice|bob: deal 7s; deal Qh",
            "move 1: 'deal 7s' is not possible at the start; expected one of deal Jh, deal Js, ",
        ),
        (
            "alice|bob: deal Js; deal Js; call",
            "move 2: 'deal Js' is not possible after deal Js; expected one of deal Jh, ",
        ),
        ("alice|bob: deal Js; ?; fold", "move 3: 'fold' is not possible after deal Js; ?; expected one of call, raise"),
        (
            "alice|bob: deal Js; deal Qh; ?; raise",
            "move 3: '?' means a move of chance, but after deal Js; deal Qh 'alice' is to move; "
            "write the move, one of call, raise",
        ),
        ("alice|bob: deal Js; deal Qh; call; ?", "after deal Js; deal Qh; call 'bob' is to move"),
        (f"{GOOD}; fold", "move 6: the hand is over after deal Js; deal Qh; call; raise; fold, but it goes on with 'f"),
        (
            "alice|bob: deal Js; deal Qh; call",
            "line 3: the hand is not finished after deal Js; deal Qh; call; expected one of call, raise",
        ),
        ("alice|bob:", "line 3: the hand is not finished without any move; expected one of deal Jh, "),
        (
            "alice: deal Js; deal Qh; call; raise; fold",
            "line 3: 1 names ('alice'), but leduc(players=2,suits=seen) has 2 players",
        ),
        ("a|b|c: deal Js; deal Qh; call; raise; fold", "line 3: 3 names ('a', 'b', 'c'), but leduc"),
        ("alice|bob: " + "y" * 100_000, "move 1: 'yyy"),
        ("|".join(["a"] * 5000) + ": fold", "line 3: 5000 names ('a', "),
    ],
)
def test_hands_that_are_not_in_the_game(line: str, message: str) -> None:
    text = f"# game: leduc\n{GOOD}\n{line}\n{GOOD}\nalice|bob: zzz\n"
    with pytest.raises(FogplayError) as error:
        complete(LEDUC, parse(text, "hands.txt"))
    assert str(error.value).startswith("hands.txt, line 3")
    assert message in str(error.value)
    assert len(str(error.value)) < 400


def test_the_first_wrong_line_is_told() -> None:
    text = "\n".join([GOOD, "alice|bob: zzz", "alice|bob: aaa", "alice: deal Js; deal Qh; call; raise; fold"])
    with pytest.raises(FogplayError, match="line 2, move 1: 'zzz'"):
        complete(LEDUC, parse(text))


def test_many_moves_are_not_all_listed() -> None:
    with pytest.raises(FogplayError, match=r"deal 12, … \(200 in total\)"):
        complete(flatten("ocp(cards=200)"), parse("a|b: deal 0"))


@pytest.mark.parametrize("told", ["leduc", "leduc(2)", "leduc(suits=seen)", "leduc(players=2,suits=seen)"])
def test_the_same_game_in_other_words(told: str) -> None:
    require_game(parse(f"# game: {told}\n{GOOD}"), LEDUC.name)


@pytest.mark.parametrize(
    "told", ["kuhn", "leduc(players=3)", "leduc(", "nothing", "evil.py", "pyspiel:leduc_poker", ""]
)
def test_another_game(told: str) -> None:
    with pytest.raises(FogplayError, match=r"histories has hands of .*, not of leduc"):
        complete(LEDUC, parse(f"# game: {told}\n{GOOD}"))


def test_a_file_of_ones_own_is_compared_by_name_and_never_run(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "game.py").write_text(f"open({str(ran)!r}, 'w')")
    histories = parse(f"# game: {tmp_path}/game.py:Game(stake=3)\n{GOOD}")
    require_game(histories, "game.py:Game(stake=3)")
    with pytest.raises(FogplayError, match="has hands of"):
        require_game(histories, "game.py:Game(stake=4)")
    assert not ran.exists()


@pytest.mark.parametrize(
    ("hand", "message"),
    [
        (Hand(("a|b",), ("x",)), "the name 'a|b' cannot be in a history"),
        (Hand(("a:b",), ("x",)), "the name 'a:b'"),
        (Hand(("#a",), ("x",)), "'#' begins a comment"),
        (Hand((" a",), ("x",)), "the name ' a'"),
        (Hand(("a",), ("x; y",)), "the move 'x; y' cannot be in a history: a move has no ';'"),
        (Hand(("a",), ("x\ny",)), "no line breaks"),
        (Hand(("a",), ("",)), "the move ''"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, hand: Hand, message: str) -> None:
    with pytest.raises(FogplayError) as error:
        write(tmp_path / "h.txt", Histories((hand,), np.zeros(1, np.int64)))
    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == []
