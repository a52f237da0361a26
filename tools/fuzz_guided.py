"""Look for files that readers do not refuse properly, guided by the code they reach (atheris).

    pip install -c constraints.txt atheris
    python tools/fuzz_guided.py [--minutes 2] [--only mtx]

`tools/fuzz_readers.py` damages valid files blindly; here libFuzzer keeps the inputs that reach new
lines of wavemmf and goes on from them. Readers, valid files and what counts as a failure are the
same. Each reader has a process of its own, which libFuzzer ends; one that dies, hangs or takes
too much memory leaves its input in the folder of failures and is started again.
"""

from __future__ import annotations

import argparse
import importlib.util
import pkgutil
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Megabytes and bytes of input; seconds until a case is given up.
MEMORY, LONGEST, HANGS = 4096, 2**16, 60
NAMES = [
    "mtx", "mtx.gz", "edges", "edges.gz", "npy", "npz", "mmf", "mmfs", "checkpoint", "pickled",
    "planetoid", "tu", "linqs", "snap", "minnesota", "mnist", "policy", "net", "training",
]  # fmt: skip


# In the child: one reader


def explore(name: str, keep: Path, corpus: Path, seconds: int) -> None:
    """Feed one reader until the time is over; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["wavemmf"], exclude=compiled()):
        tool = importlib.import_module("fuzz_readers")
        reader = tool.readers(trained=name in NAMES[-3:])[name]
    for number, seed in enumerate(reader.seeds):
        (corpus / f"seed{number}").write_bytes(seed)
    words = keep / "words.dict"
    words.write_text("".join(f'"{escaped(word)}"\n' for word in tool.LIES))
    warnings.simplefilter("ignore")
    arguments = [
        sys.argv[0], str(corpus), f"-artifact_prefix={keep}/died-", f"-max_total_time={seconds}",
        f"-timeout={HANGS}", f"-rss_limit_mb={MEMORY}", f"-max_len={LONGEST}", f"-dict={words}",
        "-print_final_stats=1",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(dir=tool.fast_folder()) as folder:
        one = case(tool, reader, Path(folder, f"case{reader.suffix}"), keep)
        atheris.Setup(arguments, one, custom_mutator=mutator(reader))
        atheris.Fuzz()


def compiled() -> list[str]:
    """Return the names of all modules of kernels: Numba needs their code as it is."""
    spec = importlib.util.find_spec("wavemmf")
    assert spec is not None
    kernels = [str(Path(place, "kernels")) for place in spec.submodule_search_locations or []]
    return [f"wavemmf.kernels.{module.name}" for module in pkgutil.iter_modules(kernels)]


def escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def case(tool: Any, reader: Any, path: Path, keep: Path) -> Callable[[bytes], None]:
    """Return the function that libFuzzer calls; it keeps one input for each kind of failure."""
    known: set[str] = set()

    def one(data: bytes) -> None:
        path.write_bytes(data)
        problem, _ = tool.try_one(reader, path)
        if problem is None:
            return
        kind = re.sub(r"\d+\.\d s|0x[0-9a-f]+|'.*'|\d{2,}", "_", problem)
        if kind not in known:
            known.add(kind)
            number = len(list(keep.glob("*.problem")))
            tool.record(data, keep / f"case{number}{reader.suffix}", problem)

    return one


def mutator(reader: Any) -> Callable[[bytes, int, int], bytes]:
    """Return a mutator that also works inside of containers and puts their checksums right."""
    import atheris

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        draw = random.Random(seed)

        def damage(content: bytes, _: random.Random) -> bytes:
            return atheris.Mutate(content, most)

        try:
            changed = reader.damage(data, draw, damage)
        except Exception:  # not a whole container any more
            changed = damage(data, draw)
        return changed if len(changed) <= most else damage(data, draw)

    return mutate


# In the parent: all of them


@dataclass
class Outcome:
    """What the processes of one reader did."""

    runs: int = 0
    reached: int = 0
    kept: int = 0

    def add(self, log: str) -> None:
        """Take the figures from what libFuzzer printed."""
        for count in re.findall(r"number_of_executed_units: *(\d+)", log):
            self.runs += int(count)
        for cov, corpus in re.findall(r"cov: (\d+).*?corp: (\d+)", log):
            self.reached, self.kept = max(self.reached, int(cov)), max(self.kept, int(corpus))


def guide(name: str, seconds: float, keep: Path) -> Outcome:
    """Run children until the time is over."""
    outcome, end = Outcome(), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as corpus:
        while (left := end - time.monotonic()) > 1:
            command = [sys.executable, __file__, "--explore", name, "--keep", str(keep)]
            command += ["--corpus", corpus, "--seconds", str(int(left))]
            result = subprocess.run(command, capture_output=True, text=True, errors="replace")
            before = outcome.runs
            outcome.add(result.stderr)
            if result.returncode:
                number = len(list(keep.glob("*.problem")))
                (keep / f"died{number}.problem").write_text(result.stderr[-2000:])
                if outcome.runs == before:  # it did not even begin
                    break
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=2.0, help="time per reader")
    parser.add_argument("--only", action="append", choices=NAMES, help="names of readers")
    parser.add_argument("--keep", type=Path, default=Path("fuzz"), help="folder for failures")
    parser.add_argument("--record", metavar="FILE|FOLDER", help="Write what was found as JSON.")
    for hidden, kind in {"--explore": str, "--corpus": Path, "--seconds": int}.items():
        parser.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.explore:
        explore(given.explore, given.keep, given.corpus, given.seconds)
        return 0
    if importlib.util.find_spec("atheris") is None:
        print("this needs atheris: pip install -c constraints.txt atheris", file=sys.stderr)
        return 2
    # Only here: what is fuzzed must not be imported before it is instrumented.
    from wavemmf.experiments.records import Recorder

    note = Recorder(given.record)
    failed = False
    rows = []
    for name in given.only or NAMES:
        keep = (given.keep / f"guided-{name}").absolute()
        shutil.rmtree(keep, ignore_errors=True)
        keep.mkdir(parents=True)
        outcome = guide(name, 60 * given.minutes, keep)
        problems = sorted(keep.glob("*.problem"))
        print(
            f"{name:10} {outcome.runs:8} runs, {outcome.reached} places reached, "
            f"{outcome.kept} inputs kept, {len(problems)} failures",
            flush=True,
        )
        rows.append({"reader": name, **vars(outcome), "failures": len(problems)})
        for problem in problems[:5]:
            print(f"{problem.with_suffix('')}: {problem.read_text()}", flush=True)
        failed |= bool(problems)
    note("fuzz_guided", [], {"minutes": given.minutes, "only": given.only}, [], rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
