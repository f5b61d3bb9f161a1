"""Print the tables of results/*.csv as Markdown, as they stand in README.md: ``python benchmarks/tables.py NAME``."""

from __future__ import annotations

import sys
from pathlib import Path

from fogplay.experiments.bench_report import report_tables
from fogplay.experiments.bench_rows import read_csv


def main(suite: str) -> None:
    for table in report_tables(read_csv(Path(__file__).parent / "results" / f"{suite}.csv")):
        print(f"**{table.title}**\n")
        print("| " + " | ".join(table.columns) + " |")
        print("|" + "---|" * len(table.columns))
        for line in table.lines:
            print("| " + " | ".join(line) + " |")
        print()


if __name__ == "__main__":
    main(sys.argv[1])
