"""Feed damaged and lying files to every reader, and report what was not refused properly.

    python tools/fuzz_readers.py [--cases 100000] [--seconds 600] [--only mtx]

A reader may return something or raise an error of wavemmf. Anything else is a failure: another
exception, more than two seconds, a process that dies, or more memory than allowed (an allocation
beyond the limit raises MemoryError, which counts as another exception). Mutations are drawn from
a seeded generator, so a failure comes back with the same seed and case; its file is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

import wavemmf as wm
from wavemmf.errors import WavemmfError

SLOW = 2.0
EXTRA_MEMORY = 2 * 2**30
# What liars write where a number, a type or a length belongs.
LIES = [
    b"0", b"-1", b"1e308", b"nan", b"inf", b"4294967296", b"9223372036854775807",
    b"99999999999999999999", b"1000000000000", b"|O", b"<f8", b"<c16", b"(", b"{}", b"[]", b"null",
    b"../../evil", b"/etc/passwd", b"\0", b"\n", b"\xff\xfe", b"symmetric", b"complex", b"array",
]  # fmt: skip


@dataclass
class Reader:
    """What reads a kind of file, and valid files to start from."""

    suffix: str
    read: Callable[[Path], Any]
    seeds: list[bytes]
    failures: list[str] = field(default_factory=list)
    cases: int = 0
    refused: int = 0


def mutate(content: bytes, draw: random.Random) -> bytes:
    """Return a damaged copy: a few edits of bytes, pieces, numbers and ends."""
    data = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(data) + 1)
        kind = draw.randrange(7)
        if kind == 0 and data:
            data[place % len(data)] = draw.randrange(256)
        elif kind == 1 and data:
            data[place % len(data)] ^= 1 << draw.randrange(8)
        elif kind == 2:
            del data[place : place + draw.randint(1, 32)]
        elif kind == 3:
            data[place:place] = draw.choice(LIES)
        elif kind == 4:
            start = draw.randrange(len(data) + 1)
            data[place:place] = data[start : start + draw.randint(1, 64)]
        elif kind == 5:
            del data[place:]
        else:
            replace_number(data, place, draw)
    return bytes(data)


def replace_number(data: bytearray, place: int, draw: random.Random) -> None:
    """Put a lie in the place of the next run of digits."""
    while place < len(data) and not 48 <= data[place] <= 57:
        place += 1
    end = place
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    data[place:end] = draw.choice(LIES)


def saved(write: Callable[[Path], Any], suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"seed{suffix}")
        write(path)
        return path.read_bytes()


def market(matrix: Any) -> bytes:
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, matrix)
    return stream.getvalue()


def readers(trained: bool = True) -> dict[str, Reader]:
    """Return the readers by name; that of trained policies only if asked, and with torch."""
    a = wm.graphs.grid(3, 3).adjacency
    f = wm.factorize(a, core=2, k=3)
    text = [b"0 1\n1 2\n2 0\n", b"a,b,1.5\nb,c,2\n", b"# note\nsource target weight\n0 1 2e3\n"]
    found = {
        "mtx": Reader(".mtx", wm.graphs.read, [market(a), market(a.toarray())]),
        "edges": Reader(".edges", wm.graphs.read, text),
        "edges.gz": Reader(".edges.gz", wm.graphs.read, [gzip.compress(t) for t in text]),
        "npy": Reader(".npy", wm.graphs.read, [saved(lambda p: np.save(p, a.toarray()), ".npy")]),
        "npz": Reader(
            ".npz",
            wm.graphs.read,
            [
                saved(lambda p: sp.save_npz(p, a, compressed=False), ".npz"),
                saved(lambda p: sp.save_npz(p, a), ".npz"),
                saved(lambda p: np.savez(p, a.toarray()), ".npz"),
            ],
        ),
        "mmf": Reader(".mmf", wm.load, [saved(f.save, ".mmf")]),
    }
    if not trained:
        return found
    with contextlib.suppress(ImportError):
        policy = wm.rl.train_policy(wm.graphs.karate(), k=4, core=8, episodes=1, seed=0)
        seed = saved(policy.save, ".safetensors")
        found["policy"] = Reader(".safetensors", wm.rl.load_policy, [seed])
    return found


def run(reader: Reader, cases: int, seconds: float, seed: int, keep: Path) -> None:
    """Read mutated files until either limit is reached."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"case{reader.suffix}")
        for case in range(cases):
            if time.monotonic() > end:
                break
            draw = random.Random(seed * 10_000_019 + case)
            content = mutate(draw.choice(reader.seeds), draw)
            path.write_bytes(content)
            problem = try_one(reader, path)
            if sorted(p.name for p in Path(folder).iterdir()) != [path.name]:
                problem = "another file was written"
            reader.cases += 1
            if problem:
                kept = keep / f"{seed}-{case}{reader.suffix}"
                kept.write_bytes(content)
                reader.failures.append(f"case {case} (kept as {kept}): {problem}")


def try_one(reader: Reader, path: Path) -> str | None:
    start = time.monotonic()
    try:
        reader.read(path)
    except WavemmfError:
        reader.refused += 1
    except Exception:
        return traceback.format_exc(limit=-3)
    spent = time.monotonic() - start
    return f"it took {spent:.1f} s" if spent > SLOW else None


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000, help="inputs per reader")
    parser.add_argument("--seconds", type=float, default=600.0, help="longest time per reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="names of readers")
    parser.add_argument("--keep", type=Path, default=Path("fuzz"), help="folder for failures")
    given = parser.parse_args()
    given.keep.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    every = readers(trained=not given.only or "policy" in given.only)
    chosen = {n: r for n, r in every.items() if not given.only or n in given.only}
    limit_memory()
    for name, reader in chosen.items():
        start = time.monotonic()
        run(reader, given.cases, given.seconds, given.seed, given.keep)
        print(
            f"{name:10} {reader.cases:7} cases, {reader.refused} refused, "
            f"{len(reader.failures)} failures, {time.monotonic() - start:.0f} s",
            flush=True,
        )
        for failure in reader.failures[:5]:
            print(failure)
    return 1 if any(r.failures for r in chosen.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
