"""Pages as HTML text, from what a person may see. Everything that is not fogplay's own wording is escaped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fogplay.pictures import draw_sight
from fogplay.pictures.svg import escape
from fogplay.rooms import Finished, Look, Mean, Scores, Settings

MOST_BUTTONS = 24  # moves with a button of their own; more of them are typed
MOST_HISTORY = 12
AUTOMATIC = 2500  # milliseconds until the next hand
PRIMARY = "#0b5d3b"  # of buttons; white text on it is easy to read
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
    four: bool = False,
) -> str:
    """The whole of a room: board, moves, log, score, history and a review."""
    sight = look.sight
    others = ", ".join(name for seat, name in enumerate(sight.names) if seat != sight.seat)
    title = f"{settings.game} against {others}" if others else settings.game
    lines = "".join(f"<li>{escape(line)}</li>" for line in sight.lines)
    said = f'<p class="bad" role="alert">{escape(message)}</p>' if message else ""
    board = (
        f'<section aria-label="Table"><div class="board">{draw_sight(sight, four)}</div>'
        f'<p id="turn" role="status">{escape(_turn(look))}</p>{said}{_moves(look, settings)}'
        f'<ol class="log" aria-label="What happened" aria-live="polite" tabindex="0">{lines}</ol></section>'
    )
    colours = f'<button class="plain" data-do="colours">{"Two" if four else "Four"} colours</button>'
    more = '<p><a data-in-room="hands">All hands</a> <a data-in-room="drill">Drill</a></p>' if history else ""
    side = f"{_scores(scores)}{review_panel(reviewed)}{_history(history)}{more}<p>{colours}</p>"
    kept = f'<span data-room="{escape(title)}"></span>'
    aside = f'<section aria-label="Score and reviews">{side}</section>'
    return f'<div class="page">{head(title)}{kept}<div class="room">{board}{aside}</div></div>'


def _turn(look: Look) -> str:
    sight = look.sight
    if look.score is None:
        known = "" if sight.situation.startswith("You see") else f" {sight.situation}."
        return f"Hand {look.hand + 1}.{known} Your move." if sight.legal else f"Hand {look.hand + 1}."
    won = f"win {look.score:g}" if look.score > 0 else f"lose {-look.score:g}" if look.score < 0 else "win nothing"
    return f"Hand {look.hand + 1} is over: you {won}."


def _moves(look: Look, settings: Settings) -> str:
    """Buttons for the moves, or for the next hand."""
    if look.sight.over:
        auto = f' data-auto="{AUTOMATIC}"' if settings.automatic else ""
        key = '<button data-do="next" data-key="n"'
        return f'<div class="moves">{key} data-hand="{look.hand}"{auto}>Next hand<kbd>n</kbd></button></div>'
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
    """The keys of each option: its first letter if no other has it, and its number.

    Where names are numbers, such as ``bid 3`` or cards, ``3`` is that name and not the third option.
    """
    first = [option[:1].lower() for option in options]
    last = [option.split()[-1].lower() if option.split() else "" for option in options]
    counted = sum(len(word) == 1 and word.isdigit() for word in last) > 1 or any(map(str.isdigit, first))
    keys = []
    for place, (letter, word) in enumerate(zip(first, last, strict=True)):
        plain = letter.isascii() and letter.isalpha() and letter != "n"
        own = [letter] if plain and (first.count(letter) == 1 or options[place].lower() == letter) else []
        named = [word] if len(word) == 1 and word.isdigit() and last.count(word) == 1 else []
        number = named if counted else [str(place + 1)] if place < 9 else []
        keys.append(" ".join([*own, *number]))
    return keys


def _mean(mean: Mean) -> str:
    if not mean.hands:
        return "none yet"
    error = "" if math.isnan(mean.error) else f" ± {mean.error:.2g}"
    return f"{mean.mean:+.3g}{error}"


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
        cost = "" if hand.cost is None else f"{hand.cost:.3g}"
        button = f'<button class="plain" data-do="review" data-hand="{hand.number}">Review {hand.number + 1}</button>'
        cells = f'<td class="number">{hand.seat}</td><td class="number">{hand.score:+g}</td>'
        rows.append(f'<tr><td>{button}</td>{cells}<td class="number">{cost}</td></tr>')
    named = "".join(f'<th scope="col" class="number">{name}</th>' for name in ("Seat", "Won", "Cost"))
    top = f'<th scope="col">Hand</th>{named}'
    return f'<section class="panel" aria-label="Earlier hands"><table><tr>{top}</tr>{"".join(rows)}</table></section>'


def review_panel(hand: Finished | None) -> str:
    if hand is None:
        return ""
    inside = []
    if hand.review is None:
        inside.append('<p class="soft">Reviewing …</p>')
    elif not hand.review:
        inside.append('<p class="soft">There was nothing to decide, or nobody to learn from.</p>')
    for made in hand.review or ():
        inside.append(decision_panel(made))
    name = f"Review of hand {hand.number + 1}"
    return f'<section class="panel" aria-label="{name}"><h2>{name}</h2>{"".join(inside)}</section>'


def decision_panel(made: dict[str, Any]) -> str:
    """A decision with the reviewer's probabilities, what each option earns, and the cost of the choice."""
    rows = []
    values = made["values"] or [None] * len(made["options"])
    order = sorted(range(len(made["options"])), key=lambda place: -made["shares"][place])[:8]
    if made["chosen"] not in order:
        order.append(made["chosen"])
    for place in order:
        share, value = made["shares"][place], values[place]
        worth = "" if value is None else f", earns {value:+.3g}"
        chosen = " chosen" if place == made["chosen"] else ""
        mark = " (you)" if chosen else ""
        rows.append(
            f'<div class="option{chosen}"><span>{escape(made["options"][place])}{mark}</span><span class="bar" '
            f'aria-hidden="true"><span style="width:{100 * share:.1f}%"></span></span>'
            f"<span>{100 * share:.0f} %{worth}</span></div>"
        )
    return f'<h3 class="soft">{escape(made["situation"])}</h3>{"".join(rows)}<p>{escape(cost_words(made))}</p>'


def cost_words(made: dict[str, Any]) -> str:
    """The cost of a choice in words."""
    if made["cost"] is None:
        return f"{made['by']} would choose this with {100 * made['shares'][made['chosen']]:.0f} %."
    if made["cost"] < 5e-4 and not made["error"]:
        return "Your choice cost nothing."
    error = f" ± {made['error']:.2g}" if made["error"] else ""
    return f"Your choice cost {made['cost']:.3g}{error}."
