"""The policy network (section 5.3 of the paper): a pivot and its partners; usable as a selector."""

from __future__ import annotations

import os
from typing import Any

import torch

from .._validation import Matrix, check_integer
from ..factorization import Rotations
from ..select._plan import Task
from ._features import log_score
from ._history import TrainingHistory
from ._messages import Messages
from ._network import Encoder
from ._settings import PolicySettings

__all__ = ["Policy"]


class Policy(torch.nn.Module):
    r"""A stochastic rule that chooses the coordinates of every level.

    With M the embeddings of one network, the pivot is drawn from the softmax over active rows of
    :math:`\sum_f M_{if}`; with those of a second one, partners are drawn one by one without
    replacement from the softmax of :math:`\langle M_{i^*}, M_i \rangle`. Nothing depends on the
    size of the graph, so a policy runs on graphs it was not trained on.

    A policy is a selector: ``wavemmf.factorize(A, core=8, k=8, select=policy)``.

    Parameters
    ----------
    settings : PolicySettings
        The architecture.
    seed : int
        Seed of the initial weights.

    Attributes
    ----------
    history : TrainingHistory
        Errors and rewards of all training episodes.
    trained_with : dict
        The settings of the training, as plain values.

    Examples
    --------
    >>> import wavemmf as wm
    >>> from wavemmf.select import Task
    >>> policy = Policy(PolicySettings())
    >>> a = wm.graphs.normalized_laplacian(wm.graphs.karate()).toarray()
    >>> policy.select(a, Task(core=8, k=4, drop=1)).num_levels
    26
    """

    name = "policy"
    score_prior: torch.Tensor
    partner_prior: torch.Tensor
    group_prior: torch.Tensor

    def __init__(self, settings: PolicySettings | None = None, seed: int = 0) -> None:
        super().__init__()
        settings = settings or PolicySettings()
        self.settings = settings
        self.history = TrainingHistory()
        self.trained_with: dict[str, Any] = {}
        shape = settings.inputs, settings.hidden, settings.layers, settings.activation
        generator = torch.Generator().manual_seed(check_integer("seed", seed, 0))
        self.pivot_network = Encoder(*shape)
        self.pivot_network.initialize(generator)
        if settings.actions == "rows":  # whole groups have no partners to choose
            self.partner_network = Encoder(*shape)
            self.partner_network.initialize(generator)
        if settings.readout == "linear":
            self.readout = torch.nn.Parameter(torch.zeros(self.pivot_network.width))
            if settings.actions == "rows":
                self.similarity_weight = torch.nn.Parameter(torch.zeros(()))
        for name in ("score_prior", "partner_prior", "group_prior"):
            value = getattr(settings, name)
            if value is not None:
                self.register_parameter(name, torch.nn.Parameter(torch.tensor(float(value))))

    def embed(
        self, features: torch.Tensor, active: torch.Tensor, messages: Messages
    ) -> tuple[torch.Tensor, ...]:
        """Return the embeddings of all networks, shape (batch, n, width).

        Policies that choose whole groups have one network, others a second one for partners.

        Parameters
        ----------
        features : tensor of shape (batch, n, features)
            See `wavemmf.rl._features`.
        active : tensor of shape (batch, n)
            Ones for active rows, zeros for others.
        messages : Messages
            The matrix.
        """
        x, rows = features.transpose(0, 1).contiguous(), active.transpose(0, 1).contiguous()
        propagate = messages.along(self.settings.propagate, rows)
        networks = [self.pivot_network]
        if self.settings.actions == "rows":
            networks.append(self.partner_network)
        return tuple(network(x, rows, propagate).transpose(0, 1) for network in networks)

    def pivot_logits(
        self, embedding: torch.Tensor, scores: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the logit of every row, shape (batch, n), for being the pivot."""
        if self.settings.readout == "linear":
            logits = embedding @ self.readout
        else:
            logits = embedding.sum(-1)
        if self.settings.score_prior is not None and scores is not None:
            logits = logits - self.score_prior * log_score(scores)
        return logits

    def partner_logits(
        self,
        embedding: torch.Tensor,
        pivots: torch.Tensor,
        relations: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logit of every row, shape (batch, n), for being a partner of the pivot."""
        own = torch.take_along_dim(embedding, pivots[:, None, None], dim=1)
        return self._partner_logits((embedding * own).sum(-1), relations)

    def candidate_logits(
        self, embedding: torch.Tensor, candidates: torch.Tensor, relations: torch.Tensor
    ) -> torch.Tensor:
        """Return the logits of a few candidates for being partners of pivots.

        Parameters
        ----------
        embedding : tensor of shape (n, width)
            Of the second network.
        candidates : integer tensor of shape (pivots, m)
            In every row a pivot and its candidates.
        relations : tensor of shape (pivots, m, 2)
            What is known of the pivot and each of them.
        """
        chosen = embedding[candidates]
        similarity = (chosen * chosen[:, :1]).sum(-1)
        return self._partner_logits(similarity, relations)

    def _partner_logits(
        self, similarity: torch.Tensor, relations: torch.Tensor | None
    ) -> torch.Tensor:
        logits = similarity
        if self.settings.readout == "linear":
            logits = self.similarity_weight * similarity
        if relations is not None and self.settings.partner_prior is not None:
            logits = logits + self.partner_prior * relations[..., 0]
        if relations is not None and self.settings.group_prior is not None:
            logits = logits + self.group_prior * relations[..., 1]
        return logits

    def select(self, matrix: Matrix, task: Task) -> Rotations:
        """Choose the most likely coordinates at every level.

        Parameters
        ----------
        matrix : ndarray or csr_array
            The symmetric matrix.
        task : Task
            Sizes and progress.

        Returns
        -------
        Rotations
        """
        from ._selection import select

        return select(self, matrix, task)

    def sample(self, matrix: Matrix, task: Task, count: int) -> list[Rotations]:
        """Draw `count` different index sequences, with their closed-form rotations.

        Parameters
        ----------
        matrix : ndarray or csr_array
            The symmetric matrix.
        task : Task
            Sizes, seed and progress.
        count : int
            How many.

        Returns
        -------
        list of Rotations
        """
        from ._selection import sample

        return sample(self, matrix, task, count)

    def fingerprint_parts(self) -> dict[str, Any]:
        """Return what the choices of this policy depend on: its architecture and its weights."""
        return {"settings": self.settings, "weights": dict(self.state_dict())}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy to a safetensors file, whole or not at all; see `load_policy`."""
        from ._storage import save_policy

        save_policy(self, path)
