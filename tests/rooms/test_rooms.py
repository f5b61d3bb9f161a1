"""Rooms: hands, scores, secrets and what survives."""

from __future__ import annotations

import json
import math
import random
import sqlite3
import threading
from pathlib import Path

import pytest

from fogplay.errors import FogplayError
from fogplay.games.game import CHANCE
from fogplay.pictures import draw_sight
from fogplay.rooms import Hall, Mean, Scores, Settings, Store, opponents_for
from tests.rooms.helpers import hall_at, play_hand, room_of

GAMES = ("kuhn", "kuhn(players=3)", "ocp", "leduc", "goofspiel", "pam", "rps", "repeated", "kuhn.kif")


@pytest.mark.parametrize("game", GAMES)
def test_hands_are_played_counted_and_kept(tmp_path: Path, game: str) -> None:
    hall, rng = hall_at(tmp_path, ("kuhn.kif",)), random.Random(2)
    room = hall.create(Settings(game, "best"), "5")
    scores = []
    for number in range(3):
        look = play_hand(room, rng)
        assert look.hand == number
        assert look.sight.seat == number % len(look.sight.names)
        scores.append(look.score)
        room.next_hand(number)
    kept = room.history()
    assert [hand.score for hand in kept] == scores
    assert room.scores().raw.mean == pytest.approx(sum(scores) / 3)


def test_the_person_may_stay_at_a_seat(tmp_path: Path) -> None:
    room, rng = room_of(tmp_path, "kuhn", seat=1), random.Random(0)
    for number in range(3):
        assert play_hand(room, rng).sight.seat == 1
        room.next_hand(number)


def test_a_decision_is_made_once_and_only_if_it_is_possible(tmp_path: Path) -> None:
    room = room_of(tmp_path, "leduc", seat=0)
    look = room.look()
    with pytest.raises(FogplayError, match="not possible here"):
        room.act(look.hand, look.decision, 77)
    with pytest.raises(FogplayError, match="not over"):
        room.next_hand(look.hand)
    assert room.look() == look
    room.act(look.hand, look.decision, look.sight.legal[0])
    after = room.look()
    with pytest.raises(FogplayError, match="made already"):
        room.act(look.hand, look.decision, look.sight.legal[0])
    assert room.look() == after
    play_hand(room, random.Random(1))
    with pytest.raises(FogplayError, match="made already"):
        room.act(after.hand, after.decision, 1)
    room.next_hand(0)
    with pytest.raises(FogplayError, match="not over"):
        room.next_hand(0)  # a second click begins nothing


def test_another_process_finds_the_room_at_the_same_decision_and_plays_on_alike(tmp_path: Path) -> None:
    first = room_of(tmp_path, "leduc")
    other = Hall(Store(tmp_path / "copy.sqlite"), ("kuhn",)).create(Settings("leduc", "best"), "1")
    rng = random.Random(3)
    for _ in range(12):
        again = hall_at(tmp_path).room(first.kept.secret)  # as after a restart
        look = again.look()
        assert look == other.look()
        if look.sight.over:
            again.next_hand(look.hand)
            other.next_hand(look.hand)
        else:
            action = rng.choice(look.sight.legal)
            again.act(look.hand, look.decision, action)
            other.act(look.hand, look.decision, action)


def test_only_the_secret_opens_a_room(tmp_path: Path) -> None:
    hall = hall_at(tmp_path)
    one, two = (hall.create(Settings("kuhn", "best")) for _ in range(2))
    assert one.kept.secret != two.kept.secret
    assert hall.room(one.kept.secret) is one
    for wrong in ("", "1", one.kept.secret[:-1], one.kept.secret + "x", "%", "' OR 1=1 --", "é"):
        with pytest.raises(FogplayError, match="no such room"):
            hall.room(wrong)


@pytest.mark.parametrize(
    ("game", "opponent", "match"),
    [
        ("/etc/passwd", "best", "no game is called"),
        ("evil.py", "best", "no game is called"),
        ("pyspiel:kuhn_poker", "best", "no game is called"),
        ("matrix(payoffs=../secret.csv)", "best", "no game is called"),
        ("kuhn", "program:touch x", "not an opponent here"),
        ("kuhn", "search:uct:1e9s", "not an opponent here"),
        ("kuhn", "/tmp/x.safetensors", "not an opponent here"),
        ("kuhn(players=99)", "best", "players"),
    ],
)
def test_pages_may_ask_only_for_what_is_offered(tmp_path: Path, game: str, opponent: str, match: str) -> None:
    with pytest.raises(FogplayError, match=match):
        hall_at(tmp_path).create(Settings(game, opponent))


def test_seats_are_checked(tmp_path: Path) -> None:
    with pytest.raises(FogplayError, match="seats 0 to 1"):
        hall_at(tmp_path).create(Settings("kuhn", "best", 2))


def test_saved_strategies_of_the_game_are_offered_and_others_left_out(tmp_path: Path) -> None:
    import fogplay as fp

    for game in ("kuhn", "leduc"):
        fp.solve(game, iterations=10).strategy.save(tmp_path / f"{game}.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"no")
    files = sorted(tmp_path.glob("*.safetensors"))
    texts = [each.text for each in opponents_for("kuhn", files)]
    assert str(tmp_path / "kuhn.safetensors") in texts
    assert not any("leduc" in text or "broken" in text for text in texts)
    hall = Hall(Store(tmp_path / "rooms.sqlite"), ("kuhn",), files)
    room = hall.create(Settings("kuhn", str(tmp_path / "kuhn.safetensors")))
    assert room.company.reference.name == "kuhn"
    assert play_hand(room, random.Random(0)).sight.over


def test_nothing_hidden_is_in_any_byte_before_the_showdown(tmp_path: Path) -> None:
    """The same hand with other hidden cards gives the same bytes, as long as the bot acts alike."""
    room = room_of(tmp_path, "leduc", "uniform", seat=0, seed="a very secret seed")
    checked = 0
    for number in range(60):
        look = room.look()
        while not look.sight.over:
            events = room._table.events
            hidden = next(event.action for event in events if event.seat == CHANCE and 0 not in event.seen_by)
            shown = look.sight.seen[1]
            assert shown.action is None
            assert shown.name is None
            bytes_ = draw_sight(look.sight) + repr(look.sight)
            name = room.company.rules.card_to_string(hidden)
            assert f"deal {name}" not in bytes_
            assert room.kept.seed not in bytes_
            assert room.kept.secret not in bytes_
            checked += 1
            room.act(look.hand, look.decision, look.sight.legal[-1 if number % 2 else 0])
            look = room.look()
        room.next_hand(number)
    assert checked > 60


def test_luck_is_taken_out_of_the_adjusted_score(tmp_path: Path) -> None:
    """A person who plays like the reference has an adjusted score near zero, with a smaller error than the raw one."""
    room = room_of(tmp_path, "leduc")
    reference = room.company.reference.agent
    for number in range(120):
        look = room.look()
        while not look.sight.over:
            view = room._table.view(look.sight.seat)
            room.act(look.hand, look.decision, reference.act(view))
            look = room.look()
        room.settle(number)
        room.next_hand(number)
    scores = room.scores()
    assert scores.adjusted.hands == scores.raw.hands == 120
    assert abs(scores.adjusted.mean) < 3 * scores.adjusted.error
    assert scores.adjusted.error < 0.8 * scores.raw.error


def test_means_and_errors() -> None:
    found = Mean.of([1.0, 3.0])
    assert (found.hands, found.mean, found.error) == (2, 2.0, 1.0)
    assert math.isnan(Mean.of([1.0]).error)
    assert math.isnan(Mean.of([]).mean)
    scores = Scores.of([(2.0, 1.0), (4.0, None), (0.0, 1.0)])
    assert (scores.total, scores.adjusted.hands, scores.adjusted.mean) == (6.0, 2, 0.0)


def test_a_finished_hand_cannot_be_written_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "rooms.sqlite")
    kept = store.create(Settings("kuhn", "best"))
    store.write(kept.id, 0, 0, [(0, 1)], None)
    store.write(kept.id, 0, 0, [(0, 1), (1, 1)], 2.0)
    with pytest.raises(FogplayError, match="over already"):
        store.write(kept.id, 0, 0, [(0, 0)], -1.0)
    assert store.finished(kept.id)[0].score == 2.0


def test_foreign_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, but long enough to look like one" * 50)
    with pytest.raises(FogplayError, match="cannot be used to keep rooms"):
        Store(tmp_path / "text")
    base = sqlite3.connect(tmp_path / "newer")
    base.execute("PRAGMA user_version=99")
    base.close()
    with pytest.raises(FogplayError, match="another version"):
        Store(tmp_path / "newer")


def test_a_review_is_made_once_and_kept(tmp_path: Path) -> None:
    room = room_of(tmp_path, "kuhn")
    with pytest.raises(FogplayError, match="no finished hand"):
        room.settle(0)
    play_hand(room, random.Random(4))
    first = room.settle(0)
    assert room.settle(0) == first
    assert json.dumps(first.review)


def test_looking_waits_for_nobody_who_thinks(tmp_path: Path) -> None:
    """A review may hold the table for seconds; pages are drawn all the same."""
    room = room_of(tmp_path, "kuhn")
    held, done, found = threading.Event(), threading.Event(), []

    def think() -> None:
        with room._lock:
            held.set()
            done.wait(20)

    thinker = threading.Thread(target=think)
    thinker.start()
    held.wait(20)
    looker = threading.Thread(target=lambda: found.extend([room.look(), room.scores(), room.history(3)]))
    looker.start()
    looker.join(10)
    done.set()
    thinker.join()
    looker.join()
    assert len(found) == 3


def test_the_machine_of_a_rule_sheet_is_asked_by_one_thread(tmp_path: Path) -> None:
    room = hall_at(tmp_path, ("kuhn.kif",)).create(Settings("kuhn.kif", "best"), "1")
    assert room.company.is_quick
    assert not room.company.is_shared
    assert room_of(tmp_path, "kuhn").company.is_shared
