"""The command that gives advice in a situation typed in."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fogplay import checks
from fogplay.cli.app import JSON, app, print_json
from fogplay.cli.console import Watch, say, table
from fogplay.cli.matches import ready
from fogplay.cli.playing import BOTS, talk_of
from fogplay.errors import FogplayError
from fogplay.games.registry import EXAMPLES

SEARCH = "search:smooth-uct:20000"


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
    from fogplay.play.agent import begin
    from fogplay.play.hands import close
    from fogplay.play.situations import table_at
    from fogplay.simulators import part_of
    from fogplay.trees import named

    checks.whole("--top", top, 1)
    checks.seed(seed)
    rules, _ = named(game)
    text = agent or part_of(rules, "DEFAULT", BOTS) or SEARCH
    at = table_at(rules, hand, shown, history, seed)
    (seat,) = at.to_act
    with Watch(quiet=as_json) as watch:
        ready(watch, [text], rules)
        (adviser,) = resolve([text], rules)
        if agent is None and not hasattr(adviser, "explain"):
            text = SEARCH
            (adviser,) = resolve([text], rules)
        try:
            begin(adviser, rules, seat, seed)
            advice = explained(adviser, at.view(seat), text)
        finally:
            close([adviser])
    rows = advice.candidates[:top]
    if as_json:
        print_json({"game": game, "seat": seat, "agent": text, "infoset": at.view(seat).infoset} | _facts(advice, rows))
        return
    asked = talk_of(rules)(rules, at.names, seat).question(at.view(seat)).prompt
    say(f"{asked.strip()} {text} says {rows[0].name}.")
    _show(rows)


def explained(agent: Any, view: Any, text: str) -> Any:
    """An agent's own advice; if it has none, the probabilities of its moves."""
    from fogplay.play.advice import Advice, Candidate

    if hasattr(agent, "explain"):
        return agent.explain(view)
    if not hasattr(agent, "distribution"):
        raise FogplayError(f"{text} cannot say why it moves; name another adviser, such as --agent {SEARCH}")
    chances = agent.distribution(view)
    order = sorted(range(len(chances)), key=lambda place: -chances[place])
    rows = [
        Candidate(view.legal[place], view.names[place], None, 0, f"played with probability {chances[place]:.3f}")
        for place in order
    ]
    return Advice(rows[0].action, tuple(rows))


def _facts(advice: Any, rows: Any) -> dict[str, Any]:
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
    return {"move": rows[0].name, "moves": moves}


def _show(rows: Any) -> None:
    means = [getattr(row, "mean", None) for row in rows]
    rated, valued = any(row.win_rate is not None for row in rows), any(mean is not None for mean in means)
    columns = [*(["wins"] if rated else []), *(["points"] if valued else []), *(["tried"] if rated or valued else [])]
    show = table("move", *columns, "why")
    for row, mean in zip(rows, means, strict=True):
        cells = [_percent(row.win_rate)] if rated else []
        cells += ["" if mean is None else f"{mean:+.3f}"] if valued else []
        cells += [f"{row.playouts:,}"] if rated or valued else []
        show.add_row(row.name, *cells, row.reason)
    say(show)


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f} %"
