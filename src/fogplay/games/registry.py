"""``load("name(parameter=value)")``: from a spec to a game.

Every module of this folder that defines a subclass of ``Game`` with a ``name`` registers that game; nothing else is
needed. A module may also define ``PRESETS``: names for longer specs.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fogplay.games
from fogplay.errors import FogplayError, did_you_mean
from fogplay.games.efg import ENDING, EfgGame
from fogplay.games.game import PYSPIEL, Game
from fogplay.games.gdl import ENDING as SHEET
from fogplay.games.gdl import GdlGame
from fogplay.games.own import PAGE, require_own_game
from fogplay.gdl.parameters import split_spec

EXAMPLES = "such as leduc, 'goofspiel(cards=5)', mygame.py, game.efg or rules.kif; `fogplay games` lists them"


@functools.cache
def registered() -> dict[str, type[Game]]:
    """Every registered game class by name, in alphabetical order."""
    found: dict[str, type[Game]] = {}
    for module in _modules():
        found.update(_games_defined_in(module))
    return dict(sorted(found.items()))


@functools.cache
def presets() -> dict[str, str]:
    """Names for longer specs, such as ``rps``, and the specs."""
    found: dict[str, str] = {}
    for module in _modules():
        found.update(getattr(module, "PRESETS", {}))
    return found


def _modules() -> list[Any]:
    names = [info.name for info in pkgutil.iter_modules(fogplay.games.__path__)]
    return [
        importlib.import_module(f"fogplay.games.{name}") for name in names if name not in ("game", "own", "registry")
    ]


def _games_defined_in(module: Any) -> dict[str, type[Game]]:
    return {
        value.name: value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Game) and value.__module__ == module.__name__
        if "name" in vars(value)
    }


def load(spec: str, suited: bool = False) -> Any:
    """The game that a spec names: ``leduc``, ``ocp(cards=500)``, ``bluff(1,1,6)``, ``repeated(rps,hands=3)``,
    one of your own, ``mygame.py`` or ``mygame.py:MyGame(size=3)``, one in Gambit's format, ``game.efg``, a rule
    sheet in GDL, ``rules.kif``, or one of OpenSpiel's, ``pyspiel:leduc_poker``.

    ``suited`` chooses parameters that the spec leaves open so that a person can wait for the game to be solved.
    """
    if not isinstance(spec, str):
        raise FogplayError(f"load needs a game's name as text, such as 'leduc', not {type(spec).__name__}")
    if spec.startswith(PYSPIEL):
        return _from_open_spiel(spec[len(PYSPIEL) :])
    if spec.strip().endswith(ENDING):
        return EfgGame(spec.strip())
    if split_spec(spec.strip())[0].endswith(SHEET):
        return GdlGame(spec.strip())
    name, arguments = _split(spec.strip())
    if name in presets():
        if arguments:
            raise FogplayError(f"{name} takes no parameters; it stands for {presets()[name]}")
        return load(presets()[name], suited)
    game_class = _class_from_file(name) if ".py" in name else registered().get(name)
    if game_class is None:
        raise FogplayError(_unknown(name))
    game = _construct(name, game_class, arguments, suited)
    require_own_game(game, name)
    return game


@functools.lru_cache(maxsize=64)
def short_spec(spec: str) -> str:
    """A registered game's spec without the parameters that have their defaults; any other text as it is."""
    try:
        name, arguments = _split(spec)
        game_class = registered().get(name)
        if game_class is None or not arguments:
            return spec
        places = _parameters(game_class)
        given: dict[str, str] = {}
        for place, text in enumerate(arguments):
            key, equals, value = text.partition("=")
            known = key.strip() in places if equals else place < len(places)
            if not known:  # another program's game of the same name
                return spec
            given |= {key.strip(): value} if equals else {places[place]: text}
        whole = str(load(spec))
        for key in list(given):
            fewer = {each: text for each, text in given.items() if each != key}
            with contextlib.suppress(FogplayError):  # others may need this one
                given = fewer if str(load(_spec(name, fewer))) == whole else given
    except FogplayError:
        return spec
    return _spec(name, given)


def _spec(name: str, settings: Mapping[str, str]) -> str:
    inside = ",".join(f"{key}={text}" for key, text in settings.items())
    return f"{name}({inside})" if inside else name


def shortened(text: str) -> str:
    """A text in which the specs of registered games are short."""
    found = re.search(rf"\b({'|'.join(registered())})\(", text) if "(" in text else None
    if found is None:
        return text
    depth = 0
    for end in range(found.end() - 1, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            break
    return text[: found.start()] + short_spec(text[found.start() : end + 1]) + shortened(text[end + 1 :])


def _split(spec: str) -> tuple[str, list[str]]:
    """Split ``name(a,b(c,d),[e,f])`` into the name and its arguments as text."""
    name, bracket, rest = spec.partition("(")
    if not bracket:
        return name.strip(), []
    if not rest.endswith(")"):
        raise FogplayError(f"{spec!r}: the bracket after {name.strip()!r} is never closed; write {name.strip()}(…)")
    return name.strip(), split_at_commas(rest[:-1], spec)


def split_at_commas(text: str, spec: str) -> list[str]:
    """Split ``text`` at the commas outside brackets; errors quote ``spec``."""
    parts, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth < 0:
            raise FogplayError(f"{spec!r}: a closing bracket has no opening one")
        if letter == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    if depth:
        raise FogplayError(f"{spec!r}: a bracket is never closed")
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _construct(name: str, game_class: type[Game], arguments: list[str], suited: bool) -> Game:
    fields = _parameters(game_class)
    settings: dict[str, Any] = {}
    for position, argument in enumerate(arguments):
        key, equals, text = argument.partition("=")
        key = key.strip()
        if not equals or "(" in key or "[" in key:
            if position >= len(fields):
                raise FogplayError(f"{name} takes at most {len(fields)} parameters ({', '.join(fields) or 'none'})")
            key, text = fields[position], argument
        if key not in fields:
            hint = f"; it has {', '.join(fields)}" if fields else "; it has none"
            raise FogplayError(f"{name} has no parameter {key!r}{hint}")
        if key in settings:
            raise FogplayError(f"{name}: {key} is given twice")
        settings[key] = _read(text.strip())
    if suited and issubclass(game_class, Game):
        settings = {**game_class.suited(settings), **settings}
    try:
        return game_class(**settings)
    except TypeError as error:
        hint = f"; write {name}({', '.join(f'{field}=…' for field in fields)})" if fields and not arguments else ""
        raise FogplayError(f"{name}: {error}{hint}") from error
    except FogplayError:
        raise
    except Exception as error:  # the user's own code
        raise FogplayError(f"{name}: making the game failed with {type(error).__name__}: {error}") from error


def _parameters(game_class: type[Any]) -> list[str]:
    """The names of a game's parameters: the fields of a dataclass, else what its ``__init__`` takes."""
    if dataclasses.is_dataclass(game_class):
        return [field.name for field in dataclasses.fields(game_class)]
    if game_class.__init__ is object.__init__:
        return []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = inspect.signature(game_class).parameters
    return [each for each, parameter in found.items() if parameter.kind in named]


def _read(text: str) -> Any:
    """A parameter's value: a number, True or False, a list in brackets, or otherwise the text itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return _as_tuple(value) if isinstance(value, list | tuple | int | float | bool) else text


def _as_tuple(value: Any) -> Any:
    return tuple(_as_tuple(entry) for entry in value) if isinstance(value, list | tuple) else value


def _unknown(name: str) -> str:
    known = [*registered(), *presets()]
    hint = did_you_mean(name, known) or f"the games are {', '.join(known)} "
    listed = "`fogplay games` lists them; your own is mygame.py:MyGame, game.efg or rules.kif"
    return f"no game is called {name!r}; {hint}({listed})"


def _from_open_spiel(name: str) -> Any:
    try:
        import pyspiel
    except ImportError as error:
        raise FogplayError("games that begin with pyspiel: need OpenSpiel: pip install open_spiel") from error
    if name.partition("(")[0] not in pyspiel.registered_names():
        raise FogplayError(f"OpenSpiel has no game {name!r}; pyspiel.registered_names() lists its games")
    try:
        return turn_based(pyspiel.load_game(name))
    except FogplayError:
        raise
    except Exception as error:
        raise FogplayError(f"OpenSpiel cannot load {name!r}: {str(error).splitlines()[0]}") from error


def turn_based(game: Any) -> Any:
    """The game with turns, if it is one of OpenSpiel's whose players move at the same time; else the game itself."""
    if not type(game).__module__.startswith("pyspiel") or not hasattr(game, "get_type"):
        return game
    import pyspiel

    dynamics = game.get_type().dynamics
    if dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(game)
    if dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise FogplayError(f"{game} is a mean-field game, without a fixed number of players: fogplay cannot solve it")
    return game


def _class_from_file(name: str) -> type[Game]:
    """The Game class in a user's Python file, ``path.py`` or ``path.py:Class``."""
    file, _, class_name = name.partition(":")
    path = Path(file)
    if not path.is_file():
        raise FogplayError(f"there is no file {file!r} to load a game from")
    name_of_module = f"_fogplay_game_{path.stem}"  # cannot clash with another module, whatever the file's name
    module_spec = importlib.util.spec_from_file_location(name_of_module, path)
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name_of_module] = module  # where dataclasses look up annotations
    try:
        with _beside(path):
            module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise FogplayError(f"cannot import {file}: {type(error).__name__}: {error}") from error
    own = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    classes = {each.__name__: each for each in own if hasattr(each, "new_initial_state")}
    if class_name:
        if class_name not in classes:
            raise FogplayError(f"{file} defines no game class {class_name!r}; it has {', '.join(classes) or 'none'}")
        return classes[class_name]
    if not classes:
        found = f"; it has {', '.join(each.__name__ for each in own)}" if own else ""
        raise FogplayError(
            f"{file} defines no game: a class with num_players() and new_initial_state(), as in {PAGE}{found}"
        )
    if len(classes) != 1:
        which = ", ".join(f"{file}:{each}" for each in classes)
        raise FogplayError(f"{file} defines {len(classes)} game classes; say which: {which}")
    return next(iter(classes.values()))


@contextlib.contextmanager
def _beside(path: Path) -> Iterator[None]:
    """Modules beside a game's file can be imported: first of all while it is, as in a script, and last afterwards."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)
