"""Draws without replacement: frequencies, probabilities and gradients against plain versions."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch")

from wavemmf.rl._sampling import draw, entropy, ordered_log_probability  # noqa: E402

LOGITS = torch.tensor([0.3, -1.0, 2.0, 0.0, 1.1], dtype=torch.float64)
ALLOWED = torch.tensor([True, True, True, False, True])


def naive(logits, allowed, chosen):
    """Draw after draw, straight from the definition."""
    left = [j for j in range(len(logits)) if allowed[j]]
    total = logits.new_zeros(())
    for index in chosen:
        if index < 0:
            break
        total = total + logits[index] - torch.logsumexp(logits[left], 0)
        left.remove(index)
    return total


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_probabilities_of_all_sequences(count):
    sequences = list(itertools.permutations([0, 1, 2, 4], count))
    chosen = torch.tensor(sequences)
    shape = (len(sequences), -1)
    found = ordered_log_probability(LOGITS.expand(*shape), ALLOWED.expand(*shape), chosen)
    assert found.exp().sum().item() == pytest.approx(1.0)
    expected = torch.stack([naive(LOGITS, ALLOWED, sequence) for sequence in sequences])
    torch.testing.assert_close(found, expected)


def test_frequencies_of_draws():
    count, draws = 2, 40_000
    generator = torch.Generator().manual_seed(0)
    chosen = draw(LOGITS.expand(draws, -1), ALLOWED.expand(draws, -1), count, generator)
    assert ALLOWED[chosen].all()
    for sequence in itertools.permutations([0, 1, 2, 4], count):
        expected = naive(LOGITS, ALLOWED, sequence).exp().item()
        seen = (chosen == torch.tensor(sequence)).all(1).double().mean().item()
        assert abs(seen - expected) < 4 * (expected / draws) ** 0.5 + 1e-4


def test_draw_without_noise_takes_the_largest():
    assert draw(LOGITS, ALLOWED, 3).tolist() == [2, 4, 0]


def test_rounding_errors_are_no_preference():
    generator = torch.Generator().manual_seed(0)
    tied = torch.zeros(5, 40) + 0.25 + 1e-6 * torch.rand(5, 40, generator=generator)
    allowed = torch.ones(5, 40, dtype=torch.bool)
    assert draw(tied, allowed, 3).tolist() == [[0, 1, 2]] * 5
    tied[:, 7] += 0.01
    assert draw(tied, allowed, 3).tolist() == [[7, 0, 1]] * 5


def test_padding_counts_for_nothing():
    short = ordered_log_probability(LOGITS, ALLOWED, torch.tensor([0, 2]))
    padded = ordered_log_probability(LOGITS, ALLOWED, torch.tensor([0, 2, -1, -1]))
    assert short.item() == padded.item()
    nothing = ordered_log_probability(LOGITS, ALLOWED, torch.tensor([-1, -1]))
    assert nothing.item() == 0.0


@pytest.mark.parametrize("chosen", [[2], [4, 0], [1, 2, 0, 4], [1, 2, -1]])
def test_gradient(chosen):
    first = LOGITS.clone().requires_grad_()
    ordered_log_probability(first, ALLOWED, torch.tensor(chosen)).backward()
    second = LOGITS.clone().requires_grad_()
    naive(second, ALLOWED, chosen).backward()
    torch.testing.assert_close(first.grad, second.grad)


def test_entropy():
    probabilities = torch.softmax(LOGITS[ALLOWED], 0)
    expected = -(probabilities * probabilities.log()).sum()
    torch.testing.assert_close(entropy(LOGITS, ALLOWED), expected)
    nothing = entropy(LOGITS.clone().requires_grad_(), torch.zeros(5, dtype=torch.bool))
    nothing.backward()
    assert nothing.item() == 0.0
