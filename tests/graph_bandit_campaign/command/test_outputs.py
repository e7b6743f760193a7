"""Where `suggest` writes: through links, never over what is not a file, names that are not formulas."""

import pytest
from support.links import make_link
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign.command import suggestions
from graph_bandit_cli.main import main

SMILES = some_molecules().smiles


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    write("pool.csv", [("id", "smiles"), *((f"=m{k}", text) for k, text in enumerate(SMILES))])
    write("results.csv", [("id", "logp"), *((f"=m{k}", float(k)) for k in range(4))])
    return tmp_path


def suggest(out, *more, measured=("results.csv",)):
    command = ["suggest", "pool.csv", "--measured", *measured, "--n", "2", "--maximize", "logp", "--out", out]
    return main([*command, "--agent", "molecule-ucb", *more])


def test_a_link_and_its_target_are_one_campaign(folder):
    assert suggest("there/out.csv") == 0
    make_link("here/link.csv", folder / "there" / "out.csv")
    assert suggest("here/link.csv", "--more") == 0
    assert [path.name for path in (folder / "here").iterdir()] == ["link.csv"]
    assert (folder / "here" / "link.csv").is_symlink()
    pending = {row["id"] for row in read("there/out.csv")}
    assert suggest("there/out.csv", "--more") == 0
    assert not pending & {row["id"] for row in read("there/out.csv")}


def test_names_like_formulas_are_written_as_text_and_read_back(folder):
    assert suggest("out.csv") == 0
    suggested = read("out.csv")
    assert all(row[name].startswith("'=m") for row in suggested for name in ("id", "nearest_1", "nearest_2"))
    write("more.csv", [("id", "logp"), *((row["id"], 9.0) for row in suggested)])
    assert suggest("out.csv", measured=("results.csv", "more.csv")) == 0
    assert not {row["id"] for row in suggested} & {row["id"] for row in read("out.csv")}
    assert {row["nearest_1"] for row in read("out.csv")} <= {f"'=m{k}" for k in range(len(SMILES))}


@pytest.mark.parametrize(
    ("place", "said"),
    [("read_inputs", "Stopped. Nothing was changed."), ("_write", "Stopped. The round is saved in")],
)
def test_ctrl_c_says_whether_the_round_is_saved(place, said, tmp_path, monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    (tmp_path / "pool.csv").write_text("smiles\nCCO\nCCN\nCCC\nCCCO\n")
    monkeypatch.setattr(suggestions, place, stop)
    command = ["suggest", str(tmp_path / "pool.csv"), "--maximize", "y", "--n", "2"]
    assert main([*command, "--out", str(tmp_path / "out.csv")]) == 130
    assert said in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "out.campaign.json").exists() == (place == "_write")


@pytest.mark.parametrize(("name", "change"), [("all.csv", lambda text: text.replace("m", "n"))])
def test_a_file_that_was_changed_is_not_overwritten_unasked(folder, name, change, capsys):
    files = ("--html", "out.html", "--predictions", "all.csv", "--agent", "random")
    assert suggest("out.csv", *files) == suggest("out.csv", *files) == 0
    changed = change((folder / name).read_text())
    (folder / name).write_text(changed)
    before = {path: path.read_bytes() for path in folder.glob("*.*")}
    assert suggest("out.csv", "--more", *files) == 1
    said = capsys.readouterr().err
    assert f"Expected {name} as this command wrote it, or no such file." in said
    assert "save it under another name, and give that with --measured. Move it away, or pass --overwrite" in said
    assert {path: path.read_bytes() for path in before} == before
    assert suggest("out.csv", "--more", "--overwrite", *files) == 0
    assert (folder / name).read_text() != changed
