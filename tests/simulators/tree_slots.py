"""Where the simulator keeps what a flattened game with exact cards numbers otherwise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fogplay.simulators.holdem import ROOT, HoldemSimulator
from fogplay.trees import FlatGame
from fogplay.trees.betting import child_after


def tree_slots(simulator: HoldemSimulator, flat: FlatGame) -> NDArray[np.int64]:
    """[slots of the tree] the simulator's slot of every action of a flattened game with exact cards."""
    rules = simulator.rules
    numbers = {rules.card_to_string(card): card for card in range(rules.num_cards())}

    def number_of(text: str, count: int) -> int:
        cards = sorted(numbers[text[at : at + 2]] for at in range(0, 2 * count, 2))
        return sum(math.comb(card, place + 1) for place, card in enumerate(cards))

    slots = np.zeros(flat.num_slots, np.int64)
    for infoset, name in enumerate(flat.infosets):
        held, rest = name[: 2 * rules.hole], name[2 * rules.hole :].removeprefix("|")
        situation, node = number_of(held, rules.hole), ROOT
        for count, part in zip(rules.board, rest.split("/"), strict=False):
            cards, letters = part.split(":")
            situation = situation * math.comb(rules.num_cards(), count) + number_of(cards, count)
            for letter in letters:
                node = child_after(simulator.betting, node, letter)
        here, where = simulator.betting.nodes[node], flat.slots(infoset)
        slots[where] = here.slot + situation * here.stride + np.arange(where.stop - where.start)
    return slots
