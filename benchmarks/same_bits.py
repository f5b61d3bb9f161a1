"""The same seeds give the same bits: run a list of commands and compare what they wrote with what was recorded.

    python benchmarks/same_bits.py                     # compare with benchmarks/results/same_bits.json
    python benchmarks/same_bits.py --record FILE       # record, for instance with an older version's source first
    python benchmarks/same_bits.py --only leduc        # some cases only
    PYTHONPATH=/path/to/other/src python benchmarks/same_bits.py --record other.json

A digest covers the arrays of every strategy, the lines of every log and the values of the final JSON object, without
seconds and rates. Bits depend on the processor and on the version of numba, so a record is for one machine: make it
with the old version, then compare the new one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from safetensors.numpy import load_file

RECORD = Path(__file__).parent / "results" / "same_bits.json"
SMALL = "holdem(grid=ehs2:169/20/20/20)"
TINY = "holdem(rounds=2,ranks=3,suits=2,hole=1,board=[0,1])"
THREE = "kuhn(players=3)"

# The commands run in this order in one folder: later ones use the files of earlier ones.
CASES = [
    "solve kuhn -a smooth-uct -n 100000 --out kuhn.st",
    "solve leduc -a smooth-uct -n 300000 --seed 3 --out leduc-smooth.st",
    "solve leduc -n 300000 --seed 4 -a uct --greedy --out leduc-uct.st",
    "solve leduc -n 200000 -a uct --set rollout=call-down --out leduc-calling.st",
    "solve leduc -n 200000 -a uct --set rollout=on-policy --set k=0.5 --out leduc-pot.st",
    "solve leduc -a smooth-uct -n 200000 --set schedule=confidence --set threshold=100 --out leduc-confidence.st",
    "solve leduc -a smooth-uct -n 200000 --set schedule=slow-decay --out leduc-slow.st",
    "solve leduc -n 300000 -a os-mccfr --seed 5 --out leduc-os.st",
    "solve leduc -n 200000 -a os-mccfr --set updates=alternating --set averaging=stochastic --out leduc-os2.st",
    "solve leduc -n 100000 -a es-mccfr --out leduc-es.st",
    "solve leduc -n 3000 -a cs-mccfr --out leduc-cs.st",
    f"solve {THREE} -n 100000 -a es-mccfr --out kuhn3-es.st",
    f"solve {THREE} -n 100000 -a smooth-uct --out kuhn3.st",
    "solve leduc -n 200 -a cfr --out leduc-cfr.st",
    "solve leduc -n 200 -a cfr+ --out leduc-cfrplus.st",
    "solve leduc -n 200 -a lcfr --out leduc-lcfr.st",
    "solve leduc -n 200 -a dcfr --out leduc-dcfr.st",
    "solve leduc -n 200 -a pcfr+ --out leduc-pcfr.st",
    "solve ocp(cards=20) -a smooth-uct -n 100000 --out ocp.st",
    "solve goofspiel -n 100000 -a smooth-uct --out goofspiel.st",
    "solve bluff(1,1,4) -n 100000 -a es-mccfr --out bluff.st",
    "solve pam(horizon=3) -n 50000 -a os-mccfr --out pam.st",
    "solve repeated(rps,hands=2) -n 50000 -a uct --set c=100,50 --out rps.st",
    f"solve {TINY} -a smooth-uct -n 100000 --out tiny.st",
    f"solve {SMALL} -a smooth-uct -n 200000 --seed 1 --out holdem-smooth.st",
    f"solve {SMALL} -n 200000 --seed 2 -a uct --greedy --snapshots 100000 --out holdem-uct.st",
    f"solve {SMALL} -n 50000 -a uct --set rollout=call-down --set c=40 --out holdem-calling.st",
    f"solve {SMALL} -n 100000 -a os-mccfr --out holdem-os.st",
    f"solve {SMALL} -n 30000 -a es-mccfr --out holdem-es.st",
    "respond leduc --to leduc-uct.st -n 100 --out leduc-rnr.st",
    "respond leduc --to leduc-smooth.st --kind dbr -n 100 --out leduc-dbr.st",
    "respond leduc --to leduc-smooth.st -a es-mccfr -n 50000 --out leduc-mcrnr.st",
    f"respond {SMALL} --to holdem-smooth.st -a os-mccfr -n 50000 --out holdem-rnr.st",
    f"respond {SMALL} --to holdem-smooth.st --kind dbr -a es-mccfr -n 10000 --out holdem-dbr.st",
    "tradeoff kuhn --to kuhn.st -n 50 --confidences 0.5,1 --out kuhn-tradeoff",
    "match leduc leduc-smooth.st leduc-uct.st --hands 20000 --seed 7 --log leduc.log",
    "match leduc leduc-smooth.st uniform --hands 5000 --log seen.log --seen-by leduc-smooth",
    f"match {THREE} kuhn3.st kuhn3-es.st uniform --hands 20000",
    "match holdem holdem-smooth.st rules --hands 4000 --seed 9 --log holdem.log",
    "match holdem sparring always-raise --hands 2000",
    "match holdem smooth-uct smooth-uct-average --hands 2000",
    "model leduc --from leduc.log --player leduc-uct --out leduc-model.st",
    "model leduc --from seen.log --player uniform --method tree --out leduc-tree.st",
    f"model {SMALL} --from holdem.log --player rules --out holdem-model.st",
    "evaluate leduc-smooth.st",
    "inspect leduc-smooth.st Kh:",
    "acpc deal holdem.limit.2p a=rules b=sparring --hands 300 --seed 2 --log acpc.log",
    "acpc deal kuhn.limit.3p uniform kuhn3.st kuhn3-es.st --hands 300 --log acpc3.log",
    "acpc replay acpc.log",
]
PICTURES = (".svg", ".png")
UNTIMED = ("seconds", "per_second", "out", "log", "file", "nodes_per")
ADDED = ("levels", "matches", "visits_per_infoset")  # arrays of files and parts of results since the record was made
RENAMED = {"method,confidence,exploitation": "way,confidence,exploitation"}  # columns since the record was made


def split(case: str) -> list[str]:
    """A command's words; none of them holds a space."""
    return case.split()


def run(case: str, folder: Path) -> str:
    """Run a command in a folder; the digest of what it wrote."""
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    command = [sys.executable, "-m", "fogplay.cli", *split(case), "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    digest = hashlib.sha256("\n".join(sorted(leaves(json.loads(done.stdout.splitlines()[-1])))).encode())
    for path in sorted(folder.iterdir()):
        if before.get(path) == path.stat().st_mtime_ns or path.suffix in PICTURES or path.suffix == ".checkpoint":
            continue
        digest.update(path.name.encode())
        if path.suffix == ".st":
            for name, array in sorted(load_file(path).items()):
                if name in ADDED:
                    continue
                digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
        elif "checkpoint" not in path.name:
            text = path.read_text()
            for new, old in RENAMED.items():
                text = text.replace(new, old)
            lines = text.splitlines()
            digest.update("\n".join(line for line in lines if not line.startswith("#")).encode())
    return digest.hexdigest()[:16]


def leaves(facts: object) -> list[str]:
    """All values of a JSON object but those that differ from run to run; their names may change."""
    if isinstance(facts, dict):
        kept = [value for key, value in facts.items() if key not in ADDED and not any(word in key for word in UNTIMED)]
        return [leaf for value in kept for leaf in leaves(value)]
    return [leaf for value in facts for leaf in leaves(value)] if isinstance(facts, list) else [repr(facts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="write the digests to this file instead of comparing")
    parser.add_argument("--against", type=Path, default=RECORD, help="the record to compare with")
    parser.add_argument("--only", default="", help="run the cases that contain this, and those they need")
    arguments = parser.parse_args()
    expected = {} if arguments.record else json.loads(arguments.against.read_text())
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        for case in CASES:
            if arguments.only in case:
                found[case] = run(case, Path(name))
                verdict = "recorded" if arguments.record else "same" if found[case] == expected.get(case) else "DIFFERS"
                print(f"{verdict:8}  {found[case]:16}  {case}", flush=True)
    if arguments.record:
        arguments.record.write_text(json.dumps(found, indent=1) + "\n")
        return
    differing = [case for case, digest in found.items() if digest != expected.get(case)]
    print(f"{len(found) - len(differing)} of {len(found)} cases have the same bits")
    sys.exit(bool(differing))


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "200")
    main()
