"""Files of named arrays and facts about them, written atomically, with a digest over everything.

The format is safetensors, so other tools can read the files, and loading never runs code. Arrays are memory-mapped.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import safetensors
from numpy.typing import NDArray

from fogplay.errors import FogplayError

try:
    import fcntl
except ImportError:  # on Windows, where a temporary file is abandoned once it is old
    fcntl = None  # type: ignore[assignment]

FORMAT = 2  # the newest that can be read; files without sparse arrays are still written as 1
DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
ABANDONED_SECONDS = 3600.0  # after which a temporary file is abandoned, where files cannot be locked
SURE_SECONDS = 0.2  # and where they can: a new file is locked within a moment
SPARSE_FROM = 1 << 16  # entries of an array that may be written without its zeros
CHUNK = 1 << 22  # entries that are searched for zeros at a time
OWN = re.compile(r"/dev/(?:std(?P<name>out|err)|fd/(?P<fd>\d+))|/proc/self/fd/(?P<self>\d+)")
Arrays = Mapping[str, NDArray[Any]]


def write(path: str | os.PathLike[str], kind: str, arrays: Arrays, about: Mapping[str, Any]) -> None:
    """Write ``arrays`` and ``about`` (anything JSON can hold) to ``path``, atomically.

    The file appears under its name only when it is complete and on disk; an existing file stays until then.
    """
    prepare(arrays).write(path, kind, about)


class Prepared(NamedTuple):
    """Arrays as they are written to a file."""

    arrays: dict[str, NDArray[Any]]
    sparse: dict[str, tuple[str, list[int]]]  # the type and shape of each array written without its zeros

    @property
    def nbytes(self) -> int:
        """About the size of the file."""
        return sum(array.nbytes for array in self.arrays.values())

    def write(self, path: str | os.PathLike[str], kind: str, about: Mapping[str, Any]) -> None:
        text = json.dumps(dict(about), sort_keys=True, allow_nan=True)
        header = {"kind": kind, "format": "1", "about": text}
        if self.sparse:
            header |= {"format": "2", "sparse": json.dumps(self.sparse, sort_keys=True)}
        header["digest"] = _digest(kind, text + header.get("sparse", ""), self.arrays)
        with atomically(Path(path)) as temporary, open(temporary, "wb") as file:
            _write_safetensors(file, self.arrays, header)


def prepare(arrays: Arrays, sparse: bool = False) -> Prepared:
    """Make arrays contiguous, and where that saves space, replace them by their entries that are not zero."""
    made, known = dict[str, NDArray[Any]](), dict[str, tuple[str, list[int]]]()
    for name, array in arrays.items():
        found = _entries(array) if sparse and array.ndim == 1 and len(array) >= SPARSE_FROM else None
        if found is None:
            made[name] = np.ascontiguousarray(array)
        else:
            made[f"{name}.where"], made[f"{name}.entry"] = found
            known[name] = NAMES[array.dtype], list(array.shape)
    return Prepared(made, known)


def _entries(array: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """The places of the entries whose bits are not all zero, and these entries; None if that is no shorter."""
    bits = array.view(f"u{array.itemsize}")
    count = sum(np.count_nonzero(bits[first : first + CHUNK]) for first in range(0, len(bits), CHUNK))
    index: Any = np.uint32 if len(array) <= 2**32 else np.uint64
    if count * (np.dtype(index).itemsize + array.itemsize) > array.nbytes // 2:
        return None
    where, entry, at = np.empty(count, index), np.empty(count, array.dtype), 0
    for first in range(0, len(bits), CHUNK):
        found = np.flatnonzero(bits[first : first + CHUNK])
        where[at : at + len(found)] = found + first
        entry[at : at + len(found)] = array[first : first + CHUNK][found]
        at += len(found)
    return where, entry


def _with_zeros(arrays: dict[str, NDArray[Any]], sparse: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """All arrays, those of ``sparse`` as they were before ``prepare``."""
    for name, (dtype, shape) in sparse.items():
        whole = np.zeros(shape, DTYPES[dtype])
        whole[arrays.pop(f"{name}.where")] = arrays.pop(f"{name}.entry")
        arrays[name] = whole
    return arrays


def require_space(path: Path, nbytes: int, what: str) -> None:
    """Refuse to write a file that does not fit on its disk."""
    with contextlib.suppress(OSError):
        free = shutil.disk_usage(Path(os.path.realpath(path)).parent).free
        if free < nbytes:
            raise FogplayError(
                f"{what} takes {in_bytes(nbytes)}, and only {in_bytes(free)} are free beside {path}; "
                "existing files are unchanged"
            )


def in_bytes(count: int) -> str:
    """A size in words."""
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"


def _write_safetensors(file: BinaryIO, arrays: Arrays, known: Mapping[str, str]) -> None:
    """The format itself: the header's length, the header, then the arrays, widest items first so that all are aligned.

    The library's own writer is not used because it creates a second temporary file, which stays if it is killed.
    """
    header: dict[str, Any] = {"__metadata__": known}
    end, order = 0, sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    for name in order:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        header[name] = {"dtype": NAMES[array.dtype], "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in order:
        file.write(_bytes_of(arrays[name]))


@contextlib.contextmanager
def atomically(path: Path) -> Iterator[str]:
    """The name of a file to write, which replaces ``path`` when it is complete and on disk.

    A symbolic link stays: the file that it names is replaced. Devices, FIFOs and this process's own descriptors are
    written through, and never replaced.
    """
    temporary, lock = None, None
    try:
        if is_stream(path):
            with _through(path) as name:
                yield name
            return
        target = Path(os.path.realpath(path))
        _remove_abandoned(target)
        lock, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        if fcntl is None:  # an open file cannot be replaced there
            os.close(lock)
            lock = None
        else:
            _lock(lock)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        with open(temporary, "r+b") as written:  # Windows flushes only what may be written
            os.fsync(written.fileno())
        os.replace(temporary, target)
    except (OSError, safetensors.SafetensorError) as error:
        raise FogplayError(f"cannot write {path}: {_reason(error)}; existing files are unchanged") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # exists only if something went wrong
        if lock is not None:
            os.close(lock)


def write_text(path: Path, text: str) -> None:
    """Write a text file, atomically."""
    with atomically(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` is a device, a FIFO or a descriptor of this process: something to write to, not to replace."""
    if _own_descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _own_descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number of this process's descriptor that ``path`` names, such as 1 for /dev/stdout."""
    found = OWN.fullmatch(os.path.abspath(path))
    if found is None:
        return None
    return {"out": 1, "err": 2}[found["name"]] if found["name"] else int(found["fd"] or found["self"])


@contextlib.contextmanager
def _through(path: Path) -> Iterator[str]:
    """The name of a file to write, whose contents go to a device, a FIFO or a descriptor."""
    number = _own_descriptor(path)
    if number is None:
        if stat.S_ISBLK(os.stat(path).st_mode):
            raise FogplayError(f"{path} is a disk; name a file")
        yield str(path)
        return
    # Opening it by name would truncate a file that output is redirected to, and write at its beginning.
    with tempfile.TemporaryDirectory(prefix="fogplay-") as folder:
        name = os.path.join(folder, "output")
        yield name
        sys.stdout.flush()
        with open(name, "rb") as made, os.fdopen(os.dup(number), "wb") as out:
            shutil.copyfileobj(made, out)


def _lock(descriptor: int) -> None:
    """Hold a temporary file until it is closed or this process ends, however it ends."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(path: Path) -> None:
    """Remove what killed writers of ``path`` left behind: temporary files that nobody holds."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with contextlib.suppress(OSError):
            age = time.time() - part.stat().st_mtime
            held = _held(part)
            if age > ABANDONED_SECONDS if held is None else age > SURE_SECONDS and not held:
                part.unlink()


def _held(part: Path) -> bool | None:
    """Whether a process holds a temporary file; None where files cannot be locked."""
    if fcntl is None:
        return None
    with open(part, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return None
    return False


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays, memory-mapped, and the facts in a file that ``write`` wrote as ``kind``."""
    path = Path(path)
    if not path.exists():
        raise FogplayError(f"there is no file {path}")
    if path.is_dir():
        raise FogplayError(f"{path} is a folder, not a file that fogplay wrote")
    try:
        header, base = _read_header(path)
    except (OSError, ValueError, safetensors.SafetensorError) as error:
        raise FogplayError(f"{path} is damaged, or not a file that fogplay wrote ({_reason(error)})") from error
    known = header.pop("__metadata__", {})
    if not {"kind", "format", "about", "digest"} <= known.keys():
        raise FogplayError(f"{path} is a safetensors file, but fogplay did not write it")
    if not known["format"].isdigit() or int(known["format"]) > FORMAT:
        raise FogplayError(
            f"{path} has format {known['format']}, written by a newer fogplay; this version reads up to {FORMAT}: "
            "upgrade fogplay"
        )
    if known["kind"] != kind:
        raise FogplayError(f"{path} holds a {known['kind']}, not a {kind}")
    try:
        arrays = {name: _mapped(path, base, entry) for name, entry in header.items()}
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise FogplayError(f"{path} is damaged: its header does not describe arrays that fogplay writes") from error
    if _digest(kind, known["about"] + known.get("sparse", ""), arrays) != known["digest"]:
        raise FogplayError(
            f"{path} is damaged: its contents do not match its digest; use a good copy or create it again"
        )
    return _with_zeros(arrays, json.loads(known.get("sparse", "{}"))), json.loads(known["about"])


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """The kind of a file that ``write`` wrote; None if it is not such a file."""
    try:
        header, _ = _read_header(Path(path))
    except (OSError, ValueError, safetensors.SafetensorError):
        return None
    kind = header.get("__metadata__", {}).get("kind")
    return kind if isinstance(kind, str) else None


def about(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The facts in a file that ``write`` wrote, without its arrays; None if it is not such a file."""
    try:
        header, _ = _read_header(Path(path))
        found: dict[str, Any] = json.loads(header["__metadata__"]["about"])
    except (OSError, ValueError, KeyError, safetensors.SafetensorError):
        return None
    return found


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """The header, validated by the safetensors library, and the offset of the data."""
    with safetensors.safe_open(path, framework="numpy"):
        pass
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    return header, 8 + length


def _mapped(path: Path, base: int, entry: dict[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(DTYPES[entry["dtype"]])
    begin, end = entry["data_offsets"]
    if begin == end:
        return np.zeros(entry["shape"], dtype)
    return np.memmap(path, dtype=dtype, mode="r", offset=base + begin, shape=tuple(entry["shape"]))


def _digest(kind: str, about: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(f"{kind}\0{about}".encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(_bytes_of(array))
    return digest.hexdigest()


def _bytes_of(array: NDArray[Any]) -> memoryview | bytes:
    """The array's bytes, not copied."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def pack_text(lines: tuple[str, ...]) -> NDArray[np.uint8]:
    """Lines of text as one array of bytes."""
    return np.frombuffer(json.dumps(lines, ensure_ascii=False).encode(), np.uint8)


def unpack_text(array: NDArray[np.uint8]) -> tuple[str, ...]:
    """The lines that ``pack_text`` packed."""
    return tuple(json.loads(bytes(array)))
