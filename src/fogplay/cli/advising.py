"""The command that gives advice in a situation typed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from fogplay import checks
from fogplay.cli.app import JSON, app, print_json
from fogplay.cli.console import Watch, say, table
from fogplay.cli.matches import ready
from fogplay.cli.playing import talk_of
from fogplay.games.registry import EXAMPLES


@app.command()
def advise(
    game: Annotated[str, typer.Argument(help=f"A game: {EXAMPLES}.")],
    hand: Annotated[str, typer.Option(help="Your cards, as the game writes them.")] = "",
    history: Annotated[str, typer.Option(help="All moves so far, in order; it is your turn after them.")] = "",
    shown: Annotated[str | None, typer.Option(help="Cards that all players see.")] = None,
    agent: Annotated[
        str | None, typer.Option(help="Who advises: a bot, a search or a strategy; the game's best by default.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many moves to list.")] = 5,
    seed: Annotated[int, typer.Option(help="The same seed gives the same advice.")] = 0,
    as_json: JSON = False,
) -> None:
    """The best moves in a situation, with win rates and reasons."""
    from fogplay.agents import resolve
    from fogplay.agents.advice import evaluated, sensible
    from fogplay.play.agent import begin
    from fogplay.play.hands import close
    from fogplay.play.situations import table_at

    checks.whole("--top", top, 1)
    checks.seed(seed)
    with Watch(quiet=as_json) as watch:
        rules, spec = watch.named(game)
        at = table_at(rules, hand, shown, history, seed)
        (seat,) = at.to_act
        ready(watch, [agent] if agent is not None else [], rules)
        if agent is None:
            reference = sensible(rules, spec, watch.flatten)
        else:
            reference = evaluated(agent, resolve([agent], rules)[0], rules, spec, watch.flatten)
        watch.prepare([reference.agent])
        try:
            begin(reference.agent, rules, seat, seed)
            advice = explained(reference, at.view(seat))
        finally:
            close([reference.agent])
    candidates = advice.candidates[:top]
    if as_json:
        asked_about = {"game": game, "seat": seat, "infoset": at.view(seat).infoset}
        print_json(asked_about | _facts(reference.name, candidates, getattr(advice, "guesses", ())))
        return
    talk = talk_of(rules)(rules, at.names, seat)
    talk.news(at.seen(seat))  # what led to the situation, which its words may depend on
    view = at.view(seat)
    words = dict(zip(view.legal, talk.options(view), strict=True))  # as the question calls the moves
    say(f"{talk.question(view).prompt.strip()} {reference.name} says {words[candidates[0].action]}.")
    _show(candidates, words)
    for guess in getattr(advice, "guesses", ()):
        say(f"It expects {guess.who} to hold {guess.text}.")


def explained(reference: Any, view: Any) -> Any:
    """Moves, the best first: as the agent explains them, or by its probabilities and what they earn."""
    from fogplay.play.advice import Advice, Candidate

    if hasattr(reference.agent, "explain"):
        return reference.agent.explain(view)
    if not hasattr(reference.agent, "distribution"):
        action = reference.agent.act(view)
        only = Candidate(action, view.names[view.legal.index(action)], None, 0, "it does not say why")
        return Advice(action, (only,))
    advice = reference.advise(view)
    values = advice.values or (None,) * len(view.legal)
    order = sorted(range(len(view.legal)), key=lambda place: -advice.probabilities[place])
    moves = tuple(
        Candidate(
            view.legal[place], view.names[place], None, 0, f"{100 * advice.probabilities[place]:.1f} % of the time",
            values[place],
        )
        for place in order
    )  # fmt: skip
    return Advice(moves[0].action, moves)


def _facts(agent: str, rows: Sequence[Any], guesses: Sequence[Any]) -> dict[str, Any]:
    moves = [
        {
            "move": row.name,
            "win_rate": row.win_rate,
            "mean": getattr(row, "mean", None),
            "playouts": row.playouts,
            "reason": row.reason,
        }
        for row in rows
    ]
    expected = [{"player": guess.who, "text": guess.text, "numbers": dict(guess.numbers)} for guess in guesses]
    return {"agent": agent, "move": rows[0].name, "moves": moves} | ({"expected": expected} if expected else {})


def _show(rows: Sequence[Any], words: Mapping[int, str]) -> None:
    means = [getattr(row, "mean", None) for row in rows]
    rated, valued = any(row.win_rate is not None for row in rows), any(mean is not None for mean in means)
    tried = any(row.playouts for row in rows)
    columns = [*(["wins"] if rated else []), *(["points"] if valued else []), *(["tried"] if tried else [])]
    show = table("move", *columns, "why")
    for row, mean in zip(rows, means, strict=True):
        cells = [_percent(row.win_rate)] if rated else []
        cells += ["" if mean is None else f"{mean:+.3f}"] if valued else []
        cells += [f"{row.playouts:,}"] if tried else []
        show.add_row(words[row.action], *cells, row.reason)
    say(show)


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f} %"
