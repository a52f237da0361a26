"""Responses that filters start from: how much of each frequency passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch

from .._validation import check_choice, check_integer
from ..errors import InputTypeError

__all__ = ["RESPONSES", "Response", "as_response", "pagerank_tail"]

#: Maps frequencies of a normalized Laplacian, between 0 and 2, to gains.
Response: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


def _heat(frequencies: torch.Tensor) -> torch.Tensor:
    return torch.exp(-2.0 * frequencies)


def _pagerank(frequencies: torch.Tensor) -> torch.Tensor:
    return 0.1 / (1.0 - 0.9 * (1.0 - frequencies))


#: Responses by name: heat flow for a time of 2, and personalised PageRank with teleport 0.1.
RESPONSES: dict[str, Response] = {
    "heat": _heat,
    "pagerank": _pagerank,
    "ones": torch.ones_like,
    "zeros": torch.zeros_like,
}


def as_response(response: str | Response) -> Response:
    """Return a response by its name, or the function itself.

    Examples
    --------
    >>> as_response("heat")(torch.tensor([0.0]))
    tensor([1.])
    """
    if callable(response):
        return response
    if not isinstance(response, str):
        raise InputTypeError(
            f"a response is a name or a function of frequencies, got {type(response).__name__}"
        )
    return RESPONSES[check_choice("response", response, RESPONSES)]


def pagerank_tail(hops: int, teleport: float = 0.1) -> Response:
    r"""Return the response of personalised PageRank without its first hops.

    .. math:: g(\lambda) = \sum_{k > K} \alpha (1 - \alpha)^k (1 - \lambda)^k
        = \frac{\alpha \, ((1 - \alpha)(1 - \lambda))^{K + 1}}{1 - (1 - \alpha)(1 - \lambda)}

    Together with the exact hops 0 to K it is the whole of personalised PageRank.

    Parameters
    ----------
    hops : int
        The last hop K that is left out; -1 leaves out none.
    teleport : float
        The probability :math:`\alpha` of returning, between 0 and 1.

    Examples
    --------
    >>> pagerank_tail(-1)(torch.tensor([0.0]))
    tensor([1.0000])
    """
    hops = check_integer("hops", hops, -1)

    def tail(frequencies: torch.Tensor) -> torch.Tensor:
        damped = (1.0 - teleport) * (1.0 - frequencies)
        return teleport * damped ** (hops + 1) / (1.0 - damped)

    return tail
