"""Tables of named columns for other programs: pandas, Arrow, Parquet and CSV. The packages are imported when needed."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fogplay import storage
from fogplay.errors import FogplayError

ENDINGS = (".csv", ".arrow", ".feather", ".parquet")

Columns = Mapping[str, Any]  # arrays or lists of the same length, by name


class Tabulated:
    """What can be read as a table: a class defines ``columns()``, and gets the rest."""

    def columns(self) -> Columns:
        """Arrays or lists of the same length, by name."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas DataFrame of ``columns()``."""
        try:
            import pandas  # type: ignore[import-untyped]
        except ImportError as error:
            raise FogplayError("to_pandas() needs pandas: pip install pandas") from error
        return pandas.DataFrame(dict(self.columns()))

    def to_arrow(self) -> Any:
        """A pyarrow Table of ``columns()``."""
        return arrow_table(self.columns())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write ``columns()`` as a CSV file with a line of names; needs no other package."""
        write_csv(Path(path), self.columns())

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write ``columns()`` to a file whose ending says how: .csv, .arrow, .feather or .parquet."""
        write_table(Path(path), self.columns())


def require_ending(path: Path, option: str = "") -> None:
    """Refuse a file whose ending names no kind of table, or one whose package is missing."""
    if path.suffix not in ENDINGS:
        what = f"{option} {path}" if option else str(path)
        raise FogplayError(f"{what}: the file's name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    if path.suffix != ".csv":
        _arrow()


def write_table(path: Path, columns: Columns) -> None:
    """Write columns to a file whose ending says how; atomically."""
    require_ending(path)
    if path.suffix == ".csv":
        write_csv(path, columns)
        return
    table = arrow_table(columns)
    with storage.atomically(path) as temporary:
        if path.suffix == ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(table, str(temporary))
        else:
            import pyarrow.feather

            pyarrow.feather.write_feather(table, str(temporary), compression="uncompressed")


def write_csv(path: Path, columns: Columns) -> None:
    """Write columns as CSV, atomically; numbers are written so that reading them gives the same bits."""
    lists = [column.tolist() if hasattr(column, "tolist") else list(column) for column in columns.values()]
    with storage.atomically(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*lists, strict=True))


def arrow_table(columns: Columns) -> Any:
    """Columns as a table of pyarrow."""
    arrow = _arrow()
    return arrow.table({name: arrow.array(column) for name, column in columns.items()})


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise FogplayError("Arrow and Parquet need pyarrow: pip install pyarrow") from error
    return pyarrow
