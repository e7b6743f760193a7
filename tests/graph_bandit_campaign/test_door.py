import graph_bandit_campaign


def test_every_public_name_is_there():
    for name in graph_bandit_campaign.__all__:
        assert getattr(graph_bandit_campaign, name).__name__ == name
    assert set(graph_bandit_campaign.__all__) <= set(dir(graph_bandit_campaign))
