"""From data with masks to a trained network: metrics, files, devices, changed graphs."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from wavemmf.errors import InputTypeError, InvalidInputError

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric", reason="the extra pyg is not installed")

from torch_geometric.data import Data  # noqa: E402

from wavemmf.nn import FittedNodes, NodeTraining, fit_nodes  # noqa: E402
from wavemmf.nn._metrics import accuracy, roc_auc  # noqa: E402
from wavemmf.nn._plans import plan_for  # noqa: E402

SHORT = NodeTraining(epochs=6, every=2, metric="roc_auc")
SMALL = {"training": SHORT, "layers": 2, "hidden": 8}


def ring(n=40, features=3, seed=0):
    """Return a ring whose halves are the classes, told by the first feature with noise."""
    rng = np.random.default_rng(seed)
    here = torch.arange(n)
    there = (here + 1) % n
    x = torch.from_numpy(rng.standard_normal((n, features))).float()
    y = (here >= n // 2).long()
    x[:, 0] += 3.0 * y
    part = torch.from_numpy(rng.permutation(n)) % 4
    edges = torch.stack([torch.cat([here, there]), torch.cat([there, here])])
    masks = {"train_mask": part < 2, "val_mask": part == 2, "test_mask": part == 3}
    return Data(x=x, y=y, edge_index=edges, num_nodes=n, **masks)


@pytest.fixture(scope="module")
def fitted():
    return fit_nodes(ring(), **SMALL)


def test_the_network_is_that_of_the_best_epoch(fitted):
    data = ring()
    test, validation = data.test_mask, data.val_mask
    scores = fitted.scores().detach()
    assert fitted.metrics["test_accuracy"] == accuracy(scores[test], data.y[test])
    assert fitted.metrics["test_roc_auc"] == roc_auc(scores[test], data.y[test])
    assert fitted.metrics["validation_roc_auc"] == roc_auc(scores[validation], data.y[validation])
    assert fitted.metrics["best_epoch"] in (2, 4, 6)
    assert torch.equal(fitted.predict(), scores.argmax(dim=1))


def test_the_same_seed_gives_the_same_network(fitted):
    before = torch.get_rng_state()
    again = fit_nodes(ring(), **SMALL)
    assert torch.equal(again.scores(), fitted.scores())
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.equal(fit_nodes(ring(), seed=1, **SMALL).scores(), fitted.scores())


@pytest.mark.parametrize("model", ["auto", "wavemmf", "layers"])
@pytest.mark.parametrize("features", [3, 40])
def test_networks_are_saved_whole(tmp_path, model, features):
    pytest.importorskip("safetensors")
    data = ring(features=features)
    if features == 40:  # words, of which nodes have few
        data.x = (data.x > 1.8).float()
    fitted = fit_nodes(data, model, **SMALL)
    fitted.save(tmp_path / "net.safetensors")
    again = FittedNodes.load(tmp_path / "net.safetensors")
    assert torch.equal(again.scores(data), fitted.scores())
    assert again.metrics == fitted.metrics
    with pytest.raises(InvalidInputError, match=r"loaded needs data: scores\(data\)"):
        again.scores()


def test_networks_move_between_devices(fitted):
    # No other device is here, but moving passes through the same code as a change of precision.
    moved = fitted.to("cpu")
    assert {part.device.type for part in moved.state_dict().values()} == {"cpu"}
    names = set(moved.state_dict())
    assert any(name.startswith("basis.") for name in names)
    assert any(name.startswith("hop.") for name in names)


def test_a_changed_graph_is_refused_with_a_way_on(fitted):
    longer = ring(44)
    with pytest.raises(InvalidInputError, match=r"40 nodes.*44 nodes: fitted.on\(data\)"):
        fitted.scores(longer)
    rewired = ring()
    rewired.edge_index = rewired.edge_index[:, [*range(39), *range(40, 79)]]
    with pytest.raises(InvalidInputError, match="another graph"):
        fitted.predict(rewired)
    assert fitted.on(longer).predict().shape == (44,)
    torch.testing.assert_close(fitted.on(ring()).scores(), fitted.scores())


def test_other_features_on_the_same_graph_are_taken(fitted):
    data = ring()
    data.x = data.x + 1.0
    assert not torch.equal(fitted.scores(data), fitted.scores())
    data.x = data.x[:, :2]
    with pytest.raises(InvalidInputError, match="takes 3 features, got 2"):
        fitted.scores(data)


def test_free_filters_stay_where_they_are():
    fitted = fit_nodes(ring(), filter="free", **SMALL)
    with pytest.raises(InvalidInputError, match="free filter has a number for every wavelet"):
        fitted.on(ring())


def test_columns_of_masks_are_splits():
    data = ring()
    for name in ("train_mask", "val_mask", "test_mask"):
        data[name] = torch.stack([data[name], data[name].roll(1)], dim=1)
    first, second = (fit_nodes(data, split=split, **SMALL).metrics for split in (0, 1))
    assert first != second
    with pytest.raises(InvalidInputError, match="has 2 splits, there is no 2"):
        fit_nodes(data, split=2, **SMALL)


def test_data_that_do_not_fit_are_named():
    with pytest.raises(InputTypeError, match="data must have x, got a SimpleNamespace"):
        fit_nodes(SimpleNamespace())
    data = ring()
    data.val_mask = data.val_mask[:-1]
    with pytest.raises(InvalidInputError, match="val_mask must be a mask of 40 nodes"):
        fit_nodes(data, **SMALL)
    with pytest.raises(InvalidInputError, match="no setting 'depth'"):
        fit_nodes(ring(), depth=3)
    with pytest.raises(InvalidInputError, match="model must be one of"):
        fit_nodes(ring(), "gcn")


def test_plans_look_at_the_features():
    few, words = torch.ones(40, 7), torch.eye(40)
    assert plan_for(few).net.layered
    assert plan_for(words).net.decoupled
    assert plan_for(few, "wavemmf").net.similar_hops == 0


def test_the_area_under_the_curve_is_that_of_pairs(rng):
    scores, y = (
        torch.from_numpy(rng.integers(0, 4, (30, 2))),
        torch.from_numpy(rng.integers(0, 2, 30)),
    )
    margin = (scores[:, 1] - scores[:, 0]).numpy()
    ones, zeros = margin[y.numpy() == 1], margin[y.numpy() == 0]
    apart = np.sign(ones[:, None] - zeros[None, :])
    assert roc_auc(scores, y) == pytest.approx(((apart + 1.0) / 2.0).mean(), abs=1e-12)
    with pytest.raises(InvalidInputError, match="needs two classes"):
        roc_auc(scores, torch.zeros(30))
