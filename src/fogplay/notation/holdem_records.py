"""Hands of limit hold'em as one seat saw them: as logs of the poker competition (ACPC), and as PHH (Kim 2023)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fogplay.cards.deck import card_name
from fogplay.games.game import CHANCE
from fogplay.games.holdem import Holdem, HoldemState
from fogplay.games.limit import CALL, FOLD
from fogplay.notation.acpc import LoggedHand, log_head, plain_name, print_hand
from fogplay.notation.records import Kind, Record
from fogplay.notation.talk import HIDDEN

UNKNOWN = "??"


def kinds(rules: Holdem) -> dict[str, Kind]:
    """Both notations; they know the full deck only."""
    return {"acpc": Kind("log", write_acpc), "phh": Kind("phhs", write_phh)} if rules.is_full() else {}


def write_acpc(rules: Holdem, hands: Sequence[Record]) -> str:
    """A line per hand."""
    lines = [log_head("fogplay-room", "holdem", len(hands), 0)]
    for hand in hands:
        *_, (_, _, end) = _steps(rules, hand)
        holes = tuple(_known(end.hole_cards(seat)) for seat in range(rules.players))
        names = tuple(plain_name(name) for name in hand.names)
        lines.append(
            print_hand(LoggedHand(hand.number, "/".join(end.betting), holes, _boards(end), hand.scores, names))
        )
    return "\n".join(lines) + "\n"


def write_phh(rules: Holdem, hands: Sequence[Record]) -> str:
    """Many hands in one file: a numbered section of each."""
    return "\n".join(f"[{place}]\n{phh(rules, hand)}" for place, hand in enumerate(hands, 1))


def phh(rules: Holdem, hand: Record) -> str:
    """One hand as the fields of a PHH file.

    With more than two players, amounts have a decimal point, so that readers split odd chips as our rules do.
    """
    stack = rules.most_paid() + max(rules.raises)  # nobody is ever all in
    # With two players, PHH names the blind of the button first, who is the second player.
    blinds = rules.blinds[::-1] if rules.players == 2 else rules.blinds
    amount = _amount(rules)
    stacks = [amount(stack)] * rules.players
    fields = {
        "variant": "'FT'",
        "ante_trimming_status": "true",
        "antes": str([amount(0)] * rules.players),
        "blinds_or_straddles": str([amount(blind) for blind in blinds]),
        "small_bet": str(amount(rules.raises[0])),
        "big_bet": str(amount(rules.raises[-1])),
        "starting_stacks": str(stacks),
        "actions": "[" + ", ".join(f"'{action}'" for action in _actions(rules, hand)) + "]",
        "hand": str(hand.number + 1),
        "players": json.dumps(list(hand.names)),
        "finishing_stacks": str([amount(before + won) for before, won in zip(stacks, hand.scores, strict=True)]),
    }
    return "".join(f"{name} = {value}\n" for name, value in fields.items())


def _actions(rules: Holdem, hand: Record) -> Iterator[str]:
    """The dealer's and the players' actions in PHH's words."""
    amount = _amount(rules)
    dealt, board, behind = 0, 0, 0  # players who have cards, cards on the board, what each paid in earlier rounds
    steps = list(_steps(rules, hand))
    end = steps[-1][2]
    for before, action, after in steps:
        if before.player == CHANCE:
            if after.player == CHANCE:
                continue
            for seat in range(dealt, rules.players):
                yield f"d dh p{seat + 1} {_cards(end.hole_cards(seat))}"
            dealt = rules.players
            shown = after.board_cards()
            if len(shown) > board:
                yield f"d db {_cards(shown[board:])}"
                board, behind = len(shown), max(after.paid)
        else:
            name = "f" if action == FOLD else "cc" if action == CALL else f"cbr {amount(max(after.paid) - behind)}"
            yield f"p{before.player + 1} {name}"
    still_in = [seat for seat, stays in enumerate(end.in_hand) if stays]
    for seat in still_in if len(still_in) > 1 else ():
        yield f"p{seat + 1} sm {_cards(end.hole_cards(seat))}"


def _steps(rules: Holdem, hand: Record) -> Iterator[tuple[HoldemState, int, HoldemState]]:
    """Every state of the hand, the action taken there, and the next state; cards that were not seen are hidden."""
    state: Any = rules.new_initial_state()
    for event in hand.seen:
        action = HIDDEN if event.action is None else event.action
        after = state.child(action)
        yield state, action, after
        state = after


def _boards(end: HoldemState) -> tuple[tuple[int, ...], ...]:
    board = end.board_cards()
    return tuple(part for part in (board[:3], board[3:4], board[4:5]) if part)


def _known(cards: Sequence[int]) -> tuple[int, ...]:
    return () if HIDDEN in cards else tuple(cards)


def _cards(cards: Sequence[int]) -> str:
    return "".join(UNKNOWN if card == HIDDEN else card_name(card) for card in cards)


def _amount(rules: Holdem) -> type[int] | type[float]:
    """How chips are written: two players split every pot evenly."""
    return int if rules.players == 2 else float
