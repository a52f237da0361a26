"""Which parameters of a network decay, and which move slowly."""

from __future__ import annotations

from typing import Any

import torch

from ...nn._settings import TrainingSettings

__all__ = ["parameter_groups"]


def parameter_groups(
    net: torch.nn.Module, settings: TrainingSettings, filters: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Return groups for an optimiser: linear maps decay, filters move at a rate of their own.

    Parameters
    ----------
    net : Module
        The network.
    settings : TrainingSettings
        Gives step sizes and weight decay.
    filters : tuple of str
        Parameters whose names hold one of these are filters; of the rest, matrices are linear
        maps.

    Examples
    --------
    >>> groups = parameter_groups(torch.nn.Linear(2, 3), TrainingSettings(weight_decay=0.1))
    >>> [(len(group["params"]), group["weight_decay"]) for group in groups]
    [(1, 0.1), (1, 0.0), (0, 0.0)]
    """
    linear: list[torch.Tensor] = []
    biases: list[torch.Tensor] = []
    gains: list[torch.Tensor] = []
    for name, parameter in net.named_parameters():
        if any(part in name for part in filters):
            gains.append(parameter)
        else:
            (linear if parameter.ndim == 2 else biases).append(parameter)
    rate = settings.learning_rate
    return [
        {"params": linear, "lr": rate, "weight_decay": settings.weight_decay},
        {"params": biases, "lr": rate, "weight_decay": 0.0},
        {"params": gains, "lr": rate * settings.filter_rate, "weight_decay": 0.0},
    ]
