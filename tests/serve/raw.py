# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# raw.py CASE HOST PORT: what no polite client sends. Each case ends with an ordinary request that must be answered.
import json
import socket
import sys
import threading
import time

case, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
PROMPT = "z2:0 z2:5 z2:4 z2:7 z2:4 z2:6 z2:2 z2:3 z1:0 z1:1 z1:3 z1:2 z0:2 w:1"
BODY = json.dumps({"prompt": PROMPT, "temperature": 0}).encode()


def connect():
    s = socket.create_connection((host, port), timeout=60)
    s.settimeout(60)
    return s


def head(path="/v1/completions", method="POST", length=None, extra=b""):
    lines = b"%s %s HTTP/1.1\r\nHost: localhost\r\n" % (method.encode(), path.encode())
    if length is not None:
        lines += b"Content-Length: %d\r\n" % length
    return lines + extra + b"\r\n"


def read_all(s):
    data = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            data += part
    except (ConnectionError, socket.timeout):
        pass
    return data


def status_of(data):
    return int(data.split(b" ")[1]) if data.startswith(b"HTTP/") else None


def exchange(data, close_write=True, patience=60):
    s = connect()
    s.settimeout(patience)
    try:
        s.sendall(data)
        if close_write:
            s.shutdown(socket.SHUT_WR)
    except (ConnectionError, BrokenPipeError):
        pass
    reply = read_all(s)
    s.close()
    return reply


def alive():
    reply = exchange(head(length=len(BODY), extra=b"Connection: close\r\n") + BODY, False)
    assert status_of(reply) == 200 and b'"text":" 3"' in reply, reply


def chunked(body, size=1000):
    out = b""
    for i in range(0, len(body), size):
        part = body[i:i + size]
        out += b"%x\r\n%s\r\n" % (len(part), part)
    return out + b"0\r\n\r\n"


def malformed():
    closing = b"Connection: close\r\n"
    many = [
        b"", b"\r\n\r\n", b"GET", b"\0" * 100, b"GET / HTTP/9.9\r\n\r\n", b"\xff\xfe\xfd\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5, 6\r\n\r\n12345",
        b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzzzz\r\n",
        b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc",
        b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: localhost\r\n\r\n5\r\nab",
        head("/" + "a" * 20000, "GET"), head("/%00%ff%2e%2e/etc/passwd", "GET"),
        head("/v1/models", "BREW"), head("/v1/models", "A" * 5000),
        head(length=len(BODY) + 50) + BODY,  # closed before the end
        head(length=len(BODY)) + BODY[:10],
        head(length=0, extra=closing),
    ]
    for data in many:
        reply = exchange(data, patience=0.3)  # many of these wait for more, and nothing comes
        assert reply == b"" or 400 <= status_of(reply) < 600, (data[:80], reply[:200])
    reply = exchange(head(length=0, extra=closing), False)
    assert status_of(reply) == 400, reply
    reply = exchange(b"GET /health HTTP/1.0\r\n\r\n", False)
    assert status_of(reply) == 200, reply


def headers():
    big = b"".join(b"X-%d: %s\r\n" % (i, b"y" * 1000) for i in range(200))
    reply = exchange(head(length=len(BODY), extra=big) + BODY, False)
    assert status_of(reply) in (431, 413), reply[:100]
    reply = exchange(head("/health", "GET", extra=b"X: " + b"z" * 100000 + b"\r\n"), False)
    assert status_of(reply) in (431, 413), reply[:100]


def bodies():  # the server runs with --max-body 4096
    reply = exchange(head(length=4097, extra=b"Connection: close\r\n"), False)
    assert status_of(reply) == 413, reply
    spaces = BODY + b" " * 4096
    reply = exchange(head(extra=b"Transfer-Encoding: chunked\r\nConnection: close\r\n") + chunked(spaces), False)
    assert status_of(reply) == 413, reply
    reply = exchange(head(extra=b"Transfer-Encoding: chunked\r\nConnection: close\r\n") + chunked(BODY, 7), False)
    assert status_of(reply) == 200, reply
    # Without an end: read no further than it takes to say so.
    s = connect()
    s.sendall(head(extra=b"Transfer-Encoding: chunked\r\n"))
    sent = 0
    try:
        while sent < 1 << 26:
            s.sendall(b"1000\r\n" + b" " * 4096 + b"\r\n")
            sent += 4096
    except (ConnectionError, BrokenPipeError):
        pass
    assert sent < 1 << 25, sent
    s.close()


def early_close():
    for i in range(200):
        s = connect()
        s.sendall(head(length=len(BODY)) + BODY[:len(BODY) * i // 200])
        if i % 2:  # a reset rather than an end
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
    for i in range(50):  # the reply is not waited for
        s = connect()
        s.sendall(head(length=len(BODY)) + BODY)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()


def pipelined():
    one = head(length=len(BODY)) + BODY
    last = head(length=len(BODY), extra=b"Connection: close\r\n") + BODY
    reply = exchange(one * 9 + last, False)
    assert reply.count(b"HTTP/1.1 200") == 10, reply[:300]
    assert reply.count(b'"text":" 3"') == 10


def slow():  # the server runs with --timeout 1
    begin = time.monotonic()
    s = connect()
    s.sendall(head(length=1000))
    sent = 0
    try:
        while time.monotonic() - begin < 30:
            s.sendall(b" ")
            sent += 1
            time.sleep(0.2)
    except (ConnectionError, BrokenPipeError):
        pass
    assert time.monotonic() - begin < 25, "a drip kept the connection"
    s.close()
    s = connect()  # nothing at all
    begin = time.monotonic()
    assert read_all(s) == b"" and time.monotonic() - begin < 25
    s.close()


def drip(connections, finished):
    """A byte on each of them five times a second until it is told to end; whoever was closed is left out."""
    while not finished.wait(0.2):
        for s in list(connections):
            try:
                s.sendall(b"y")
            except OSError:
                connections.remove(s)


def held():  # the server runs with --timeout 2 --max-connections 64: all of them drip, and the 65th is answered in time
    drips, finished = [connect() for _ in range(64)], threading.Event()
    begin, answered, worst, refused = time.monotonic(), None, 0, 0
    for s in drips:
        s.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    dripping = threading.Thread(target=drip, args=(drips, finished))
    dripping.start()  # it goes on while the 65th asks and waits
    try:
        while time.monotonic() - begin < 20 and answered is None:
            asked = time.monotonic()
            try:
                reply = exchange(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", False, patience=5)
            except ConnectionError:
                reply = b""
            worst = max(worst, time.monotonic() - asked)
            if status_of(reply) == 200: answered = time.monotonic() - begin
            else: refused += 1
            time.sleep(0.1)
    finally:
        finished.set()
        dripping.join()
    assert refused, "the 64 did not hold the server: nothing is shown"
    assert answered is not None and answered < 4, (answered, worst)  # 2 s, and a busy machine
    assert worst < 2, worst  # it is closed at once, not left in a queue
    print("answered after %.1f s" % answered)
    for s in drips:
        s.close()


def in_flight():  # prints "half" when half of a request is there, and finishes it after a line on stdin
    s = connect()
    s.sendall(head(length=len(BODY)) + BODY[:20])
    time.sleep(0.3)
    print("half", flush=True)
    sys.stdin.readline()
    time.sleep(0.5)
    s.sendall(BODY[20:])
    reply = read_all(s)
    assert status_of(reply) == 200 and b'"text":" 3"' in reply, reply
    print("answered")
    sys.exit()


{"malformed": malformed, "headers": headers, "bodies": bodies, "early_close": early_close, "pipelined": pipelined,
 "slow": slow, "held": held, "in_flight": in_flight}[case]()
alive()
