"""The residual network of one-dimensional convolutions over ranks (DeltaDou, section 4.2), several at once.

Its inputs are *planes*: words of cards as thermometers, four bits per rank, and *facts*: words whose bits are the same
for all ranks. A convolution looks at a rank and its two neighbours. It is a product of matrices, and batch
normalisation follows it. ``strategies/convolution.py`` computes the same with numpy, with the normalisation folded into
a scale and a shift.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from fogplay.nets.dense import bits_of
from fogplay.strategies.convolution import EPSILON, ConvolutionShape

MEMORY = 0.99  # of the running means and variances, per batch
STATISTICS = ("mean", "variance")


class Convolution(nn.Module):
    """``copies`` networks of a shape, as stacked matrices."""

    def __init__(self, shape: ConvolutionShape, copies: int = 1) -> None:
        super().__init__()
        self.shape, self.copies = shape, copies
        self.arrays = nn.ParameterDict()
        for name, size in shape.trained_arrays().items():
            array = nn.Parameter(_initial(name, (copies, *size)), requires_grad=not name.endswith(STATISTICS))
            self.arrays[name] = array

    def forward(self, seen: Tensor, copy: int | None = None) -> Tensor:
        """Float32 outputs ``[copies, rows, outputs]`` of int64 words ``[copies, rows, words]``, or of one copy."""
        shape, chosen = self.shape, slice(None) if copy is None else slice(copy, copy + 1)
        own = {name: array[chosen] for name, array in self.arrays.items()}
        planes = bits_of(seen[..., list(shape.planes)]).unflatten(-1, (len(shape.planes), 16, 4))
        planes = planes[..., : shape.ranks, :].transpose(-3, -2).flatten(-2)  # [copies, rows, ranks, 4 * planes]
        facts = torch.bmm(bits_of(seen[..., list(shape.facts)]), own["facts"].bfloat16())
        x = self._product(planes, own["in"]) + facts.unsqueeze(-2)
        x = torch.relu(self._normed(x, own, "in_"))
        for block in range(shape.blocks):
            inner = torch.relu(self._layer(x, own, 2 * block))
            x = torch.relu(x + self._layer(inner, own, 2 * block + 1))
        found = torch.baddbmm(own["out_bias"].bfloat16(), x.flatten(-2), own["out"].bfloat16())
        return found.float()

    def _product(self, x: Tensor, weights: Tensor) -> Tensor:
        """The convolution of ``x[copies, rows, ranks, channels]``."""
        padded = nn.functional.pad(x, (0, 0, 1, 1))
        around = torch.cat([padded[..., :-2, :], x, padded[..., 2:, :]], -1)
        found = torch.bmm(around.flatten(1, 2), weights.bfloat16())
        return found.unflatten(1, x.shape[1:3])

    def _layer(self, x: Tensor, own: dict[str, Tensor], layer: int) -> Tensor:
        """A convolution and its normalisation."""
        parts = {name: own[name][:, layer] for name in ("gain", "bias", "mean", "variance")}
        return self._normed(self._product(x, own["conv"][:, layer]), parts, "")

    def _normed(self, x: Tensor, own: dict[str, Tensor], prefix: str) -> Tensor:
        """Batch normalisation: by the batch in training, by the running statistics otherwise."""
        wide = x.float().flatten(1, 2)  # [copies, rows * ranks, channels]
        mean, variance = own[f"{prefix}mean"], own[f"{prefix}variance"]
        if self.training:
            now = torch.var_mean(wide, dim=1, keepdim=True, correction=0)
            with torch.no_grad():
                variance.lerp_(now[0], 1.0 - MEMORY)
                mean.lerp_(now[1], 1.0 - MEMORY)
            variance, mean = now
        found = (wide - mean) * torch.rsqrt(variance + EPSILON) * own[f"{prefix}gain"] + own[f"{prefix}bias"]
        return found.bfloat16().unflatten(1, x.shape[1:3])


def _initial(name: str, size: tuple[int, ...]) -> Tensor:
    if name.endswith(("gain", "variance")):
        return torch.ones(size)
    if name.endswith(("bias", "mean")):
        return torch.zeros(size)
    scale = 0.1 / math.sqrt(size[-2]) if name == "out" else math.sqrt(2.0 / size[-2])
    return torch.randn(size) * scale
