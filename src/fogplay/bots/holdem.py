"""Named bots, for any limit hold'em of 52 cards.

``always-fold`` folds to every bet and otherwise checks; ``always-call`` calls; ``always-raise`` raises while it may;
``probe`` calls or raises, and ``uniform`` does anything, with equal probabilities. ``rules`` plays by rules of thumb
about hand strength and pot odds, ``sparring`` a near-equilibrium of the two-player game with 10 buckets per round
(benchmarks/train_sparring.py). ``smooth-uct`` takes the best action of what Smooth UCT learned in as many episodes as
in the paper of 2015, with two players or three; ``smooth-uct-average`` plays its average strategy
(benchmarks/train_smooth_uct.py). ``champion`` learned by CFR-BR to be hard to exploit, with two players
(benchmarks/champion.py).

The rules of ``rules``. The strength of a hand is its effective hand strength, the probability of beating one random
hand in the end, to the power of the number of opponents, less 0.03 for every raise that others have made in the hand:
a raiser's hand is not random. Then

- facing a bet: raise from 0.62 on, and 0.07 more for every raise of this round; else call if the strength is at least
  the pot odds, to call / (pot + to call); else fold. Of hands from 0.9 on, 15 % only call, to raise later; against one
  opponent and at most one raise in the round, 4 % of the hands to be folded are raised as a bluff.
- nothing to call: bet from 0.52 on; else check. Of hands from 0.9 on, 20 % check, to raise later; below 0.35, 10 % are
  bet as a bluff, and 20 % on the button.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fogplay.errors import FogplayError
from fogplay.games.game import TERMINAL
from fogplay.games.holdem import Holdem
from fogplay.games.limit import FOLD, RAISE
from fogplay.jit import kernel, piece
from fogplay.simulators.holdem_duplicate import smallest_tree
from fogplay.strategies.betting import BettingStrategy
from fogplay.strategies.packing import WHOLE
from fogplay.strategies.policy import BLIND, PLACE, BettingPolicy, placed, policy_of
from fogplay.trees.betting import Betting, paid_by

RULES_BUCKETS = 100
RULES_GRID = f"ehs:{'/'.join([str(RULES_BUCKETS)] * 4)}"
WIDTH = 3  # slots of an infoset here, whatever it offers

# The features of a node that `rules` uses, and their numbers of values; a class of nodes has one value of each.
_FACING, _RAISE, _OPPONENTS, _BUTTON, _RAISED, _HEAT, _ODDS = 2, 2, 2, 2, 5, 9, 64
_CLASSES = _FACING * _RAISE * _OPPONENTS * _BUTTON * _RAISED * _HEAT * _ODDS

_8 = 8  # bits per player for the raises it made


def bot(name: str, rules: Holdem, betting: Betting) -> BettingPolicy:
    """A bot by its name, for a betting tree of these rules; those in ``TRAINED`` have one of their own."""
    if name not in BOTS:
        raise FogplayError(f"there is no bot '{name}'; there are {', '.join(BOTS)}")
    return BOTS[name](rules, betting)


def names(rules: Holdem) -> tuple[str, ...]:
    """The bots that can play these rules."""
    return tuple(BOTS) if rules.is_full() else ()


def opponents(rules: Holdem) -> dict[str, str]:
    """A sentence on the strength of every bot that can play these rules, by name; the strongest come first.

    Numbers are those of docs/matches.md: thousandths of a big blind per hand (mb/h), two players.
    """
    players = rules.players if _is_usual(rules) else 0
    able = [name for name in reversed(STRENGTHS) if name not in TRAINED or players in TRAINED[name]]
    return {name: STRENGTHS[name] for name in able} if rules.is_full() else {}


def default(rules: Holdem) -> str | None:
    """The strongest bot that can play these rules, if any can."""
    if not rules.is_full():
        return None
    return next((name for name in BEST if rules.players in TRAINED[name]), "rules") if _is_usual(rules) else "rules"


def yardsticks(rules: Holdem) -> tuple[str, ...]:
    """The bots to measure a strategy by, from the weakest to the strongest."""
    if not rules.is_full():
        return ()
    trained_too = rules.players == 2 and _is_usual(rules)  # with three players they take gigabytes
    return tuple(name for name in YARDSTICKS if trained_too or name not in TRAINED)


def _is_usual(rules: Holdem) -> bool:
    """Whether the betting is the competition's, which trained bots know."""
    usual = Holdem(players=rules.players)
    return (rules.raises, rules.max_raises, rules.blinds) == (usual.raises, usual.max_raises, usual.blinds)


def bots(wanted: Sequence[str], rules: Holdem, company: Sequence[Any] = ()) -> dict[str, BettingPolicy]:
    """Bots by name; those that need a betting tree share that of another agent in ``company``, if one has it."""
    found = {name: trained(name, rules) for name in wanted if name in TRAINED}
    betting = next((each.betting for each in (*company, *found.values()) if hasattr(each, "betting")), None)
    for name in wanted:
        if name not in found:
            betting = betting or smallest_tree(rules)
            found[name] = bot(name, rules, betting)
    return found


def _unseeing(fold: float, call: float, raise_: float) -> Callable[[Holdem, Betting], BettingPolicy]:
    """A bot that ignores its cards and plays legal actions by their weights; it calls if those are all zero."""

    def make(_: Holdem, betting: Betting) -> BettingPolicy:
        place, share = np.zeros(len(betting.nodes), PLACE), np.zeros(4 * WIDTH, np.uint8)
        place["slot"] = WIDTH * (2 * (betting.nodes["calling"] > 0) + may_raise(betting))
        for kind in range(4):
            wanted = [fold] * (kind >> 1) + [call] + [raise_] * (kind & 1)
            if sum(wanted) == 0:
                wanted[kind >> 1] = 1.0
            sums = np.floor(np.cumsum([0.0, *wanted]) / sum(wanted) * WHOLE + 0.5)
            share[kind * WIDTH : kind * WIDTH + len(wanted)] = np.diff(sums)
        return placed(betting, place, share, BLIND)

    return make


def may_raise(betting: Betting) -> NDArray[np.bool_]:
    """[nodes] whether the player to act may raise."""
    may: NDArray[np.bool_] = betting.nodes["count"] > betting.nodes["calling"] + 1
    return may


def _rules(rules: Holdem, betting: Betting) -> BettingPolicy:
    nodes = betting.nodes
    place = np.zeros(len(nodes), PLACE)
    paid, raised = np.zeros(len(nodes), np.int64), np.zeros((len(nodes), 2), np.int32)
    _classify(nodes, np.array(rules.raises, np.int64), np.array(rules.blinds, np.int64), paid, raised, place)
    share = np.zeros(_CLASSES * RULES_BUCKETS * WIDTH, np.uint8)
    _decide(share)
    return placed(betting, place, share, RULES_GRID)


def trained(name: str, rules: Holdem) -> BettingPolicy:
    """A bot whose profiles, by the number of players, come with the package."""
    if rules.players not in TRAINED[name]:
        those = " and ".join(("two", "three")[players - 2] for players in TRAINED[name])
        raise FogplayError(f"the bot {name} is for {those} players; rules, probe and always-call are for any number")
    with resources.as_file(resources.files("fogplay.bots") / "data" / f"{name}-{rules.players}.safetensors") as path:
        return policy_of(BettingStrategy.read(path), rules)


def _trained(name: str) -> Callable[[Holdem, Betting], BettingPolicy]:
    return lambda rules, _: trained(name, rules)


YARDSTICKS = ("always-call", "always-raise", "rules", "sparring", "smooth-uct")  # from the weakest to the strongest
TRAINED = {"sparring": (2,), "smooth-uct": (2, 3), "smooth-uct-average": (2, 3), "champion": (2,)}  # by players
BEST = ("champion", "smooth-uct")  # the first that knows the number of players
STRENGTHS = {  # from the weakest to the strongest
    "always-fold": "Folds to every bet: loses 750 mb/h (thousandths of a big blind per hand) to always-raise.",
    "uniform": "Makes every move with the same probability: loses 938 mb/h to rules and 2,906 to always-raise.",
    "always-raise": "Raises while it may, whatever it holds: loses 1,724 mb/h to rules.",
    "probe": "Calls or raises, whatever it holds: loses 1,571 mb/h to rules.",
    "always-call": "Calls every bet and never raises: loses 934 mb/h to rules.",
    "rules": "Follows rules of thumb about hand strength and pot odds: loses 119 mb/h to sparring, 234 to smooth-uct.",
    "sparring": "A near-equilibrium of a coarse game with 10 groups of hands per round: loses 40 mb/h to smooth-uct.",
    "smooth-uct-average": "The average strategy behind smooth-uct, harder to exploit: wins 103 mb/h from rules, and no "
    "opponent wins more than 367.5 from it.",
    "smooth-uct": "Wins most from other bots, learned by self-play: 234 mb/h from rules and 40 from sparring.",
    "champion": "The hardest to exploit, learned against opponents that answer best: none wins more than 111.5 mb/h "
    "from it.",
}
BOTS: dict[str, Callable[[Holdem, Betting], BettingPolicy]] = {
    "always-fold": _unseeing(1.0, 0.0, 0.0),
    "always-call": _unseeing(0.0, 1.0, 0.0),
    "always-raise": _unseeing(0.0, 0.0, 1.0),
    "probe": _unseeing(0.0, 1.0, 1.0),
    "uniform": _unseeing(1.0, 1.0, 1.0),
    "rules": _rules,
    **{name: _trained(name) for name in TRAINED},
}


# ---- The rules of `rules`


@kernel
def _classify(nodes, raises, blinds, paid, raised, place):
    """Fill ``place[nodes]`` with the slots of every decision node's class.

    ``paid[nodes]`` (16 bits per player) and ``raised[nodes, 2]`` (in this round; in the hand, 8 bits per player) are
    scratch.
    """
    players = len(blinds)
    for player in range(players):
        paid[0] |= blinds[player] << (16 * player)
    for number in range(len(nodes)):
        node = nodes[number]
        if node.player == TERMINAL:
            continue
        most, pot, opponents, heat, last = 0, 0, -1, 0, 0
        for player in range(players):
            most = max(most, paid_by(paid[number], player))
            pot += paid_by(paid[number], player)
            if node.in_hand >> player & 1:
                opponents += 1
                last = player
            if player != node.player:
                heat += raised[number, 1] >> (_8 * player) & 255
        to_call = most - paid_by(paid[number], node.player)
        here = np.int64(node.calling)
        here = here * _RAISE + (node.count > node.calling + 1)
        here = here * _OPPONENTS + min(opponents, 2) - 1
        here = here * _BUTTON + (node.player == last)
        here = here * _RAISED + min(raised[number, 0], _RAISED - 1)
        here = here * _HEAT + min(heat, _HEAT - 1)
        here = here * _ODDS + min(np.int64(to_call / (pot + to_call) * _ODDS + 0.5), _ODDS - 1)
        place[number].slot, place[number].stride = here * RULES_BUCKETS * WIDTH, WIDTH
        for action in range(node.count):
            child = node.first_child + action
            what = action + 1 - node.calling
            paid[child], raised[child, 0], raised[child, 1] = paid[number], raised[number, 0], raised[number, 1]
            if what != FOLD:
                stake = to_call
                if what == RAISE:
                    stake += raises[node.street]
                    raised[child, 0] += 1
                    raised[child, 1] += np.int32(1) << (_8 * np.int32(node.player))
                paid[child] += np.int64(stake) << (16 * node.player)
            if nodes[child].street != node.street:
                raised[child, 0] = 0


@kernel
def _decide(share):
    """Fill ``share[classes * buckets * 3]`` by the rules."""
    for number in range(_CLASSES):
        rest, odds = number // _ODDS, (number % _ODDS) / _ODDS
        rest, heat = rest // _HEAT, rest % _HEAT
        rest, raised = rest // _RAISED, rest % _RAISED
        rest, button = rest // _BUTTON, rest % _BUTTON
        rest, opponents = rest // _OPPONENTS, rest % _OPPONENTS + 1
        facing, can_raise = rest // _RAISE, rest % _RAISE
        for bucket in range(RULES_BUCKETS):
            strength = ((bucket + 0.5) / RULES_BUCKETS) ** opponents - 0.03 * heat
            if facing:
                fold, raise_ = _answer(strength, odds, opponents, raised)
            else:
                fold, raise_ = 0.0, _open(strength, button)
            first = (number * RULES_BUCKETS + bucket) * WIDTH
            folds = np.int64(fold * WHOLE + 0.5)
            rises = np.int64(raise_ * WHOLE + 0.5) if can_raise else 0
            share[first] = folds
            share[first + facing] = WHOLE - folds - rises
            if can_raise:
                share[first + facing + 1] = rises


@piece
def _answer(strength, odds, opponents, raised):
    """How likely to fold and to raise, facing a bet."""
    if strength >= 0.9:
        return 0.0, 0.85
    if strength >= 0.62 + 0.07 * raised:
        return 0.0, 1.0
    if strength >= odds:
        return 0.0, 0.0
    if opponents == 1 and raised <= 1:
        return 0.96, 0.04
    return 1.0, 0.0


@piece
def _open(strength, button):
    """How likely to bet where there is nothing to call."""
    if strength >= 0.9:
        return 0.8
    if strength >= 0.52:
        return 1.0
    if strength < 0.35:
        return 0.2 if button else 0.1
    return 0.0
