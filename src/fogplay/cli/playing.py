"""A seat at the table for a human, at the terminal."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from fogplay.cli.app import app
from fogplay.cli.console import Watch, say
from fogplay.cli.matches import UNIFORM, holdem_of, names_of, seated, strategy_of
from fogplay.errors import FogplayError

YOU = "you"
LEAVING = ("q", "quit", "exit")
WORDS = {  # what may be typed for each action of hold'em
    0: ("f", "fold"),
    1: ("c", "call", "check", "k"),
    2: ("r", "raise", "bet", "b"),
}


class Leaving(Exception):  # noqa: N818 (no error)
    """The human has had enough."""


@app.command()
def play(
    game: Annotated[str, typer.Argument(help="A game, such as holdem, leduc or kuhn.")],
    against: Annotated[
        list[str],
        typer.Option(metavar="AGENT", help="A saved strategy, a bot of hold'em, or uniform; once for each opponent."),
    ],
    hands: Annotated[int | None, typer.Option("--hands", "-n", help="How many; until you quit by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same cards.")] = None,
) -> None:
    """Play against a strategy; you move on by one seat after every hand."""
    if hands is not None and hands < 1:
        raise FogplayError(f"--hands must be a whole number from 1, not {hands}")
    if seed is not None and seed < 0:
        raise FogplayError(f"--seed must be a whole number from 0, not {seed}")
    chosen = secrets.randbits(32) if seed is None else seed
    rules = holdem_of(game)
    begin = _holdem_table(rules, against, chosen) if rules is not None else _tree_table(game, against, chosen)
    score = _Score(unit=None if rules is None else 1000 / max(rules.blinds))
    try:
        while hands is None or score.hands < hands:
            won = begin(score.hands)
            score.add(won)
            say(f"You {_won(won)}. {score.line()}\n")
    except (Leaving, EOFError, KeyboardInterrupt):
        say("")
    say(f"The end. {score.line()} (seed {chosen})")


class _Score:
    """Hands, and what they brought; ``unit`` turns chips into milli-big-blinds."""

    def __init__(self, unit: float | None) -> None:
        self.hands, self.total, self.unit = 0, 0.0, unit

    def add(self, won: float) -> None:
        self.hands, self.total = self.hands + 1, self.total + won

    def line(self) -> str:
        if self.hands == 0:
            return "No hand was finished."
        count = f"{self.hands} hand{'s' if self.hands > 1 else ''}"
        mean = self.total / self.hands
        if self.unit is None:
            return f"After {count}: {self.total:+g}, {mean:+.3g} a hand."
        return f"After {count}: {self.total:+g} chips, {mean * self.unit:+.0f} mb/h."


def _won(value: float) -> str:
    if value == 0:
        return "win nothing and lose nothing"
    return f"{'win' if value > 0 else 'lose'} {abs(value):g}"


def _begin(name: str) -> str:
    """A name at the beginning of a sentence."""
    return name[:1].upper() + name[1:]


def ask(prompt: str, allowed: dict[str, Any], hint: str) -> Any:
    """What one of the allowed words stands for; anything else gets a hint."""
    while True:
        typed = input(prompt).strip()
        if typed in allowed:
            return allowed[typed]
        if typed.lower() in allowed:
            return allowed[typed.lower()]
        if typed.lower() in LEAVING:
            raise Leaving
        said = f"'{typed}' is not possible here: " if typed and typed not in ("?", "h", "help") else ""
        say(f"  {said}{hint}; q ends the game")


# ---- Hold'em


def _holdem_table(rules: Any, against: list[str], seed: int) -> Callable[[int], float]:
    """What plays a hand and tells what the human won."""
    from fogplay.agents import BOTS, play_hand
    from fogplay.agents.match import BLOCK, Dealer

    if len(against) == 1:
        against = against * (rules.players - 1)
    if len(against) != rules.players - 1:
        raise FogplayError(f"{rules} is for {rules.players} players; {len(against)} opponents were named, and you")
    with Watch() as watch:
        others = seated(watch, against, rules)
    names = [YOU, *names_of(against, BOTS)]
    dealer = Dealer(rules)
    say(f"Limit hold'em, blinds {' '.join(str(blind) for blind in rules.blinds)}. Ctrl-D, Ctrl-C or q ends it.\n")

    def begin(hand: int) -> float:
        if hand % BLOCK == 0:
            dealer.deal(seed, hand // BLOCK)
        order = [(seat + hand) % rules.players for seat in range(rules.players)]  # who is at each seat
        seat = order.index(0)
        table = _Table(rules, [names[player] for player in order], seat)
        agents: list[Any] = [table if player == 0 else others[player - 1] for player in order]
        cards, chances = dealer.cards[hand % BLOCK].tolist(), dealer.chance[hand % BLOCK].tolist()
        say(f"Hand {hand + 1}. {table.positions()}")
        end = play_hand(rules, cards, agents, chances, table.watch)
        table.showdown(end)
        return float(end.returns()[seat])

    return begin


class _Table:
    """What a human at one seat sees of a hand, and asks of it."""

    def __init__(self, rules: Any, names: list[str], seat: int) -> None:
        self.rules, self.names, self.seat = rules, names, seat
        self.before: Any = None  # the state watched last

    def positions(self) -> str:
        told = []
        for seat, name in enumerate(self.names):
            where = ["on the button"] if seat == self.rules.players - 1 else []
            if self.rules.blinds[seat]:
                where.append(f"blind {self.rules.blinds[seat]}")
            told.append(f"{name} ({', '.join(where)})")
        return " - ".join(told)

    def watch(self, state: Any) -> None:
        """Say what happened since the last state; own cards and everything public."""
        before, self.before = self.before, state
        if before is None:
            say(f"  Your cards: {show_cards(state.hole_cards(self.seat))}")
            return
        actor = before.current_player()
        letter = state.betting[len(before.betting) - 1][len(before.betting[-1])]
        say(f"  {self._deed(actor, letter, before, state)}")
        if len(state.board_cards()) > len(before.board_cards()):
            street = ("flop", "turn", "river")[len(state.betting) - 2]
            mine = f"   with {show_cards(state.hole_cards(self.seat))}" if state.in_hand[self.seat] else ""
            say(f"  The {street}: {show_cards(state.board_cards())}{mine}   pot {sum(state.paid)}")

    def _deed(self, actor: int, letter: str, before: Any, state: Any) -> str:
        s, name = "" if actor == self.seat else "s", _begin(self.names[actor])
        if letter == "f":
            return f"{name} fold{s}."
        if letter == "c":
            owed = state.paid[actor] - before.paid[actor]
            return f"{name} call{s} {owed}." if owed else f"{name} check{s}."
        more = max(state.paid) - max(before.paid)
        begun = len(before.betting) == 1 or "r" in before.betting[-1]  # the blinds are bets too
        return f"{name} raise{s} by {more}." if begun else f"{name} bet{s} {more}."

    def act(self, seen: Any, _chance: float) -> int:
        """Ask the human, as an agent."""
        check = seen.to_call == 0
        bet = check and len(seen.betting) > 1  # before the flop the blinds are bets
        offered = {0: "[f]old", 1: "[c]heck" if check else f"[c]all {seen.to_call}", 2: "[b]et" if bet else "[r]aise"}
        allowed = {word: action for action in seen.legal for word in WORDS[action]}
        choices = ", ".join(offered[action] for action in seen.legal)
        said = {0: "f or fold", 1: "c or check" if check else "c or call", 2: "b or bet" if bet else "r or raise"}
        hint = f"type {', '.join(said[action] for action in seen.legal)}"
        if check:
            hint += " (there is nothing to call, so no need to fold)"
        elif 2 not in seen.legal:
            hint += " (no more raises in this round)"
        return int(ask(f"  Pot {seen.pot}. {choices}? ", allowed, hint))

    def showdown(self, end: Any) -> None:
        """Show the hands of all who are still in, if there are several; nobody else's are ever shown."""
        from fogplay.cards.evaluator import category, evaluate

        still_in = [seat for seat, stays in enumerate(end.in_hand) if stays]
        if len(still_in) == 1:
            return
        for seat in still_in:
            hole = end.hole_cards(seat)
            made = category(evaluate([*hole, *end.board_cards()]))
            say(f"  {_begin(self.names[seat])}: {show_cards(hole)}, {made}")


def show_cards(cards: Sequence[int]) -> str:
    """Cards for reading: ``A♠ K♦``, or ``As Kd`` where the terminal has no such signs."""
    from fogplay.cards.deck import RANKS, SUITS

    signs = "♣♦♥♠"
    try:
        signs.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        signs = SUITS
    return " ".join(f"{RANKS[card // 4].replace('T', '10')}{signs[card % 4]}" for card in cards)


# ---- Games that fit in a tree


def _tree_table(game: str, against: list[str], seed: int) -> Callable[[int], float]:
    """What plays a hand and tells what the human won."""
    import numpy as np

    from fogplay.games.game import CHANCE, TERMINAL
    from fogplay.trees.tree import ROOT

    with Watch() as watch:
        flat = watch.flatten(game)
    if len(against) == 1:
        against = against * (flat.num_players - 1)
    if len(against) != flat.num_players - 1:
        raise FogplayError(
            f"{flat.name} is for {flat.num_players} players; {len(against)} opponents were named, and you"
        )
    if not flat.infosets:
        raise FogplayError(f"there is nothing to play: nobody decides anything in {flat.name}")
    strategies, tree, rng = [strategy_of(agent, flat) for agent in against], flat.tree, np.random.default_rng(seed)
    names = names_of(against, (UNIFORM,))
    say(f"{flat.name}. Ctrl-D, Ctrl-C or q ends it.\n")

    def begin(hand: int) -> float:
        order = [(seat + hand) % flat.num_players for seat in range(flat.num_players)]
        seat, node = order.index(0), ROOT
        sitting = ", ".join(f"player {at}: {YOU if who == 0 else names[who - 1]}" for at, who in enumerate(order))
        say(f"Hand {hand + 1}. {sitting}")
        while tree.player[node] != TERMINAL:
            player, first, count = int(tree.player[node]), int(tree.first_child[node]), int(tree.num_children[node])
            if player == CHANCE:
                chances = tree.probability[first : first + count]
                node = first + int(rng.choice(count, p=chances / chances.sum()))
                continue
            where = flat.slots(int(tree.row[node]))
            if player == seat:
                node = first + _ask_action(flat.infosets[int(tree.row[node])], flat.actions[where])
            else:
                shares = strategies[order[player] - 1][where]
                node = first + int(rng.choice(count, p=shares / shares.sum()))
        return float(tree.payoffs[tree.row[node], seat])

    return begin


def _ask_action(infoset: str, actions: Sequence[str]) -> int:
    """Which action the human takes, by name, by the beginning of a name that is the only one, or by number.

    Where a name is a number itself there are names alone.
    """
    numbered = not any(name.isdigit() for name in actions)
    allowed: dict[str, int] = {str(number + 1): number for number in range(len(actions))} if numbered else {}
    names = {name: number for number, name in enumerate(actions)} | {
        name.lower(): number for number, name in enumerate(actions)
    }
    for name, number in list(names.items()):
        for end in range(1, len(name)):
            start = name[:end]
            alike = {other for full, other in names.items() if full.startswith(start)}
            if len(alike) == 1 and start not in allowed:
                allowed[start] = number
    allowed |= names
    offered = ", ".join(f"[{number}] {name}" if numbered else name for number, name in enumerate(actions, 1))
    shown = infoset.replace("\n", " ")
    return int(
        ask(f"  You see {shown!r}: {offered}? ", allowed, "type a number or a name" if numbered else "type one of them")
    )
