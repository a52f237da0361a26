"""Change one thing in the source at a time, and see whether the tests notice.

    python tools/mutants.py factorization [--mutants 60] [--seed 0]
    NUMBA_DISABLE_JIT=1 python tools/mutants.py kernels [--mutants 100]

A mutant swaps an operator, changes a constant, negates a condition or leaves out a statement of
one function. Tests are collected once and run once to see which of them call which function;
every mutant is then a forked process in which the code of that one function is replaced and those
tests are run. No file is changed. Kernels are mutated as plain Python, and judged by the tests that
call them directly. Vector instructions (`kernels/simd.py`) exist in compiled code only and are not
mutated; `tests/helpers/plain_simd.py` stands in for them. Tests that are slow in plain Python are
left out.

Prints the survivors. Those that change nothing but speed or room cannot be noticed; they are listed
with reasons in `equivalent_mutants.txt`, and the share killed is printed with and without them.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest

import wavemmf as wm
from wavemmf.experiments.records import Recorder, add_record_option

ROOT = Path(__file__).parents[1]
KERNELS = (
    "basis", "candidates", "check", "closed_form", "compress", "episode", "episode_sparse",
    "gradient", "greedy_dense", "greedy_many", "greedy_sparse", "heap", "lbfgs", "linesearch",
    "listed", "local", "partners_sparse", "project",
    "rotate", "sparse_rotation", "sparse_rows", "split", "stiefel", "transform",
    "transform_gradient", "vectors",
)  # fmt: skip
TARGETS = {
    "factorization": ["wavemmf.factorization._factorization"],
    "kernels": [f"wavemmf.kernels.{name}" for name in KERNELS],
}
TESTS = {
    "factorization": [
        "factorization/test_factorization.py", "factorization/test_construction.py",
        "factorization/test_storage.py",
    ],
    "kernels": [
        "kernels/test_plain.py", "kernels/test_local.py", "kernels/test_greedy.py",
        "kernels/test_greedy_steps.py", "kernels/test_sparse.py", "kernels/test_episodes.py",
        "kernels/test_tiles.py", "kernels/test_lbfgs.py",
    ],
}  # fmt: skip
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.txt")
# Seconds of computing of the longest test taken; a mutant that takes twice as long is stopped.
LONGEST_TEST = 1.5
# Seconds after which a test that waits is stopped, on a machine that may be busy otherwise.
LONGEST_WAIT = 900
# Tests of one mutant; those that take the shortest time come first.
MOST_TESTS = 200

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of a function: of which node of the module's tree, and the kind of change."""

    module: str
    function: str
    node: int
    kind: int

    def made(self) -> tuple[CodeType, str]:
        """Return the code of the changed function, and the change in words."""
        tree = source(self.module)
        node: Any = list(ast.walk(tree))[self.node]
        line = path_of(self.module).read_text(encoding="utf-8").splitlines()[node.lineno - 1]
        before = shown(node)
        change(node, self.kind)
        ast.fix_missing_locations(tree)
        code = compile(tree, str(path_of(self.module)), "exec")
        for part in self.function.split("."):
            code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
        name = self.module.removeprefix("wavemmf.")
        return code, f"{name} | {self.function} | {line.strip()} | {before} -> {shown(node)}"


def path_of(module: str) -> Path:
    return ROOT / "src" / Path(*module.split(".")).with_suffix(".py")


def source(module: str) -> ast.Module:
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


def shown(node: ast.AST) -> str:
    return ast.unparse(node).replace("\n", " ")[:70]


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield all mutants of the functions of a module."""
    tree = source(module)
    places: dict[int, str] = {}
    for name, function in _functions(tree):
        for statement in function.body:
            _note(statement, name, places)
    for index, node in enumerate(ast.walk(tree)):
        if id(node) in places:
            for kind in kinds(node):
                yield Mutant(module, places[id(node)], index, kind)


def _functions(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _note(node: ast.AST, name: str, found: dict[int, str]) -> None:
    # What is raised, and docstrings, are words; annotations do nothing.
    words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if words or isinstance(node, ast.Raise | ast.JoinedStr):
        return
    found[id(node)] = name
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field != "annotation":
                _note(child, name, found)


def kinds(node: Any) -> tuple[int, ...]:
    """Return the kinds of change there are for a node."""
    if isinstance(node, ast.Constant):
        numeric = type(node.value) in (int, float)
        return (0, 1) if numeric else (0,) * isinstance(node.value, bool)
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        swap = (0,) if type(node.op) in SWAPS else ()
        return (*swap, 1) if isinstance(node, ast.AugAssign) else swap
    if isinstance(node, ast.UnaryOp):
        return (0,) * isinstance(node.op, ast.USub)
    return (0,) * isinstance(node, ast.If | ast.While | ast.IfExp | ast.Compare | ast.Expr)


def change(node: Any, kind: int) -> None:
    """Change a node in place."""
    if isinstance(node, ast.Expr) or (isinstance(node, ast.AugAssign) and kind == 1):
        node.__class__, node.__dict__ = ast.Pass, {"lineno": node.lineno, "col_offset": 0}
    elif isinstance(node, ast.Constant):
        up = 1 if kind == 0 else -1
        node.value = not node.value if isinstance(node.value, bool) else node.value + up
    elif isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd()
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        node.op = SWAPS[type(node.op)]()
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)


def function_of(module: str, name: str) -> FunctionType:
    """Return the plain function behind a name: of a method, property or kernel."""
    owner: Any = importlib.import_module(module)
    for part in name.split("."):
        owner = vars(owner)[part]
    for attribute in ("fget", "func", "__func__", "__wrapped__"):
        owner = getattr(owner, attribute, None) or owner
    if not isinstance(owner, FunctionType):
        raise SystemExit(f"{name} is compiled; set NUMBA_DISABLE_JIT=1")
    return owner


def equivalent() -> set[str]:
    """Return the mutants that change nothing a test could notice, as words."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if " | " in line}


def load_kernels() -> None:
    """Load compiled kernels here, so that no child has to."""
    a = np.random.default_rng(0).normal(size=(12, 12))
    f = wm.factorize(a + a.T, core=3, k=4, drop=2)
    for x in (np.ones((12, 40)), np.ones((12, 40), np.float32), np.ones(12)):
        f.synthesize(f.analyze(x))
    f.basis()


class Plugin:
    """Takes the place of pytest's loop over tests."""

    def __init__(self, given: argparse.Namespace, keep: Recorder) -> None:
        self.given = given
        self.keep = keep

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Take some of the tests."""
        if len(items) > self.given.tests:
            items[:] = random.Random(self.given.seed).sample(items, self.given.tests)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run all mutants."""
        group, start = self.given.group, time.monotonic()
        if group == "factorization":
            load_kernels()
        mutants = [mutant for module in TARGETS[group] for mutant in mutants_of(module)]
        chosen = random.Random(self.given.seed).sample(mutants, self.given.mutants)
        calls, seconds = observe(session, chosen)
        say(
            f"{group}: {len(seconds)} of {len(session.items)} tests are quick and pass, "
            f"{time.monotonic() - start:.0f} s"
        )
        harmless = equivalent()
        counts: dict[str, list[int]] = {}
        survivors = []
        killed = untested = same = 0
        for number, mutant in enumerate(chosen, start=1):
            tests = sorted(calls.get((mutant.module, mutant.function), ()), key=seconds.__getitem__)
            untested += not tests
            code, words = mutant.made()
            own = counts.setdefault(mutant.module.removeprefix("wavemmf."), [0, 0])
            own[1] += 1
            if not survives(session, mutant, code, {i: seconds[i] for i in tests[:MOST_TESTS]}):
                killed += 1
                own[0] += 1
            elif words in harmless:
                same += 1
            else:
                survivors.append(words)
                say(f"survived: {words}  ({len(tests)} tests)")
            if number % 10 == 0 or number == len(chosen):
                say(
                    f"{group}: {killed} of {number} mutants killed ({killed / number:.1%}) out of "
                    f"{len(mutants)} possible; {killed / max(number - same, 1):.1%} without {same} "
                    f"that change nothing; {untested} in functions that no test taken calls; "
                    f"{time.monotonic() - start:.0f} s"
                )
        for name, (few, all_of_them) in sorted(counts.items()):
            say(f"{name}: {few} of {all_of_them}")
        rows = [{"module": m, "killed": few, "mutants": n} for m, (few, n) in counts.items()]
        rows.append({"module": "all", "killed": killed, "mutants": len(chosen), "equal": same})
        rows[-1]["survivors"] = survivors
        settings = {"mutants": self.given.mutants, "tests": self.given.tests, "k": self.given.k}
        self.keep("mutants", [group], settings, [self.given.seed], rows)
        return True


def say(words: str) -> None:
    print(words, file=sys.__stdout__, flush=True)


def observe(
    session: Any, mutants: list[Mutant]
) -> tuple[dict[tuple[str, str], list[int]], dict[int, float]]:
    """Return which tests call each function, and how long those take that pass quickly."""
    targets = {(m.module, m.function) for m in mutants}
    codes = {function_of(*target).__code__: target for target in targets}
    calls: dict[tuple[str, str], list[int]] = {}
    seconds: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        for index in range(len(session.items)):
            _forked(lambda index=index: _watch(session, index, codes, report))
            if report.exists():
                spent, called = json.loads(report.read_text())
                report.unlink()
                seconds[index] = spent
                for target in called:
                    calls.setdefault((target[0], target[1]), []).append(index)
    return calls, seconds


def _watch(session: Any, index: int, codes: dict[CodeType, Any], report: Path) -> None:
    """Run a test; write what it called, unless it fails or takes long."""
    called: set[tuple[str, str]] = set()
    start = time.process_time()
    _limit(2 * LONGEST_TEST)

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in codes:
            called.add(codes[frame.f_code])

    sys.setprofile(note)
    failed = _fails(session, index)
    sys.setprofile(None)
    spent = time.process_time() - start
    if not failed and spent <= 2 * LONGEST_TEST:  # watching takes about as long again
        report.write_text(json.dumps([spent, sorted(called)]))


def survives(session: Any, mutant: Mutant, code: CodeType, tests: dict[int, float]) -> bool:
    """Return whether all tests pass although a function was changed."""

    def run() -> None:
        function_of(mutant.module, mutant.function).__code__ = code
        for test, seconds in tests.items():
            _limit(2 * seconds + 1)
            if _fails(session, test):
                os._exit(1)

    return _forked(run) == 0


def _fails(session: Any, test: int) -> bool:
    item = session.items[test]
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    return bool(session.testsfailed)


def _limit(seconds: float) -> None:
    """Stop this process if it computes, or waits, much longer."""
    most = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    signal.alarm(LONGEST_WAIT)


def _forked(work: Any) -> int:
    """Run in a child process, silently; return its exit status, or that it was stopped."""
    pid = os.fork()
    if pid == 0:
        status = 2
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("group", choices=list(TARGETS))
    parser.add_argument("--mutants", type=int, default=100, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", type=int, default=1000, help="how many tests are taken")
    parser.add_argument("-k", default="", help="take only tests whose names match")
    add_record_option(parser)
    given = parser.parse_args()
    keep = Recorder(given.record)
    tests = [str(ROOT / "tests" / name) for name in TESTS[given.group]]
    options = ["-q", "-s", "-p", "no:cacheprovider", "-k", given.k, *tests]
    return int(pytest.main(options, plugins=[Plugin(given, keep)]))


if __name__ == "__main__":
    sys.exit(main())
