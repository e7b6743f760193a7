"""Hostile requests with a body, in rows as those of `intruders`: none of these bodies is taken in."""

from __future__ import annotations

from support.intruders import CLOSED, KEYED, OURS, request

FIVE = "Content-Length: 5"


def bodies():
    """A body comes with POST, from a member or a program, with its length and a type that is read; else it is not."""
    post = {"method": "POST"}
    json = "Content-Type: application/json"
    form = "Content-Type: application/x-www-form-urlencoded"
    files = "Content-Type: multipart/form-data; boundary=x"
    chunked = "Transfer-Encoding: chunked"
    for length in ("1", "1000000000000", "+0", "00", "0x0"):
        yield f"a body of {length}", request("/", *KEYED, f"Content-Length: {length}"), (400, 413)
    for length in ("-1", "1e3", "1, 2", "٣", "0x5", "5 5", "5_0", "9" * 30):
        yield f"a length of {length}", request("/", *KEYED, json, f"Content-Length: {length}", **post), (400, 413)
    two = ("Content-Length: 1", "Content-Length: 2")
    for method in ("GET", "POST"):
        yield f"two lengths of {method}", request("/", *KEYED, json, *two, body="ab", method=method), (400,)
        both = (chunked, "Content-Length: 3")
        yield (
            f"length and chunks of {method}",
            request("/", *KEYED, *both, body="0\r\n\r\n", method=method),
            (400, 411, 413),
        )
        coded = "Transfer-Encoding: gzip, chunked"
        yield f"another encoding of {method}", request("/", *KEYED, coded, method=method), (400, 413)
    chunk = "5\r\nhello\r\n0\r\n\r\n"
    yield "chunks by GET", request("/", *KEYED, chunked, body=chunk), (413,)
    yield "chunks by a member", request("/", *OURS, chunked, json, body=chunk, **post), (411,)
    yield "chunks by a program", request("/", *KEYED, chunked, json, body=chunk, **post), (411,)
    endless = "ffffffffff\r\n" + "a" * 100_000
    yield "endless chunks by GET", request("/", *KEYED, chunked, body=endless), (413, CLOSED)
    yield "endless chunks by POST", request("/", *KEYED, chunked, json, body=endless, **post), (411, CLOSED)
    for kind in (
        "text/plain",
        "text/html",
        "application/xml",
        "application/jsonx",
        "application/json, text/plain",
        "x",
    ):
        yield f"a body of {kind}", request("/", *KEYED, f"Content-Type: {kind}", FIVE, body="hello", **post), (415,)
    yield "a body of no type", request("/", *KEYED, FIVE, body="hello", **post), (415,)
    yield "a body of two types", request("/", *KEYED, json, form, FIVE, body="hello", **post), (415,)
    yield "a compressed body", request("/", *KEYED, json, "Content-Encoding: gzip", FIVE, body="hello", **post), (415,)
    for kind in (json, form):
        yield f"a long body of {kind}", request("/", *KEYED, kind, "Content-Length: 1000001", **post), (413,)
    yield "a long upload", request("/", *OURS, files, "Content-Length: 200000001", **post), (413,)
    waits = ("Expect: 100-continue", "Content-Length: 1000000000")
    yield "a long body that waits", request("/", *OURS, files, *waits, **post), (413,)
    yield "a body that waits without a key", request("/", json, "Expect: 100-continue", FIVE, **post), (401,)
    yield "a body without a key", request("/", json, FIVE, body="hello", **post), (401,)
    yield (
        "an upload without a key",
        request("/", files, "Content-Length: 100000", body="a" * 100_000, **post),
        (401, CLOSED),
    )
    guest = ("Cookie: {guest}", "Origin: http://{host}")
    yield "a body by a guest", request("/", *guest, json, FIVE, body="hello", **post), (403,)
    yield "an upload by a guest", request("/", *guest, files, "Content-Length: 9", **post), (403,)
    yield "a body for a link", request("/enter?token={guests}", form, FIVE, body="hello", **post), (405,)
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "FOO"):
        yield f"a body by {method}", request("/", *KEYED, json, FIVE, body="hello", method=method), (413,)
    yield "more than the length", request("/", *KEYED, json, "Content-Length: 2", body="hello", **post), (400,)
    second = "xGET /api/v1/campaigns HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\r\n"
    yield "a request within a body", request("/", *KEYED, json, "Content-Length: 1", body=second, **post), (400,)
    for name, headers in {
        "another site": ("Origin: https://evil.example", "Sec-Fetch-Site: cross-site"),
        "an unknown site": ("Origin: null",),
        "a frame without an origin": ("Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Dest: iframe"),
        "another port": ("Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site"),
        "no origin": (),
    }.items():
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            fields = ("Cookie: {member}", *headers, f"Content-Type: {kind}", FIVE)
            yield f"a form of {kind} from {name}", request("/", *fields, body="a=b&c", **post), (403,)
    yield "the end of a session by a cookie", request("/mcp", *OURS, method="DELETE"), (403,)
    yield "the end of a session by a guest", request("/mcp", *guest, method="DELETE"), (403,)
    yield "the end of a session without a key", request("/mcp", method="DELETE"), (401,)


BODIES = list(bodies())
