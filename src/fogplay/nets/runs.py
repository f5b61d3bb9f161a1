"""The state of a training run in a folder: small enough to move, written so that a killed run loses minutes at most.

There is one file per network. Its weights are 16-bit floats, and so is their average where it plays on. Of the
optimiser's second moments the means over rows and over columns are kept, whose product is close to them (Shazeer &
Stern 2018). The first moments are not kept: the optimiser finds them again within some tens of steps, during which its
rate rises from zero. The file ``run.json`` names the files that belong together; it is replaced last.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from fogplay import storage
from fogplay.errors import FogplayError
from fogplay.nets.averages import Average
from fogplay.nets.convolution import Convolution
from fogplay.nets.dense import Dense
from fogplay.strategies.convolution import ConvolutionShape, folded
from fogplay.strategies.network import Network, described, shape_from

KIND = "training"
Module = Dense | Convolution
INDEX = "run.json"


class Learner(Protocol):
    """What is saved: networks of one or more copies, an optimiser for each, and how much was learned."""

    decisions: int
    updates: int
    optimisers: list[Any]

    @property
    def nets(self) -> tuple[Module, ...]: ...

    @property
    def averages(self) -> tuple[Average[Any] | None, ...]:
        """Of the networks; None where it begins anew after a resumption."""
        ...


def save(folder: Path, learner: Learner, names: tuple[str, ...], about: dict[str, Any]) -> None:
    """Write the state of a run; ``names`` are those of the actors, then the critic's."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = {**about, "decisions": learner.decisions, "updates": learner.updates}
    files = {}
    for name, (net, copy, optimiser, average) in zip(names, _parts(learner), strict=True):
        files[name] = f"{name}-{learner.updates}.safetensors"
        arrays: dict[str, NDArray[Any]] = {key: _half(array[copy]) for key, array in net.arrays.items()}
        for key, array in net.arrays.items():
            moment = optimiser.state.get(array, {}).get("exp_avg_sq")
            if moment is not None:
                arrays[f"rows.{key}"] = _numbers(moment[copy].mean(-1))
                arrays[f"columns.{key}"] = _numbers(moment[copy].mean(-2))
        if average is not None:
            arrays |= {f"average.{key}": _half(array[copy]) for key, array in average.net.arrays.items()}
        storage.write(folder / files[name], KIND, arrays, {**facts, "name": name, **described(net.shape)})
    storage.write_text(folder / INDEX, json.dumps({**facts, "files": files}))
    for old in folder.glob("*-*.safetensors"):
        if old.name not in files.values():
            old.unlink(missing_ok=True)


def resume(folder: Path, learner: Learner, names: tuple[str, ...]) -> dict[str, Any]:
    """Put the state of a run into a learner of the same shape; return what was saved about it."""
    index = read_index(folder)
    for name, (net, copy, optimiser, average) in zip(names, _parts(learner), strict=True):
        arrays, about = storage.read(folder / index["files"][name], KIND)
        if shape_from(about) != net.shape:
            raise FogplayError(f"{folder / index['files'][name]} holds a network of another shape")
        with torch.no_grad():
            for key, array in net.arrays.items():
                array[copy] = torch.from_numpy(arrays[key].astype(np.float32)).to(array.device)
                if f"rows.{key}" in arrays:
                    moments = (arrays[f"rows.{key}"], arrays[f"columns.{key}"])
                    _remember(optimiser, array, copy, moments, index["updates"])
                if average is not None:
                    mean = arrays.get(f"average.{key}", arrays[key]).astype(np.float32)
                    average.net.arrays[key][copy] = torch.from_numpy(mean).to(array.device)
                    average.added = index["updates"]
    learner.decisions, learner.updates = index["decisions"], index["updates"]
    return index


def read_index(folder: Path) -> dict[str, Any]:
    """What ``run.json`` says."""
    try:
        index: dict[str, Any] = json.loads((folder / INDEX).read_text())
        if {"files", "decisions", "updates"} <= index.keys():
            return index
    except (OSError, ValueError, AttributeError) as error:
        raise FogplayError(f"{folder} does not hold a training run that can be resumed: {error}") from error
    raise FogplayError(f"{folder / INDEX} is not the index of a training run")


def network(folder: Path, name: str) -> Network:
    """One of a run's networks, ready to play."""
    index = read_index(folder)
    if name not in index["files"]:
        raise FogplayError(f"{folder} has no network '{name}'; it has {', '.join(index['files'])}")
    arrays, about = storage.read(folder / index["files"][name], KIND)
    prefix = "average."
    means = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
    arrays = {**arrays, **means}
    shape = shape_from(about)
    if isinstance(shape, ConvolutionShape):
        arrays = folded(shape, {key: array.astype(np.float32) for key, array in arrays.items()})
    return Network.from_arrays(arrays, about)


def exported(net: Module, copy: int, about: dict[str, Any]) -> Network:
    """One of a module's networks, ready to play."""
    arrays: dict[str, Any] = {key: _numbers(array[copy]) for key, array in net.arrays.items()}
    if isinstance(net.shape, ConvolutionShape):
        arrays = folded(net.shape, arrays)
    return Network(net.shape, arrays, about)


def _parts(learner: Learner) -> list[tuple[Module, int, Any, Average[Any] | None]]:
    """Every network of a run: the module, its place in there, the optimiser, and the module's average."""
    return [
        (net, copy, optimiser, average)
        for net, optimiser, average in zip(learner.nets, learner.optimisers, learner.averages, strict=True)
        for copy in range(net.copies)
    ]


def _numbers(array: torch.Tensor) -> NDArray[np.float32]:
    found: NDArray[np.float32] = array.detach().float().cpu().numpy()
    return found


def _half(array: torch.Tensor) -> NDArray[np.float16]:
    return _numbers(array).astype(np.float16)


def _remember(optimiser: Any, array: Any, copy: int, moments: tuple[Any, Any], steps: int) -> None:
    """Put second moments into an optimiser, from their means over rows and columns, and zeros for the first."""
    state = optimiser.state[array]
    if not state:
        state["step"] = torch.tensor(float(steps), device=array.device)
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(array), torch.zeros_like(array)
    rows, columns = (torch.from_numpy(np.array(each)).to(array.device) for each in moments)
    mean = rows.mean(-1, keepdim=True).clamp(min=1e-30)
    state["exp_avg_sq"][copy] = (rows / mean).unsqueeze(-1) * columns.unsqueeze(-2)
