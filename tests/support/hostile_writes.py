"""Hostile requests that would write, in rows as those of `intruders`: nothing is written by any of them."""

from __future__ import annotations

import json
from urllib.parse import urlencode

from support.intruders import KEYED, OURS, request

GUEST = ("Cookie: {guest}", "Origin: http://{host}", "Sec-Fetch-Site: same-origin")
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
FILE, FILES = "application/octet-stream", "multipart/form-data; boundary=x"
CAMPAIGN, API = "/campaigns/{id}", "/api/v1/campaigns/{id}"
PAGES = [
    *(f"{CAMPAIGN}/{name}" for name in ("results", "take-back", "mark", "suggest", "undo", "enough", "why")),
    *(f"{CAMPAIGN}/upload", f"{CAMPAIGN}/accept", "/new/pool", "/new/campaign", "/invite", "/jobs/x/stop"),
]
CALLS = [
    *(f"{API}/{name}" for name in ("suggestions", "results", "results/take-back", "results/preview", "results/table")),
    *(f"{API}/{name}" for name in ("vetoes", "pins", "lifts", "comments", "undo", "why", "enough")),
    *(f"/api/v1/{name}" for name in ("uploads?name=a.csv", "pools/preview", "campaigns", "backtests", "jobs/x/stop")),
]


def post(target, kind, body, *headers):
    """A request with a body, whose braces are not those of values."""
    text = body.replace("{", "{{").replace("}", "}}")
    return request(target, *headers, f"Content-Type: {kind}", f"Content-Length: {len(body)}", method="POST", body=text)


def strangers():
    """Nobody but members and programs writes, by whatever address, and no page of another site does it for them."""
    for target in (*PAGES, *CALLS):
        kind = JSON if target.startswith("/api") else FORM
        evil = ("Origin: https://evil.example", "Sec-Fetch-Site: cross-site")
        for name, status, headers in (
            ("nobody", 401, ()),
            ("the spent link", 401, ("Authorization: Bearer {spent}",)),
            ("a guest", 403, GUEST),
            ("a page of another site", 403, ("Cookie: {member}", *evil)),
            ("a member's browser that names no page", 403, ("Cookie: {member}",)),
        ):
            yield f"{target} by {name}", post(target, kind, "{}", *headers), (status,)
        for method in ("PUT", "DELETE", "PATCH"):
            yield f"{target} by {method}", request(target, *KEYED, method=method), (405,)


def calls():
    """A program's JSON has the fields and types that are described, and nothing else is an error of the server."""
    deep = "[" * 100_000 + "]" * 100_000
    for name, body in {
        "no JSON": "{",
        "a list": "[]",
        "nothing": "null",
        "another field": '{"results": [{"id": "a", "value": 1}], "out": "/tmp/x"}',
        "no results": '{"results": []}',
        "an id that is no number": '{"results": [{"id": NaN, "value": 1}]}',
        "an id without end": '{"results": [{"id": Infinity, "value": 1}]}',
        "an id that is a list": '{"results": [{"id": ["a"], "value": 1}]}',
        "half a character": '{"results": [{"id": "\\ud800", "value": 1}]}',
        "half a character as a field": '{"\\ud800": 1}',
        "a value that is true": '{"results": [{"id": "a", "value": true}]}',
        "a value that is no number": '{"results": [{"id": "a", "value": NaN}]}',
        "a value that is nothing": '{"results": [{"id": "a", "value": null}]}',
        "a huge value": '{"results": [{"id": "a", "value": 1' + "0" * 5_000 + "}]}",
        "deep brackets": '{"results": ' + deep + "}",
        "deep brackets in a result": '{"results": [{"id": ' + deep + ', "value": 1}]}',
        "a field of a page": '{"results": [{"id": "<script>alert(1)</script>", "<script>": 1}]}',
        "too many": json.dumps({"results": [{"id": "a", "value": 1}] * 10_001}),
        "not UTF-8": "\xff\xfe{}",
    }.items():
        yield f"results: {name}", post(f"{API}/results", JSON, body, *KEYED), (400, 422)
    for value in (*("NaN", "-1", "true", "null", '"x"', "[[]]", '"\\ud800"', "1" + "0" * 300, "[" * 500 + "]" * 500),):
        body = '{"changes": {"n": ' + value + "}}"
        yield f"n = {value[:20]}", post(f"{API}/suggestions", JSON, body, *KEYED), (400, 422)
    for name in ("out", "pool", "html", "predictions", "agent", "scheduler", "allow_outside", "overwrite", "__class__"):
        body = json.dumps({"changes": {name: "/tmp/pwned.html"}})
        yield f"a change of {name}", post(f"{API}/suggestions", JSON, body, *KEYED), (422,)
        body = json.dumps({"name": "x", "pool": "../secret.csv", "settings": {name: "/tmp/pwned.html"}})
        yield f"a start with {name}", post("/api/v1/campaigns", JSON, body, *KEYED), (404, 422)
    for table in (
        "",
        "..",
        "../secret.csv",
        "/etc/passwd",
        "one.campaign.json",
        "upload:",
        "upload:*",
        "upload:../one",
    ):
        body = json.dumps({"table": table})
        for path in (f"{API}/results/table", f"{API}/results/preview", "/api/v1/backtests"):
            yield f"{path} of {table}", post(path, JSON, body, *KEYED), (404,)
        yield f"a pool {table}", post("/api/v1/pools/preview", JSON, json.dumps({"pool": table}), *KEYED), (404,)
    for name in ("", "x", "..", "a.exe", "a.csv%00", "a.csv/", "a.html", "one.campaign.json", ".csv%0d%0ax:%20y"):
        yield f"a file {name}", post(f"/api/v1/uploads?name={name}", FILE, "id\n", *KEYED), (422,)
    yield "a file without a name", post("/api/v1/uploads", FILE, "id\n", *KEYED), (422,)
    key = "Idempotency-Key: " + "a" * 201
    yield "a long key of a request", post(f"{API}/undo", JSON, "{}", *KEYED, key), (422,)
    yield "an endless wait", post(f"{API}/undo?wait=1e9", JSON, "{}", *KEYED), (422,)
    yield "an old version", post(f"{API}/undo", JSON, "{}", *KEYED, 'If-Match: "<script>"'), (412, 422)


def forms():
    """A form of a member has the fields of its page; what it says is shown, and never run."""
    script = "<script>alert(1)</script>"
    for target, fields in (
        ("results", [("value-0:c", script)]),
        ("results", [("value-1:c", "1")]),
        ("results", [("value-" + "9" * 5_000 + ":c", "1")]),
        ("results", [("value--1:c", "1")]),
        ("results", [("value-0", "1")]),
        ("results", [(f"value-0:{script}", "1")]),
        ("results", []),
        ("mark", [("kind", script)]),
        ("mark", [("kind", "pin"), ("id", "\u202e" + script)]),
        ("mark", [("kind", "veto"), ("id", "c"), ("text", "x" * 90_000)]),
        ("suggest", [("n", "9" * 5_000)]),
        ("suggest", [("n", script), ("budget", "nan")]),
        ("suggest", [("budget", script)]),
        ("accept", [("table", "one.campaign.json")]),
        ("accept", [("table", f"upload:{script}")]),
        ("take-back", [("id", script)]),
        ("why", [("id", script * 1_000)]),
        ("upload", [("file", script)]),
    ):
        name = f"{target} {fields}"[:60]
        yield (
            f"a form {len(urlencode(fields))} {name}",
            post(f"{CAMPAIGN}/{target}", FORM, urlencode(fields), *OURS),
            (404, 422),
        )
    for target, fields in (
        ("pool", []),
        ("pool", [("table", "/etc/passwd")]),
        ("pool", [("table", script)]),
        ("campaign", [("name", script), ("pool", "../secret.csv"), ("goal-0", "a"), ("aim-0", "maximize")]),
        ("campaign", [("name", "x"), ("pool", "upload:x"), ("goal-0", script), ("aim-0", script)]),
        ("campaign", [("name", "x"), ("n", "1e9")]),
    ):
        name = f"{target} {fields}"[:60]
        yield f"a new {name}", post(f"/new/{target}", FORM, urlencode(fields), *OURS), (404, 422)
    part = '--x\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
    files = [part.format("file", f'; filename="{k}.csv"', "id") for k in range(11)]
    for name, body in {
        "no parts": "x",
        "no end": files[0],
        "many files": "".join(files) + "--x--\r\n",
        "many fields": part.format("a", "", "") * 15_000 + part.format("a", "", "") * 5_001 + "--x--\r\n",
        "a long field": part.format("version", "", "a" * 100_001) + "--x--\r\n",
        "a file of another kind": part.format("file", f'; filename="{script}.exe"', "MZ") + "--x--\r\n",
        "a file of a path": part.format("file", '; filename="../../one.campaign.json"', "{}") + "--x--\r\n",
    }.items():
        yield f"an upload with {name}", post(f"{CAMPAIGN}/upload", FILES, body, *OURS), (422,)
    body = part.format("file", '; filename="a.csv"', "id") + "--x--\r\n"
    yield "an upload without a limit", post(f"{CAMPAIGN}/upload", "multipart/form-data", body, *OURS), (422,)


WRITES = [row for rows in (strangers, calls, forms) for row in rows()]
