"""Write `agents/zoo/__init__.pyi`, from which editors and mypy know the arguments of every agent: `make stubs`."""

import inspect
import subprocess
import sys
from typing import Literal, get_args, get_origin

from agents.zoo import recipes
from support import ROOT

PATH = ROOT / "agents" / "zoo" / "__init__.pyi"
HEADER = '''"""The agents by name. Written by `make stubs` from the settings of models and rules; do not edit."""

from collections.abc import Mapping
from typing import Literal

from numpy.typing import ArrayLike

from agents.classic.independent import IndependentAgent
from agents.classic.random_agent import RandomAgent
from agents.kernel.agent import KernelAgent
from agents.kernel.models import LinearAgent, SubtreeAgent
from agents.kernel.settings import KernelSettings
from agents.molecule.agent import MoleculeAgent
from agents.neural.agent import NeuralAgent
from agents.policy_gradient.agent import PPOAgent
from agents.process.graphs import GraphProcessAgent
from agents.zoo.recipes import Recipe as Recipe
from gntk.engines import ModuleOrFactory

RECIPES: Mapping[str, Recipe]
'''


def stub():
    """Return the text of the stub."""
    names = {name: name.replace("-", "_") for name in recipes.RECIPES}
    functions = [write_function(name, function) for name, function in sorted(names.items())]
    listed = ", ".join(f'"{name}"' for name in sorted(["RECIPES", "Recipe", *names.values()]))
    text = "\n".join([HEADER, *functions, f"__all__ = [{listed}]\n"])
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PATH), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def write_function(name, function):
    factory = recipes.find_factory(name)
    arguments = [
        f"{parameter.name}: {write_type(parameter.annotation)} = {parameter.default!r}"
        for parameter in inspect.signature(factory).parameters.values()
    ]
    model = recipes._load(recipes.MODELS[recipes.RECIPES[name].model])
    returned = inspect.signature(model).return_annotation
    return f"def {function}({', '.join(['*', *arguments]) if arguments else ''}) -> {returned}: ..."


def write_type(annotation):
    if isinstance(annotation, str):
        return annotation
    if get_origin(annotation) is Literal:
        return f"Literal[{', '.join(map(repr, get_args(annotation)))}]"
    if annotation is type(None):
        return "None"
    if get_args(annotation):
        return " | ".join(write_type(part) for part in get_args(annotation))
    return annotation.__name__


if __name__ == "__main__":
    PATH.write_text(stub(), encoding="utf-8")
