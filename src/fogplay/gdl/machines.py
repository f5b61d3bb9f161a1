"""``machine_for``: the network of a sheet, or the interpreter where there is none."""

from __future__ import annotations

from fogplay.gdl.demand import on_demand
from fogplay.gdl.grounding import NotGroundedError
from fogplay.gdl.interpreter import Interpreter
from fogplay.gdl.machine import Machine
from fogplay.gdl.network import make_network
from fogplay.gdl.networked import NetworkMachine
from fogplay.gdl.sheet import Sheet


def machine_for(sheet: Sheet, seconds: float | None = None) -> Machine:
    """A machine that plays a sheet: its network, if the rules can be grounded within limits, else the interpreter.

    With ``seconds``, these are by the clock; if they are 0, it is the interpreter, and nothing has to be compiled.
    """
    if seconds is not None and seconds <= 0:
        return Interpreter(on_demand(sheet))
    try:
        return NetworkMachine(make_network(sheet) if seconds is None else make_network(sheet, seconds, patience=1.0))
    except NotGroundedError:
        return Interpreter(on_demand(sheet))
