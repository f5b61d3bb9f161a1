"""The distribution of a move that is a head, and with some heads a set of things to go with it.

The head is drawn by softmax over the legal ones. A set is drawn with a probability proportional to the exponential of
the sum of its members' scores; the weight of all sets is the coefficient of a product of polynomials, one per rank.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from fogplay.nets.dense import bits_of

FORBIDDEN = -1e9


class Layout(NamedTuple):
    """Where a network's outputs are, and how sets are formed."""

    heads: int  # scores of heads come first
    kinds: int  # then, for every kind of set, the scores of its ranks
    ranks: int
    largest: int  # the most members of a set
    single: tuple[int, int]  # two ranks of which a set has at most one, once
    results: int  # expected results, which follow the scores
    counts: int  # then, for every rank, the scores of 0, 1, … hidden members
    pool: int  # the word seen that has the hidden members of all others, as thermometers
    hidden: int  # and the word, seen by the critic only, that has those of the next one

    @property
    def values(self) -> int:
        """Where the outputs begin that are no scores."""
        return self.heads + self.kinds * self.ranks

    @property
    def belief(self) -> int:
        """Where the scores of hidden members begin."""
        return self.values + self.results


def log_probability(
    outputs: Tensor, legal: Tensor, choice: Tensor, sets: Tensor, layout: Layout
) -> tuple[Tensor, Tensor]:
    """The logarithm of moves' probabilities and the entropy of their heads, both ``[...]``.

    ``outputs[..., outputs]``; ``legal[..., words]`` has a bit per head; ``choice[..., 3]`` are the head, the kind of
    its set (-1: none) and the number of members; ``sets[..., 2]`` have a nibble per rank, for the members that could be
    taken and those that were.
    """
    allowed = bits_of(legal)[..., : layout.heads] > 0
    scores = torch.where(allowed, outputs[..., : layout.heads], FORBIDDEN)
    logarithms = torch.log_softmax(scores, -1)
    entropy = -(logarithms.exp() * torch.where(allowed, logarithms, 0.0)).sum(-1)
    found = logarithms.gather(-1, choice[..., :1].long()).squeeze(-1)
    return found + set_log_probability(outputs, choice, sets, layout), entropy


def set_log_probability(outputs: Tensor, choice: Tensor, sets: Tensor, layout: Layout) -> Tensor:
    """The logarithm of the probability of the sets alone; 0 where there is none."""
    kind = choice[..., 1].long().clamp(min=0)
    every = outputs[..., layout.heads : layout.values].unflatten(-1, (layout.kinds, layout.ranks))
    index = kind[..., None, None].expand(*kind.shape, 1, layout.ranks)
    scores = every.gather(-2, index).squeeze(-2)
    shifts = 4 * torch.arange(layout.ranks, device=sets.device)
    available = (sets[..., :1] >> shifts) & 15
    taken = (sets[..., 1:] >> shifts) & 15
    top = torch.where(available > 0, scores, FORBIDDEN).amax(-1, keepdim=True)
    top = torch.where(top > FORBIDDEN, top, 0.0)
    weights = torch.where(available > 0, (scores - top).clamp(max=0.0).exp(), 0.0)
    total = weigh_sets(weights, available, layout).clamp(min=1e-30)
    number = choice[..., 2].long()
    whole = total.gather(-1, number.unsqueeze(-1)).squeeze(-1).log()
    return (taken * (scores - top)).sum(-1) - whole


def weigh_sets(weights: Tensor, available: Tensor, layout: Layout) -> Tensor:
    """The weight of all sets of 0, 1, … members, ``[..., largest + 1]``, of ranks with ``weights[..., ranks]``.

    Each rank is a polynomial, whose coefficients are the weights of 0, 1, … of its members. Their product is computed
    pair by pair, all pairs at once: a loop over ranks is a long program to compile.
    """
    pair = [layout.single[0], layout.single[1]]  # one of the two, or none
    alone = [rank for rank in range(layout.ranks) if rank not in pair]
    both = weights[..., pair].sum(-1, keepdim=True)
    x = torch.cat([weights[..., alone], both], -1)
    copies = torch.cat([available[..., alone], torch.ones_like(available[..., :1])], -1)
    powers = [torch.ones_like(x), x, torch.where(copies > 1, x * x, 0.0), torch.where(copies > 2, x * x * x, 0.0)]
    terms = [*powers, *[torch.zeros_like(x)] * layout.largest][: layout.largest + 1]
    product = torch.stack(terms, -1)
    while product.shape[-2] > 1:
        odd = product[..., product.shape[-2] // 2 * 2 :, :]
        paired = product[..., : product.shape[-2] // 2 * 2, :].unflatten(-2, (-1, 2))
        product = torch.cat([_product(paired[..., 0, :], paired[..., 1, :]), odd], -2)
    return product.squeeze(-2)


def _product(one: Tensor, other: Tensor) -> Tensor:
    """The products of polynomials ``[..., terms]``, without the terms that are too high."""
    terms = one.shape[-1]
    shifted = torch.stack([nn.functional.pad(other, (by, 0))[..., :terms] for by in range(terms)], -2)
    return (one.unsqueeze(-1) * shifted).sum(-2)


def belief_loss(outputs: Tensor, seen: Tensor, layout: Layout) -> Tensor:
    """What the true numbers of hidden members of all ranks cost, ``[...]``: the sum of minus the logarithms.

    Only numbers up to the pool's are possible; ``seen`` has the words that the critic sees.
    """
    scores = outputs[..., layout.belief : layout.belief + layout.ranks * layout.counts]
    scores = scores.unflatten(-1, (layout.ranks, layout.counts))
    most, true = (thermometer_counts(seen[..., word], layout.ranks) for word in (layout.pool, layout.hidden))
    possible = torch.arange(layout.counts, device=seen.device) <= most.unsqueeze(-1)
    logarithms = torch.log_softmax(torch.where(possible, scores, FORBIDDEN), -1)
    return -logarithms.gather(-1, true.unsqueeze(-1)).squeeze(-1).sum(-1)


def thermometer_counts(word: Tensor, ranks: int) -> Tensor:
    """How many bits of each nibble are set, ``[..., ranks]``."""
    nibbles = (word.unsqueeze(-1) >> (4 * torch.arange(ranks, device=word.device))) & 15
    return (nibbles & 1) + ((nibbles >> 1) & 1) + ((nibbles >> 2) & 1) + ((nibbles >> 3) & 1)
