import pytest

from graph_bandit_serve import ServeSettings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"port": -1}, "`port` to be an integer from 0 to 65535. Got -1"),
        ({"port": 65_536}, "Got 65536"),
        ({"port": True}, "Got True"),
        ({"host": ""}, "`host` to be a name or an address"),
        ({"host": "evil/x"}, "Got 'evil/x'"),
        ({"host": "a\nb"}, "`host`"),
        ({"open": "yes"}, "`open` to be True or False. Got 'yes'"),
        ({"guests": 1}, "`guests`"),
        ({"address": "lab.example.org"}, "`address` as https://lab.example.org"),
        ({"address": "https://lab.example.org/path"}, "without a path"),
        ({"address": "https://me:secret@lab.example.org"}, "`address`"),
        ({"address": "https://lab.example.org?x"}, "`address`"),
        ({"address": "ftp://lab.example.org"}, "`address`"),
        ({"address": "https://lab.example.org:99999"}, "`address`"),
        ({"address": "https://[lab"}, "`address`"),
        ({"address": "https://"}, "`address`"),
    ],
)
def test_what_is_not_as_described_is_refused(changes, message, tmp_path):
    with pytest.raises(ValueError, match="Expected") as refused:
        ServeSettings(tmp_path, **changes)
    assert message in str(refused.value)
