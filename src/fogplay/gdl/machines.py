"""``machine_for``: the network of a sheet, or the interpreter where there is none."""

from __future__ import annotations

from fogplay.gdl.demand import on_demand
from fogplay.gdl.grounding import SECONDS, NotGroundedError
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.machine import Machine
from fogplay.gdl.network import make_network
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.sheet import Sheet


def machine_for(sheet: Sheet, seconds: float = SECONDS) -> Machine:
    """A machine that plays a sheet: its network, if the rules can be grounded within limits, else the interpreter."""
    try:
        return NetworkMachine(make_network(sheet, seconds))
    except NotGroundedError:
        return Interpreter(on_demand(sheet))
