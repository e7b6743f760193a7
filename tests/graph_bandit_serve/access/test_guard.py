import pytest
from support.served import HOST, PORT, serve_app, write_campaign


@pytest.fixture
def served(tmp_path):
    write_campaign(tmp_path / "one.campaign.json")
    return serve_app(tmp_path, guests=True)


def enter(served, token, *headers):
    return served.ask("/enter", query=f"token={token}", headers=headers, key=False)


def cookie_of(answer):
    return [("cookie", answer.headers["set-cookie"].partition(";")[0])]


def test_a_link_becomes_a_cookie_and_leaves_the_address(served):
    answer = enter(served, served.keys.link)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    name, *parts = answer.headers["set-cookie"].split("; ")
    assert name.startswith(f"graph-bandit-member-{PORT}=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} < set(parts)
    assert served.keys.link not in str(answer)
    assert served.ask("/", key=False, headers=cookie_of(answer)).status == 200
    assert enter(served, served.keys.link).status == 403


def test_a_link_in_mail_leads_on_by_a_page_since_redirects_from_another_site_carry_no_cookie(served):
    link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    answer = enter(served, served.keys.guest_link, *link)
    assert answer.status == 200
    assert 'content="0;url=/"' in answer.text
    assert served.keys.guest_link not in answer.text
    assert served.ask("/", key=False, headers=cookie_of(answer)).status == 200


def test_behind_a_proxy_with_tls_the_cookie_is_sent_by_tls_alone(tmp_path):
    served = serve_app(tmp_path, public="https://lab.example.org")
    answer = served.ask("/enter", query=f"token={served.keys.link}", host="lab.example.org", key=False)
    assert answer.headers["set-cookie"].startswith("__Host-graph-bandit-")
    assert answer.headers["set-cookie"].endswith("; Secure")


def test_a_second_cookie_of_the_name_shuts_nobody_out(served):
    """A page on another port of this machine can set one."""
    ((_, cookie),) = cookie_of(enter(served, served.keys.link))
    name = cookie.partition("=")[0]
    for text in (f"{name}=evil; {cookie}", f"{cookie}; {name}=evil"):
        assert served.ask("/", key=False, headers=[("cookie", text)]).status == 200


def test_the_link_of_guests_takes_nothing_from_a_member_whose_browser_follows_it(served):
    member, guest = (cookie_of(enter(served, token))[0][1] for token in (served.keys.link, served.keys.guest_link))
    assert member.partition("=")[0] != guest.partition("=")[0]
    both = [("cookie", f"{guest}; {member}"), ("origin", f"http://{HOST}")]
    assert served.ask("/", "POST", key=False, headers=both).status == 405  # as a member, not 403 as a guest


def test_guests_read_and_do_nothing_else(served):
    guest = cookie_of(enter(served, served.keys.guest_link))
    member = cookie_of(enter(served, served.keys.link))
    ours = [("origin", f"http://{HOST}"), ("sec-fetch-site", "same-origin")]
    assert served.ask("/", key=False, headers=guest).status == 200
    assert served.ask("/", "POST", key=False, headers=[*guest, *ours]).status == 403
    assert served.ask("/", "POST", key=False, headers=[*member, *ours]).status == 405


def test_every_answer_has_the_headers(served):
    for path in ("/", "/nothing", "/api", "/api/v1/campaigns", "/style.css"):
        served.ask(path).assert_headers()


def test_an_error_is_told_in_a_line_on_the_terminal_and_not_to_who_asks(served, monkeypatch, caplog):
    def fail(self):
        raise ValueError("a secret")

    monkeypatch.setattr("graph_bandit_serve.campaigns.shelf.Shelf.list_campaigns", fail)
    answer = served.ask("/")
    assert (answer.status, "secret" in answer.text) == (500, False)
    answer.assert_headers()
    (record,) = caplog.records
    assert record.getMessage() == "GET /: ValueError: a secret"
    assert record.exc_info is None
