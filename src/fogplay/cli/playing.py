"""The command that seats a human at the table, at the terminal."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from fogplay.cli.app import amount, app, require_folder
from fogplay.cli.console import Watch, say
from fogplay.cli.matches import ready
from fogplay.errors import FogplayError
from fogplay.games.registry import EXAMPLES

YOU = "you"
LEAVING = ("q", "quit", "exit")
HELP = ("?", "h", "help", "hint")


class Leaving(Exception):  # noqa: N818 (not an error)
    """The human ends the game."""


@app.command()
def play(
    game: Annotated[str, typer.Argument(help=f"A game: {EXAMPLES}.")],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            help="A saved strategy, a bot of the game, a search, or uniform; once for each opponent, or one for all. "
            "By default the game's best bot, an equilibrium solved on the spot, or a search.",
        ),
    ] = None,
    hands: Annotated[int | None, amount("--hands", "-n", help="How many hands; by default until you quit.")] = None,
    seed: Annotated[int | None, amount(help="The same seed gives the same cards.")] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            help="The player that hints and the review quote; by default your opponent, if it is a strategy.",
        ),
    ] = None,
    review: Annotated[bool, typer.Option(help="Go through your decisions after every hand.")] = True,
    log: Annotated[Path | None, typer.Option(help="Append every hand to this file, as you saw it.")] = None,
    seat: Annotated[int | None, amount(help="Stay at this seat, from 0, instead of moving on.")] = None,
) -> None:
    """Play against a strategy; you move by one seat after every hand."""
    from fogplay.opponents.diary import Diary
    from fogplay.play import format_for
    from fogplay.play.hands import close

    if hands is not None and hands < 1:
        raise FogplayError(f"--hands must be a whole number from 1, not {hands}")
    if seed is not None and seed < 0:
        raise FogplayError(f"--seed must be a whole number from 0, not {seed}")
    if log is not None:
        require_folder(log, "--log")
    chosen = secrets.randbits(32) if seed is None else seed
    with Watch() as watch:
        rules, spec = watch.named(game)
    if seat is not None and not 0 <= seat < int(rules.num_players()):
        raise FogplayError(f"--seat must be a whole number from 0 to {int(rules.num_players()) - 1}, not {seat}")
    format = format_for(rules)
    diary = Diary(log, format, spec) if log is not None else None
    session = _seated(rules, spec, against, reference, review)
    score = _Score(format)
    _open(session, spec)
    luck = format.luck(chosen)
    try:
        while hands is None or score.hands < hands:
            moved = score.hands if seat is None else -seat
            table, mine = _hand(session, luck(score.hands), score.hands, moved, chosen)
            score.add(float(table.scores[mine]))
            if diary is not None:
                diary.add(table, mine, chosen, score.hands - 1)
            tell_troubles(session.others, session.names[1:])
            say(f"You {_won(float(table.scores[mine]))}. {score.line()}\n")
    except (Leaving, EOFError, KeyboardInterrupt):
        say("")
    finally:
        close(session.others)
    say(f"The end. {score.line()} (seed {chosen})")
    if diary is not None:
        say(f"{diary.hands} hand{'s' * (diary.hands != 1)} in {log}")


def tell_troubles(agents: Sequence[Any], names: Sequence[str]) -> None:
    """What other programs did wrong in a hand."""
    for agent, name in zip(agents, names, strict=True):
        for kind, detail in agent.take_troubles() if hasattr(agent, "take_troubles") else ():
            say(f"  {name} {kind} ({detail}): the first legal move was made for it")


@dataclass(frozen=True)
class _Session:
    """What stays the same from hand to hand."""

    rules: Any
    talk: Any  # the game's wording, a class
    others: list[Any]  # agents
    names: list[str]  # of all players, yours first
    reference: Any  # who advises you, once asked for
    review: bool


def _seated(rules: Any, spec: str, against: Sequence[str] | None, reference: str | None, review: bool) -> _Session:
    """The agents at the other seats, and who advises you."""
    from fogplay.agents import names_of, resolve
    from fogplay.agents.advice import evaluated, sensible
    from fogplay.agents.resolve import known_names
    from fogplay.strategies import Strategy

    needed = int(rules.num_players()) - 1
    texts = list(against or [])
    if against:
        texts = texts * needed if len(texts) == 1 else texts
        if len(texts) != needed:
            raise FogplayError(f"{spec} is for {needed + 1} players; {len(texts)} opponents were named, and you")
    with Watch() as watch:
        ready(watch, [*texts, *([reference] if reference is not None else [])], rules)
        advising: Any = None
        if reference is not None:
            advising = evaluated(reference, resolve([reference], rules)[0], rules, spec, watch.flatten)
            if not hasattr(advising.agent, "distribution"):
                raise FogplayError(f"{reference} cannot advise you: it has no probabilities")
        if against:
            others, names = resolve(texts, rules), names_of(texts, known_names(rules))
            if advising is None and others and isinstance(others[0], Strategy):
                advising = evaluated(names[0], others[0], rules, spec, watch.flatten)
            advising = advising or _Later(lambda: sensible(rules, spec))
        else:
            found = sensible(rules, spec, watch.flatten)
            others, names = found.seated(rules, needed), names_of([found.name] * needed, [found.name])
            advising = advising or found
            if needed:
                say(f"Nobody was named with --against: you play against {found.name} ({found.how}).")
        watch.prepare(others)
    return _Session(rules, talk_of(rules), others, [YOU, *names], advising, review)


class _Later:
    """A reference that is made when it is first asked."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.made: Any = None

    def advise(self, view: Any) -> Any:
        self.made = self.made or self.make()
        return self.made.advise(view)


def _open(session: _Session, spec: str) -> None:
    """Announce the game and its rules."""
    say(session.talk.opening(session.rules, spec))
    for line in session.talk.rules(session.rules):
        say(f"  {line}")
    say("? asks for a hint; Ctrl-D, Ctrl-C or q ends it.\n")


def talk_of(rules: Any) -> Any:
    """The wording for a game: its own, if ``notation/<game>.py`` has any, else the general one."""
    from fogplay.notation.talk import talk_for

    return talk_for(rules)


def _hand(session: _Session, luck: Any, hand: int, moved: int, seed: int) -> tuple[Any, int]:
    """Play one hand, after everybody has moved on by so many seats; the table at its end, and your seat."""
    from fogplay.games.game import CHANCE
    from fogplay.play import Table
    from fogplay.play.agent import begin

    rules, names = session.rules, session.names
    order = [(seat + moved) % len(names) for seat in range(len(names))]  # the player at each seat
    mine, called = order.index(0), [names[player] for player in order]
    telling = session.talk(rules, called, mine)
    say(f"Hand {hand + 1}. {telling.places()}")
    table = Table(rules, luck, called)
    human = Human(telling, lambda: table.seen(mine), session.reference)
    agents = [human if player == 0 else session.others[player - 1] for player in order]
    for seat, agent in enumerate(agents):
        begin(agent, rules, seat, seed + hand)
    while not table.is_over:
        for seat in table.to_act:
            table.take(seat, agents[seat].act(table.view(seat)))
    for line in telling.end(table.seen(mine)):
        say(f"  {line}")
    if all(event.seat == CHANCE for event in table.events):
        raise FogplayError(f"there is nothing to play: nobody decides anything in {rules}")
    if session.review:
        for line in human.review():
            say(f"  {line}")
    return table, mine


@dataclass(frozen=True)
class _Decision:
    """A decision of the person, with the words in which it was put."""

    view: Any
    situation: str
    options: tuple[str, ...]
    action: int


class Human:
    """An agent that prints what happened and asks for an action at the terminal."""

    def __init__(self, talk: Any, seen: Callable[[], Sequence[Any]], reference: Any = None) -> None:
        self.talk, self.seen, self.reference = talk, seen, reference
        self.decisions: list[_Decision] = []

    def act(self, view: Any) -> int:
        for line in self.talk.news(self.seen()):
            say(f"  {line}")
        asked = self.talk.question(view)
        situation, options = self.talk.situation(view), tuple(self.talk.options(view))
        action = int(ask(f"  {asked.prompt}", asked.allowed, asked.hint, lambda: self._hint(view, options), asked.read))
        self.decisions.append(_Decision(view, situation, options, action))
        return action

    def _hint(self, view: Any, options: Sequence[str]) -> str:
        """What the reference would do here."""
        if self.reference is None:
            return ""
        advice = self.reference.advise(view)
        earns = ""
        if advice.values is not None:
            worth = ", ".join(f"{name} {value:+.3g}" for name, value in zip(options, advice.values, strict=True))
            earns = f" (what they earn: {worth})" if len(options) <= 6 else ""
        return f"{advice.by}: {advice.words(options)}{earns}"

    def review(self) -> list[str]:
        """What the reference would have done at each decision, and what the choices cost where that is known."""
        from fogplay.agents.advice import NOTHING
        from fogplay.agents.resolve import UNIFORM

        lines = []
        for made in self.decisions:
            if self.reference is None or len(made.view.legal) < 2:
                continue
            advice, place = self.reference.advise(made.view), made.view.legal.index(made.action)
            if advice.by == UNIFORM:
                return []  # nothing to learn from it
            cost = advice.cost(place)
            said = "" if cost is None else f"; cost {cost:.3g}" if cost >= NOTHING else "; no cost"
            lines.append(
                f"Review: {made.situation}: you {made.options[place]}; {advice.by}: {advice.words(made.options)}{said}."
            )
        return lines


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


def ask(
    prompt: str,
    allowed: dict[str, int],
    hint: str,
    advice: Callable[[], str] = str,
    read: Callable[[str], int | str] | None = None,
) -> int:
    """Ask until one of the allowed words is typed, and return its meaning.

    ``?`` is answered by ``advice``. ``read`` turns other answers into actions, or says why they are not possible;
    anything else is answered by a hint.
    """
    while True:
        typed = input(prompt).strip()
        if typed in allowed:
            return allowed[typed]
        if typed.lower() in allowed:
            return allowed[typed.lower()]
        if typed in LEAVING or (read is None and typed.lower() in LEAVING):  # a large letter may be a card
            raise Leaving
        if typed.lower() in HELP:
            for line in (advice(), f"{hint}; q ends the game"):
                if line:
                    say(f"  {line}")
            continue
        said = f"'{typed}' is not possible here: " if typed else ""
        if typed and read is not None:
            meant = read(typed)
            if isinstance(meant, int):
                return meant
            said = f"'{typed}' is not possible here: {meant}; "
        say(f"  {said}{hint}; ? asks for a hint, q ends the game")
