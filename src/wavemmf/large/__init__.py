"""Large sparse matrices, in stages of parts that are reduced independently."""

from .diffusion import factorize_by_diffusion
from .factorize import factorize_in_stages
from .outcome import Outcome
from .stages import reduce_in_stages

__all__ = ["Outcome", "factorize_by_diffusion", "factorize_in_stages", "reduce_in_stages"]
