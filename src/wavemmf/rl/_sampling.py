"""Draw coordinates without replacement by the Gumbel-max trick (section 5.3 of the paper)."""

from __future__ import annotations

import torch

__all__ = ["draw", "entropy", "gumbel", "largest", "ordered_log_probability", "preferences"]

# Stands for minus infinity: its exponential is zero, and its gradient is a number.
_NEVER = -1e30
# Logits that differ by less are no preference: their last digits depend on the processor.
_EQUAL = 1e-3


def gumbel(like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return Gumbel(0, 1) noise of the shape and precision of `like`."""
    tiny = torch.finfo(like.dtype).tiny
    uniform = torch.rand(like.shape, generator=generator, dtype=like.dtype).clamp_min(tiny)
    return -torch.log((-torch.log(uniform)).clamp_min(tiny))


def preferences(
    logits: torch.Tensor,
    generator: torch.Generator | None,
    temperature: torch.Tensor | float = 1.0,
) -> torch.Tensor:
    """Return what the largest entries are to be taken of: logits with noise, or rounded ones.

    Rows that a policy cannot tell apart have logits that differ by rounding errors, which would
    decide differently on every processor.

    Examples
    --------
    >>> preferences(torch.tensor([1.00001, 1.00002, 2.0]), None)
    tensor([1., 1., 2.])
    """
    if generator is None:
        return torch.round(logits / _EQUAL) * _EQUAL
    return logits + temperature * gumbel(logits, generator)


def largest(values: torch.Tensor, count: int) -> torch.Tensor:
    """Return where the `count` largest entries of the last dimension are, of equals the first.

    Examples
    --------
    >>> largest(torch.tensor([0.0, 2.0, 3.0, 2.0]), 2).tolist()
    [2, 1]
    """
    return values.sort(dim=-1, descending=True, stable=True).indices[..., :count]


def draw(
    logits: torch.Tensor,
    allowed: torch.Tensor,
    count: int,
    generator: torch.Generator | None = None,
    temperature: torch.Tensor | float = 1.0,
) -> torch.Tensor:
    """Draw `count` different allowed entries of the last dimension, in order.

    The entries with the largest ``logit + Gumbel noise`` are distributed like a sequence of
    draws from the softmax over what is left. Without a generator the largest logits
    are taken, of those that are equal to a thousandth the first.

    Parameters
    ----------
    logits : tensor of shape (..., n)
        Log-probabilities up to a constant.
    allowed : bool tensor of shape (..., n)
        At least `count` true entries in every row.
    count : int
        How many to draw.
    generator : torch.Generator, optional
        Source of the noise.
    temperature : float or tensor that broadcasts with the logits
        What logits are divided by: below 1, likely entries become likelier still.

    Returns
    -------
    integer tensor of shape (..., count)

    Examples
    --------
    >>> draw(torch.tensor([0.0, 2.0, 1.0]), torch.tensor([True, True, True]), 2).tolist()
    [1, 2]
    """
    wanted = preferences(logits, generator, temperature)
    return largest(torch.where(allowed, wanted, torch.full_like(wanted, -torch.inf)), count)


def ordered_log_probability(
    logits: torch.Tensor, allowed: torch.Tensor, chosen: torch.Tensor
) -> torch.Tensor:
    r"""Return the log-probability of drawing `chosen` in this order without replacement.

    .. math:: \sum_q \Big( z_{c_q} - \log \sum_{j \in R_q} e^{z_j} \Big)

    with :math:`R_q` what is allowed without :math:`c_1, .., c_{q-1}`.

    Parameters
    ----------
    logits : tensor of shape (..., n)
        The logits z.
    allowed : bool tensor of shape (..., n)
        What could be drawn first.
    chosen : integer tensor of shape (..., m)
        What was drawn; -1 at the end stands for nothing.

    Returns
    -------
    tensor of shape (...)

    Examples
    --------
    >>> z, everything = torch.zeros(3), torch.tensor([True, True, True])
    >>> ordered_log_probability(z, everything, torch.tensor([2, 0])).exp().item()
    0.1666...
    """
    real = chosen >= 0
    index = chosen.clamp_min(0)
    times = torch.zeros_like(allowed, dtype=torch.int32)
    picked = times.scatter_add(-1, index, real.to(torch.int32)) > 0
    never = torch.full_like(logits, _NEVER)
    rest = torch.logsumexp(torch.where(allowed & ~picked, logits, never), dim=-1, keepdim=True)
    values = logits.gather(-1, index)
    values = torch.where(real, values, torch.full_like(values, _NEVER))
    # What is left before draw q is the rest and the draws from q on: a cumulative sum backwards.
    backwards = torch.cat([rest, values.flip(-1)], dim=-1)
    remaining = torch.logcumsumexp(backwards, dim=-1)[..., 1:].flip(-1)
    return torch.where(real, values - remaining, torch.zeros_like(values)).sum(-1)


def entropy(logits: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """Return the entropy of the softmax over the allowed entries.

    Examples
    --------
    >>> entropy(torch.zeros(4), torch.tensor([True, True, False, False])).exp().item()
    2.0
    """
    masked = torch.where(allowed, logits, torch.full_like(logits, _NEVER))
    log_probabilities = torch.log_softmax(masked, dim=-1)
    terms = torch.where(allowed, log_probabilities.exp() * log_probabilities, masked.new_zeros(()))
    return -terms.sum(-1)
