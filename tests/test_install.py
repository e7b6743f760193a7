"""How others install it: the conda recipe and the container ask for what pyproject.toml asks for."""

import re

import yaml
from support import PROJECT, ROOT

OF_CONDA = {"matplotlib": "matplotlib-base", "torch": "pytorch", "torch-geometric": "pytorch_geometric"}


def test_the_recipe_has_the_version_and_the_requirements_of_the_package():
    recipe = yaml.safe_load((ROOT / "docs/install/recipe.yaml").read_text(encoding="utf-8"))
    wanted = {f"python {PROJECT['requires-python']}"}
    for line in PROJECT["dependencies"]:
        name, versions = re.fullmatch(r"([\w-]+)(.*)", line).groups()
        wanted.add(f"{OF_CONDA.get(name, name)} {versions}")
    assert set(recipe["requirements"]["run"]) == wanted
    assert recipe["context"]["version"] == PROJECT["version"]


def test_the_extra_all_has_every_extra_that_fits_into_one_environment():
    (whole,) = re.findall(r"\[([\w,]+)\]", *PROJECT["optional-dependencies"]["all"])
    alone = {"all", "ax", "botorch", "encoders", "rllib", "torchrl"}  # large, or they pin other versions
    assert set(whole.split(",")) == set(PROJECT["optional-dependencies"]) - alone
