#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that misbehaves in the way that the path names. Prints its two ports and serves until its standard input ends."""
import email.utils
import base64
import json
import socket
import sys
import threading
import time

counts, lock, seen = {}, threading.Lock(), []
ports = []

GOOD = json.dumps({"choices": [{"text": " stone", "finish_reason": "length", "logprobs": {
    "tokens": [" stone"], "token_logprobs": [-0.1], "top_logprobs": [{" stone": -0.1, " river": -2.5}]}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 1}})


def head(status, length=None, extra=""):
    text = "HTTP/1.1 %s\r\nContent-Type: application/json\r\n%s" % (status, extra)
    if length is not None:
        text += "Content-Length: %d\r\n" % length
    return (text + "Connection: close\r\n\r\n").encode()


def whole(status, body, extra=""):
    body = body.encode() if isinstance(body, str) else body
    return head(status, len(body), extra) + body


def nth(path):
    with lock:
        counts[path] = counts.get(path, 0) + 1
        return counts[path]


def chunked(sock):
    sock.sendall(head("200 OK", None, "Transfer-Encoding: chunked\r\n"))
    body = GOOD.encode()
    for i in range(0, len(body), 3):
        piece = body[i:i + 3]
        sock.sendall(b"%x;note=1\r\n%s\r\n" % (len(piece), piece))
    sock.sendall(b"0\r\nTrailer: x\r\n\r\n")


def broken_chunks(sock):
    sock.sendall(head("200 OK", None, "Transfer-Encoding: chunked\r\n") + b"zz\r\nno\r\n")


def drip(sock):
    sock.sendall(head("200 OK", len(GOOD)))
    for byte in GOOD:
        sock.sendall(byte.encode())
        time.sleep(0.2)


def huge(sock, declared):
    size = 100 << 20
    sock.sendall(head("200 OK", size if declared else None))
    block = b" " * 65536
    for _ in range(size // len(block)):
        sock.sendall(block)


def limited(sock, path, value):
    if nth(path) == 1:
        sock.sendall(whole("429 Too Many Requests", '{"error": {"message": "slow down"}}', "Retry-After: %s\r\n" % value))
    else:
        sock.sendall(whole("200 OK", GOOD))


SPELLINGS = [
    lambda k: k,
    lambda k: k.upper(),
    lambda k: k.replace("/", "\\/").replace("_", "\\u005f"),
    lambda k: "".join("\\u%04x" % ord(c) for c in k),
    lambda k: "".join("\\u%04X" % ord(c) if i % 2 else c for i, c in enumerate(k)),
    lambda k: "".join("%%%02X" % ord(c) for c in k),
    lambda k: k.replace("-", "%2d").replace("/", "%252f"),
    lambda k: "".join("&#%d;" % ord(c) for c in k),
    lambda k: "".join("&#x%x;" % ord(c) for c in k),
    lambda k: k.replace("/", "&sol;").replace("-", "&#45;"),
    lambda k: "".join("\\\\x%02x" % ord(c) for c in k),
    lambda k: base64.b64encode(k.encode()).decode(),
    lambda k: base64.b64encode(b"Bearer " + k.encode()).decode(),
    lambda k: base64.urlsafe_b64encode(b"xx" + k.encode()).decode(),
    lambda k: k.encode().hex(),
    lambda k: "x" * 225 + k,  # where a message is cut
]


def answer(sock, path, headers, body):
    if path == "/good":
        sock.sendall(whole("200 OK", GOOD))
    elif path == "/echo":
        sock.sendall(whole("200 OK", json.dumps({"headers": headers, "body": body})))
    elif path == "/echo-error":
        sock.sendall(whole("401 Unauthorized", json.dumps({"error": {"message": "bad key: " + headers.get("authorization", "none")}})))
    elif path.startswith("/spelled-"):
        status, spelling = path.split("-")[1:3]
        key = headers.get("authorization", "Bearer none").split()[1]
        text = SPELLINGS[int(spelling)](key)
        sock.sendall(whole("200 OK" if status == "200" else "%s Not Well" % status, '{"error": {"message": "no %s here"}, "%s": "%s"}' % (text, text, text)))
    elif path == "/spelled":
        sock.sendall(whole("200 OK", json.dumps({"count": len(SPELLINGS)})))
    elif path == "/key-host":
        key = headers.get("authorization", "Bearer none").split()[1]
        sock.sendall(whole("307 Temporary Redirect", "", "Location: http://%s.invalid/x\r\nX-Key: %s\r\n" % (key.lower(), key)))
    elif path == "/key-scheme":
        key = headers.get("authorization", "Bearer none").split()[1]
        sock.sendall(whole("307 Temporary Redirect", "", "Location: %s://x/%s\r\n" % (key, key)))
    elif path == "/word":
        sock.sendall(whole("200 OK", '{"choices": [{"text": "a text of text"}], "model": "m", "headers": 1}'))
    elif path == "/trailers":
        sock.sendall(head("200 OK", extra="Transfer-Encoding: chunked\r\n") + b"2\r\n{}\r\n0\r\n")
        for i in range(100000):
            sock.sendall(b"X-%d: %s\r\n" % (i, b"y" * 1000))
        sock.sendall(b"\r\n")
    elif path == "/count":
        sock.sendall(whole("200 OK", json.dumps({"good": counts.get("/counted", 0)})))
    elif path == "/counted":
        nth(path)
        time.sleep(0.05)
        sock.sendall(whole("200 OK", GOOD))
    elif path == "/chunked":
        chunked(sock)
    elif path == "/broken-chunks":
        broken_chunks(sock)
    elif path == "/early":
        sock.sendall(head("200 OK", len(GOOD)) + GOOD[:40].encode())
    elif path == "/early-once":
        sock.sendall(head("200 OK", len(GOOD)) + (GOOD[:40] if nth(path) == 1 else GOOD).encode())
    elif path == "/nothing":
        pass
    elif path == "/drip":
        drip(sock)
    elif path == "/huge":
        huge(sock, False)
    elif path == "/huge-declared":
        huge(sock, True)
    elif path == "/limit-seconds":
        limited(sock, path, "1")
    elif path == "/limit-date":
        limited(sock, path, email.utils.formatdate(time.time() + 2, usegmt=True))
    elif path == "/limit-forever":
        limited(sock, path, "86400")
    elif path == "/limit-always":
        sock.sendall(whole("429 Too Many Requests", "{}"))
    elif path == "/fails-twice":
        if nth(path) <= 2:
            sock.sendall(whole("500 Internal Server Error", "<html><head><title>500</title></head><body>oops</body></html>"))
        else:
            sock.sendall(whole("200 OK", GOOD))
    elif path == "/fails":
        sock.sendall(whole("503 Service Unavailable", '{"detail": "model is loading"}'))
    elif path == "/garbage":
        sock.sendall(whole("200 OK", b"\xff\xfe{]\x00" * 50))
    elif path == "/page":
        sock.sendall(whole("200 OK", "<!DOCTYPE html><html><body><h1>Welcome to the proxy</h1></body></html>"))
    elif path == "/refused":
        sock.sendall(whole("400 Bad Request", '{"object": "error", "message": "logprobs must be at most 5"}'))
    elif path == "/silent":
        time.sleep(30)
    elif path == "/no-http":
        sock.sendall(b"SSH-2.0-OpenSSH\r\n")
    elif path == "/header-flood":
        sock.sendall(b"HTTP/1.1 200 OK\r\n" + b"X-Fill: %s\r\n" % (b"y" * 4000) * 200 + b"\r\n{}")
    elif path == "/elsewhere":
        sock.sendall(whole("307 Temporary Redirect", "", "Location: http://127.0.0.1:%d/echo\r\n" % ports[1]))
    elif path == "/here":
        sock.sendall(whole("307 Temporary Redirect", "", "Location: /echo\r\n"))
    elif path == "/round":
        sock.sendall(whole("307 Temporary Redirect", "", "Location: /round\r\n"))
    elif path == "/to-file":
        sock.sendall(whole("302 Found", "", "Location: file:///etc/passwd\r\n"))
    else:
        sock.sendall(whole("404 Not Found", '{"detail": "Not Found"}'))


def read_request(sock):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            return None
        data += piece
    first, _, body = data.partition(b"\r\n\r\n")
    lines = first.decode("latin-1").split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
    while len(body) < int(headers.get("content-length", 0)):
        body += sock.recv(65536)
    return lines[0].split(" ")[1], headers, body.decode("utf-8", "replace")


def serve(sock):
    try:
        request = read_request(sock)
        if request:
            answer(sock, *request)
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    finally:
        sock.close()


def listen():
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(128)
    ports.append(server.getsockname()[1])

    def loop():
        while True:
            sock, _ = server.accept()
            threading.Thread(target=serve, args=(sock,), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()


listen()
listen()
print("%d %d" % tuple(ports), flush=True)
sys.stdin.read()
