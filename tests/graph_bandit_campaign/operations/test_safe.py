"""What a command of a file may not do where strangers send files: run code, or reach out of a folder."""

from pathlib import Path

import pytest
from support.links import make_link

from graph_bandit_campaign.command.settings import SuggestSettings
from graph_bandit_campaign.operations.safe import check_command, is_inside


@pytest.fixture
def root(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("C a secret\n")
    (tmp_path / "served" / "folder").mkdir(parents=True)
    return tmp_path / "served"


def command(root, **changes):
    return SuggestSettings(**{"pool": root / "p.csv", "out": root / "o.csv", "maximize": ("a",), **changes})


def test_a_command_that_stays_in_the_folder_is_let_through(root):
    (root / "folder" / "smarts.txt").write_text("[N+]\n")
    more = {"forbid": ("C/C=C/C", "pains", f"{root / 'folder' / 'smarts.txt'}")}
    more["related_assay"] = (f"{root / 'folder'}",)
    assert check_command(command(root, **more), root) == command(root, **more)


LINKS = {
    "o.csv": {},
    "o.campaign.json": {},
    "p.csv": {},
    "x.csv": {"measured": ("x.csv",)},
    "e.npz": {"features": ("e.npz",)},
    "y.html": {"html": "y.html"},
    "folder/x.csv": {"related_assay": ("folder",)},
    "folder/part.parquet": {"pool": "folder"},
}


@pytest.mark.parametrize("name", LINKS)
def test_no_link_leads_out_of_the_folder(root, name, monkeypatch):
    monkeypatch.chdir(root)
    make_link(root / name, root.parent / "outside" / "secret")
    changes = {key: Path(value) if isinstance(value, str) else value for key, value in LINKS[name].items()}
    if name == "x.csv":
        changes = {"measured": (Path("x.csv"),)}
    with pytest.raises(ValueError, match="inside of the folder"):
        check_command(command(root, **changes), root)


@pytest.mark.parametrize("agent", ["os:system", "x.py:agent", "a.b:c"])
def test_code_is_run_only_where_somebody_names_it_by_hand(root, agent):
    with pytest.raises(ValueError, match="registered"):
        check_command(command(root, agent=agent), None)


@pytest.mark.parametrize("path", ["", "a", "a/../b", "folder/x"])
def test_inside_is_at_or_below(root, path):
    assert is_inside(root / path, root)
    assert not is_inside(root / ".." / path, root)
    assert not is_inside(Path("a\0b"), root)
