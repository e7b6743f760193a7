"""scikit-learn's own checks of estimators, on graphs made of the rows that they fit."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator
from torch_geometric.data import Data

from graph_bandit_bridges import GraphFeatures, GraphKernel, GraphProcessRegressor

OF_ARRAYS = {
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_fit2d_predict1d",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_estimator_sparse_tag",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
}
"""Checks of what is said of X as an array of numbers, which graphs are not."""
BOTH_WAYS = torch.tensor([[0, 1], [1, 0]])


def graphs_of(rows):
    """A pair of equal nodes for each row, which has its numbers."""
    features = [np.asarray(row, np.float64) for row in rows]
    return [Data(x=torch.from_numpy(np.stack([row, row])), edge_index=BOTH_WAYS) for row in features]


class OnRows:
    """Takes rows as graphs, and says so. It checks nothing, so that all checks are those of the estimator."""

    def fit(self, X, y=None):
        return super().fit(graphs_of(X), y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags


class Regressor(OnRows, GraphProcessRegressor):
    def predict(self, X, return_std=False, return_cov=False):
        return super().predict(graphs_of(X), return_std, return_cov)


class Kernel(OnRows, GraphKernel):
    def transform(self, X):
        return super().transform(graphs_of(X))


class Features(OnRows, GraphFeatures):
    def fit_transform(self, X, y=None):
        return super().fit_transform(graphs_of(X), y)

    def transform(self, X):
        return super().transform(graphs_of(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "more"),
    [
        (Regressor(), {"check_regressor_data_not_an_array"}),
        (Kernel(), {"check_transformer_data_not_an_array", "check_complex_data"}),
        (Features(bits=16), {"check_transformer_data_not_an_array", "check_complex_data"}),
    ],
    ids=["regressor", "kernel", "features"],
)
def test_all_checks_but_those_of_arrays_pass(estimator, more):
    expected = dict.fromkeys(OF_ARRAYS | more, "an array of numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    of_status = {
        status: {result["check_name"] for result in results if result["status"] == status}
        for status in ("passed", "xfail", "skipped")
    }
    assert of_status["xfail"] == set(expected)
    assert of_status["skipped"] <= {"check_array_api_input"}  # of scikit-learn 1.9, without SCIPY_ARRAY_API
    assert len(of_status["passed"]) > 30


@pytest.mark.parametrize("estimator", [GraphProcessRegressor(), GraphKernel(), GraphFeatures()])
def test_by_themselves_they_say_that_they_take_no_table_of_numbers(estimator):
    with pytest.warns(SkipTestWarning, match="Can't test estimator"):
        check_estimator(estimator)
