"""Servers over TLS on the loopback interface, for the tests of vault-http: good ones, and ones that do each thing wrong.

    server.py FOLDER

Makes keys and certificates in FOLDER, listens, prints one line of JSON (ports, pins), and ends with its standard input. What a server
was asked is in FOLDER/requests, one JSON object per line. The path of a request says what its server does: see `ANSWERS`.
"""
import base64
import datetime
import gzip
import hashlib
import ipaddress
import json
import os
import socket
import ssl
import sys
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

FOLDER = sys.argv[1]
DAY = datetime.timedelta(days=1)
NOW = datetime.datetime.utcnow()
LOCK = threading.Lock()
COUNTS = {}
PORTS = {}


# Keys and certificates.

def name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def certificate(subject, key, issuer=None, issuer_key=None, hosts=("127.0.0.1", "localhost"), first=-1, last=30,
                algorithm=hashes.SHA256(), purpose=None):
    """A certificate that is valid from day `first` to day `last`."""
    builder = (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(issuer.subject if issuer else name(subject))
               .public_key(key.public_key()).serial_number(x509.random_serial_number())
               .not_valid_before(NOW + first * DAY).not_valid_after(NOW + last * DAY)
               .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True))
    if issuer and hosts:
        names = [x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host) for host in hosts]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if purpose:
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
    return builder.sign(issuer_key or key, algorithm)


def pem(*parts):
    """Keys and certificates, one after the other."""
    text = b""
    for part in parts:
        if hasattr(part, "private_bytes"):
            text += part.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                       serialization.NoEncryption())
        else:
            text += part.public_bytes(serialization.Encoding.PEM)
    return text


def write(file, data):
    with open(os.path.join(FOLDER, file), "wb") as output:
        output.write(data)


def base64_of_hash(data):
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def pin(key):
    return base64_of_hash(key.public_key().public_bytes(serialization.Encoding.DER,
                                                        serialization.PublicFormat.SubjectPublicKeyInfo))


def new_key():
    return ec.generate_private_key(ec.SECP256R1())


ANCHOR_KEY, OTHER_KEY, SERVER_KEY, SECOND_KEY, CLIENT_KEY, STRANGER_KEY = (new_key() for _ in range(6))
ANCHOR, OTHER = certificate("the anchor", ANCHOR_KEY), certificate("another anchor", OTHER_KEY)
MIDDLE_KEY, WEAK_KEY = new_key(), rsa.generate_private_key(65537, 1024)
MIDDLE = (x509.CertificateBuilder().subject_name(name("between")).issuer_name(ANCHOR.subject).public_key(MIDDLE_KEY.public_key())
          .serial_number(x509.random_serial_number()).not_valid_before(NOW - DAY).not_valid_after(NOW + DAY)
          .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(ANCHOR_KEY, hashes.SHA256()))
SERVERS = {
    "good": certificate("good", SERVER_KEY, ANCHOR, ANCHOR_KEY),
    "renewed": certificate("renewed", SERVER_KEY, ANCHOR, ANCHOR_KEY),
    "second": certificate("second", SECOND_KEY, ANCHOR, ANCHOR_KEY),
    "expired": certificate("expired", SERVER_KEY, ANCHOR, ANCHOR_KEY, first=-30, last=-1),
    "future": certificate("future", SERVER_KEY, ANCHOR, ANCHOR_KEY, first=2),
    "elsewhere": certificate("elsewhere", SERVER_KEY, ANCHOR, ANCHOR_KEY, hosts=("bank.example",)),
    "untrusted": certificate("untrusted", SERVER_KEY, OTHER, OTHER_KEY),
    "old": certificate("old", SERVER_KEY, ANCHOR, ANCHOR_KEY),
    "mutual": certificate("mutual", SERVER_KEY, ANCHOR, ANCHOR_KEY),
    "weak": certificate("weak", WEAK_KEY, ANCHOR, ANCHOR_KEY),
    "sha1": certificate("sha1", SERVER_KEY, ANCHOR, ANCHOR_KEY, algorithm=hashes.SHA1()),
    "client": certificate("client", SERVER_KEY, ANCHOR, ANCHOR_KEY, purpose=ExtendedKeyUsageOID.CLIENT_AUTH),
    # The host is in the subject alone.
    "nameless": certificate("localhost", SERVER_KEY, ANCHOR, ANCHOR_KEY, hosts=()),
    "numbered": certificate("127.0.0.1", SERVER_KEY, ANCHOR, ANCHOR_KEY, hosts=()),
}
CLIENT = certificate("client", CLIENT_KEY, MIDDLE, MIDDLE_KEY, hosts=("client.example",))
STRANGER = certificate("stranger", STRANGER_KEY, OTHER, OTHER_KEY, hosts=("client.example",))


# What a server does.

def reply(connection, body=b"{}", status="200 OK", headers=(), length=None):
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers,
             f"Content-Length: {len(body) if length is None else length}", "Connection: close", "", ""]
    connection.sendall("\r\n".join(lines).encode() + body)


def echo(connection, request):
    """The request itself: what the client sent."""
    reply(connection, json.dumps(request).encode())


def forever(connection, begin, piece, pause):
    connection.sendall(begin)
    while True:
        connection.sendall(piece)
        time.sleep(pause)


def count(key):
    with LOCK:
        COUNTS[key] = COUNTS.get(key, 0) + 1
        return COUNTS[key]


def flaky(connection, request):
    """Fails twice in the way that the path names: /flaky/503/KEY, /flaky/cut/KEY."""
    _, _, way, key = request["path"].split("/")
    if count(key) > 2:
        echo(connection, request)
    elif way != "cut":
        reply(connection, b"{}", f"{way} Not Now")


def redirect(connection, request):
    """/redirect/STATUS/WHERE"""
    _, _, status, where = request["path"].split("/")
    target = {
        "host": f"https://localhost:{PORTS['good']}/echo", "port": f"https://127.0.0.1:{PORTS['renewed']}/echo",
        "plain": f"http://127.0.0.1:{PORTS['good']}/echo", "file": "file:///etc/passwd", "same": "/echo",
        "user": f"https://user:word@127.0.0.1:{PORTS['good']}/echo", "circle": request["path"],
    }[where]
    reply(connection, b"", f"{status} Elsewhere", [f"Location: {target}"])


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "/echo": echo,
    "/flaky": flaky,
    "/redirect": redirect,
    "/slow-header": lambda c, r: forever(c, b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.05),
    "/hang": lambda c, r: time.sleep(600),
    "/nothing": lambda c, r: None,
    "/cut-header": lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "/cut": lambda c, r: reply(c, b'{"token":"abc"', length=100),
    "/cut-chunk": lambda c, r: c.sendall(CHUNKED + b"64\r\n{"),
    "/empty": lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\n\r\n"),
    "/until-the-end": lambda c, r: c.sendall(b'HTTP/1.1 200 OK\r\n\r\n{"path":"whole"}'),
    "/two-gib": lambda c, r: reply(c, b" " * 65536, length=2 ** 31),
    "/two-gib-unsaid": lambda c, r: forever(c, b"HTTP/1.1 200 OK\r\n\r\n", b" " * 65536, 0),
    "/chunked-for-ever": lambda c, r: forever(c, CHUNKED, b"4000\r\n" + b" " * 0x4000 + b"\r\n", 0),
    "/chunked-slowly": lambda c, r: forever(c, CHUNKED, b"1\r\n \r\n", 0.05),
    "/long-nonce": lambda c, r: reply(c, b"{}", headers=["DPoP-Nonce: " + "n" * 10240]),
    "/many-headers": lambda c, r: reply(c, b"{}", headers=[f"X-{n}: " + "n" * 1000 for n in range(80)]),
    "/nonce": lambda c, r: reply(c, b'{"error":"use_dpop_nonce"}', "401 Unauthorized",
                                 ["DPoP-Nonce: n-1", "Set-Cookie: a=1", "Set-Cookie: b=2"]),
    "/no-content": lambda c, r: reply(c, b"", "204 No Content"),
    # Nobody has asked for these: 64 MiB in a few bytes, and JSON that is readable only when it is unpacked.
    "/packed-transfer": lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(1 << 26))),
    "/packed-content": lambda c, r: reply(c, gzip.compress(b'{"path":"packed"}'), headers=["Content-Encoding: gzip"]),
    "/continues-for-ever": lambda c, r: forever(c, b"", b"HTTP/1.1 100 Continue\r\nX: " + b"a" * 8000 + b"\r\n\r\n", 0),
    "/trailers-for-ever": lambda c, r: forever(c, CHUNKED + b"2\r\n{}\r\n0\r\n", b"X: " + b"a" * 8000 + b"\r\n", 0),
    "/long-trailer": lambda c, r: forever(c, CHUNKED + b"2\r\n{}\r\n0\r\nX: ", b"a" * 8000, 0),
    "/long-status": lambda c, r: forever(c, b"HTTP/1.1 200 ", b"a" * 8000, 0),
    "/two-lengths": lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 20\r\n\r\n{}"),
    "/negative-length": lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}"),
    "/zero-byte": lambda c, r: c.sendall(b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\n{}"),
    "/no-http": lambda c, r: c.sendall(b"220 mail.example ESMTP\r\n"),
}


def status(connection, request):
    """/status/STATUS/BODY, the body as base64 of the URL alphabet."""
    _, _, number, body = (request["path"] + "/").split("/")[:4]
    reply(connection, base64.urlsafe_b64decode(body) if body else b"<html>no</html>", f"{number} Status")


ANSWERS["/status"] = status


def read_request(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines[1:]}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    method, path, _ = lines[0].split(" ")
    return {"method": method, "path": path, "headers": headers, "body": body.decode("latin-1")}


def serve(kind, context, raw):
    try:
        with context.wrap_socket(raw, server_side=True) as connection:
            request = read_request(connection)
            if request is None:
                return
            if kind == "mutual":
                request["client"] = dict(part[0] for part in connection.getpeercert()["subject"])["commonName"]
            with LOCK, open(os.path.join(FOLDER, "requests"), "a") as log:
                log.write(json.dumps({**request, "server": kind}) + "\n")
            path = request["path"].partition("?")[0]
            ANSWERS["/" + path.split("/")[1]](connection, request)
    except (OSError, ValueError):
        pass
    finally:
        raw.close()


def listen(kind, handle):
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    PORTS[kind] = listener.getsockname()[1]

    def run():
        while True:
            raw, _ = listener.accept()
            threading.Thread(target=handle, args=(raw,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()


def context_of(kind):
    write(f"{kind}.server", pem(SERVERS[kind], {"second": SECOND_KEY, "weak": WEAK_KEY}.get(kind, SERVER_KEY)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if kind in ("weak", "sha1"):
        context.set_ciphers("ALL:@SECLEVEL=0")
    context.load_cert_chain(os.path.join(FOLDER, f"{kind}.server"))
    if kind == "old":
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    if kind == "mutual":
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(os.path.join(FOLDER, "anchor.pem"))
    return context


def proxy(raw):
    """A proxy: it connects to what CONNECT names, and notes it."""
    try:
        data = raw.recv(65536)
        target = data.split(b" ")[1].decode()
        with LOCK, open(os.path.join(FOLDER, "requests"), "a") as log:
            log.write(json.dumps({"server": "proxy", "path": target}) + "\n")
        try:
            other = socket.create_connection(("127.0.0.1", int(target.rpartition(":")[2])))
        except OSError:
            raw.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            raise
        raw.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
        pair = [(raw, other), (other, raw)]

        def pump(source, sink):
            try:
                while piece := source.recv(65536):
                    sink.sendall(piece)
            except OSError:
                pass
            sink.close()

        for source, sink in pair:
            threading.Thread(target=pump, args=(source, sink), daemon=True).start()
    except (OSError, IndexError, ValueError):
        raw.close()


write("anchor.pem", pem(ANCHOR))
write("other.pem", pem(OTHER))
write("client.pem", pem(CLIENT_KEY, CLIENT, MIDDLE))
write("stranger.pem", pem(STRANGER_KEY, STRANGER))
for kind in SERVERS:
    listen(kind, lambda raw, kind=kind, context=context_of(kind): serve(kind, context, raw))
listen("proxy", proxy)
listen("leaving", lambda raw: (raw.recv(65536), raw.close()))
# A port that nothing listens on, also not a server that is started later.
closed = socket.socket()
closed.bind(("127.0.0.1", 0))
PORTS["closed"] = closed.getsockname()[1]
print(json.dumps({
    "ports": PORTS,
    "pins": {"server": pin(SERVER_KEY), "second": pin(SECOND_KEY),
             "certificate": base64_of_hash(SERVERS["good"].public_bytes(serialization.Encoding.DER))},
}), flush=True)
sys.stdin.read()
