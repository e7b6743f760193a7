"""How others install it: the conda recipe and the container ask for what setup.cfg asks for."""

import configparser
import re

import pytest
import yaml
from support import ROOT

OF_CONDA = {"matplotlib": "matplotlib-base", "torch": "pytorch", "torch-geometric": "pytorch_geometric"}


@pytest.fixture(scope="module")
def setup():
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def recipe():
    return yaml.safe_load((ROOT / "docs/install/recipe.yaml").read_text(encoding="utf-8"))


def test_the_recipe_has_the_version_and_the_requirements_of_the_package(setup):
    wanted = {f"python {setup['options']['python_requires']}"}
    for line in setup["options"]["install_requires"].strip().splitlines():
        name, versions = re.fullmatch(r"([\w-]+)(.*)", line.strip()).groups()
        wanted.add(f"{OF_CONDA.get(name, name)} {versions}")
    assert set(recipe()["requirements"]["run"]) == wanted
    assert recipe()["context"]["version"] == setup["metadata"]["version"]


def test_the_extra_all_has_every_extra_that_fits_into_one_environment(setup):
    (whole,) = re.findall(r"\[([\w,]+)\]", setup["options.extras_require"]["all"])
    alone = {"all", "ax", "botorch", "rllib", "torchrl"}  # large, or they pin other versions
    ours = {"benchmarks", "dev", "docs"}
    assert set(whole.split(",")) == set(setup["options.extras_require"]) - alone - ours
