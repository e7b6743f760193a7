import shutil
import subprocess
import sys

import pytest

import registry


def test_lists_the_agents_in_alphabetical_order():
    assert registry.list_agents() == tuple(sorted(registry.list_agents()))
    assert {"gnn-ts", "random"} <= set(registry.list_agents())


def test_settings_reach_the_agent():
    assert registry.make_agent("gnn-ts", width=8, preset="paper").settings.width == 8


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("gnn_ts", {}, "Unknown agent `gnn_ts`. Did you mean `gnn-ts`?"),
        ("zzz", {}, "Unknown agent `zzz`. Agents: epsilon-greedy, "),
        ("lin-ucb:preset=paper", {}, "Did you mean `lin-ucb`. Settings are arguments"),
        ("gnn-ts", {"widht": 8}, "Did you mean `width`"),
        ("gnn-ts", {"explore": 1}, "Did you mean `exploration_scale`"),
        ("gnn-ts", {"exploration": 1}, "Did you mean `exploration_scale`"),
        ("gnn-ts", {"zzz": 1}, "`zzz`. Settings: "),
        ("random", {"width": 8}, "Unknown setting `width`. Settings: none"),
        ("random", {"preset": "paper"}, "Unknown preset `paper`. Presets: none"),
    ],
)
def test_unknown_names_come_with_advice(name, settings, message):
    with pytest.raises(ValueError, match=message):
        registry.make_agent(name, **settings)


def test_an_agent_of_ones_own_is_made_by_name(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTRATIONS", dict(registry._REGISTRATIONS))
    registry.register_agent("mine", lambda **settings: ("mine", settings), needs="molecules")
    assert registry.make_agent("mine", a=1) == ("mine", {"a": 1})
    assert registry.agent_needs("mine") == "molecules"
    assert "mine" in registry.list_agents()
    assert registry.registered_agents() == ("mine",)


def test_refuses_a_name_that_is_taken_and_a_factory_that_is_none():
    with pytest.raises(ValueError, match="Got `random`, which is taken"):
        registry.register_agent("random", lambda: None)
    with pytest.raises(TypeError, match="`factory` to be callable"):
        registry.register_agent("other", "agents")


def test_makes_the_environment():
    env = registry.make_environment(num_graphs=3, num_nodes=2)
    assert env.action_space.n == 3


def test_the_import_needs_no_torch():
    code = "import registry, sys; registry.list_agents(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def plugged(folder, package, points, code="def make(scale=1.0):\n    return ('made', scale)\n"):
    """A package as pip leaves it: a module, and metadata with its entry points."""
    (folder / f"{package}.py").write_text(code)
    info = folder / f"{package}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    lines = [f"{name} = {package}:make" for name in points]
    (info / "entry_points.txt").write_text("\n".join(["[graph_bandit.agents]", *lines]))


@pytest.fixture
def installed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    return lambda *arguments, **more: plugged(tmp_path, *arguments, **more)


def test_an_agent_knows_its_package_and_version(installed):
    installed("mine_a", ["mine"])
    assert registry.agent_origin("mine") == "mine_a 1.2"
    assert registry.agent_origin("gnn-ts") == ""


def test_settings_that_a_plain_factory_does_not_take_are_refused_as_all_others_are(installed):
    installed("mine_b", ["mine"])
    assert registry.make_agent("mine", scale=2) == ("made", 2)
    with pytest.raises(ValueError, match="Unknown setting `scael`. Did you mean `scale`"):
        registry.make_agent("mine", scael=2)


def test_a_package_that_cannot_be_imported_is_named(installed):
    installed("broken_c", ["mine"], code="import not_there\n")
    assert "mine" in registry.list_agents()
    for use in (registry.make_agent, registry.agent_needs):
        with pytest.raises(ImportError, match="No module named 'not_there'. Repair or uninstall broken_c 1.2"):
            use("mine")


def test_an_agent_of_a_package_is_made_beside_the_backport_that_dask_imports(installed):
    """`importlib_metadata`, once imported, finds packages first, and its entry points are of a class of its own."""
    pytest.importorskip("importlib_metadata")
    installed("mine_f", ["mine_f"])
    assert registry.agent_origin("mine_f") == "mine_f 1.2"
    assert registry.make_agent("mine_f", scale=2) == ("made", 2)


def test_a_package_that_is_installed_later_is_found_and_one_that_is_removed_is_not(installed, tmp_path):
    installed("mine_g", ["mine_g"])
    assert "mine_g" in registry.list_agents()
    installed("mine_h", ["mine_h"])
    assert {"mine_g", "mine_h"} <= set(registry.list_agents())
    shutil.rmtree(tmp_path / "mine_g-1.2.dist-info")
    assert "mine_g" not in registry.list_agents()


def test_a_name_that_two_packages_claim_is_refused(installed):
    installed("mine_d", ["mine", "random"])
    installed("mine_e", ["mine"])
    with pytest.raises(ValueError, match="one agent `mine`. Got one each of mine_[de] 1.2, mine_[de] 1.2"):
        registry.make_agent("mine")
    with pytest.raises(ValueError, match="Got one each of mine_d 1.2, graph-bandit-env"):
        registry.make_agent("random")


CLASS = """import registry
@registry.agent_factory
class Mine:
    def __init__(self, scale=1.0):
        self.scale = scale

@registry.agent_factory(needs="molecules")
def needy():
    return Mine()

def undeclared():
    raise AssertionError("It was called.")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a file of agents, of which none is admitted yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    monkeypatch.setattr(registry, "_ADMITTED", {})
    monkeypatch.delitem(sys.modules, "mine_i", raising=False)
    (tmp_path / "mine_i.py").write_text(CLASS)
    return tmp_path


def test_an_agent_of_a_file_in_the_working_folder_is_made_once_it_is_admitted(folder):
    registry.admit_agent("mine_i:Mine")
    assert registry.make_agent("mine_i:Mine", scale=2).scale == 2
    assert (registry.agent_needs("mine_i:Mine"), registry.agent_origin("mine_i:Mine")) == ("any", "")
    assert "mine_i:Mine" not in registry.list_agents()
    with pytest.raises(ValueError, match="Unknown setting `scael`. Did you mean `scale`"):
        registry.make_agent("mine_i:Mine", scael=2)


def test_an_agent_of_a_file_says_what_it_needs(folder):
    registry.admit_agent("mine_i:needy")
    assert registry.agent_needs("mine_i:needy") == "molecules"


@pytest.mark.parametrize("use", [registry.make_agent, registry.agent_needs, registry.agent_origin, registry.check_name])
def test_a_name_alone_imports_nothing(use, folder):
    with pytest.raises(ValueError, match="never loads code.*--agents mine_i:Mine.*--admit.*Campaign"):
        use("mine_i:Mine")
    assert "mine_i" not in sys.modules


@pytest.mark.parametrize("name", ["json:loads", "math:pi", "subprocess:getoutput", "mine_i:undeclared"])
def test_what_is_not_declared_to_make_agents_is_refused_with_the_line_to_add(name, folder):
    with pytest.raises(ValueError, match=f"`{name}` to be declared.*write `@registry.agent_factory`"):
        registry.admit_agent(name)


def test_a_registered_name_is_admitted_and_an_unknown_one_is_not():
    registry.admit_agent("random")
    with pytest.raises(ValueError, match="Did you mean `gnn-ts`"):
        registry.admit_agent("gnn_ts")
    with pytest.raises(TypeError, match="`factory` to be callable"):
        registry.agent_factory(3)


@pytest.mark.parametrize("name", ["mine_j:Mine", "mine_i:Other"])
def test_a_file_that_is_not_there_or_lacks_the_factory_is_named(name, folder):
    with pytest.raises(ImportError, match=f"Agent `{name}` cannot be imported.*Expected `module:factory`"):
        registry.admit_agent(name)


def test_the_needs_of_our_agents_are_known_without_torch():
    code = "import registry, sys; registry.agent_needs('gnn-ts')"
    done = subprocess.run([sys.executable, "-c", f"{code}; sys.exit('torch' in sys.modules)"], check=False)
    assert done.returncode == 0


def test_the_conformance_kit_takes_a_name_and_says_what_passed():
    assert registry.check_agent("random").startswith("random follows the protocol")
    with pytest.raises(TypeError, match="Expected a function that makes an agent, or the name of one. Got int"):
        registry.check_agent(3)
