"""Feed damaged and lying files to every reader, and report what was not refused properly.

    python tools/fuzz_readers.py [--cases 100000] [--seconds 600] [--only mtx]

A reader may return something or raise an error of wavemmf. Anything else is a failure: another
exception, more than two seconds of computing, a process that dies or hangs, or more memory than
allowed (an allocation beyond the limit raises MemoryError, which counts as another exception).
Cases are read in child processes, from a file that outlives them; if one dies or hangs, its file
is kept and the next child goes on behind it. Mutations are drawn from a seeded generator, so a
failure comes back with the same seed and case.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import io
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from fuzz_datasets import bundle, datasets, pickles, reading

import wavemmf as wm
from wavemmf.errors import WavemmfError
from wavemmf.experiments.records import Recorder, add_record_option
from wavemmf.factorization._collection import load_collection, save_collection
from wavemmf.optimize._checkpoint import Checkpoint

# Seconds of computing that are too many for a small file, and seconds until a child is given up.
SLOW, HANGS = 2.0, 60.0
EXTRA_MEMORY = 2 * 2**30
# Cases per child process: few enough to bound what one of them can leave behind.
BATCH = 5000
# What liars write where a number, a type or a length belongs.
LIES = [
    b"0", b"-1", b"1e308", b"nan", b"inf", b"4294967296", b"9223372036854775807",
    b"99999999999999999999", b"1000000000000", b"|O", b"<f8", b"<c16", b"(", b"{}", b"[]", b"null",
    b"../../evil", b"/etc/passwd", b"\0", b"\n", b"\xff\xfe", b"symmetric", b"complex", b"array",
]  # fmt: skip

Damage = Callable[[bytes, random.Random], bytes]
Inside = Callable[[bytes, random.Random, Damage], bytes]


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


def nowhere(content: bytes, draw: random.Random, damage: Damage) -> bytes:
    """Damage a file that is no container."""
    return damage(content, draw)


def inside_gzip(content: bytes, draw: random.Random, damage: Damage) -> bytes:
    """Damage what is compressed: the checksum is right, so the text itself is read."""
    return gzip.compress(damage(gzip.decompress(content), draw), compresslevel=1)


def inside_zip(content: bytes, draw: random.Random, damage: Damage) -> bytes:
    """Damage one member of an archive that is otherwise whole."""
    members = dict(members_of(content))
    victim = draw.choice(list(members))
    members[victim] = damage(members[victim], draw)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, value in members.items():
            archive.writestr(name, value)
    return stream.getvalue()


@functools.lru_cache(maxsize=16)
def members_of(content: bytes) -> dict[str, bytes]:
    """Return what is in an archive; kept, because all cases begin with the same few."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def inside_safetensors(content: bytes, draw: random.Random, damage: Damage) -> bytes:
    """Damage the JSON at the beginning, and announce its new length truly."""
    length = int.from_bytes(content[:8], "little")
    header = damage(content[8 : 8 + length], draw)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


@dataclass(frozen=True)
class Reader:
    """What reads a kind of file, valid files to start from, and how to get inside of them.

    `share` is how often a container is damaged inside rather than itself.
    """

    suffix: str
    read: Callable[[Path], Any]
    seeds: list[bytes]
    inside: Inside = nowhere
    share: float = 0.5

    def case(self, seed: int, number: int) -> bytes:
        """Return the content of a case."""
        draw = random.Random(seed * 10_000_019 + number)
        return self.damage(draw.choice(self.seeds), draw)

    def damage(self, content: bytes, draw: random.Random, damage: Damage = mutate) -> bytes:
        """Damage a container, or what is in it."""
        if self.inside is nowhere or draw.random() >= self.share:
            return damage(content, draw)
        return self.inside(content, draw, damage)


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
    """Return the readers by name; those of trained things only if asked, and with torch."""
    a = wm.graphs.grid(3, 3).adjacency
    f = wm.factorize(a, core=2, k=3)
    text = [b"0 1\n1 2\n2 0\n", b"a,b,1.5\nb,c,2\n", b"# note\nsource target weight\n0 1 2e3\n"]
    matrices = [market(a), market(a.toarray())]
    archives = [
        saved(lambda p: sp.save_npz(p, a, compressed=False), ".npz"),
        saved(lambda p: sp.save_npz(p, a), ".npz"),
        saved(lambda p: np.savez(p, a.toarray()), ".npz"),
    ]
    graphs, zipped, packed = wm.io.read, inside_gzip, inside_zip
    found = {
        "mtx": Reader(".mtx", graphs, matrices),
        "mtx.gz": Reader(".mtx.gz", graphs, [gzip.compress(m) for m in matrices], zipped),
        "edges": Reader(".edges", graphs, text),
        "edges.gz": Reader(".edges.gz", graphs, [gzip.compress(t) for t in text], zipped),
        "npy": Reader(".npy", graphs, [saved(lambda p: np.save(p, a.toarray()), ".npy")]),
        "npz": Reader(".npz", graphs, archives, packed),
        "mmf": Reader(".mmf", wm.load, [saved(f.save, ".mmf"), sparse_core(f)], packed),
        "mmfs": Reader(
            ".mmfs",
            load_collection,
            [saved(lambda p: save_collection([f, f], p), ".mmfs")],
            packed,
        ),
        "checkpoint": checkpoints(a, f),
        "pickled": Reader(".pickle", *pickles()),
    }
    for name, (load, files) in datasets().items():
        read = reading(load, files, fast_folder())
        found[name] = Reader(".zip", read, [bundle(files)], packed, share=1.0)
    if trained:
        with contextlib.suppress(ImportError):
            found |= trained_readers()
    return found


def sparse_core(f: Any) -> bytes:
    """Return the file of a factorization whose core is sparse."""
    h = wm.CoreDiagonal(f.frequencies, sp.csr_array(f.core), f.core_indices)
    return saved(replace(f, h=h).save, ".mmf")


def first_checkpoint(work: Callable[[Path], Any]) -> bytes:
    """Return the first checkpoint that something writes, which is gone when it ends."""
    found: list[bytes] = []
    keep = Checkpoint.save

    def spy(self: Checkpoint, state: dict[str, Any]) -> None:
        keep(self, state)
        found.append(self.path.read_bytes())

    with tempfile.TemporaryDirectory() as folder:
        Checkpoint.save = spy  # type: ignore[method-assign]
        try:
            work(Path(folder, "state"))
        finally:
            Checkpoint.save = keep  # type: ignore[method-assign]
    return found[0]


def checkpoints(a: Any, f: Any) -> Reader:
    """Return the reader that takes up an optimisation, with the file of one that was left."""

    def refine(path: Path, seconds: float = 1e9) -> Any:
        return wm.refine(
            f, a, wm.optimize.LBFGS(steps=3, checkpoint=path, checkpoint_seconds=seconds)
        )

    left = first_checkpoint(lambda path: refine(path, 0.0))
    return Reader(".ckpt", refine, [left], inside_zip)


def trainings() -> Reader:
    """Return the reader that takes up the training of a policy, and trains one batch more."""
    graph = wm.graphs.cycle(6)
    settings = {"k": 2, "core": 4, "episodes": 4, "batch": 2, "baseline": "moving", "seed": 0}

    def train(path: Path, seconds: float = 1e9) -> Any:
        return wm.rl.train_policy(graph, checkpoint=path, checkpoint_seconds=seconds, **settings)

    left = first_checkpoint(lambda path: train(path, 0.0))
    return Reader(".ckpt", train, [left], inside_zip)


def trained_readers() -> dict[str, Reader]:
    """Return the readers of policies, their trainings, and networks."""
    policy = wm.rl.Policy(seed=3)
    basis = wm.nn.wavelet_basis(wm.graphs.cycle(6), core=2, k=2)
    net = wm.nn.WaveletNet(6, 2, hidden=4, degree=2)
    inside = inside_safetensors
    hop = wm.nn.SparseOperator(wm.graphs.cycle(6).adjacency)
    nets = [saved(lambda p: wm.nn.save_net(net, basis, p, hop=hop), ".safetensors")]
    return {
        "policy": Reader(
            ".safetensors", wm.rl.load_policy, [saved(policy.save, ".safetensors")], inside
        ),
        "net": Reader(".safetensors", wm.nn.load_net, nets, inside),
        "training": trainings(),
    }


def read_cases(
    reader: Reader, cases: range, seed: int, path: Path, keep: Path, counts: Any
) -> None:
    """Read cases one after the other, in a child process; count those done and refused."""
    warnings.simplefilter("ignore")
    limit_memory()
    for case in cases:
        path.write_bytes(reader.case(seed, case))
        counts[0] = case
        problem, refused = try_one(reader, path)
        if set(os.listdir(path.parent)) - {path.name}:
            problem = "another file was written"
        counts[1] += refused
        if problem:
            record(reader.case(seed, case), keep / f"{seed}-{case}{reader.suffix}", problem)
    counts[0] = cases.stop


def try_one(reader: Reader, path: Path) -> tuple[str | None, bool]:
    """Return what went wrong, and whether the file was refused."""
    start, refused = time.process_time(), False
    try:
        reader.read(path)
    except WavemmfError:
        refused = True
    except Exception:
        return traceback.format_exc(limit=-3), False
    spent = time.process_time() - start
    return (f"it took {spent:.1f} s" if spent > SLOW else None), refused


def record(content: bytes, kept: Path, problem: str) -> None:
    kept.write_bytes(content)
    kept.with_name(f"{kept.name}.problem").write_text(problem)


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + EXTRA_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


def fast_folder() -> str | None:
    """Return a folder in memory if there is one: opening files takes most of the time."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def fuzz(reader: Reader, cases: int, seconds: float, seed: int, keep: Path) -> tuple[int, int]:
    """Run children until either limit is reached; return the cases read and those refused."""
    # Forked, because a child must start at once: there is one for every case that kills.
    context = multiprocessing.get_context("fork")
    counts = context.Array("q", 2, lock=False)
    end, following = time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        path = Path(folder, f"case{reader.suffix}")
        for whole in reader.seeds:  # must be read; and what is loaded on first use is there then
            path.write_bytes(whole)
            reader.read(path)
        while following < cases and time.monotonic() < end:
            batch = range(following, min(cases, following + BATCH))
            given = (reader, batch, seed, path, keep, counts)
            counts[0] = following
            child = context.Process(target=read_cases, args=given)
            child.start()
            problem = watch(child, counts, end)
            following = counts[0]
            if problem:
                record(path.read_bytes(), keep / f"{seed}-{following}{reader.suffix}", problem)
                following += 1
            for left in set(os.listdir(folder)) - {path.name}:
                shutil.move(Path(folder, left), keep)
    return following, counts[1]


def watch(child: Any, counts: Any, end: float) -> str | None:
    """Wait for a child; return what was wrong with the case it did not survive."""
    last, since = -1, time.monotonic()
    while child.is_alive():
        child.join(0.5)
        now = time.monotonic()
        if counts[0] != last:
            last, since = counts[0], now
        hangs = now - since > HANGS
        if hangs or now > end:
            child.kill()
            child.join()
            return f"no answer within {HANGS:g} s" if hangs else None
    return f"the process died with {child.exitcode}" if child.exitcode else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100_000, help="inputs per reader")
    parser.add_argument("--seconds", type=float, default=600.0, help="longest time per reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="names of readers")
    parser.add_argument("--keep", type=Path, default=Path("fuzz"), help="folder for failures")
    add_record_option(parser)
    given = parser.parse_args()
    note = Recorder(given.record)
    failed = False
    rows = []
    for name, reader in readers().items():
        if given.only and name not in given.only:
            continue
        keep = given.keep / name
        shutil.rmtree(keep, ignore_errors=True)
        keep.mkdir(parents=True)
        start = time.monotonic()
        cases, refused = fuzz(reader, given.cases, given.seconds, given.seed, keep)
        problems = sorted(keep.glob("*.problem"))
        print(
            f"{name:10} {cases:7} cases, {refused} refused, "
            f"{len(problems)} failures, {time.monotonic() - start:.0f} s",
            flush=True,
        )
        row = {"reader": name, "cases": cases, "refused": refused, "failures": len(problems)}
        rows.append(row)
        for problem in problems[:5]:
            print(f"{problem.with_suffix('')}: {problem.read_text()}", flush=True)
        failed |= bool(problems)
    settings = {"cases": given.cases, "seconds": given.seconds, "only": given.only}
    note("fuzz_readers", [], settings, [given.seed], rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
