"""The command that seats a human at the table, at the terminal."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from fogplay.cli.app import app
from fogplay.cli.console import Watch, say
from fogplay.cli.matches import ready
from fogplay.errors import FogplayError
from fogplay.games.registry import EXAMPLES

YOU = "you"
LEAVING = ("q", "quit", "exit")
BOTS, NOTATION = "fogplay.bots", "fogplay.notation"


class Leaving(Exception):  # noqa: N818 (not an error)
    """The human ends the game."""


@app.command()
def play(
    game: Annotated[str, typer.Argument(help=f"A game: {EXAMPLES}.")],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            help="A saved strategy, a bot of the game, or uniform; once for each opponent, or one for all.",
        ),
    ] = None,
    hands: Annotated[int | None, typer.Option("--hands", "-n", help="How many; until you quit by default.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same cards.")] = None,
    seat: Annotated[int | None, typer.Option(help="Stay at this seat, from 0, instead of moving on.")] = None,
) -> None:
    """Play against a strategy; you move by one seat after every hand."""
    from fogplay.play import format_for
    from fogplay.trees import named

    if hands is not None and hands < 1:
        raise FogplayError(f"--hands must be a whole number from 1, not {hands}")
    if seed is not None and seed < 0:
        raise FogplayError(f"--seed must be a whole number from 0, not {seed}")
    chosen = secrets.randbits(32) if seed is None else seed
    rules, spec = named(game)
    if seat is not None and not 0 <= seat < int(rules.num_players()):
        raise FogplayError(f"--seat must be a whole number from 0 to {int(rules.num_players()) - 1}, not {seat}")
    others, names = _opponents(against, rules, spec)
    talk = talk_of(rules)
    format = format_for(rules)
    score = _Score(format)
    say(f"{talk.opening(rules, spec)} Ctrl-D, Ctrl-C or q ends it.\n")
    luck = format.luck(chosen)
    try:
        while hands is None or score.hands < hands:
            moved = score.hands if seat is None else -seat
            won = _hand(rules, talk, luck(score.hands), others, names, score.hands, moved, chosen)
            score.add(won)
            say(f"You {_won(won)}. {score.line()}\n")
    except (Leaving, EOFError, KeyboardInterrupt):
        say("")
    say(f"The end. {score.line()} (seed {chosen})")


def _opponents(against: Sequence[str] | None, rules: Any, spec: str) -> tuple[list[Any], list[str]]:
    """The agents at the other seats, and the names of all players, yours first."""
    from fogplay.agents import names_of, resolve
    from fogplay.agents.resolve import UNIFORM, known_names
    from fogplay.simulators import part_of

    needed = int(rules.num_players()) - 1
    if not against:
        against = [part_of(rules, "DEFAULT", BOTS) or UNIFORM]
        if needed:
            say(f"Nobody was named with --against: you play against {against[0]}.")
    texts = list(against) * needed if len(against) == 1 else list(against)
    if len(texts) != needed:
        raise FogplayError(f"{spec} is for {needed + 1} players; {len(texts)} opponents were named, and you")
    with Watch() as watch:
        ready(watch, texts, rules)
        others = resolve(texts, rules)
    return others, [YOU, *names_of(texts, known_names(rules))]


def talk_of(rules: Any) -> Any:
    """The wording for a game: its own, if ``notation/<game>.py`` has any, else the general one."""
    from fogplay.notation.talk import Talk
    from fogplay.simulators import part_of

    own = part_of(rules, "talk_of", NOTATION)
    return (own(rules) if own is not None else None) or Talk


def _hand(
    rules: Any,
    talk: Any,
    luck: Any,
    others: Sequence[Any],
    names: Sequence[str],
    hand: int,
    moved: int,
    seed: int,
) -> float:
    """Play one hand, after everybody has moved on by so many seats; return your winnings."""
    from fogplay.games.game import CHANCE
    from fogplay.play import Table
    from fogplay.play.agent import begin

    order = [(seat + moved) % len(names) for seat in range(len(names))]  # the player at each seat
    mine, called = order.index(0), [names[player] for player in order]
    telling = talk(rules, called, mine)
    say(f"Hand {hand + 1}. {telling.places()}")
    table = Table(rules, luck, called)
    human = Human(telling, lambda: table.seen(mine))
    agents = [human if player == 0 else others[player - 1] for player in order]
    for seat, agent in enumerate(agents):
        begin(agent, rules, seat, seed + hand)
    while not table.is_over:
        for seat in table.to_act:
            table.take(seat, agents[seat].act(table.view(seat)))
    for line in telling.end(table.seen(mine)):
        say(f"  {line}")
    if all(event.seat == CHANCE for event in table.events):
        raise FogplayError(f"there is nothing to play: nobody decides anything in {rules}")
    return float(table.scores[mine])


class Human:
    """An agent that prints what happened and asks for an action at the terminal."""

    def __init__(self, talk: Any, seen: Callable[[], Sequence[Any]]) -> None:
        self.talk, self.seen = talk, seen

    def act(self, view: Any) -> int:
        for line in self.talk.news(self.seen()):
            say(f"  {line}")
        asked = self.talk.question(view)
        return int(ask(f"  {asked.prompt}", asked.allowed, asked.hint, asked.read))


class _Score:
    """The number of hands and their winnings."""

    def __init__(self, format: Any) -> None:
        self.hands, self.total, self.format = 0, 0.0, format

    def add(self, won: float) -> None:
        self.hands, self.total = self.hands + 1, self.total + won

    def line(self) -> str:
        if self.hands == 0:
            return "No hand was finished."
        count = f"{self.hands} hand{'s' if self.hands > 1 else ''}"
        mean = self.total / self.hands
        if self.format.scale == 1:
            return f"After {count}: {self.total:+g}, {mean:+.3g} {self.format.unit}."
        unit = f"{mean * self.format.scale:+.0f} {self.format.unit}"
        return f"After {count}: {self.total:+g} {self.format.points}, {unit}."


def _won(value: float) -> str:
    if value == 0:
        return "win nothing and lose nothing"
    return f"{'win' if value > 0 else 'lose'} {abs(value):g}"


def ask(prompt: str, allowed: dict[str, int], hint: str, read: Callable[[str], int | str] | None = None) -> int:
    """Ask until one of the allowed words is typed, and return its meaning; anything else gets a hint.

    ``read`` turns other answers into actions, or says why they are not possible.
    """
    while True:
        typed = input(prompt).strip()
        if typed in allowed:
            return allowed[typed]
        if typed.lower() in allowed:
            return allowed[typed.lower()]
        if typed in LEAVING or (read is None and typed.lower() in LEAVING):  # a large letter may be a card
            raise Leaving
        said = f"'{typed}' is not possible here: " if typed and typed not in ("?", "h", "help") else ""
        if said and read is not None:
            meant = read(typed)
            if isinstance(meant, int):
                return meant
            said = f"'{typed}' is not possible here: {meant}; "
        say(f"  {said}{hint}; q ends the game")
