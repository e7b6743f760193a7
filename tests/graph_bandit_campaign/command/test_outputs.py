"""Where `suggest` writes: through links, never over what is not a file, names that are not formulas."""

import os
import stat
import sys

import pytest
from support.links import make_link
from support.molecules import some_molecules
from support.tables import read, write

from graph_bandit_campaign import SuggestSettings
from graph_bandit_campaign.command import suggestions
from graph_bandit_cli.main import main

SMILES = some_molecules().smiles
needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes, pipes or devices")


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


@needs_unix
def test_private_files_stay_private(folder):
    assert suggest("out.csv", "--html", "out.html") == 0
    files = [folder / name for name in ("out.csv", "out.campaign.json", "out.html")]
    for path in files:
        path.chmod(0o600)
    assert suggest("out.csv", "--html", "out.html", "--more") == 0
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


@needs_unix
@pytest.mark.parametrize("option", ["--out", "--html", "campaign"])
def test_what_is_not_a_file_is_refused_before_anything_is_written(folder, option, capsys):
    pipe = "pipe.html" if option == "--html" else "pipe.csv"
    os.mkfifo(pipe)
    if option == "campaign":
        os.mkfifo("out.campaign.json")
        assert suggest("out.csv") == 1
    else:
        assert suggest("out.csv", option, pipe) == 1
    assert "to be a file, or a new one. Got a pipe. Choose another path." in capsys.readouterr().err
    assert not {"out.csv", "pipe.campaign.json"} & {path.name for path in folder.iterdir()}


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


@pytest.mark.parametrize("name", ["out.csv", "out.html", "all.csv"])
@pytest.mark.parametrize("change", [lambda text: text + "\n", lambda text: text.replace("m", "n")])
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


def test_a_file_from_elsewhere_is_not_overwritten_unasked(folder):
    write("out.csv", [("mine", "2")])
    assert suggest("out.csv") == 1
    assert not (folder / "out.campaign.json").exists()
    assert read("out.csv") == []


def test_an_earlier_table_that_is_put_back_may_be_overwritten(folder):
    assert suggest("out.csv") == 0
    first = (folder / "out.csv").read_bytes()
    assert suggest("out.csv", "--more") == 0
    (folder / "out.csv").write_bytes(first)
    assert suggest("out.csv", "--more") == 0


@needs_unix
def test_a_second_name_of_an_input_is_refused(folder):
    os.link("results.csv", "twin.csv")
    for name in ("out", "html", "predictions"):
        files = {"out": folder / "out.csv", name: folder / "twin.csv"}
        with pytest.raises(ValueError, match=f"`--{name}` to differ from all other files"):
            SuggestSettings(folder / "pool.csv", measured=(folder / "results.csv",), maximize=("logp",), **files)
