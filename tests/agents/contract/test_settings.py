import dataclasses
from typing import Annotated

import numpy as np
import pytest

from agents.contract.settings import POSITIVE, Must, between, check_fields, describe_fields, read_settings
from agents.neural.settings import NeuralSettings


def test_what_is_given_overrides_the_preset_which_overrides_the_defaults():
    settings = read_settings(NeuralSettings, {"preset": "paper", "epochs": 3})
    assert (settings.epochs, settings.covariance, settings.width) == (3, "diagonal", 512)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MoreSettings(NeuralSettings):
    """Settings with one more."""

    patience: int = 3
    """Rounds to wait."""
    width: int = 64


def test_fields_are_described_by_the_text_below_them_or_that_of_a_base():
    texts = describe_fields(MoreSettings)
    assert texts["patience"] == "Rounds to wait."
    assert texts["width"] == "m, hidden width of the network; even."
    assert texts.keys() == {field.name for field in dataclasses.fields(MoreSettings)}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"exploration_scal": 1}, "`exploration_scal`. Did you mean `exploration_scale`.*, device, preset"),
        ({"preset": "papers"}, "Unknown preset `papers`. Did you mean `paper`[?] Presets: paper, paper-steps"),
        ({"depth": 1}, "`depth` to be from 2 to 100. Got 1"),
        ({"depth": 101}, "`depth` to be from 2 to 100. Got 101"),  # its kernel would take for ever
        ({"width": 10**10}, "`width` to be at most 1000000000. Got 10000000000"),
        ({"steps": 10**5000}, "`steps` to be at most 1000000000. Got one of more than 20 digits"),
        ({"width": 10**20 - 1}, "`width` to be at most 1000000000. Got 99999999999999999999"),
        ({"width": 10**20}, "`width` to be at most 1000000000. Got one of more than 20 digits"),
        ({"width": 3}, "even"),
        ({"width": 2.0}, "`width` to be an integer"),
        ({"steps": 0}, "`steps`"),
        ({"exploration_scale": float("nan")}, "`exploration_scale`"),
        ({"exploration_scale": -1}, "`exploration_scale`"),
        ({"exploration_scale": True}, "`exploration_scale`"),
        ({"preset": [1]}, "Unknown preset"),
        ({"regularization": 0.0}, "`regularization` to be positive"),
        ({"learning_rate": float("inf")}, "`learning_rate` to be finite"),
        ({"covariance": "full"}, "`covariance` to be one of exact, diagonal. Got 'full'"),
        ({"standardize": "no"}, "`standardize` to be True or False"),
    ],
)
def test_refuses_settings_out_of_range(given, message):
    with pytest.raises(ValueError, match=message):
        read_settings(NeuralSettings, given)


@dataclasses.dataclass(frozen=True)
class Limited:
    """Settings with conditions of their own."""

    pairs: Annotated[int, Must(lambda pairs: pairs % 2 == 0, "even")] = 2
    share: Annotated[float | None, POSITIVE, between(0, 1)] = None

    def __post_init__(self):
        check_fields(self)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pairs": 3}, "`pairs` to be even. Got 3"),
        ({"pairs": 0}, "`pairs` to be an integer >= 1. Got 0"),
        ({"share": 0.0}, "`share` to be positive or None. Got 0.0"),
        ({"share": 1.5}, "`share` to be from 0 to 1 or None. Got 1.5"),
    ],
)
def test_a_field_may_ask_for_more_than_its_type(given, message):
    with pytest.raises(ValueError, match=message):
        Limited(**given)


def test_equal_numbers_are_equal_settings():
    plain = NeuralSettings(exploration_scale=1, width=8)
    assert repr(plain) == repr(NeuralSettings(exploration_scale=np.float32(1.0), width=np.int64(8)))
    assert type(plain.exploration_scale) is float
