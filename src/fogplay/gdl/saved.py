"""Networks as files: what was grounded once can be played where no grounder is installed."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from fogplay import storage
from fogplay.gdl.kif import parse, unparse
from fogplay.gdl.network import Network
from fogplay.gdl.rules import Term

KIND = "network of a rule sheet"


def save_network(network: Network, file: str | Path) -> None:
    """Write a network to a file."""
    arrays = {}
    for each in fields(network):
        value = getattr(network, each.name)
        if isinstance(value, np.ndarray):
            arrays[each.name] = value.view(np.uint8) if value.dtype == bool else value
    about: dict[str, Any] = {
        "roles": list(network.roles),
        "terminal": int(network.terminal),
        "fluents": [*map(unparse, network.fluents)],
        "moves": [[*map(unparse, own)] for own in network.moves],
        "percepts": [[role, unparse(term)] for role, term in network.percepts],
    }
    storage.write(file, KIND, arrays, about)


def load_network(file: str | Path) -> Network:
    """The network in a file that ``save_network`` wrote."""
    arrays, about = storage.read(file, KIND)
    given: dict[str, Any] = {name: np.array(array) for name, array in arrays.items()}
    given["initial"] = given["initial"].view(bool)
    return Network(
        **given,
        roles=tuple(about["roles"]),
        terminal=about["terminal"],
        fluents=tuple(map(_term, about["fluents"])),
        moves=tuple(tuple(map(_term, own)) for own in about["moves"]),
        percepts=tuple((role, _term(text)) for role, text in about["percepts"]),
    )


def _term(text: str) -> Term:
    """A term from its text, in plain tuples."""

    def plain(form: Any) -> Term:
        return form if isinstance(form, str) else tuple(map(plain, form))

    return plain(parse(text)[0][0])
