import torch
from hypothesis import given
from hypothesis import strategies as st

from gntk import quick_root, symmetric_root


def covariance_of(seed, rank, size=6):
    factor = torch.randn(size, rank, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return factor @ factor.T


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_times_itself_it_is_the_covariance(seed, rank):
    covariance = covariance_of(seed, rank)
    root = symmetric_root(covariance)
    torch.testing.assert_close(root @ root.T, covariance, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(root, root.T, rtol=0, atol=1e-12)


@given(st.integers(0, 10**6))
def test_of_nearly_equal_covariances_the_roots_are_nearly_equal(seed):
    """Ando & Hemmen (1980): |A^(1/2) - B^(1/2)| <= |A - B| / (smallest root eigenvalues of both)."""
    covariance = covariance_of(seed, 6) + torch.eye(6, dtype=torch.float64)
    noise = 1e-13 * covariance_of(seed + 1, 6)
    moved = symmetric_root(covariance + noise) - symmetric_root(covariance)
    assert torch.linalg.matrix_norm(moved, 2) <= torch.linalg.matrix_norm(noise, 2) / 2 + 1e-13


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_times_itself_a_quick_root_is_the_covariance_with_little_noise(seed, rank):
    covariance = covariance_of(seed, rank)
    root = quick_root(covariance)
    torch.testing.assert_close(root @ root.T, covariance, rtol=1e-8, atol=1e-8)
    assert torch.equal(root, root.tril())


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_quick_roots_of_covariances_that_differ_in_last_bits_hardly_differ(seed, rank):
    """Singular ones, too, where a root without noise would keep half of the digits."""
    covariance = covariance_of(seed, rank)
    moved = quick_root(covariance + 1e-16 * covariance_of(seed + 1, 6)) - quick_root(covariance)
    assert moved.abs().max() < 1e-8
