from support.served import HOST, Served


def test_a_link_becomes_a_cookie_and_leaves_the_address(served):
    answer, cookie = served.enter(served.keys.link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    name, *parts = answer.headers["set-cookie"].split("; ")
    assert name.startswith("graph-bandit-8765=")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} < set(parts)
    assert served.keys.link not in str(answer.headers)
    assert served.ask("/", headers=[cookie], key=False).status_code == 200


def test_behind_a_proxy_with_tls_the_cookie_is_sent_by_tls_alone(tmp_path):
    served = Served(tmp_path, public="https://lab.example.org")
    answer, (_, cookie) = served.enter(served.keys.link, ("host", "lab.example.org"))
    assert cookie.startswith("__Host-graph-bandit-")
    assert answer.headers["set-cookie"].endswith("; Secure")


def test_no_cookie_of_others_shuts_a_member_out(served):
    """A page on another port of this machine can set one."""
    _, (_, member) = served.enter(served.keys.link)
    name = member.partition("=")[0]
    for text in (f"{name}=evil; {member}", f"{member}; {name}=evil"):
        answer = served.ask("/", "POST", [("cookie", text), ("origin", f"http://{HOST}")], key=False)
        assert answer.status_code == 405  # which the application says


def test_an_error_is_told_in_a_line_on_the_terminal_and_not_to_who_asks(served, monkeypatch, caplog):
    def fail(self):
        raise ValueError("a secret")

    monkeypatch.setattr("graph_bandit_serve.campaigns.shelf.Shelf.list_campaigns", fail)
    answer = served.ask("/")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    record = next(record for record in caplog.records if record.name == "graph_bandit_serve")
    assert record.getMessage() == "GET /: ValueError: a secret"
    assert record.exc_info is None
