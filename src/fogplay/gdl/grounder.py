"""The process that grounds rules: limits on itself, clingo, and every ground rule as numbers on standard output.

    python grounder.py BYTES SECONDS SIZE NAME/ARITY ... < program > numbers

It is run as a file, so that it imports nothing of fogplay. Clingo's own output makes a system call for every number,
and a callback in Python takes several times as long as the grounding itself, so the callback is compiled. Where that is
not possible, it is Python all the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from array import array
from collections.abc import Callable, Iterator
from typing import Any

# data[6] are the address, length and capacity of two arrays of int32: of the rules, and of the choices. A rule is
# written as its head, the length of its body, and the body.
CALLBACK = """
declare ptr @realloc(ptr, i64)
declare ptr @memcpy(ptr, ptr, i64)
define zeroext i1 @rule(i1 zeroext %choice, ptr %head, i64 %heads, ptr %body, i64 %size, ptr %data) {
entry:
  %offset = select i1 %choice, i64 3, i64 0
  %array = getelementptr i64, ptr %data, i64 %offset
  %used.at = getelementptr i64, ptr %array, i64 1
  %room.at = getelementptr i64, ptr %array, i64 2
  %used = load i64, ptr %used.at
  %room = load i64, ptr %room.at
  %needed = add i64 %size, 2
  %end = add i64 %used, %needed
  %full = icmp ugt i64 %end, %room
  br i1 %full, label %grow, label %write
grow:
  %more = shl i64 %end, 1
  %bytes = shl i64 %more, 2
  %old = load ptr, ptr %array
  %new = call ptr @realloc(ptr %old, i64 %bytes)
  %none = icmp eq ptr %new, null
  br i1 %none, label %fail, label %grown
grown:
  store ptr %new, ptr %array
  store i64 %more, ptr %room.at
  br label %write
write:
  %start = load ptr, ptr %array
  %place = getelementptr i32, ptr %start, i64 %used
  %atom = load i32, ptr %head
  store i32 %atom, ptr %place
  %count = trunc i64 %size to i32
  %count.at = getelementptr i32, ptr %place, i64 1
  store i32 %count, ptr %count.at
  %body.at = getelementptr i32, ptr %place, i64 2
  %length = shl i64 %size, 2
  %copied = call ptr @memcpy(ptr %body.at, ptr %body, i64 %length)
  store i64 %end, ptr %used.at
  ret i1 true
fail:
  ret i1 false
}
"""


def observe_compiled(control: Any) -> Callable[[], tuple[bytes, set[int]]]:
    """Let clingo call compiled code for every rule; returns what gives the numbers and the free atoms."""
    import llvmlite.binding as llvm
    from clingo import _internal

    clingo: Any = _internal
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(CALLBACK), llvm.Target.from_default_triple().create_target_machine()
    )
    engine.finalize_object()
    data = (ctypes.c_int64 * 6)()
    ffi, library = clingo._ffi, clingo._lib
    observer = ffi.new("clingo_ground_program_observer_t*")
    kind = ffi.typeof(observer[0].rule)
    observer[0].rule = ffi.cast(kind, engine.get_function_address("rule"))
    if not library.clingo_control_register_observer(
        control._rep, observer, True, ffi.cast("void*", ctypes.addressof(data))
    ):
        raise RuntimeError("clingo takes no observer")

    def read(kept: tuple[Any, ...] = (engine, observer)) -> tuple[bytes, set[int]]:
        rules, choices = (ctypes.string_at(data[at], 4 * data[at + 1]) if data[at] else b"" for at in (0, 3))
        numbers, free, at = array("i", choices), set(), 0
        while at < len(numbers):
            free.add(numbers[at])
            at += 2 + numbers[at + 1]
        return rules, free

    return read


def observe_plainly(control: Any) -> Callable[[], tuple[bytes, set[int]]]:
    """The same in Python."""
    from clingo.backend import Observer

    numbers, free = array("i"), set()

    class Rules(Observer):
        def rule(self, choice: bool, head: Any, body: Any) -> None:
            if choice:
                free.add(head[0])
            else:
                numbers.extend((head[0], len(body), *body))

    control.register_observer(Rules(), replace=True)
    return lambda: (numbers.tobytes(), free)


def shown_quickly(control: Any) -> Callable[[str, int, set[int] | None], Iterator[tuple[int, bytes]]]:
    """What gives the number and the text of every atom of a relation, 0 if it always holds.

    This is clingo's C interface without its wrappers, which take most of the time where there are many moves.
    """
    from clingo import _internal

    clingo: Any = _internal
    ffi, library = clingo._ffi, clingo._lib
    place = ffi.new("clingo_symbolic_atoms_t**")
    library.clingo_control_symbolic_atoms(control._rep, place)
    atoms, signature, at = place[0], ffi.new("clingo_signature_t*"), ffi.new("clingo_symbolic_atom_iterator_t*")
    symbol, literal = ffi.new("clingo_symbol_t*"), ffi.new("clingo_literal_t*")
    valid, fact, size = ffi.new("bool*"), ffi.new("bool*"), ffi.new("size_t*")

    def show(name: str, arity: int, only: set[int] | None) -> Iterator[tuple[int, bytes]]:
        room = 4096
        text = ffi.new("char[]", room)
        library.clingo_signature_create(name.encode(), arity, True, signature)
        library.clingo_symbolic_atoms_begin(atoms, signature, at)
        while True:
            library.clingo_symbolic_atoms_is_valid(atoms, at[0], valid)
            if not valid[0]:
                return
            library.clingo_symbolic_atoms_literal(atoms, at[0], literal)
            if only is None or literal[0] in only:
                library.clingo_symbolic_atoms_symbol(atoms, at[0], symbol)
                library.clingo_symbolic_atoms_is_fact(atoms, at[0], fact)
                library.clingo_symbol_to_string_size(symbol[0], size)
                if size[0] > room:
                    room = 2 * size[0]
                    text = ffi.new("char[]", room)
                library.clingo_symbol_to_string(symbol[0], text, size[0])
                yield 0 if fact[0] else literal[0], ffi.string(text)
            library.clingo_symbolic_atoms_next(atoms, at[0], at)

    return show


def shown_plainly(control: Any) -> Callable[[str, int, set[int] | None], Iterator[tuple[int, bytes]]]:
    """The same by clingo's own wrappers."""

    def show(name: str, arity: int, only: set[int] | None) -> Iterator[tuple[int, bytes]]:
        for atom in control.symbolic_atoms.by_signature(name, arity):
            if only is None or atom.literal in only:
                yield 0 if atom.is_fact else atom.literal, str(atom.symbol).encode()

    return show


def main() -> None:
    memory, seconds, size = map(int, sys.argv[1:4])
    with contextlib.suppress(ImportError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import clingo

    control = clingo.Control(["-W", "none"], logger=lambda *_: None)
    try:
        read = observe_compiled(control)
    except (ImportError, AttributeError, RuntimeError, OSError):
        read = observe_plainly(control)
    control.add("base", [], sys.stdin.read())
    control.ground([("base", [])])
    numbers, free = read()
    out = sys.stdout.buffer
    out.write(b"%d\n" % (len(numbers) // 4))
    out.write(numbers)
    try:
        show = shown_quickly(control)
    except (ImportError, AttributeError):
        show = shown_plainly(control)
    for name, arity in [each.split("/") for each in sys.argv[4:]]:
        free_only = name in ("true", "does")  # a condition may mention others, but they never come about
        for literal, text in show(name, int(arity), free if free_only else None):
            out.write(b"%d %s\n" % (literal, b"asked" if name == "asked" else text))
    out.write(b"end\n")


if __name__ == "__main__":
    main()
