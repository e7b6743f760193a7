"""The programs of the pages, as written but for the number of rounds."""

import re

import pytest
from support import ROOT

PAGES = ("README.md", "docs/guides/stable_baselines3.md")


def programs():
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
        whole = [block for block in blocks if "import gymnasium" in block and "stable_baselines3" in block]
        yield from (pytest.param(block, id=f"{page}-{k}") for k, block in enumerate(whole))


def test_there_are_programs_to_run():
    assert len(list(programs())) == 5


@pytest.mark.parametrize("program", list(programs()))
def test_program_runs_as_written(program):
    short = re.sub(r"learn\([\d_]+\)", "learn(64)", program).replace("n_steps=512", "n_steps=64")
    short = short.replace("n_steps=64, gamma=0.0, device", "n_steps=64, n_epochs=1, gamma=0.0, device")
    assert short != program
    variables = {}
    exec(compile(short, "program", "exec"), variables)
    assert variables["model"].num_timesteps >= 64
