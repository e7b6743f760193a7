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
    """Settings with more of them, which have conditions of their own."""

    patience: Annotated[int, Must(lambda patience: patience % 2 == 0, "even")] = 4
    """Rounds to wait."""
    share: Annotated[float | None, POSITIVE, between(0, 1)] = None
    """A share."""
    width: int = 64

    def __post_init__(self):
        check_fields(self)


def test_fields_are_described_by_the_text_below_them_or_that_of_a_base():
    texts = describe_fields(MoreSettings)
    assert texts["patience"] == "Rounds to wait."
    assert texts["width"] == "m, hidden width of the network; even."
    assert texts.keys() == {field.name for field in dataclasses.fields(MoreSettings)}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("depth", [1, 101]),  # the kernel of a deeper one would take for ever
        ("width", [0, 2.0, 10**10, 10**20]),
        ("steps", [0, 10**5000]),
        ("exploration_scale", [float("nan"), -1, True, float("inf"), 1e101]),
        ("regularization", [0.0]),
        ("covariance", ["full"]),
        ("standardize", ["no", 1]),
        ("patience", [0, 3, "4"]),
        ("share", [0.0, 1.5]),
        ("preset", ["papers", [1]]),
    ],
)
def test_refuses_values_out_of_range(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"`{name}`|Unknown preset"):
            read_settings(MoreSettings, {name: value})


@pytest.mark.parametrize(("name", "meant"), [("exploration_scal", "exploration_scale"), ("lambda_", "regularization")])
def test_an_unknown_setting_is_refused_and_the_nearest_named(name, meant):
    with pytest.raises(ValueError, match=f"`{name}`.*`{meant}`"):
        read_settings(NeuralSettings, {name: 1})


def test_equal_numbers_are_equal_settings():
    plain = NeuralSettings(exploration_scale=1, width=8)
    assert repr(plain) == repr(NeuralSettings(exploration_scale=np.float32(1.0), width=np.int64(8)))
    assert type(plain.exploration_scale) is float
