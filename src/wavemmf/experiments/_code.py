"""Which code a measurement depends on, and a digest that tells whether it has changed."""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import InvalidInputError

__all__ = ["code_digest", "modules_behind"]

_PACKAGE = Path(__file__).parents[1]

_FACTORIZATION = (
    "_engine", "_factorize", "_restarts", "factorization", "graphs", "kernels", "large",
    "optimize", "select",
)  # fmt: skip
_READERS = ("_files", "_tensorfile", "datasets", "factorization", "graphs", "io", "rl")

# By the first words of what was measured; anything else depends on the factorization.
_MODULES: dict[str, tuple[str, ...]] = {
    "classify nodes": (*_FACTORIZATION, "experiments/nodes", "nn", "torch"),
    "classify graphs": (*_FACTORIZATION, "experiments/graphs", "nn", "torch"),
    "compare signals": (*_FACTORIZATION, "experiments/signals", "signals"),
    "compare": (*_FACTORIZATION, "baselines", "experiments/_compare", "experiments/_contenders"),
    "reproduce table1": (*_FACTORIZATION, "experiments/nodes", "nn", "torch"),
    "reproduce table2": (*_FACTORIZATION, "experiments/graphs", "nn", "torch"),
    "reproduce long-range": (*_FACTORIZATION, "experiments/long_range", "nn", "torch"),
    "study_adapted": (*_FACTORIZATION, "signals"),
    "study_signals": (*_FACTORIZATION, "signals"),
    "study_learning": (*_FACTORIZATION, "rl"),
    "study_selectors": (*_FACTORIZATION, "rl"),
    "bench_solve": (*_FACTORIZATION, "precondition"),
    "bench_kernels": (*_FACTORIZATION, "estimator"),
    "fuzz": _READERS,
    "kill": ("_files", "cli", "optimize", "parallel", "rl"),
    "soak": (*_FACTORIZATION, "io", "parallel"),
}


def modules_behind(what: str) -> list[str]:
    """Return the modules that a measurement depends on, as paths inside the package.

    Examples
    --------
    >>> "nn" in modules_behind("classify nodes"), "nn" in modules_behind("compare")
    (True, False)
    """
    longest = max((start for start in _MODULES if what.startswith(start)), key=len, default="")
    return sorted(_MODULES.get(longest, _FACTORIZATION))


def code_digest(modules: Sequence[str]) -> str:
    """Return a digest of what modules do: comments, docstrings and layout do not count.

    Raises
    ------
    InvalidInputError
        If there is no such module.

    Examples
    --------
    >>> code_digest(["errors"]) == code_digest(["errors"])
    True
    >>> len(code_digest(["errors", "signals"]))
    16
    """
    digest = hashlib.sha256()
    for path in (path for module in modules for path in _files_of(module)):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(_what_counts(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:16]


def _files_of(module: str) -> Iterator[Path]:
    path = _PACKAGE / module
    if path.is_dir():
        yield from sorted(path.rglob("*.py"))
    elif path.with_suffix(".py").is_file():
        yield path.with_suffix(".py")
    else:
        raise InvalidInputError(f"there is no module {module!r} in the package")


def _what_counts(source: str) -> str:
    r"""Return the words of a source text, without comments and docstrings.

    Lines and columns are used rather than `ast.dump`, whose text differs between Pythons.

    Examples
    --------
    >>> _what_counts("def f(x):\n    '''Twice.'''\n    return 2 * x  # no more\n")
    'def f(x): return 2 * x'
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for first, last in _docstrings(source):
        lines[first - 1 : last] = [""] * (last - first + 1)
    return " ".join(word for line in lines for word in line.split())


def _docstrings(source: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of every docstring."""
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, holders) and node.body and isinstance(node.body[0], ast.Expr):
            text = node.body[0].value
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.lineno, text.end_lineno or text.lineno
