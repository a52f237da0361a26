"""Where independent pieces of work run: on the threads of this process, or on a Dask cluster."""

from __future__ import annotations

import copy
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from typing import Any, Protocol

from .._optional import require
from .._version import __version__
from ..errors import ClusterError, InputTypeError
from .threads import run_all

__all__ = ["Mapper", "current_mapper", "use_executor"]

# An address at which nobody answers should be told at once.
_CONNECT_SECONDS = 5.0
# A piece of work that raised is tried again: a worker may have run out of memory or disk.
_RETRIES = 2
# Pieces handed out per thread of the cluster: nobody waits, and the scheduler holds few of them.
_AHEAD = 3
# Pieces of work give the same bits everywhere only if these agree.
_PACKAGES = ("wavemmf", "numpy", "numba")
_VERSIONS = "tuple(__import__(name).__version__ for name in " + repr(_PACKAGES) + ")"


class Mapper(Protocol):
    """Calls a function with many argument tuples; results in order."""

    def __call__(
        self,
        function: Callable[..., Any],
        calls: Sequence[tuple[Any, ...]],
        finished: Callable[[int, Any], None] | None = None,
    ) -> list[Any]:
        """Return ``[function(*arguments) for arguments in calls]``.

        `finished` is called, in this thread, with the position of a result and the result.
        """
        ...


def _on_threads(
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    finished: Callable[[int, Any], None] | None = None,
) -> list[Any]:
    return run_all(function, calls, finished=finished)


_current: ContextVar[Mapper] = ContextVar("mapper", default=_on_threads)


def current_mapper() -> Mapper:
    """Return what `use_executor` chose for the code being run; threads otherwise.

    Examples
    --------
    >>> current_mapper()(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    return _current.get()


@contextmanager
def use_executor(executor: Any) -> Iterator[Mapper]:
    """Let the block run its pieces of work on `executor`.

    Parameters
    ----------
    executor : None, str, dask.distributed.Client or Mapper
        None for the threads of this process; the address of a Dask scheduler, such as
        ``"tcp://10.0.0.1:8786"``; a client, which stays open; or a function that does what
        `Mapper` asks for.

    Yields
    ------
    Mapper

    Raises
    ------
    ClusterError
        If nobody answers at the address, if there are no workers, or if they have another version
        of wavemmf, NumPy or Numba, or none.
    MissingDependencyError
        If Dask is not installed.

    Examples
    --------
    >>> with use_executor(None) as run:
    ...     run(max, [(1, 2), (4, 3)])
    [2, 4]
    """
    if executor is None or callable(executor):
        with _chosen(executor or _on_threads) as mapper:
            yield mapper
        return
    distributed = require("distributed", extra="cluster")
    if isinstance(executor, str):
        client, ours = _connect(distributed, executor), True
    elif isinstance(executor, distributed.Client):
        client, ours = executor, False
    else:
        raise InputTypeError(
            "executor must be None, the address of a Dask scheduler or a dask.distributed.Client, "
            f"got {type(executor).__name__}"
        )
    try:
        _check_workers(distributed, client)
        with _chosen(_Cluster(distributed, client)) as mapper:
            yield mapper
    finally:
        if ours:
            with suppress(OSError):  # a scheduler that is gone needs no farewell
                client.close(timeout=_CONNECT_SECONDS)


@contextmanager
def _chosen(mapper: Mapper) -> Iterator[Mapper]:
    token = _current.set(mapper)
    try:
        yield mapper
    finally:
        _current.reset(token)


def _connect(distributed: Any, address: str) -> Any:
    try:
        # A client that fails to connect keeps trying in the background: knock first.
        location = distributed.comm.resolve_address(address).partition("://")[2]
        if not address.startswith("inproc"):
            where = distributed.comm.parse_host_port(location)
            socket.create_connection(where, timeout=_CONNECT_SECONDS).close()
        return distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address!r}: {error}. Start one with `dask scheduler`; "
            "it prints its address, like tcp://10.0.0.1:8786"
        ) from error


def _check_workers(distributed: Any, client: Any) -> None:
    """Refuse workers that would fail, or give other results."""
    address = _address(client)
    if client.status != "running":
        raise ClusterError(f"the client of the scheduler {address} is {client.status}")
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
        found = client.run(eval, _VERSIONS)
    except ImportError as error:
        raise ClusterError(
            f"the workers of {address} cannot import {error.name}: install wavemmf {__version__} "
            "there as well"
        ) from error
    except TimeoutError as error:
        raise ClusterError(
            f"the scheduler {address} has no workers: start some with `dask worker {address}`"
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise ClusterError(f"the scheduler {address} does not answer: {error}") from error
    own = tuple(require(name, extra="cluster").__version__ for name in _PACKAGES)
    for worker, versions in found.items():
        for name, here, there in zip(_PACKAGES, own, versions, strict=True):
            if here != there:
                raise ClusterError(
                    f"the worker {worker} has {name} {there}, this process has {here}: the same "
                    "versions are needed for the same results"
                )


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", None) or "(closed)")


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*copy.deepcopy(arguments))


class _Cluster:
    """A mapper on the workers of a Dask client.

    Arguments travel with their task and stay with the scheduler until it is done. Data that was
    scattered to the workers beforehand would be lost together with a worker.

    What arrives, both ways, is copied: arrays arrive as pieces of a message, perhaps at odd
    addresses or not writable, for which Numba would compile every kernel once more.
    """

    def __init__(self, distributed: Any, client: Any) -> None:
        self._distributed = distributed
        self._client = client
        self._where = _address(client)

    def __call__(
        self,
        function: Callable[..., Any],
        calls: Sequence[tuple[Any, ...]],
        finished: Callable[[int, Any], None] | None = None,
    ) -> list[Any]:
        results: list[Any] = [None] * len(calls)
        positions: dict[Any, int] = {}
        waiting = iter(enumerate(calls))
        try:
            begun = list(islice(self._submitted(function, waiting, positions), self._ahead()))
            running = self._distributed.as_completed(begun, loop=self._client.loop)
            for future in running:
                position, result = positions[future.key], copy.deepcopy(future.result())
                del positions[future.key]
                results[position] = result
                for following in islice(self._submitted(function, waiting, positions), 1):
                    running.add(following)
                if finished is not None:
                    finished(position, result)
        except self._distributed.scheduler.KilledWorker as error:
            raise ClusterError(
                f"workers of {self._where} died again and again on the same piece of work, most "
                f"likely for lack of memory: {error}"
            ) from error
        except (self._distributed.CancelledError, self._distributed.comm.CommClosedError) as error:
            raise ClusterError(f"the scheduler {self._where} was lost while it worked") from error
        finally:
            self._drop(positions)
        return results

    def _ahead(self) -> int:
        threads: dict[str, int] = self._client.nthreads()
        return max(1, _AHEAD * sum(threads.values()))

    def _submitted(
        self,
        function: Callable[..., Any],
        waiting: Iterator[tuple[int, tuple[Any, ...]]],
        positions: dict[Any, int],
    ) -> Iterator[Any]:
        """Hand out one piece of work after the other, as they are asked for."""
        for position, arguments in waiting:
            future = self._client.submit(_call, function, *arguments, retries=_RETRIES, pure=False)
            positions[future.key] = position
            yield future

    def _drop(self, positions: dict[Any, int]) -> None:
        """Take back what is still under way, after an error or Ctrl-C."""
        if not positions or self._client.status != "running":
            return
        futures = [self._distributed.Future(key, self._client) for key in positions]
        self._client.cancel(futures, force=True)
