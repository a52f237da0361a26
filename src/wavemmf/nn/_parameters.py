"""Which parameters of a network decay, and which move slowly."""

from __future__ import annotations

from typing import Any

import torch

from ._training import NodeTraining

__all__ = ["parameter_groups"]


def parameter_groups(net: torch.nn.Module, settings: NodeTraining) -> list[dict[str, Any]]:
    """Return groups for an optimiser: linear maps decay, filters move at a rate of their own.

    Parameters
    ----------
    net : Module
        The network. Modules in it whose attribute ``is_filter`` is true are filters, as those of
        `wavemmf.nn` are; of the rest, matrices are linear maps.
    settings : NodeTraining
        Gives step sizes and weight decay.

    Examples
    --------
    >>> groups = parameter_groups(torch.nn.Linear(2, 3), NodeTraining(weight_decay=0.1))
    >>> [(len(group["params"]), group["weight_decay"]) for group in groups]
    [(1, 0.1), (1, 0.0), (0, 0.0)]
    """
    filters = [module for module in net.modules() if getattr(module, "is_filter", False)]
    of_filters = {parameter for module in filters for parameter in module.parameters()}
    linear: list[torch.Tensor] = []
    biases: list[torch.Tensor] = []
    gains: list[torch.Tensor] = []
    for parameter in net.parameters():
        if parameter in of_filters:
            gains.append(parameter)
        else:
            (linear if parameter.ndim == 2 else biases).append(parameter)
    rate = settings.learning_rate
    return [
        {"params": linear, "lr": rate, "weight_decay": settings.weight_decay},
        {"params": biases, "lr": rate, "weight_decay": 0.0},
        {"params": gains, "lr": rate * settings.filter_rate, "weight_decay": 0.0},
    ]
