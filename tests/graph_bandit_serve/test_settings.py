import pytest

from graph_bandit_serve import ServeSettings

WRONG = [
    ("port", 65_536),
    ("host", "evil/x"),
    ("open", "yes"),
    ("address", "lab.example.org"),
    ("address", "https://me:secret@lab.example.org/path"),
    ("address", "https://lab.example.org:99999"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_not_as_described_is_refused(name, value, tmp_path):
    with pytest.raises(ValueError, match=f"`{name}`"):
        ServeSettings(tmp_path, **{name: value})
