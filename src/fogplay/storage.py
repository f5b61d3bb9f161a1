"""Files of named arrays and facts about them, written atomically, with a digest over everything.

The format is safetensors, so other tools can read the files, and loading never runs code. Arrays are memory-mapped.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import safetensors
from numpy.typing import NDArray

from fogplay.errors import FogplayError

FORMAT = 1
DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
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
ABANDONED_SECONDS = 3600.0
Arrays = Mapping[str, NDArray[Any]]


def write(path: str | os.PathLike[str], kind: str, arrays: Arrays, about: Mapping[str, Any]) -> None:
    """Write ``arrays`` and ``about`` (anything JSON can hold) to ``path``, atomically.

    The file appears under its name only when it is complete and on disk; an existing file stays until then.
    """
    path = Path(path)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(dict(about), sort_keys=True, allow_nan=True)
    header = {"kind": kind, "format": str(FORMAT), "about": text, "digest": _digest(kind, text, arrays)}
    with atomically(path) as temporary, open(temporary, "wb") as file:
        _write_safetensors(file, arrays, header)


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
    """The name of a temporary file to write, which replaces ``path`` when it is complete and on disk."""
    temporary = None
    try:
        _remove_abandoned(path)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    except (OSError, safetensors.SafetensorError) as error:
        raise FogplayError(f"cannot write {path}: {_reason(error)}; existing files are unchanged") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # exists only if something went wrong


def _remove_abandoned(path: Path) -> None:
    """Remove what killed writers of ``path`` left behind: temporary files that have not changed for an hour."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > ABANDONED_SECONDS:
                part.unlink()


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
    if _digest(kind, known["about"], arrays) != known["digest"]:
        raise FogplayError(
            f"{path} is damaged: its contents do not match its digest; use a good copy or create it again"
        )
    return arrays, json.loads(known["about"])


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """The kind of a file that ``write`` wrote; None if it is not such a file."""
    try:
        header, _ = _read_header(Path(path))
    except (OSError, ValueError, safetensors.SafetensorError):
        return None
    kind = header.get("__metadata__", {}).get("kind")
    return kind if isinstance(kind, str) else None


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
