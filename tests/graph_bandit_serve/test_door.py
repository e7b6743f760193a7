import graph_bandit_serve


def test_every_public_name_is_there():
    assert set(graph_bandit_serve.__all__) == {"McpSettings", "ServeSettings", "serve", "serve_tools"}
    for name in graph_bandit_serve.__all__:
        assert getattr(graph_bandit_serve, name).__name__ == name
