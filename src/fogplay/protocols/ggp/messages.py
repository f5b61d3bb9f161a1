"""The messages of general game playing: parsed into data, and printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fogplay.errors import FogplayError
from fogplay.gdl.kif import parse, unparse
from fogplay.gdl.rules import Term

NIL = "nil"
PLAIN = ("info", "ping")
LONGEST_CLOCK = 86_400.0


@dataclass(frozen=True)
class Message:
    """A request: ``kind`` is info, ping, start, preview, play, stop or abort; the rest is as far as the kind has it."""

    kind: str
    match: str = ""
    role: str = ""
    rules: str = ""  # text
    start_clock: float = 0.0
    play_clock: float = 0.0
    moves: tuple[Term, ...] | None = None  # of all roles in their order; None before the first
    turn: int | None = None  # GDL-II
    own: Term | None = None  # GDL-II: the move that the server took for this role
    percepts: tuple[Term, ...] = ()


def read(text: str) -> Message:
    """The message in a text. What a PLAY's list means, moves or percepts, is for the match to say."""
    forms = [form for form, _ in parse(text, "the message")]
    if len(forms) != 1:
        raise FogplayError(f"a message is one list, such as (info), not {len(forms)} of them")
    form = forms[0]
    parts = (form,) if isinstance(form, str) else tuple(form)
    kind = parts[0] if parts and isinstance(parts[0], str) else ""
    if kind in PLAIN:
        return Message(kind)
    if kind == "start":
        match, role, rules, start, play = _parts(parts, 6, "(START MATCH ROLE (RULE …) STARTCLOCK PLAYCLOCK)")
        return Message(kind, match, role, _rules(rules), _clock(start), _clock(play))
    if kind == "preview":
        rules, clock = _parts(parts, 3, "(PREVIEW (RULE …) CLOCK)")
        return Message(kind, rules=_rules(rules), start_clock=_clock(clock))
    if kind == "abort":
        (match,) = _parts(parts, 2, "(ABORT MATCH)")
        return Message(kind, match)
    if kind in ("play", "stop"):
        return _moves(kind, parts)
    raise FogplayError(
        f"there is no message {kind or unparse(form)[:40]!r}; there are INFO, PREVIEW, START, PLAY, STOP and ABORT"
    )


def _moves(kind: str, parts: Sequence[Any]) -> Message:
    if len(parts) == 5:
        _, match, turn, own, percepts = parts
        if not isinstance(turn, str) or not turn.isdecimal() or len(turn) > 9:
            raise FogplayError(f"the turn of a {kind} is a whole number, not {unparse(turn)[:40]}")
        return Message(
            kind, _word(match), turn=int(turn), own=None if own == NIL else own, percepts=_list(percepts) or ()
        )
    match, moves = _parts(parts, 3, f"({kind.upper()} MATCH (MOVE …))")
    return Message(kind, _word(match), moves=_list(moves), percepts=_list(moves) or ())


def _parts(parts: Sequence[Any], count: int, form: str) -> Sequence[Any]:
    if len(parts) != count:
        raise FogplayError(f"a message {parts[0]} has {count - 1} parts, not {len(parts) - 1}; write {form}")
    return parts[1:]


def _word(term: Any) -> str:
    return term if isinstance(term, str) else unparse(term)


def _list(term: Any) -> tuple[Term, ...] | None:
    if term == NIL or term == ():
        return None
    return tuple(map(plain, term)) if not isinstance(term, str) else (term,)


def plain(term: Any) -> Term:
    """A term as rules have it: tuples, and a list of one word as the word."""
    if isinstance(term, str):
        return term
    return plain(term[0]) if len(term) == 1 else tuple(map(plain, term))


def _rules(form: Any) -> str:
    if isinstance(form, str):
        raise FogplayError("the rules of a START are a list of rules")
    return "\n".join(map(unparse, form))


def _clock(word: Any) -> float:
    try:
        seconds = float(word)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0.0 <= seconds <= LONGEST_CLOCK:
        raise FogplayError(f"a clock is a number of seconds, not {unparse(word)[:40]}")
    return seconds


def moves_text(moves: Sequence[Term] | None) -> str:
    return NIL if not moves else "(" + " ".join(map(unparse, moves)) + ")"


def start(match: str, role: str, rules: str, start_clock: float, play_clock: float) -> str:
    return f"(START {match} {role} ({rules}) {start_clock:g} {play_clock:g})"


def play(match: str, moves: Sequence[Term] | None, kind: str = "PLAY") -> str:
    return f"({kind} {match} {moves_text(moves)})"


def perceive(match: str, turn: int, own: Term | None, percepts: Sequence[Term], kind: str = "PLAY") -> str:
    """A PLAY or STOP of GDL-II."""
    last = NIL if own is None else unparse(own)
    return f"({kind} {match} {turn} {last} {moves_text(percepts)})"
