"""What the commands for the competition's protocol report at their end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fogplay.cli.app import print_json
from fogplay.cli.console import counted, say, table


@dataclass(frozen=True)
class Place:
    """A player as the user named it: a name, and an agent or the port to which it connects."""

    name: str
    agent: str | None  # a fogplay agent, in this process
    port: int | None  # for a player over the network


def chips_of(won: float) -> str:
    """Chips as text; a split pot can give fractions."""
    return f"{won:+,.0f}" if won == round(won) else f"{won:+,.2f}"


def rate_of(mean: float, error: float) -> str:
    """A result in mb/h with its standard error, if there is one."""
    return f"{mean:+,.1f}" if math.isnan(error) else f"{mean:+,.1f} ± {error:,.1f}"


def _show_players(rows: Sequence[dict[str, Any]]) -> None:
    show = table("player", "chips", "mb/h ± standard error")
    for row in rows:
        show.add_row(row["name"], chips_of(row["chips"]), rate_of(row["mb/h"], row["standard_error"]))
    say(show)


def report_joined(client: Any, agent: str, seed: int, seconds: float, as_json: bool) -> None:
    """The end of ``join``."""
    big_blind = client.game.definition.big_blind
    mean, error = client.won.rate(big_blind)
    if as_json:
        facts = {
            "game": str(client.game.game),
            "agent": agent,
            "hands": client.hands,
            "chips": client.chips,
            "big_blind": big_blind,
            "mb/h": mean,
            "standard_error": error,
        }
        rest = {"seconds": seconds, "seed": seed, "remarks": client.notes.count, "finished": client.in_hand is None}
        print_json(facts | rest)
        return
    won = f"{chips_of(client.chips)} chips (a big blind is {big_blind}), {rate_of(mean, error)} mb/h"
    say(f"{counted(client.hands, 'hand')}, {won} (seed {seed})")


def report_dealt(
    dealer: Any, places: Sequence[Place], before: int, seconds: float, log: Path | None, as_json: bool
) -> None:
    """The end of ``deal``; ``before`` hands were in the log that it continued."""
    terms, big_blind, rows = dealer.terms, dealer.game.definition.big_blind, list[dict[str, Any]]()
    for number, place in enumerate(places):
        mean, error = dealer.won[number].rate(big_blind)
        left = dealer.gone.get(number)
        row = {"name": place.name, "agent": place.agent, "chips": dealer.totals[number]}
        row |= {"mb/h": mean, "standard_error": error}
        rows.append(row | {"out": left.why if left else None, "out_in_hand": left.hand if left else None})
    if as_json:
        facts = {"game": terms.game, "hands": dealer.hand, "resumed_at": before, "seed": terms.seed, "turn": terms.turn}
        rate = {"seconds": seconds, "hands_per_second": (dealer.hand - before) / max(seconds, 1e-9)}
        rest = {"ended": dealer.ended, "remarks": dealer.notes.count, "big_blind": big_blind, "players": rows}
        print_json(facts | rate | rest | {"log": str(log) if log else None})
        return
    earlier = f", the first {before:,} of them earlier" if before else ""
    say(f"{terms.game}: {dealer.hand:,} of {counted(terms.hands, 'hand')} in {seconds:.2f} s{earlier}")
    _show_players(rows)
    for row in rows:
        if row["out"] is not None and dealer.ended is None:
            say(f"{row['name']} left in hand {row['out_in_hand']} ({row['out']}) and checked or folded from then on")


def report_replayed(logs: Sequence[Any], combined: Any, export: Path | None, as_json: bool) -> None:
    """The end of ``replay``."""
    rows = [
        {"name": name, "chips": won.chips, "mb/h": won.rate, "standard_error": won.error}
        for name, won in combined.players.items()
    ]
    if as_json:
        each = [{"log": log.path, "hands": log.hands, "finished": log.score is not None} for log in logs]
        facts = {"game": logs[0].game, "hands": combined.hands, "deals": combined.deals}
        rest = {"finished": all(log.score is not None for log in logs), "logs": each, "players": rows}
        written = {} if export is None else {"export": str(export)}
        print_json(facts | rest | {"big_blind": logs[0].definition.big_blind} | written)
        return
    for log in logs:
        end = "" if log.score is not None else "; there is no score: the match was cut off"
        follow = "follows" if log.hands == 1 else "follow"
        say(f"{log.path}: {counted(log.hands, 'hand')} of {log.game} {follow} the rules{end}")
    if combined.deals < combined.hands:
        hands, deals = counted(combined.hands, "hand"), counted(combined.deals, "deal")
        say(f"{hands} with the cards of {deals}: duplicates count as one")
    _show_players(rows)
    if export is not None:
        say(f"the hands are in {export}")
