"""Logs of the competition as files that other programs read: CSV, and what else a game's notation knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fogplay.errors import FogplayError
from fogplay.notation.acpc import LoggedHand, read_hands
from fogplay.notation.records import Record, kinds_for
from fogplay.notation.talk import HIDDEN
from fogplay.play.table import Seen
from fogplay.protocols.acpc.game import AcpcGame
from fogplay.protocols.acpc.replay import Replay
from fogplay.storage import atomically


def write_records(path: Path, logs: Sequence[Replay]) -> None:
    """Write the hands of replayed logs, whole or not at all; the file's ending says how."""
    game = AcpcGame(logs[0].definition)
    kinds = {kind.ending: kind for kind in kinds_for(game.game).values() if kind.ending != "log"}
    kind = kinds.get(path.suffix.removeprefix("."))
    if kind is None:
        raise FogplayError(f"{path} must end in {' or '.join(f'.{ending}' for ending in kinds)}")
    hands = [recorded(game, hand) for log in logs for _, hand in read_hands(log.path)]
    with atomically(path) as temporary:
        Path(temporary).write_text(kind.write(game.game, hands), encoding="utf-8")


def recorded(game: AcpcGame, hand: LoggedHand) -> Record:
    """A logged hand by our rules, in our rules' seats and chips; cards that the log does not show are hidden."""
    ours = [game.fit.seat(seat) for seat in range(game.players)]
    names = tuple(hand.names[seat] for seat in ours)
    scores = tuple(hand.values[seat] / game.fit.scale for seat in ours)
    return Record(hand.number, 0, names, tuple(_events(game, hand)), scores, {})


def _events(game: AcpcGame, hand: LoggedHand) -> Iterator[Seen]:
    state = game.game.new_initial_state()
    cards = iter(game.dealt(hand.holes, hand.boards, game.situation(hand.betting)).cards)
    letters = iter(hand.betting.replace("/", ""))
    while not state.is_terminal():
        seat = state.current_player()
        action = next(cards) if state.is_chance_node() else state.limit_actions()[next(letters)]
        hidden = state.is_chance_node() and action == HIDDEN
        yield Seen(seat, None if hidden else action, None if hidden else state.action_to_string(seat, action))
        state = state.child(action)
