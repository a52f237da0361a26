"""What `validation` accepts, and what it says about the rest."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wavemmf._validation import (
    check_choice,
    check_integer,
    check_matrix,
    check_memory,
    check_mmf_parameters,
    check_positive,
    core_size,
)
from wavemmf.errors import InputTypeError, InvalidInputError, TooLargeError

SYMMETRIC = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 0.0]])
SPARSE_FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int8])
def test_dense_dtypes_become_float64(dtype):
    result = check_matrix(SYMMETRIC.astype(dtype))
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    np.testing.assert_array_equal(result, SYMMETRIC)


def test_bool_and_list_input():
    np.testing.assert_array_equal(check_matrix(np.eye(2, dtype=bool)), np.eye(2))
    np.testing.assert_array_equal(check_matrix([[1, 2], [2, 1]]), [[1, 2], [2, 1]])


def test_fortran_order_and_strided_views_become_contiguous():
    assert check_matrix(np.asfortranarray(SYMMETRIC)).flags.c_contiguous
    assert check_matrix(np.eye(6)[::2, ::2]).flags.c_contiguous


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", SPARSE_FORMATS)
def test_every_sparse_format(layout, kind):
    matrix = getattr(sp, f"csr_{kind}")(SYMMETRIC).asformat(layout)
    result = check_matrix(matrix)
    assert isinstance(result, sp.csr_array)
    assert result.has_canonical_format
    assert result.indices.dtype == np.int32
    np.testing.assert_array_equal(result.toarray(), SYMMETRIC)


def test_sparse_clean_up_leaves_the_input_alone():
    data, indices, indptr = [1.0, 1.0, 0.0, 2.0], [1, 1, 0, 0], [0, 3, 4]
    matrix = sp.csr_array((data, indices, indptr), shape=(2, 2))
    result = check_matrix(matrix)
    assert matrix.nnz == 4
    assert result.nnz == 2
    np.testing.assert_array_equal(result.toarray(), [[0, 2], [2, 0]])


def test_malformed_sparse_indices_are_refused():
    matrix = sp.csr_array(np.eye(3))
    matrix.indices[1] = 7
    with pytest.raises(InvalidInputError, match="malformed"):
        check_matrix(matrix)


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (np.eye(2, dtype=complex), InputTypeError, "complex"),
        (np.array([["a", "b"], ["b", "a"]]), InputTypeError, "not numeric"),
        (np.eye(2, dtype=object), InputTypeError, "object"),
        (sp.csr_array(np.eye(2, dtype=complex)), InputTypeError, "complex"),
        (np.ones(3), InvalidInputError, r"\(3,\)"),
        (np.float64(3.0), InvalidInputError, "2 dimensions"),
        (np.ones((2, 2, 2)), InvalidInputError, "2 dimensions"),
        (np.ones((2, 3)), InvalidInputError, r"square, got shape \(2, 3\)"),
        (sp.csr_array((2, 3)), InvalidInputError, r"square, got shape \(2, 3\)"),
        (np.empty((0, 0)), InvalidInputError, "empty"),
        ([[1, 2], [3]], InvalidInputError, "rectangular"),
        (np.ma.masked_equal(np.eye(2), 0), InvalidInputError, "masked"),
    ],
)
def test_refusals(matrix, error, message):
    with pytest.raises(error, match=message):
        check_matrix(matrix)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite_says_where_and_how_many(convert, bad):
    matrix = SYMMETRIC.copy()
    matrix[1, 2] = matrix[2, 1] = bad
    with pytest.raises(InvalidInputError, match=r"2 entries .* at row 1, column 2"):
        check_matrix(convert(matrix))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_asymmetric_says_where_and_by_how_much(convert):
    matrix = SYMMETRIC.copy()
    matrix[0, 1] = 1.5
    with pytest.raises(
        InvalidInputError,
        match=r"\(0, 1\) is 1.5 but \(1, 0\) is 1.0, .*of 0.5 .*symmetric_part",
    ):
        check_matrix(convert(matrix))
    result = check_matrix(convert(matrix), symmetrize=True)
    dense = result.toarray() if sp.issparse(result) else result
    np.testing.assert_array_equal(dense, 0.5 * (matrix + matrix.T))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("dtype", "gap", "accepted"),
    [
        (np.float64, 1e-11, True),
        (np.float64, 1e-8, False),
        (np.float32, 1e-6, True),
        (np.float32, 1e-3, False),
    ],
)
def test_rounding_is_tolerated_by_precision(convert, dtype, gap, accepted):
    matrix = np.array([[1.0, 0.5], [0.5 + gap, 1.0]], dtype=dtype)
    if accepted:
        result = check_matrix(convert(matrix))
        dense = result.toarray() if sp.issparse(result) else result
        np.testing.assert_array_equal(dense, dense.T)
    else:
        with pytest.raises(InvalidInputError, match="not symmetric"):
            check_matrix(convert(matrix))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_huge_entries_do_not_overflow(convert):
    matrix = np.array([[1.0, 1.7e308], [1.7e308 * (1 - 1e-15), 1.0]])
    result = check_matrix(convert(matrix))
    assert np.isfinite(result.data if sp.issparse(result) else result).all()
    with pytest.raises(InvalidInputError, match="not symmetric"):
        check_matrix(convert(np.array([[0.0, 1.7e308], [-1.7e308, 0.0]])))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_all_zero_matrix(n):
    assert not check_matrix(np.zeros((n, n))).any()
    assert check_matrix(sp.csr_array((n, n))).nnz == 0


@given(
    arrays(
        np.float64,
        st.integers(1, 6).map(lambda n: (n, n)),
        elements=st.floats(-1e300, 1e300, allow_subnormal=False),
    )
)
def test_symmetrize_is_exact_and_agrees_between_dense_and_sparse(matrix):
    dense = check_matrix(matrix, symmetrize=True)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_array_equal(check_matrix(sp.csr_array(matrix), True).toarray(), dense)


def test_asymmetry_in_a_late_row_block_is_found():
    matrix = sp.random_array((2500, 2500), density=0.001, rng=0).toarray()
    matrix = matrix + matrix.T
    check_matrix(matrix)
    matrix[2499, 3] += 1.0
    with pytest.raises(InvalidInputError, match=r"2499"):
        check_matrix(matrix)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_check_integer_accepts_integers(value):
    result = check_integer("k", value, minimum=3, maximum=3)
    assert type(result) is int
    assert result == 3


@pytest.mark.parametrize("value", [True, np.True_, 3.0, "3", None, np.array([1, 2]), 3 + 0j])
def test_check_integer_refuses_other_types(value):
    with pytest.raises(InputTypeError, match="k must be an integer"):
        check_integer("k", value)


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (1, {"minimum": 2}, "at least 2, got 1"),
        (9, {"maximum": 8}, "at most 8, got 9"),
        (9, {"minimum": 2, "maximum": 8}, "at least 2 and at most 8, got 9"),
    ],
)
def test_check_integer_bounds(value, bounds, message):
    with pytest.raises(InvalidInputError, match=message):
        check_integer("k", value, **bounds)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, 10**400])
def test_check_positive_refuses(value):
    with pytest.raises(InvalidInputError, match="sigma must be a finite number above 0"):
        check_positive("sigma", value)


def test_check_positive_type_and_value():
    assert check_positive("sigma", np.float32(0.5)) == 0.5
    for wrong in (None, "0.5", b"0.5"):
        with pytest.raises(InputTypeError, match="sigma"):
            check_positive("sigma", wrong)


@pytest.mark.parametrize("value", ["newton", None, 3, ["lbfgs"]])
def test_check_choice_lists_the_options(value):
    with pytest.raises(InvalidInputError, match="one of 'lbfgs', 'sgd'; got"):
        check_choice("optimize", value, ["lbfgs", "sgd"])


@pytest.mark.parametrize(
    ("core", "k", "drop", "message"),
    [
        (8, 1, 1, "k must be .* at least 2, got 1"),
        (8, 8, 0, "drop .* at least 1"),
        (8, 8, 8, "drop .* at most 7, got 8"),
        (-1, 8, 1, "core .* at least 0"),
        (35, 8, 1, "core .* at most 34, got 35"),
    ],
)
def test_mmf_parameters_out_of_range(core, k, drop, message):
    with pytest.raises(InvalidInputError, match=message):
        check_mmf_parameters(34, core, k, drop)


@pytest.mark.parametrize(
    ("core", "size"), [(0, 0), (8, 8), (0.25, 8), (0.5, 17), (1e-9, 1), (0.999, 34), (None, 8)]
)
def test_the_core_may_be_a_share_of_the_rows(core, size):
    assert core_size(34, core) == size
    assert check_mmf_parameters(34, core, 4, 1) == (size, 4, 1)


@pytest.mark.parametrize("share", [0.0, 1.0, 1.5, -0.1, float("nan")])
def test_shares_are_between_none_and_all(share):
    with pytest.raises(InputTypeError, match="share of the rows between 0 and 1"):
        core_size(34, share)


@pytest.mark.parametrize("bad", [True, 2.0, "2"])
@pytest.mark.parametrize("name", ["core", "k", "drop"])
def test_mmf_parameters_must_be_integers(name, bad):
    with pytest.raises(InputTypeError, match=name):
        check_mmf_parameters(34, **{"core": 8, "k": 8, "drop": 1, name: bad})


def test_memory_limit_can_be_set(monkeypatch):
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", str(2**30))
    check_memory(2**30, "this")
    with pytest.raises(TooLargeError, match=r"this needs 2\.0 GiB, but 1\.0 GiB"):
        check_memory(2**31, "this")
    monkeypatch.setenv("WAVEMMF_MAX_MEMORY", "lots")
    with pytest.raises(InvalidInputError, match="in bytes, got 'lots'"):
        check_memory(1, "this")


def test_memory_limit_of_the_machine(monkeypatch):
    monkeypatch.delenv("WAVEMMF_MAX_MEMORY", raising=False)
    check_memory(1, "a byte")
    with pytest.raises(TooLargeError, match="GiB"):
        check_memory(1e21, "too much")


def test_sparse_order_without_the_memory_for_its_rows_is_refused():
    huge = sp.coo_array(([1.0], ([0], [0])), shape=(10**13, 10**13))
    with pytest.raises(TooLargeError, match="row index"):
        check_matrix(huge)
