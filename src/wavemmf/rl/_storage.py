"""Policies in files: safetensors with a JSON description, never pickle."""

from __future__ import annotations

import os
from typing import Any

import torch

from .._tensorfile import TensorFile, check_claims
from ._history import TrainingHistory
from ._policy import Policy
from ._settings import PolicySettings

__all__ = ["load_policy", "save_policy"]

_FILE = TensorFile("wavemmf-policy", "a policy", 1)


def save_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy, its settings and its history, whole or not at all.

    Parameters
    ----------
    policy : Policy
        What to save.
    path : str or path
        The file, usually named .safetensors.
    """
    header = {
        "settings": policy.settings.to_json(),
        "trained_with": policy.trained_with,
        "history": policy.history.summary(),
    }
    history = {name: torch.from_numpy(array) for name, array in policy.history.arrays().items()}
    _FILE.write(path, header, {"policy": policy.state_dict(), "history": history})


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
    return _FILE.read(path, _policy)


def _policy(header: dict[str, Any], groups: dict[str, dict[str, torch.Tensor]]) -> Policy:
    settings = PolicySettings.from_json(header["settings"])
    check_claims({"layers": settings.layers}, lambda: Policy(settings), groups["policy"])
    policy = Policy(settings)
    policy.load_state_dict(groups["policy"])
    arrays = {name: tensor.numpy() for name, tensor in groups.get("history", {}).items()}
    policy.history = TrainingHistory.from_arrays(arrays, str(header["history"]["stopped"]))
    policy.trained_with = dict(header["trained_with"])
    return policy
