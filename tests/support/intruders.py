"""Hostile requests: each is refused, and none stops the server.

A row has a name, the bytes of a request, and the statuses that refuse it. In the bytes, `{host}` is the address of the
server, `{key}` the key of programs, `{spent}` the token of the first link after its use, `{guests}` that of guests,
`{guest}` the cookie of a guest, `{member}` that of a member, `{id}` the id of a campaign, `{outside}` the id that a
link out of the folder would have. The status `CLOSED` is there where the other side is still sending when it is
refused: some systems then lose the answer.
"""

from __future__ import annotations

CLOSED = None
KEYED = ("Authorization: Bearer {key}",)
OURS = ("Cookie: {member}", "Origin: http://{host}")


def request(target="/", *headers, method="GET", host="{host}", body=""):
    lines = [f"{method} {target} HTTP/1.1", *([] if host is None else [f"Host: {host}"]), *headers, "", body]
    return "\r\n".join(lines)


def keys():
    """Nobody gets in without a key, nor with another one, nor with the right one in a wrong place."""
    headers = {
        "no key": (),
        "an empty key": ("Authorization: Bearer ",),
        "no scheme": ("Authorization: {key}",),
        "a wrong key": ("Authorization: Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",),
        "the token of a link as a key": ("Authorization: Bearer {guests}",),
        "the spent token as a key": ("Authorization: Bearer {spent}",),
        "another scheme": ("Authorization: Basic {key}",),
        "half of the key": ("Authorization: Bearer {key:.20}",),
        "more than the key": ("Authorization: Bearer {key}x",),
        "two blanks": ("Authorization: Bearer  {key}",),
        "two keys in one": ("Authorization: Bearer {key}, Bearer {key}",),
        "the key twice": ("Authorization: Bearer {key}", "Authorization: Bearer {key}"),
        "a wrong key before a right cookie": ("Authorization: Bearer x", "Cookie: {member}"),
        "a key that is not ASCII": ("Authorization: Bearer \xff\xfe",),
        "a long key": ("Authorization: Bearer " + "A" * 5_000,),
        "the key in a header for proxies": ("Proxy-Authorization: Bearer {key}", "X-Api-Key: {key}"),
        "a wrong cookie": ("Cookie: {member}x",),
        "an empty cookie": ("Cookie: {member:.18}=",),
        "the key as a cookie": ("Cookie: {name}={key}",),
        "the token as a cookie": ("Cookie: {name}={spent}",),
        "the cookie of another port": ("Cookie: x{member}",),
        "None as a cookie": ("Cookie: {name}=None",),
        "hundreds of cookies": ("Cookie: " + "; ".join(f"{{name}}={k}" for k in range(300)),),
        "an address of a friend": ("X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1"),
        "a path in a header": ("X-Original-URL: /enter", "X-Rewrite-URL: /style.css"),
    }
    for name, more in headers.items():
        yield name, request("/api/v1/campaigns", *more), (401,)
    targets = [
        "/style.css",
        "/api",
        "/api/v1/openapi.json",
        "/campaigns/{id}",
        "/api/v1/campaigns/{id}",
        "/favicon.ico",
    ]
    targets += ["/?key={key}", "/?token={guests}", "/?access_token={key}", "//", "/docs", "/.git/config", "/enter/"]
    targets += ["//enter?token={guests}", "/ENTER?token={guests}", "/enter/{guests}", "/enter;token={guests}"]
    for target in targets:
        yield f"no key for {target}", request(target), (401,)


def links():
    """A link lets in once, and only as it was printed."""
    for target in (
        "/enter?token={spent}",
        "/enter",
        "/enter?",
        "/enter?token=",
        "/enter?token={guests}&token={guests}",
        "/enter?token={guests}&next=//evil.example",
        "/enter?token={guests};token={guests}",
        "/enter?TOKEN={guests}",
        "/enter?token[]={guests}",
        "/enter?token=%00{guests}",
        "/enter?token={guests}%0d%0aSet-Cookie:x=y",
        "/enter?token={guests:.30}",
        "/enter?token={key}",
        "/enter?token=" + "A" * 1_900,
        "/enter?" + "&".join(f"a{k}=" for k in range(300)),
        "/enter?token=%ff%fe",
    ):
        yield f"link {target[:50]}", request(target), (403,)
    yield "a used link with a key", request("/enter?token={spent}", *KEYED), (403,)
    for method in ("HEAD", "POST", "PUT", "OPTIONS"):
        yield f"{method} a link", request("/enter?token={guests}", method=method), (405,)
    yield (
        "a link from a form of another site",
        (request("/enter?token={guests}", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", method="POST")),
        (403,),
    )
    yield (
        "a link in a frame",
        (
            request(
                "/enter?token={guests}",
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Mode: navigate",
                "Sec-Fetch-Dest: iframe",
            )
        ),
        (403,),
    )


def hosts():
    """A name that leads here, but is not ours, is refused with the right key, too."""
    for host in (
        "evil.example",
        "evil.example:80",
        "127.0.0.1",
        "127.0.0.1:1",
        "{host}.evil.example",
        "localhost.evil.example",
        "localhost.:{host:.0}80",
        "",
        "0.0.0.0",
        "[::1]",
        "evil@{host}",
        "{host}@evil.example",
        "2130706433",
        "127.1",
        "{host}/evil.example",
        "{host}#evil.example",
        "{host}, evil.example",
        "http://{host}",
        "null",
    ):
        yield f"host {host}", request("/api/v1/campaigns", *KEYED, host=host), (400, 421)
    yield "no host", request("/api/v1/campaigns", *KEYED, host=None), (400, 421)
    yield "two hosts", request("/api/v1/campaigns", "Host: evil.example", *KEYED), (400, 421)
    yield "HTTP/1.0 without a host", "GET /api/v1/campaigns HTTP/1.0\r\nAuthorization: Bearer {key}\r\n\r\n", (421,)
    forwarded = ("X-Forwarded-Host: {host}", "Forwarded: host={host}")
    yield "our host in a header for proxies", request("/", *KEYED, *forwarded, host="evil.example"), (421,)


def origins():
    """Pages of other sites cannot act for somebody who was let in, nor read by frames and scripts."""
    for name, headers in {
        "another site": ("Origin: https://evil.example",),
        "an unknown site": ("Origin: null",),
        "another port": ("Origin: http://127.0.0.1:1",),
        "a like name": ("Origin: http://{host}.evil.example",),
        "TLS": ("Origin: https://{host}",),
        "two origins": ("Origin: http://{host}", "Origin: https://evil.example"),
        "a cross-site page": ("Sec-Fetch-Site: cross-site",),
        "a page on another port": ("Sec-Fetch-Site: same-site",),
        "a cross-site page that lies": ("Sec-Fetch-Site: cross-site", "Origin: http://{host}"),
        "two sites": ("Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
        "no origin at all": (),
    }.items():
        yield f"POST from {name}", request("/api/v1/campaigns", "Cookie: {member}", *headers, method="POST"), (403,)
    for name, mode, kind in (
        ("script", "no-cors", "script"),
        ("picture", "no-cors", "image"),
        ("fetch", "cors", "empty"),
        ("frame", "navigate", "iframe"),
        ("object", "navigate", "object"),
        ("socket", "websocket", "empty"),
    ):
        fetch = ("Sec-Fetch-Site: cross-site", f"Sec-Fetch-Mode: {mode}", f"Sec-Fetch-Dest: {kind}")
        yield f"a {name} of another site", request("/api/v1/campaigns", "Cookie: {member}", *fetch), (403,)
    asks = ("Origin: https://evil.example", "Access-Control-Request-Method: GET")
    yield "a preflight", request("/api/v1/campaigns", *asks, method="OPTIONS"), (401, 403)
    yield "a preflight with a key", request("/api/v1/campaigns", *asks, *KEYED, method="OPTIONS"), (403,)


def methods():
    """Nothing is written."""
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FOO", "get"):
        yield f"{method} by a program", request("/api/v1/campaigns/{id}", *KEYED, method=method), (405,)
        yield f"{method} by a member", request("/campaigns/{id}", *OURS, method=method), (405,)
        guest = ("Cookie: {guest}", "Origin: http://{host}")
        yield f"{method} by a guest", request("/campaigns/{id}", *guest, method=method), (403,)
    yield "CONNECT", request("evil.example:443", *KEYED, method="CONNECT"), (400, 404, 405)


def paths():
    """Nothing but the files of the listing is read, however a path is spelled."""
    outside = (
        "..",
        "%2e%2e",
        "%252e%252e",
        "..%2f",
        "..%5c",
        "%c0%ae%c0%ae",
        "..%00",
        "....",
        "..;",
        "%2e%2e%2f%2e%2e",
    )
    for way in outside:
        yield f"path {way}", request(f"/campaigns/{way}/secret.campaign.json", *KEYED), (404,)
        yield f"api path {way}", request(f"/api/v1/campaigns/{way}%2fsecret", *KEYED), (404,)
    for target in (
        "/../secret.campaign.json",
        "/secret.campaign.json",
        "/campaigns//etc/passwd",
        "/campaigns/%2fetc%2fpasswd",
        "/campaigns/C:%5csecret.campaign.json",
        "/campaigns/%5c%5cevil.example%5cshare",
        "/campaigns/file:%2f%2f%2fetc%2fpasswd",
        "/campaigns/%00",
        "/campaigns/{id}%00",
        "/campaigns/{id}%00.svg",
        "/campaigns/{id}%20",
        "/campaigns/{id}/",
        "/campaigns/{id}/../{id}",
        "/campaigns/{id}.campaign.json",
        "/campaigns/{outside}",
        "/api/v1/campaigns/{outside}",
        "/campaigns/one",
        "/campaigns/one.campaign.json",
        "/campaigns/<script>alert(1)</script>",
        "/campaigns/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/api/v1/campaigns/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/campaigns/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
        "/campaigns/{{{{7*7}}}}",
        "/campaigns/%7B%7B7*7%7D%7D",
        "/campaigns/%0d%0aSet-Cookie:%20x=y",
        "/campaigns/%e2%80%ae",
        "/campaigns/" + "a" * 1_500,
        "/campaigns/" + "/" * 1_500,
        "/campaigns/{id}/rounds/0",
        "/campaigns/{id}/rounds/-1",
        "/campaigns/{id}/rounds/2",
        "/campaigns/{id}/rounds/1e0",
        "/campaigns/{id}/rounds/%d9%a1",
        "/campaigns/{id}/rounds/" + "9" * 900,
        "/campaigns/{id}/structures/CCO.svg",
        "/campaigns/{id}/structures/..%2f..%2fsecret.svg",
        "/campaigns/{id}/structures/%2e%2e.svg",
        "/style.css/../app.py",
        "/style.css%00",
        "/templates/base.html.jinja",
        "/app.py",
        "/docs",
        "/redoc",
        "/openapi.json",
        "/api/v1",
        "/api/v1/openapi.json/..",
        "/%",
        "/%zz",
        "/;/",
        "http://evil.example/",
        "http://{host}/api/v1/campaigns",
        "*",
    ):
        yield f"path {target[:60]}", request(target, *KEYED), (400, 404)


def sizes():
    """What is long is refused before it is read."""
    yield "a long address", request("/" + "a" * 3_000, *KEYED), (400, 414)
    yield "a long query", request("/?" + "a" * 3_000, *KEYED), (400, 414)
    yield "a very long address", request("/" + "a" * 100_000, *KEYED), (400, 414, CLOSED)
    yield "a long header", request("/", *KEYED, "X: " + "a" * 16_400), (400, 431)
    yield "a very long header", request("/", *KEYED, "X: " + "a" * 1_000_000), (400, 431, CLOSED)
    yield "many headers", request("/", *KEYED, *[f"X{k}: a" for k in range(2_000)]), (400, 431)


def no_http():
    """What is not HTTP gets one line."""
    yield "garbage", "\x00\x01\x02\x03\r\n\r\n", (400,)
    yield "a greeting by TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00" * 50, (400,)
    yield "HTTP/0.9", "GET /\r\n\r\n", (400,)
    yield "HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 421)
    yield "HTTP/9.9", "GET / HTTP/9.9\r\nHost: {host}\r\n\r\n", (400, 401)
    yield "a zero in a header", request("/", *KEYED, "X: a\x00b"), (400,)
    yield "a zero in the address", request("/\x00", *KEYED), (400,)
    yield "a letter that is not ASCII in the address", request("/\xe9", *KEYED), (400,)
    yield "no colon", request("/", *KEYED, "X"), (400,)
    yield "a blank before the colon", request("/", *KEYED, "Content-Length : 5"), (400,)
    yield "no name", request("/", *KEYED, ": x"), (400,)
    yield "a blank in the address", request("/ /", *KEYED), (400,)
    yield "no address", "GET  HTTP/1.1\r\nHost: {host}\r\n\r\n", (400,)
    yield "a folded key", request("/campaigns/x", "Authorization: Bearer\r\n x{key}"), (400, 401)
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAA")
    yield "a socket", request("/", *upgrade), (401,)
    yield "HTTP/2 in clear text", request("/nothing", *KEYED, "Connection: Upgrade", "Upgrade: h2c"), (404,)


TABLE = [row for rows in (keys, links, hosts, origins, methods, paths, sizes, no_http) for row in rows()]
