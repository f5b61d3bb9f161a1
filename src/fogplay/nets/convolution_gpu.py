"""The network of convolutions on a GPU, for asking: one kernel per layer, with its normalisation, sum and rectifier.

A row has one slot more than there are ranks. It stays zero: it is the neighbour of the highest rank, and of the lowest
one of the next row. So the three neighbours of a slot are three rows of one matrix, and a layer reads every number
once, where products of matrices would first write it three times.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from fogplay.nets.convolution import Convolution
from fogplay.nets.dense import bits_of
from fogplay.strategies.convolution import EPSILON

TILE = 128  # slots per block of threads


@triton.jit
def layer(x, weights, shift, added, y, slots, has_added: tl.constexpr, width: tl.constexpr, tile: tl.constexpr,
          chunk: tl.constexpr, per_row: tl.constexpr):  # fmt: skip
    """``y = relu(neighbours(x) · weights + shift + added)`` for one tile of slots."""
    at = tl.program_id(0) * tile + tl.arange(0, tile)
    columns, depth = tl.arange(0, width), tl.arange(0, chunk)
    total = tl.zeros((tile, width), dtype=tl.float32)
    for step in tl.static_range(3):
        near = at + (step - 1)
        there = (near >= 0) & (near < slots)
        for first in tl.static_range(0, width, chunk):
            part = tl.load(x + near[:, None] * width + (first + depth)[None, :], mask=there[:, None], other=0.0)
            own = tl.load(weights + (step * width + first + depth)[:, None] * width + columns[None, :])
            total = tl.dot(part, own, total)
    total += tl.load(shift + columns)[None, :]
    place = at[:, None] * width + columns[None, :]
    inside = (at < slots)[:, None]
    if has_added:
        total += tl.load(added + place, mask=inside, other=0.0).to(tl.float32)
    total = tl.maximum(total, 0.0)
    total = tl.where((at % per_row == per_row - 1)[:, None], 0.0, total)
    tl.store(y + place, total.to(tl.float16), mask=inside)


class FoldedConvolution:
    """The networks of a module as they are now, called with ``seen[rows, words]`` and the number of a copy."""

    def __init__(self, net: Convolution) -> None:
        self.net, self.shape = net, net.shape
        self.own: list[dict[str, Tensor]] = [{} for _ in range(net.copies)]
        device = next(iter(net.arrays.values())).device
        self._planes, self._facts = (
            torch.tensor(words, device=device) for words in (net.shape.planes, net.shape.facts)
        )
        self.fold()

    @torch.no_grad()
    def fold(self) -> None:
        """Take over the module's weights, with the normalisation folded in; the memory stays the same."""
        arrays, width = self.net.arrays, self.shape.width
        for copy, own in enumerate(self.own):
            found = {"out_bias": arrays["out_bias"][copy]}
            for prefix, name in (("in_", "in"), ("", "conv")):
                scale = arrays[f"{prefix}gain"][copy] * torch.rsqrt(arrays[f"{prefix}variance"][copy] + EPSILON)
                found[name] = arrays[name][copy] * scale
                shift = arrays[f"{prefix}bias"][copy] - arrays[f"{prefix}mean"][copy] * scale
                found[f"{prefix}shift"] = shift.float().reshape(-1, width)
                if prefix:
                    found["facts"] = arrays["facts"][copy] * scale
            padded = arrays["out"][copy].unflatten(0, (self.shape.ranks, width))
            found["out"] = torch.nn.functional.pad(padded, (0, 0, 0, 0, 0, 1)).flatten(0, 1)
            for name, array in found.items():
                kind = torch.float32 if name.endswith("shift") else torch.float16
                if name in own:
                    own[name].copy_(array)
                else:
                    own[name] = array.to(kind).contiguous().clone()

    def __call__(self, seen: Tensor, copy: int) -> Tensor:
        """Float32 ``outputs[rows, outputs]``."""
        shape, own, rows = self.shape, self.own[copy], len(seen)
        slots = shape.ranks + 1
        planes = bits_of(seen.index_select(1, self._planes)).half().unflatten(-1, (len(shape.planes), 16, 4))
        planes = planes[:, :, : shape.ranks].transpose(1, 2).flatten(2)  # [rows, ranks, 4 * planes]
        padded = torch.nn.functional.pad(planes, (0, 0, 1, 1))
        around = torch.cat([padded[:, :-2], planes, padded[:, 2:]], -1)
        facts = bits_of(seen.index_select(1, self._facts)).half() @ own["facts"]
        x = torch.zeros((rows, slots, shape.width), dtype=torch.float16, device=seen.device)
        found = around @ own["in"] + facts.unsqueeze(1) + own["in_shift"].half()
        x[:, : shape.ranks] = torch.relu(found)
        inner = torch.empty_like(x)
        for block in range(shape.blocks):
            y = torch.empty_like(x)
            self._layer(x, own, 2 * block, None, inner)
            self._layer(inner, own, 2 * block + 1, x, y)
            x = y
        return torch.addmm(own["out_bias"], x.flatten(1), own["out"]).float()

    def _layer(self, x: Tensor, own: dict[str, Tensor], number: int, added: Tensor | None, y: Tensor) -> None:
        width, slots = self.shape.width, x.shape[0] * x.shape[1]
        grid: Any = ((slots + TILE - 1) // TILE,)
        layer[grid](
            x, own["conv"][number], own["shift"][number], x if added is None else added, y, slots, added is not None,
            width, TILE, min(width, 64), x.shape[1], num_warps=8, num_stages=3,
        )  # fmt: skip
