"""A dense residual network whose inputs are the bits of 64-bit words; several of the same shape are evaluated at once.

    x = seen · W_in + b
    x = x + relu(norm(x) · W_up + b) · W_down + b        for every block
    outputs = norm(x) · W_out + b                        norm: divided by the root of the mean square, times a gain

``strategies/dense.py`` computes the same with numpy.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from fogplay.strategies.dense import EPSILON, DenseShape


class Dense(nn.Module):
    """``copies`` networks of a shape, as stacked matrices: a batch of rows for each goes through one product."""

    def __init__(self, shape: DenseShape, copies: int = 1) -> None:
        super().__init__()
        self.shape, self.copies = shape, copies
        self.arrays = nn.ParameterDict()
        for name, size in shape.arrays().items():
            self.arrays[name] = nn.Parameter(_initial(name, (copies, *size), shape))

    def forward(self, seen: Tensor, copy: int | None = None) -> Tensor:
        """Float32 outputs ``[copies, rows, outputs]`` of int64 words ``[copies, rows, words]``, or of one copy."""
        chosen = slice(None) if copy is None else slice(copy, copy + 1)
        weight = {name: array[chosen].bfloat16() for name, array in self.arrays.items()}
        x = torch.baddbmm(weight["in_bias"], bits_of(seen), weight["in"])
        for block in range(self.shape.blocks):
            inner = normed(x, weight["norm"][:, block])
            inner = torch.baddbmm(weight["up_bias"][:, block], inner, weight["up"][:, block])
            x = torch.baddbmm(x, torch.relu(inner), weight["down"][:, block]) + weight["down_bias"][:, block]
        found = torch.baddbmm(weight["out_bias"], normed(x, weight["out_norm"]), weight["out"])
        return found.float()


def bits_of(words: Tensor) -> Tensor:
    """The bits of int64 words ``[..., words]`` as bfloat16 ``[..., 64 * words]``, the lowest bit first."""
    shifts = torch.arange(64, device=words.device)
    return ((words.unsqueeze(-1) >> shifts) & 1).to(torch.bfloat16).flatten(-2)


def normed(x: Tensor, gain: Tensor) -> Tensor:
    """Rows divided by the root of their mean square, times a gain."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPSILON)).bfloat16() * gain


def _initial(name: str, size: tuple[int, ...], shape: DenseShape) -> Tensor:
    if "norm" in name:
        return torch.ones(size)
    if "bias" in name or name == "down":  # a block begins as the identity
        return torch.zeros(size)
    scale = 0.1 / math.sqrt(shape.width) if name == "out" else 1.0 / math.sqrt(size[-2])
    if name == "in":
        scale = 1.0 / math.sqrt(200)  # about so many of the inputs are set
    return torch.randn(size) * scale
