"""Change one thing in the source at a time, and see whether the tests notice.

    python tools/mutants.py factorization [--mutants 60] [--seed 0]
    NUMBA_DISABLE_JIT=1 python tools/mutants.py kernels [--mutants 100]

A mutant swaps an operator, changes a constant, negates a condition or leaves out a statement of
one function. Tests are collected once and run once to see which of them call which function;
every mutant is then a forked process in which the code of that one function is replaced and those
tests are run. No file is changed. Kernels are mutated as plain Python; those made of vector
instructions cannot run that way, so the transform has a stand-in and the rest is left out. Tests
that need them, or are slow in plain Python, are left out too. Prints the survivors.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import json
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

import pytest

ROOT = Path(__file__).parents[1]
KERNELS = (
    "basis", "candidates", "check", "closed_form", "compress", "greedy_dense", "greedy_many",
    "heap", "local", "rotate", "sparse_rows", "split", "vectors",
)  # fmt: skip
TARGETS = {
    "factorization": ["wavemmf.factorization.factorization"],
    "kernels": [f"wavemmf.kernels.{name}" for name in KERNELS],
}
TESTS = {
    "factorization": ["test_factorization.py", "test_storage.py", "test_mutants.py"],
    "kernels": ["test_contract.py", "test_factorize.py", "test_small_kernels.py",
                "test_factorization.py", "test_mutants.py"],
}  # fmt: skip
# Seconds of computing: the longest test taken, and what a mutant may use before it is stopped.
LONGEST_TEST, LIMIT = 1.5, 20
# Tests of one mutant; those that take the shortest time come first.
MOST_TESTS = 40

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Add,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A function with one change."""

    module: str
    function: str
    line: int
    before: str
    after: str
    code: CodeType


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield all mutants of the functions of a module."""
    path = ROOT / "src" / Path(*module.split(".")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for index, node in enumerate(list(ast.walk(tree))):
        for kind in range(2):
            changed = copy.deepcopy(tree)
            place = list(ast.walk(changed))[index]
            before = _shown(place)
            if not _inside_function(tree, node) or not _change(place, kind):
                continue
            name = _inside_function(tree, node)
            ast.fix_missing_locations(changed)
            code = _find_code(compile(changed, str(path), "exec"), name)
            yield Mutant(module, name, getattr(node, "lineno", 0), before, _shown(place), code)


def _shown(node: ast.AST) -> str:
    with contextlib.suppress(Exception):
        return ast.unparse(node).partition("\n")[0]
    return type(node).__name__


def _inside_function(tree: ast.AST, wanted: ast.AST) -> str:
    """Return the name of the outermost function that runs the node, or nothing."""
    return _places(tree).get(id(wanted), "")


_known: dict[int, dict[int, str]] = {}


def _places(tree: ast.AST) -> dict[int, str]:
    if id(tree) not in _known:
        found: dict[int, str] = {}
        for name, function in _functions(tree):
            for statement in function.body:
                _note(statement, name, found)
        _known[id(tree)] = found
    return _known[id(tree)]


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


def _change(node: Any, kind: int) -> bool:
    """Change the node in place; return whether there is a change of this kind."""
    if isinstance(node, ast.If | ast.While | ast.IfExp) and kind == 0:
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Compare) and kind == 0:
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp) and kind == 0:
        if type(node.op) not in SWAPS:
            return False
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.AugAssign | ast.Expr) and kind == 1:
        node.__dict__ = ast.Expr(ast.Constant(None)).__dict__ | {"lineno": node.lineno}
        node.__class__ = ast.Expr
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool) and kind == 0:
        node.value = not node.value
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value += 1 if kind == 0 else -1
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and kind == 0:
        node.op = ast.UAdd()
    else:
        return False
    return True


def _find_code(code: CodeType, name: str) -> CodeType:
    for part in name.split("."):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
    return code


def function_of(module: str, name: str) -> FunctionType:
    """Return the plain function behind a name: of a method, property or kernel."""
    owner: Any = importlib.import_module(module)
    for part in name.split("."):
        owner = vars(owner)[part]
    for attribute in ("fget", "func", "__func__"):
        owner = getattr(owner, attribute, None) or owner
    if not isinstance(owner, FunctionType):
        raise SystemExit(f"{name} is compiled; set NUMBA_DISABLE_JIT=1")
    return owner


def plain_transform(
    x: Any, out: Any, start: int, stop: int, offsets: Any, groups: Any, block_offsets: Any,
    blocks: Any, forward: bool, *_: Any,
) -> None:  # fmt: skip
    """Do what the transform's kernels do, without vector instructions."""
    part = x[:, start:stop].copy()
    levels = range(len(offsets) - 1)
    for level in levels if forward else reversed(levels):
        rows = groups[offsets[level] : offsets[level + 1]]
        block = blocks[block_offsets[level] :][: rows.size**2].reshape(rows.size, rows.size)
        part[rows] = (block if forward else block.T) @ part[rows]
    out[:, start:stop] = part


class Plugin:
    """Takes the place of pytest's loop over tests."""

    def __init__(self, group: str, count: int, seed: int) -> None:
        self.group, self.count, self.seed = group, count, seed

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run all mutants."""
        if self.group == "kernels":
            kernels = importlib.import_module("wavemmf.kernels.transform").TRANSFORM_KERNELS
            for tile in kernels:
                kernels[tile] = plain_transform
        start = time.monotonic()
        mutants = [mutant for module in TARGETS[self.group] for mutant in mutants_of(module)]
        calls, seconds = observe(session, mutants)
        called = set(calls)
        out = sys.__stdout__
        print(
            f"{len(mutants)} mutants possible; {len(seconds)} tests of {len(session.items)} are "
            f"quick and pass; {len(called)} functions called; {time.monotonic() - start:.0f} s",
            file=out, flush=True,
        )  # fmt: skip
        chosen = random.Random(self.seed).sample(mutants, min(self.count, len(mutants)))
        survivors, untested = [], 0
        for number, mutant in enumerate(chosen, start=1):
            tests = sorted(calls.get((mutant.module, mutant.function), ()), key=seconds.__getitem__)
            untested += not tests
            if not survives(session, mutant, tests[:MOST_TESTS]):
                continue
            survivors.append(mutant)
            print(
                f"[{number}] {mutant.module}:{mutant.line} {mutant.function}: "
                f"{mutant.before}  ->  {mutant.after}  ({len(tests)} tests)",
                file=out, flush=True,
            )  # fmt: skip
        killed = len(chosen) - len(survivors)
        print(
            f"{self.group}: {killed} of {len(chosen)} mutants killed "
            f"({killed / len(chosen):.1%}); {untested} in functions that no test taken calls; "
            f"{time.monotonic() - start:.0f} s",
            file=out, flush=True,
        )  # fmt: skip
        return True


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
    _limit(3 * LONGEST_TEST + 1)

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in codes:
            called.add(codes[frame.f_code])

    sys.setprofile(note)
    failed = _fails(session, [index])
    sys.setprofile(None)
    spent = time.process_time() - start
    if not failed and spent <= 2 * LONGEST_TEST:  # watching takes about as long again
        report.write_text(json.dumps([spent, sorted(called)]))


def survives(session: Any, mutant: Mutant, tests: list[int]) -> bool:
    """Return whether all tests pass although a function was changed."""

    def run() -> None:
        _limit(LIMIT)
        function_of(mutant.module, mutant.function).__code__ = mutant.code
        if _fails(session, tests):
            os._exit(1)

    return _forked(run) == 0


def _fails(session: Any, tests: list[int]) -> bool:
    for index in tests:
        item = session.items[index]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            return True
    return False


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    signal.alarm(20 * int(seconds))  # for what waits without computing


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
    parser.add_argument("-k", default="", help="take only tests whose names match")
    given = parser.parse_args()
    tests = [str(ROOT / "tests" / name) for name in TESTS[given.group]]
    tests = [test for test in tests if Path(test).exists()]
    plugin = Plugin(given.group, given.mutants, given.seed)
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:terminal", "-k", given.k, *tests]
    return int(pytest.main(options, plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main())
