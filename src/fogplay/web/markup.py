"""Pages as HTML text, from what a person may see. Everything that is not fogplay's own wording is escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fogplay.pictures import draw_sight
from fogplay.pictures.svg import escape
from fogplay.rooms import Finished, Look, Mean, Scores, Settings
from fogplay.rooms.store import PACES

MOST_BUTTONS = 24  # moves with a button of their own; more of them are typed
MOST_HISTORY = 12
MOST_OPTIONS = 8  # of a decision in a review
RARE = 0.005  # shares below which an option is not shown, unless its value is known or it was chosen
NOTHING = 5e-4  # what is shown as zero
SPARE = "asdfghjklqwertyuiopzxcvbm"  # keys for moves that have neither a letter nor a number of their own
HANDS_LINK = '<a data-in-room="hands">All hands</a>'
LOOKS = {  # how cards look is each browser's own matter: what can be chosen, and the choices
    "cards": ("Cards", (("drawn", "drawn"), ("faces", "pictures"))),
    "suits": ("Suits", (("two", "two colours"), ("four", "four colours"))),
}
DRILL_LINK = '<a data-in-room="drill">Drill what cost most</a>'
TABLE_LINK = '<a data-in-room="">Back to the table</a>'
NO_TURN = "The hand was over before you had to decide."
NO_CHOICE = "You had no choice, or nobody here can tell what was best."
LINKS = (("/", "Play"), ("/explore", "Explore"), ("/train", "Train"))


def head(title: str, here: str = "") -> str:
    """The top of every page."""
    links = "".join(
        f'<a href="{link}"{" aria-current=page" if link == here else ""}>{name}</a>' for link, name in LINKS
    )
    return f'<nav aria-label="Pages">{links}</nav><h1>{escape(title)}</h1>'


def room_page(
    look: Look,
    settings: Settings,
    scores: Scores,
    history: Sequence[Finished],
    reviewed: Finished | None = None,
    message: str = "",
) -> str:
    """The whole of a room: board, moves, log, score, history and a review."""
    sight = look.sight
    others = ", ".join(name for seat, name in enumerate(sight.names) if seat != sight.seat)
    game = called(settings.game)
    title = f"{game} against {others}" if others else game
    lines = "".join(f"<li>{escape(line)}</li>" for line in sight.lines)
    said = f'<p class="bad" role="alert">{escape(message)}</p>' if message else ""
    drawn = draw_sight(sight, faces=True)
    board = (
        f'<section aria-label="Table"><div class="board">{drawn}</div>'
        f'<p id="turn">{escape(_turn(look))}</p>{said}{_moves(look, settings)}'
        f'<ol class="log" aria-label="What happened" tabindex="0">{lines}</ol></section>'
    )
    more = f'<p class="links">{HANDS_LINK} {DRILL_LINK}</p>' if history else ""
    there = {"cards": "#face-(?!back)", "suits": '[" ]suit-'}  # what of their looks there is to choose
    looks = {what: re.search(sign, drawn) is not None for what, sign in there.items()}
    side = f"{_scores(scores)}{review_panel(reviewed)}{_history(history)}{more}{_settings(settings, sight, looks)}"
    kept = f'<span data-room="{escape(title)}"></span>'
    aside = f'<section aria-label="Score and reviews">{side}</section>'
    return f'<div class="page">{head(title)}{kept}<div class="room">{board}{aside}</div></div>'


def called(spec: str) -> str:
    """A game's spec as people read it: of a file only its name."""
    name, bracket, rest = spec.partition("(")
    return f"{Path(name).name}{bracket}{rest}"


def _turn(look: Look) -> str:
    sight = look.sight
    if look.score is None:
        known = "" if sight.situation.startswith("You see") else f" {sight.situation}."
        if sight.legal:
            return f"Hand {look.hand + 1}.{known} Your move."
        others = " and ".join(sight.names[seat] for seat in sight.to_act)
        return f"Hand {look.hand + 1}. {others} to move."
    won = f"win {look.score:g}" if look.score > 0 else f"lose {-look.score:g}" if look.score < 0 else "win nothing"
    return f"Hand {look.hand + 1} is over: you {won}."


def _moves(look: Look, settings: Settings) -> str:
    """Buttons for the moves, or for the next hand."""
    if look.sight.over:
        auto = f' data-auto="{1000 * settings.next_seconds:.0f}"' if settings.automatic else ""
        key = '<button data-do="next" data-key="n"'
        return f'<div class="moves">{key} data-hand="{look.hand}"{auto}>Next hand<kbd>n</kbd></button></div>'
    if not look.sight.legal:
        return '<div class="moves"></div>'
    where = f'data-hand="{look.hand}" data-decision="{look.decision}"'
    options, buttons = look.sight.options, []
    for place, (action, key) in enumerate(zip(look.sight.legal, keys_for(options), strict=True)):
        if place >= MOST_BUTTONS:
            break
        shown = f"<kbd>{key.split()[0]}</kbd>" if key else ""
        named = f' data-key="{key}"' if key else ""
        buttons.append(
            f'<button data-do="act" {where} data-action="{action}"{named}>{escape(options[place])}{shown}</button>'
        )
    typed = ""
    if len(options) > MOST_BUTTONS:
        label = f'aria-label="Type a move; {len(options)} are possible"'
        field = f'<input class="typed" {label} placeholder="type a move" autocomplete="off">'
        typed = f'{field}<button data-do="typed" {where}>Play</button>'
    return f'<div class="moves" role="group" aria-label="Your move">{"".join(buttons)}{typed}</div>'


def keys_for(options: Sequence[str]) -> list[str]:
    """The keys of each option: its first letter if no other has it, and its number; else a letter that is left.

    Where names are numbers, such as ``bid 3`` or cards, ``3`` is that name and not the third option.
    """
    first = [option[:1].lower() for option in options]
    last = [option.split()[-1].lower() if option.split() else "" for option in options]
    numbers = [word for word in last if len(word) == 1 and word.isdigit()]
    counted = (len(numbers) > 1 and len(set(numbers)) == len(numbers)) or any(map(str.isdigit, first))
    keys: list[list[str]] = []
    for place, (letter, word) in enumerate(zip(first, last, strict=True)):
        plain = letter.isascii() and letter.isalpha() and letter != "n"
        own = [letter] if plain and (first.count(letter) == 1 or options[place].lower() == letter) else []
        named = [word] if word in numbers and last.count(word) == 1 else []
        keys.append([*own, *(named if counted else [str(place + 1)] if place < 9 else [])])
    taken = {key for each in keys for key in each}
    spare = iter(letter for letter in SPARE if letter not in taken)
    return [" ".join(each or [next(spare, "")]) for each in keys]


def short(value: float, sign: str = "") -> str:
    """A number with three digits; what is too small to matter is 0. ``sign`` is ``+`` for what was won."""
    return "0" if abs(value) < NOTHING else f"{value:{sign}.3g}"


def pace_words(pace: str) -> str:
    """What a pace means."""
    move, after = PACES[pace]
    moves = f"Every move of the others is shown for {move:g} seconds" if move else "The others move at once"
    return f"{moves}. A hand that begins by itself does so after {after:g} second{'s' * (after != 1)}."


def _mean(mean: Mean) -> str:
    if not mean.hands:
        return "none yet"
    error = "" if math.isnan(mean.error) else f" ± {mean.error:.2g}"
    return f"{short(mean.mean, '+')}{error}"


def _scores(scores: Scores) -> str:
    rows = (
        ("Hands", f"{scores.raw.hands:,}"),
        ("Total", f"{scores.total:+g}"),
        ("Per hand", _mean(scores.raw)),
        ("Luck-adjusted", _mean(scores.adjusted)),
    )
    cells = "".join(f'<tr><th scope="row">{name}</th><td class="number">{text}</td></tr>' for name, text in rows)
    why = "Luck-adjusted: your result less what the reviewer makes with the same cards in the same seat."
    return f'<section class="panel" aria-label="Score"><table>{cells}</table><p class="soft">{why}</p></section>'


def _history(history: Sequence[Finished]) -> str:
    if not history:
        return ""
    rows = []
    for hand in reversed(history[-MOST_HISTORY:]):
        cost = "" if hand.cost is None else short(hand.cost)
        button = f'<button class="plain" data-do="review" data-hand="{hand.number}">Review {hand.number + 1}</button>'
        cells = f'<td class="number">{hand.seat}</td><td class="number">{hand.score:+g}</td>'
        rows.append(f'<tr><td>{button}</td>{cells}<td class="number">{cost}</td></tr>')
    named = "".join(f'<th scope="col" class="number">{name}</th>' for name in ("Seat", "Won", "Cost"))
    top = f'<th scope="col">Hand</th>{named}'
    return f'<section class="panel" aria-label="Earlier hands"><table><tr>{top}</tr>{"".join(rows)}</table></section>'


def _settings(settings: Settings, sight: Any, looks: dict[str, bool]) -> str:
    """Seat and pace, and where there are cards, their looks: which choice is made, and buttons for the others."""
    seats = [("", "changes"), *((str(seat), f"seat {seat}") for seat in range(len(sight.names)))]
    rows = (
        ("Your seat", "seat", seats, "" if settings.seat is None else str(settings.seat)),
        ("Pace", "pace", [(pace, pace) for pace in PACES], settings.pace),
        ("Next hand", "automatic", [("0", "on demand"), ("1", "by itself")], str(int(settings.automatic))),
    )
    parts = []
    for name, what, choices, chosen in rows:
        buttons = "".join(
            f'<button class="plain" data-do="set" data-what="{what}" data-value="{value}" '
            f'aria-pressed="{"true" if value == chosen else "false"}">{words}</button>'
            for value, words in choices
        )
        parts.append(f'<div class="choice" role="group" aria-label="{name}"><span>{name}</span>{buttons}</div>')
    for what, (name, offered) in LOOKS.items():
        if looks[what]:
            buttons = "".join(
                f'<button class="plain" data-look="{what}" data-value="{value}">{words}</button>'
                for value, words in offered
            )
            parts.append(f'<div class="choice" role="group" aria-label="{name}"><span>{name}</span>{buttons}</div>')
    return f'<section class="panel" aria-label="Settings"><h2>Settings</h2>{"".join(parts)}</section>'


def review_panel(hand: Finished | None) -> str:
    """What the reviewer says about a hand."""
    if hand is None:
        return ""
    inside = []
    if hand.review is None:
        inside.append('<p class="soft">Reviewing …</p>')
    elif not hand.review:
        decided = any(who == hand.seat for who, _ in hand.events)
        inside.append(f'<p class="soft">{NO_CHOICE if decided else NO_TURN}</p>')
    for made in hand.review or ():
        inside.append(decision_panel(made))
    name = f"Review of hand {hand.number + 1}"
    return f'<section class="panel" aria-label="{name}"><h2>{name}</h2>{"".join(inside)}</section>'


def decision_panel(made: dict[str, Any]) -> str:
    """A decision with the reviewer's probabilities, what each option earns, and the cost of the choice."""
    rows = []
    values = made["values"] or [None] * len(made["options"])
    order = sorted(range(len(made["options"])), key=lambda place: (-made["shares"][place], -(values[place] or 0.0)))
    shown = [place for place in order if values[place] is not None or made["shares"][place] >= RARE][:MOST_OPTIONS]
    if made["chosen"] not in shown:
        shown.append(made["chosen"])
    for place in shown:
        share, value = made["shares"][place], values[place]
        worth = "" if value is None else f"earns {short(value, '+')}"
        chosen = " chosen" if place == made["chosen"] else ""
        mark = " (you)" if chosen else ""
        rows.append(
            f'<div class="option{chosen}"><span>{escape(made["options"][place])}{mark}</span><span class="bar" '
            f'aria-hidden="true"><span style="width:{100 * share:.1f}%"></span></span>'
            f"<span>{100 * share:.0f} %</span><span>{worth}</span></div>"
        )
    return f'<h3 class="soft">{escape(made["situation"])}</h3>{"".join(rows)}<p>{escape(cost_words(made))}</p>'


def cost_words(made: dict[str, Any]) -> str:
    """The cost of a choice in words."""
    if made["cost"] is None:
        share = made["shares"][made["chosen"]]
        if share < RARE:
            return f"{made['by']} would not choose this."
        return f"{made['by']} would choose this with {100 * share:.0f} %."
    if made["cost"] < NOTHING and not made["error"]:
        return "Your choice cost nothing."
    error = f" ± {made['error']:.2g}" if made["error"] else ""
    return f"Your choice cost {short(made['cost'])}{error}."
