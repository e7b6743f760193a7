"""A file that is not what was exported is refused at the door."""

import io
import json
import zipfile
from contextlib import suppress
from hashlib import sha256

import numpy as np
import pytest

from graph_bandit_lab import BanditResult
from graph_bandit_lab.design import RunKey
from graph_bandit_lab.design.tasks import Task
from graph_bandit_lab.storage import ResultStore
from graph_bandit_lab.transfer import export_results, import_results, read_export
from graph_bandit_lab.transfer.archive import ABOUT, TASKS, _combine, write_export

ENVIRONMENT = {"num_graphs": 3, "graph_model": "er", "horizon": 4}
RESULT = BanditResult(np.array([2, 0, 2]), np.array([0.1, -0.2, np.pi]), np.array([0.0, 1.5, 0.0]), seconds=0.75)

TASK = {"name": "easy", "hard": "", "environment_key": "{}", "refused": {}}


@pytest.fixture
def export(tmp_path):
    store = ResultStore(tmp_path / "stored")
    for seed in (5, 6):
        store.add(RunKey("random", {}, ENVIRONMENT), seed, "random", RESULT, 1.25)
    export_results(tmp_path / "stored", tmp_path / "e.npz")
    return tmp_path / "e.npz"


def rewrite(path, change, sign=True):
    """Change the members of a file, as someone might who knows the format; the digest is right again if `sign`."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    about = json.loads(members.pop(ABOUT))
    change(members, about)
    if sign:
        about["sha256"] = _combine({name: sha256(content).hexdigest() for name, content in members.items()})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, content in (members | {ABOUT: json.dumps(about).encode()}).items():
            archive.writestr(name, content)


def set_column(name, values):
    def change(members, about):
        columns = json.loads(members["00000/rows.json"])
        columns[name] = values
        members["00000/rows.json"] = json.dumps(columns).encode()

    return change


def set_tasks(content):
    return lambda members, about: members.update({TASKS: content})


def refused(path, match):
    """Whether a file is refused, and nothing is taken from it."""
    with pytest.raises(ValueError, match=match):
        import_results(path.parent / "new", [path])
    new = path.parent / "new"
    return not (new / "results.sqlite").exists() or not ResultStore(new).stored()


def test_numpy_opens_it(export):
    with np.load(export) as arrays:
        assert arrays["00000/rounds"].tolist() == [3, 3]


@pytest.mark.parametrize(
    "tasks", [(), (Task(name="easy", hard="is not", environment_key="{}", refused=(("gnn-ts", "it is too large"),)),)]
)
def test_tasks_are_read_as_they_were(tmp_path, tasks):
    path = tmp_path / "e.npz"
    content, count = write_export([], tasks)
    path.write_bytes(content)
    assert (read_export(path).tasks, count) == (tasks, 0)


def test_its_members_are_packed_alike_and_private_on_every_machine(export):
    with zipfile.ZipFile(export) as archive:
        about = {(info.compress_type, info.create_system, info.external_attr >> 16) for info in archive.infolist()}
        assert about == {(zipfile.ZIP_LZMA, 3, 0o600)}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_it_tells_what_it_holds_without_its_arrays(export):
    held = read_export(export)
    hash_ = RunKey("random", {}, ENVIRONMENT).settings_hash
    assert held.environments() == [ENVIRONMENT]
    assert {key: (entry.failed, entry.diagnosed) for key, entry in held.stored().items()} == {
        (hash_, 5): (False, False),
        (hash_, 6): (False, False),
    }
    assert held.mean_wall_times() == {hash_: 1.25, "random": 1.25}


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused(export, share):
    content = export.read_bytes()
    export.write_bytes(content[: int(share * len(content))])
    assert refused(export, "intact file of `graph-bandit export`")


def test_a_flipped_bit_is_never_read_as_other_numbers(export):
    content, generator = export.read_bytes(), np.random.default_rng(0)
    truth = [row["digest"] for row in read_export(export).rows]
    for place in generator.choice(len(content), 60, replace=False):
        flipped = bytearray(content)
        flipped[place] ^= 1 << generator.integers(8)
        export.write_bytes(flipped)
        with suppress(ValueError):
            assert [row["digest"] for row in read_export(export).rows] == truth  # say, in a date of the archive
            read_export(export).decode(0)


def test_another_file_is_refused(export):
    export.write_text("title = 'a sweep'", encoding="utf-8")
    assert refused(export, "intact file of `graph-bandit export`.*e.npz|e.npz.*cannot be read as one")
    np.savez(export, actions=np.zeros(3))
    assert refused(export, "cannot be read as one")


def test_a_later_version_is_refused_with_advice(export):
    rewrite(export, lambda members, about: about.update(version=2))
    assert refused(export, "version 1 of its format. Got version 2. Update graph-bandit-env")


def test_changed_content_is_refused(export):
    rewrite(export, set_column("label", ["mine", "mine"]), sign=False)
    assert refused(export, "another digest")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (set_column("agent", ["gnn-ts"] * 2), "a key that is not that of its settings"),
        (set_column("environment", ["{}"] * 2), "a key that is not that of its settings"),
        (set_column("environment", ["{"] * 2), "settings of 'random', seed 5 that cannot be read"),
        (set_column("status", ["failed"] * 2), "the status 'failed'"),
        (set_column("seed", [5, 5]), "some of them twice"),
        (set_column("seed", [5]), "rows that cannot be read"),
        (set_tasks(b"{"), "tasks that cannot be read"),
        (set_tasks(b'[{"name": "easy"}]'), "tasks that cannot be read"),
        (set_tasks(json.dumps([TASK | {"refused": {"random": 3}}]).encode()), "tasks that cannot be read"),
        (set_column("digest", ["0"] * 2), "other rounds than were exported of 'random', seed 5"),
        (lambda members, about: members.pop("00000/values.npy"), "arrays that cannot be read"),
        (lambda members, about: members.update({"00000/values.npy": b"pickle"}), "arrays that cannot be read"),
        (lambda members, about: about.update(repetitions=3), "where it names 3"),
    ],
)
def test_content_that_was_forged_is_refused(export, change, match):
    rewrite(export, change)
    assert refused(export, match)


def test_nothing_that_is_pickled_is_read(export):
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], object), allow_pickle=True)
    rewrite(export, lambda members, about: members.update({"00000/values.npy": buffer.getvalue()}))
    assert refused(export, "arrays that cannot be read")
