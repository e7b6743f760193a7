import pytest
from support import ROOT
from support.programs import run_program

EXAMPLES = ROOT / "examples"
CASES = {
    "logged_data.py": "a fixed policy: truth 0.267",
    "molecule_campaign.py": "of the 4419 molecules are better",
    "quickstart.py": "random: regret",
    "robot.py": "of the 80 molecules score better",
    "optuna_pool.py": "the best of all 72 is 3.13",
    "sklearn_graphs.py": "random forest on its numbers: R2",
    "custom_acquisition.py": "gnn-pi",
    "own_network.py": "its last layer: regret",
    "own_graphs.py": "random play has",
    "own_environment.py": "untrained",
    "pyg_custom_gnn.py": "from unseen molecules",
    "sb3_maskable.py": "0 masked graphs played",
    "cleanrl_ppo.py": "16 rounds |",
    "sb3_ppo.py": "plays the same graphs: True",
    "nas_cells.py": "best of 8 cells out of 1000: |",
}
IN_ENVIRONMENTS_OF_THEIR_OWN = {
    "botorch_pool.py": "test_botorch.py",
    "ax_pool.py": "test_ax.py",
    "torchrl_ppo.py": "test_torchrl.py",
    "rllib_ppo.py": "test_rllib.py",
}
"""Examples of heavy libraries, and the file of `tests/doors` that runs each."""
ROUNDS = {"molecule_campaign.py": 1, "robot.py": 3}  # where a round takes seconds


def test_every_example_is_run_here_or_by_a_door():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*CASES, *IN_ENVIRONMENTS_OF_THEIR_OWN}
    for example, door in IN_ENVIRONMENTS_OF_THEIR_OWN.items():
        assert f'"{example}"' in (ROOT / "tests" / "doors" / door).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "expected"), CASES.items())
def test_example_runs_as_written(name, expected, tmp_path):
    done = run_program(EXAMPLES / name, "--rounds", str(ROUNDS.get(name, 8)), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
