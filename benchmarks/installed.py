"""The package as a stranger installs it: sizes of the downloads and of every extra, and one run of every command.

    python benchmarks/installed.py smoke            # wheel and sdist, each in an empty environment elsewhere
    python benchmarks/installed.py smoke --with uv  # or pipx: as these tools install it
    python benchmarks/installed.py sizes            # the table of docs/installation.md
    python benchmarks/installed.py tutorials        # each typed into a fresh environment with an empty cache
    python benchmarks/installed.py notebook         # run by Jupyter: what games, results and matches show

All build the package first, which needs `pip install build`; packages come from the index that pip is set up for.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = "table,ggp,interop,neural"  # what the commands below need

# Every command once, as short as it can be; later ones use the files of earlier ones.
COMMANDS = (
    "games",
    "games kuhn --efg kuhn.efg",
    "algorithms",
    "solve kuhn -n 200 --curve curve.csv --plot curve.png --tensorboard runs",
    "solve kuhn.efg -a lp --out exact.safetensors",
    "solve rps.kif -n 100 --out sheet.safetensors",
    "evaluate kuhn.safetensors",
    "inspect kuhn.safetensors --export kuhn.parquet",
    "match kuhn kuhn.safetensors uniform --hands 200 --log hands.txt",
    "model kuhn --from hands.txt --player uniform --out model.safetensors",
    "respond kuhn --to model.safetensors -n 100 --out response.safetensors",
    "tradeoff kuhn --to model.safetensors --confidences 0,1 -n 100 --out tradeoff",
    "compare kuhn es-mccfr cfr+ -n 100 --runs 2 --workers 1",
    "advise kuhn --hand Q --history bet",
    "play kuhn --against kuhn.safetensors --hands 1",
    "match holdem smooth-uct rules --hands 100",
    "match doudizhu greedy random --decks 1",
    "train doudizhu --decisions 900 --decks 1 --set width=16 --set blocks=1 --set size=96 --set steps=3 --set batch=96",
    "reproduce uct-vs-cfr-2009/rps --workers 1",
    "bench full-width --games kuhn --seconds 0.05",
    "acpc games",
    "acpc deal kuhn.limit.2p Al=uniform Bo=uniform --hands 20 --log match.log",
    "acpc replay match.log",
    "ggp match rps.kif uniform uniform --startclock 5 --playclock 2",
)
SERVERS = {  # they answer until they are stopped
    "serve": "serve --port {port}",
    "ggp player": "ggp player --port {port}",
}
PAIRS = {  # they talk to each other
    "acpc join": (
        "acpc deal kuhn.limit.2p Al=uniform :{port} --hands 20",
        "acpc join localhost {port} --agent uniform --game kuhn.limit.2p --wait 60",
    )
}


def build(folder: Path) -> tuple[Path, Path]:
    """Build wheel and sdist into ``folder``."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def by_pip(package: Path, extras: str, folder: Path) -> Path:
    """Install into a new virtual environment; the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    wanted = f"{package}[{extras}]" if extras else str(package)
    subprocess.run([str(folder / "bin" / "pip"), "install", "-q", "-c", str(LOCK), wanted], check=True)
    return folder / "bin"


def by_pipx(package: Path, extras: str, folder: Path) -> Path:
    """Install as ``pipx install`` does."""
    places = {"PIPX_HOME": str(folder / "home"), "PIPX_BIN_DIR": str(folder / "bin"), "PIPX_MAN_DIR": str(folder)}
    wanted = [f"{package}[{extras}]", f"--pip-args=-c {LOCK}"]
    subprocess.run([sys.executable, "-m", "pipx", "install", "-q", *wanted], env=os.environ | places, check=True)
    return folder / "bin"


def by_uv(package: Path, extras: str, folder: Path) -> Path:
    """Install as ``uv tool install`` does."""
    places = {"UV_TOOL_DIR": str(folder / "home"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    wanted = [f"{package}[{extras}]", "--constraints", str(LOCK)]
    subprocess.run([sys.executable, "-m", "uv", "tool", "install", "-q", *wanted], env=os.environ | places, check=True)
    return folder / "bin"


WAYS = {"pip": by_pip, "pipx": by_pipx, "uv": by_uv}


class Smoke:
    """Runs commands of an installed fogplay in an empty folder, away from the checkout."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.program, self.folder = str(programs / "fogplay"), folder
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        self.environment = {name: value for name, value in os.environ.items() if name not in hidden}
        self.port = 20_000 + os.getpid() % 20_000

    def run(self) -> Iterator[tuple[str, float]]:
        """Every command and its seconds; stops at the first that fails."""
        for command in COMMANDS:
            start = time.monotonic()
            done = self.start(command)
            text, _ = done.communicate("\n" * 200, timeout=900)
            if done.returncode != 0:
                raise SystemExit(f"fogplay {command} ended with {done.returncode}:\n{text}")
            yield command, time.monotonic() - start
        for name, command in SERVERS.items():
            yield name, self.serve(command)
        for name, (first, second) in PAIRS.items():
            yield name, self.pair(first, second)

    def start(self, command: str) -> subprocess.Popen[str]:
        """Start one command."""
        words = [self.program, *command.format(port=self.port).split()]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(words, cwd=self.folder, env=self.environment, text=True, **pipes)  # type: ignore[call-overload, no-any-return]

    def serve(self, command: str) -> float:
        """Seconds until a server answers; then it is stopped."""
        self.port, start = self.port + 1, time.monotonic()
        server = self.start(command)
        while not answers(self.port):
            if server.poll() is not None or time.monotonic() - start > 120:
                server.kill()
                raise SystemExit(f"fogplay {command} does not answer:\n{server.communicate()[0]}")
            time.sleep(0.1)
        server.terminate()
        server.communicate(timeout=60)
        return time.monotonic() - start

    def pair(self, first: str, second: str) -> float:
        """Seconds of two commands that talk to each other."""
        self.port, start = self.port + 1, time.monotonic()
        for each in [self.start(first), self.start(second)]:
            text, _ = each.communicate(timeout=120)
            if each.returncode != 0:
                raise SystemExit(f"{each.args} ended with {each.returncode}:\n{text}")
        return time.monotonic() - start


def answers(port: int) -> bool:
    """Whether anything at the port speaks HTTP."""
    try:
        urllib.request.urlopen(f"http://localhost:{port}/", timeout=5)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def commands_of(programs: Path) -> set[str]:
    """Every command that the installed fogplay has, as it says itself."""

    def listed(*words: str) -> list[str]:
        text = subprocess.run(
            [str(programs / "fogplay"), *words, "--help"],
            capture_output=True, text=True, check=True, env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1"},
        ).stdout  # fmt: skip
        return re.findall(r"^│ ([a-z]+) ", text.partition(" Commands ")[2], re.MULTILINE)

    groups = ("acpc", "ggp")
    return {name for name in listed() if name not in groups} | {
        f"{group} {name}" for group in groups for name in listed(group)
    }


def covered() -> set[str]:
    """The commands that the smoke test runs."""
    words = [command.split() for command in COMMANDS]
    return {" ".join(each[:2]) if each[0] in ("acpc", "ggp") else each[0] for each in words} | {*SERVERS, *PAIRS}


def smoke(way: str, kinds: str) -> None:
    """Install wheel and sdist and run every command of each."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        packages = dict(zip(("wheel", "sdist"), build(folder / "dist"), strict=True))
        for kind in kinds.split(","):
            start = time.monotonic()
            programs = WAYS[way](packages[kind], EXTRAS, folder / kind)
            print(f"{kind} by {way}: installed in {time.monotonic() - start:.0f} s", flush=True)
            if missing := commands_of(programs) ^ covered():
                raise SystemExit(f"the smoke test and `fogplay --help` differ in {', '.join(sorted(missing))}")
            (folder / f"{kind}-work").mkdir()
            for command, seconds in Smoke(programs, folder / f"{kind}-work").run():
                print(f"  {seconds:6.1f} s  fogplay {command}", flush=True)


def sizes() -> None:
    """The table of what every extra adds."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        wheel, sdist = build(folder / "dist")
        print(f"wheel {_megabytes(wheel.stat().st_size)} MB, sdist {_megabytes(sdist.stat().st_size)} MB\n")
        print("| extra | packages | MB on disk | more than without |\n|---|---:|---:|---:|", flush=True)
        plain = 0
        for extra in ("", *PROJECT["optional-dependencies"]):
            programs = by_pip(wheel, extra, folder / "environment")
            (libraries,) = (programs.parent / "lib").glob("python*/site-packages")
            files = [each for each in libraries.rglob("*") if each.is_file() and not each.is_symlink()]
            taken = sum(each.stat().st_size for each in files if each.suffix != ".pyc")
            plain, count = plain or taken, len(list(libraries.glob("*.dist-info")))
            more = "" if not extra else _megabytes(taken - plain)
            print(f"| {f'`{extra}`' if extra else 'none'} | {count} | {_megabytes(taken)} | {more} |", flush=True)
            shutil.rmtree(folder / "environment")


def tutorials() -> None:
    """Type every block of every tutorial in its order, and show how long it took."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel, _ = build(Path(scratch) / "dist")
        for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
            folder = Path(scratch) / page.stem
            start = time.monotonic()
            programs = by_pip(wheel, "", folder / "environment")
            print(f"{page.stem}: installed in {time.monotonic() - start:.0f} s", flush=True)
            (folder / "work").mkdir()
            start = time.monotonic()
            for seconds, what in typed(page, programs, folder):
                print(f"  {seconds:6.1f} s  {what}", flush=True)
            print(f"  {time.monotonic() - start:6.1f} s in all", flush=True)
            shutil.rmtree(folder)


def typed(page: Path, programs: Path, folder: Path) -> Iterator[tuple[float, str]]:
    """Seconds of every block and its first line; Python blocks go to one interpreter, as in one sitting."""
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "FOGPLAY_CACHE": str(folder / "cache")}
    environment.pop("PYTHONPATH", None)
    python = ""
    for language, block in re.findall(r"^```(bash|python|py)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        start = time.monotonic()
        if language == "py":
            (folder / "work" / "my-bot.py").write_text(block)
            continue
        if language == "python":  # earlier blocks again, since they define names
            python += block
        command = ["bash", "-ec", block] if language == "bash" else [str(programs / "python"), "-c", python]
        done = subprocess.run(
            command, cwd=folder / "work", env=environment, text=True, check=False, input="q\n",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"{page.name}:\n{block}\nended with {done.returncode}:\n{done.stdout}")
        yield time.monotonic() - start, block.strip().partition("\n")[0]


CELLS = (  # of a notebook; each ends with something to show
    "import fogplay as fp\ngame = fp.load('kuhn')\ngame",
    "result = fp.solve(game, 'cfr+', iterations=200, curve=5)\nresult",
    "result.strategy",
    "fp.evaluate(result.strategy)",
    "fp.match(game, [result.strategy, 'uniform'], hands=200, seed=1)",
    "fp.flatten('leduc')",
)
EXECUTE = """
import json, sys, nbclient, nbformat
cells = [nbformat.v4.new_code_cell(text) for text in json.loads(sys.argv[1])]
book = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
print(json.dumps([each.outputs[-1].get("data", {}).get("text/html", "") for each in book.cells]))
"""


def notebook() -> None:
    """Run a notebook in a fresh environment, and show how much HTML each cell gave."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel, _ = build(Path(scratch) / "dist")
        programs = by_pip(wheel, "", Path(scratch) / "environment")
        subprocess.run([str(programs / "pip"), "install", "-q", "nbclient", "ipykernel"], check=True)
        command = [str(programs / "python"), "-c", EXECUTE, json.dumps(CELLS)]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(command, cwd=scratch, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        for cell, html in zip(CELLS, json.loads(done.stdout.splitlines()[-1]), strict=True):
            kind = "SVG" if "<svg" in html else "table"
            print(f"{len(html):7,} characters of HTML ({kind})  {cell.splitlines()[-1]}")
            if not html:
                raise SystemExit("a cell showed nothing")


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("smoke", "sizes", "tutorials", "notebook"))
    parser.add_argument("--with", dest="way", choices=tuple(WAYS), default="pip")
    parser.add_argument("--kinds", default="wheel,sdist")
    asked = parser.parse_args()
    if asked.what == "smoke":
        smoke(asked.way, asked.kinds)
    else:
        {"sizes": sizes, "tutorials": tutorials, "notebook": notebook}[asked.what]()
