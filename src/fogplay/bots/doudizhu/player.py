"""DeltaDou as an agent: from a view to a move, why, and what it expects the others to hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fogplay.bots.doudizhu import arena, evaluators, fpmcts, inference
from fogplay.bots.doudizhu.agents import Advice, Candidate, Compiled, bid_advice, known_number, reason
from fogplay.bots.doudizhu.asking import Evaluate
from fogplay.bots.doudizhu.deltadou import Decisions, Mind, Settings, look_around
from fogplay.bots.doudizhu.inference import Situations, Worlds
from fogplay.errors import FogplayError
from fogplay.games.doudizhu import NOBODY, PLAYERS, Doudizhu, Observation, move_name
from fogplay.games.doudizhu_cards import NUM_RANKS, RANKS, TWO
from fogplay.games.doudizhu_moves import all_moves
from fogplay.games.doudizhu_worlds import draw_others, ways_buffer
from fogplay.jit import is_compiled, kernel
from fogplay.play.advice import Guess
from fogplay.play.luck import Stream
from fogplay.play.table import Table
from fogplay.play.view import View
from fogplay.simulators.doudizhu_features import BOMBS, HANDS, PASSES, PLAYED, SEAT, TO_BEAT
from fogplay.simulators.doudizhu_lanes import begin, make
from fogplay.simulators.streams import many_streams

DEFAULT = Settings()
MARGIN_SECONDS = 0.05  # kept before a deadline
WHO = ("the landlord", "the peasant after the landlord", "the peasant before the landlord")
KERNELS = fpmcts.simulate, fpmcts.answer, inference.replay_all  # what takes longest to compile
COMPILING = "the search of deltadou (compiled once, for about half a minute)"
LIKELY = 0.5  # cards of a rank from which on a guess names it


class DeltaDou(Compiled):
    """Plays by fictitious play MCTS over inferred worlds; without playouts, by its networks alone."""

    def __init__(self, settings: Settings = DEFAULT, evaluate: Evaluate | None = None) -> None:
        self.mind = Mind(evaluators.shipped() if evaluate is None else evaluate, settings)
        self.bot = arena.bot(arena.RULES)

    def prepare(self, progress: Callable[[str, int, int], None]) -> None:
        """Compile the search and the inference before the first move; ``progress`` is told if that takes long."""
        if is_compiled(*KERNELS):
            return
        progress(COMPILING, 0, 1)
        table = Table(Doudizhu(), Stream.seeded(0))
        while not table.is_over:
            view = table.view(table.to_act[0])
            decided = self._think(view.observation, view.luck, None)
            if min(view.observation.cards_left) < self.mind.settings.thinking.below and len(decided.searched):
                break
            table.take(view.seat, known_number(decided.cards[0]))
        progress(COMPILING, 1, 1)

    def move(self, seen: Observation, luck: float) -> int:
        return known_number(self._think(seen, luck, None).cards[0])

    def act(self, view: View) -> int:
        """The move, or the bid."""
        seen = view.observation
        if seen.landlord == NOBODY:
            return super().act(view)
        return known_number(self._think(seen, view.luck, view.deadline).cards[0])

    def explain(self, view: View) -> Advice:
        """The move, the candidates with their win rates, and what the others are expected to hold."""
        seen = view.observation
        if seen.landlord == NOBODY:
            return bid_advice(self.act(view), seen, self.bot)
        decided = self._think(seen, view.luck, view.deadline)
        trees, found = decided.searches.trees, []
        chosen = known_number(decided.cards[0])
        for place in range(int(trees.num_actions[0, 0])):
            number, tried = known_number(decided.searches.cards[0, 0, place]), int(trees.tried[0, 0, place])
            rate = float(trees.wins[0, 0, place]) / tried / 2.0 + 0.5 if tried else None
            why = f"{reason(seen, number, self.bot)}; prior {100 * float(trees.prior[0, 0, place]):.0f} %"
            order = (number != chosen, -tried, -float(trees.prior[0, 0, place]))
            found.append((order, Candidate(number, move_name(number), rate, tried, why)))
        found.sort(key=lambda pair: pair[0])
        worlds = decided.worlds if decided.worlds is not None else self._infer(seen, view.luck)
        return Advice(chosen, tuple(candidate for _, candidate in found), guesses_from(seen, worlds))

    def _think(self, seen: Observation, luck: float, deadline: float | None) -> Decisions:
        end = None if deadline is None else deadline - MARGIN_SECONDS
        self.mind.asking.forget()  # a move depends on nothing but the view
        return self.mind.think(situation_from(seen), stream(luck), end)

    def _infer(self, seen: Observation, luck: float) -> Worlds:
        own, rng = situation_from(seen), stream(luck)
        outputs, _ = look_around(own, self.mind.asking, rng)
        return inference.infer(own, outputs, self.mind.asking, self.mind.settings.thinking, rng)


def stream(luck: float) -> NDArray[np.uint64]:
    """[1, 2] a random stream from a view's luck."""
    return many_streams(int(luck * 2**53), 1)


def situation_from(seen: Observation) -> Situations:
    """One situation, from what a player sees."""
    own, seat = inference.situations(1), (seen.seat - seen.landlord) % PLAYERS
    played = np.array([seen.played[(seen.landlord + place) % PLAYERS] for place in range(PLAYERS)], np.uint64)
    hands = np.zeros(PLAYERS, np.uint64)
    hands[seat] = seen.hand
    draw_others(hands, seat, played, np.uint64(seen.shown), np.zeros(NUM_RANKS), ways_buffer())
    count = len(seen.moves)
    own.heads[0, :count] = all_moves().heads[list(seen.moves)]
    own.cards[0, :count] = all_moves().cards[list(seen.moves)]
    dealt, shown = hands + played, np.uint64(seen.shown)
    play_again(dealt, shown, own.heads[0, :count], own.cards[0, :count], own.words[0], own.facts[0])
    own.words[0, HANDS : HANDS + PLAYERS], own.words[0, PLAYED : PLAYED + PLAYERS] = 0, played
    own.words[0, HANDS + seat] = seen.hand
    own.facts[0, [SEAT, TO_BEAT, PASSES, BOMBS]] = seat, seen.to_beat, seen.passes, seen.bombs
    return own


@kernel
def play_again(dealt, shown, heads, cards, words, facts):
    """Make all moves of a game on a lane; ``dealt[3]`` are the hands at the beginning, with the shown cards."""
    begin(words, facts, dealt[0] - shown, dealt[1], dealt[2], shown)
    for move in range(len(heads)):
        make(words, facts, np.int64(heads[move]), cards[move])


def guesses_from(seen: Observation, worlds: Worlds) -> tuple[Guess, ...]:
    """What each of the two others is expected to hold, by rank."""
    weights, found = worlds.weights[0], []
    for step in (1, 2):
        place = (seen.seat - seen.landlord + step) % PLAYERS
        hands = worlds.hands[0, :, place]
        counts = [((hands >> np.uint64(4 * rank)) & np.uint64(15)).astype(np.float64) for rank in range(NUM_RANKS)]
        numbers = {RANKS[rank]: float(weights @ counts[rank]) for rank in range(NUM_RANKS)}
        likely = " ".join(
            f"{name}×{number:.1f}" if rank < TWO + 1 else f"{name} {100 * number:.0f} %"
            for rank, (name, number) in enumerate(numbers.items())
            if number >= LIKELY
        )
        bombs = float(weights @ np.max([count >= 4 for count in counts], axis=0))
        text = f"{seen.cards_left[(seen.seat + step) % PLAYERS]} cards: {likely}; a bomb {100 * bombs:.0f} %"
        found.append(Guess(WHO[place], text, numbers))
    return tuple(found)


def settings_from(text: str) -> Settings:
    """The settings that the text after ``deltadou:`` gives: a number of playouts."""
    try:
        playouts = int(float(text))
    except (ValueError, OverflowError):
        raise FogplayError(f"deltadou:{text}: write a number of playouts, such as deltadou:600") from None
    if not 1 <= playouts <= 100_000:
        raise FogplayError(f"deltadou:{text}: the number of playouts must be from 1 to 100,000")
    return DEFAULT._replace(playouts=playouts)


def without_inference(settings: Settings) -> Settings:
    """The same with worlds drawn evenly."""
    return settings._replace(thinking=settings.thinking._replace(below=0))
