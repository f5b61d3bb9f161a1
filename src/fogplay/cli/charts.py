"""What ``fogplay inspect`` shows of a strategy whose infosets are bets and buckets: a hand, or all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fogplay.cards.deck import RANKS, cards_name
from fogplay.cli.app import print_json
from fogplay.cli.console import say, table
from fogplay.errors import FogplayError
from fogplay.strategies import BettingStrategy
from fogplay.strategies.charts import Play, Spot, chart, play_of, spot

ROUNDS = ("before the flop", "on the flop", "on the turn", "on the river")
FEW = 100  # visits below which a chart marks a hand as hardly learned
NEVER, IMPOSSIBLE = "·", "-"


def inspect_betting(strategy: BettingStrategy, file: Path, infoset: str | None, board: str, as_json: bool) -> None:
    """Show a hand such as ``AsAd:r``, a bucket such as ``154:crc/r``, or without a hand the chart of all 169."""
    hand, colon, betting = (infoset or "").partition(":")
    if hand.isdigit() and colon:
        if board:
            raise FogplayError(f"a bucket such as {hand} stands for hands on all boards: leave --board out")
        _show_bucket(strategy, file, str(infoset), as_json)
        return
    at = spot(strategy, betting if colon else None, board)
    about = {"file": str(file), "game": strategy.game, "seat": at.seat, "round": at.round, "betting": at.betting}
    if hand:
        play = play_of(strategy, at, hand)
        if as_json:
            print_json(about | {"board": cards_name(at.board)} | _row(at, play))
            return
        _head(strategy, at)
        _show_hand(at, play, strategy.levels is not None)
        return
    rows = chart(strategy, at)
    if as_json:
        hands = [_row(at, play) for line in rows for play in line]
        print_json(about | {"board": cards_name(at.board), "hands": hands})
        return
    _head(strategy, at)
    _show_chart(at, rows, strategy.levels is not None)


def _row(at: Spot, play: Play) -> dict[str, Any]:
    chosen = dict(zip(at.actions, play.probabilities, strict=True)) if play.combinations else None
    return {
        "hand": play.hand,
        "combinations": play.combinations,
        "buckets": list(play.buckets),
        "probabilities": chosen,
        "visits": play.visits,
    }


def _head(strategy: BettingStrategy, at: Spot) -> None:
    say(f"{strategy.game}, by {strategy.method} after {strategy.iterations:,} iterations, {strategy.kind}")
    board = f" {cards_name(at.board)}" if at.board else ""
    after = f"after {at.betting}" if at.betting else "before any betting"
    say(f"Seat {at.seat} to act {ROUNDS[at.round]}{board}, {after}.")


def _show_hand(at: Spot, play: Play, counted: bool) -> None:
    if not play.combinations:
        say(f"{play.hand} is impossible with this board.")
        return
    show = table("hand", "bucket", "visits", "action", "probability")
    buckets = ", ".join(map(str, play.buckets[:4])) + (", …" if len(play.buckets) > 4 else "")
    for place, (action, share) in enumerate(zip(at.actions, play.probabilities, strict=True)):
        first = (play.hand, buckets, visits_in_words(play.visits, counted)) if place == 0 else ("", "", "")
        show.add_row(*first, action, f"{share:.3f}")
    say(show)
    if play.visits == 0:
        say("Never visited while learning: this is not learned, but what the strategy does where it knows nothing.")


def visits_in_words(visits: int | None, counted: bool) -> str:
    """``about 1,200``, ``never`` or ``not recorded``."""
    if visits is None or not counted:
        return "not recorded"
    return f"about {float(f'{visits:.2g}'):,.0f}" if visits else "never"


def _show_chart(at: Spot, rows: list[list[Play]], counted: bool) -> None:
    say("    " + "".join(f"{rank:>5}" for rank in reversed(RANKS)))
    for rank, line in zip(reversed(RANKS), rows, strict=True):
        say(f"   {rank}" + "".join(f"{_cell(at, play):>5}" for play in line))
    letters = ", ".join(f"{action[0].upper()} {action}" for action in at.actions)
    say(f"The likeliest action and its probability in percent (a letter alone: always): {letters}.")
    say("Suited hands above the diagonal, offsuit hands below.")
    plays = [play for line in rows for play in line if play.combinations]
    if not counted:
        say("Visits were not recorded in this file, so hands that were never met cannot be told from the others.")
        return
    never = [play.hand for play in plays if play.visits == 0]
    few = sum(1 for play in plays if play.visits is not None and 0 < play.visits < FEW)
    say(f"{NEVER} never visited while learning: {', '.join(never) or 'no hand'}.")
    say(f"? fewer than {FEW} visits: {few} hands.")


def _cell(at: Spot, play: Play) -> str:
    if not play.combinations:
        return IMPOSSIBLE
    if play.visits == 0:
        return NEVER
    place = max(range(len(at.actions)), key=lambda each: play.probabilities[each])
    doubt = "?" if play.visits is not None and play.visits < FEW else ""
    percent = round(100 * play.probabilities[place])
    return f"{at.actions[place][0].upper()}{percent if percent < 100 else ''}{doubt}"


def _show_bucket(strategy: BettingStrategy, file: Path, infoset: str, as_json: bool) -> None:
    """A bucket after some betting, such as ``154:crc/r``."""
    found = strategy.look_up(infoset)
    if as_json:
        facts = {"file": str(file), "game": strategy.game, "seat": found.seat, "round": found.round}
        print_json(facts | {"infoset": infoset, "probabilities": found.probabilities, "visits": found.visits})
        return
    say(f"{strategy.game}, by {strategy.method} after {strategy.iterations:,} iterations, {strategy.kind}")
    show = table("infoset", "seat", "round", "visits", "action", "probability")
    said = visits_in_words(found.visits, strategy.levels is not None)
    for place, (action, share) in enumerate(found.probabilities.items()):
        first = (infoset, str(found.seat), str(found.round), said) if place == 0 else ("",) * 4
        show.add_row(*first, action, f"{share:.3f}")
    say(show)
