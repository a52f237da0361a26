"""Policies in files: safetensors with a JSON description, never pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import torch

from .._files import atomic_write, check_writable
from .._optional import require
from .._version import __version__
from ..errors import FileFormatError, InvalidInputError
from .history import TrainingHistory
from .policy import Policy
from .settings import PolicySettings

__all__ = ["load_policy", "save_policy"]

_FORMAT = "wavemmf-policy"
_VERSION = 1
_KEY = "wavemmf"


def save_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy, its settings and its history, whole or not at all.

    Parameters
    ----------
    policy : Policy
        What to save.
    path : str or path
        The file, usually named .safetensors.
    """
    check_writable(path)
    header = {
        "format": _FORMAT,
        "version": _VERSION,
        "written_by": f"wavemmf {__version__}",
        "settings": policy.settings.to_json(),
        "trained_with": policy.trained_with,
        "history": policy.history.summary(),
    }
    tensors = {f"policy.{name}": value for name, value in policy.state_dict().items()}
    for name, array in policy.history.arrays().items():
        tensors[f"history.{name}"] = torch.from_numpy(array)
    content = require("safetensors.torch", extra="torch").save(
        {name: value.contiguous() for name, value in tensors.items()},
        metadata={_KEY: json.dumps(header)},
    )
    with atomic_write(path) as stream:
        stream.write(content)


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy that `Policy.save` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Policy

    Raises
    ------
    InvalidInputError
        If there is no such file.
    FileFormatError
        If it is damaged, of another kind, or written by a later version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Policy(seed=3).save(pathlib.Path(folder, "p.safetensors"))
    ...     load_policy(pathlib.Path(folder, "p.safetensors")).settings.hidden
    10
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidInputError(f"no such file: {file}")
    safetensors = require("safetensors", extra="torch")
    try:
        with safetensors.safe_open(str(file), framework="pt") as content:
            header = _header(content.metadata(), file)
            tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        return _policy(header, tensors)
    except FileFormatError:
        raise
    except safetensors.SafetensorError as error:
        raise FileFormatError(f"{file} is not a whole safetensors file: {error}") from error
    except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
        raise FileFormatError(f"{file} is damaged: {error}") from error


def _header(metadata: dict[str, str] | None, file: Path) -> dict[str, Any]:
    header = json.loads((metadata or {}).get(_KEY, "{}"))
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise FileFormatError(f"{file} is a safetensors file, but not a policy of wavemmf")
    if int(header["version"]) > _VERSION:
        raise FileFormatError(
            f"{file} has version {header['version']} of the format ({header.get('written_by')}); "
            f"this is wavemmf {__version__}, which reads up to {_VERSION}: update it"
        )
    return header


def _policy(header: dict[str, Any], tensors: dict[str, torch.Tensor]) -> Policy:
    policy = Policy(PolicySettings.from_json(header["settings"]))
    policy.load_state_dict(_part(tensors, "policy"))
    arrays = {name: tensor.numpy() for name, tensor in _part(tensors, "history").items()}
    policy.history = TrainingHistory.from_arrays(arrays, str(header["history"]["stopped"]))
    policy.trained_with = dict(header["trained_with"])
    return policy


def _part(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    start = f"{prefix}."
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}
