"""A front over TLS before a server on loopback: counts and keeps what passes, and lets a test hold, change or cut it."""
import http.client
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
import urllib.parse


class Exchange:
    """A request and its reply."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.status, self.reply_headers, self.reply, self.is_over = None, {}, b"", False

    @property
    def form(self):
        return {name: values[0] for name, values in urllib.parse.parse_qs(self.body.decode()).items()}

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def answer(self):
        return json.loads(self.reply)


class Front:
    """Listens on a port of its own; ends with the `with` block.

    `before` is called with each exchange before the request goes on, and `after` before the reply does. Where `before` sets
    `status`, the server is not asked. One that raises `Cut` ends the connection.
    """

    class Cut(Exception):
        """Ends the connection without a reply."""

    def __init__(self, folder):
        self.exchanges, self.before, self.after, self.upstream = [], None, None, None
        self.anchor = make_certificates(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.origin = f"https://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def handler(front):
        class Handler(http.server.BaseHTTPRequestHandler):
            def handle(self):
                try:
                    super().handle()
                except (OSError, front.Cut):
                    self.close_connection = True

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                exchange = Exchange(self.command, self.path, headers, body)
                front.exchanges.append(exchange)
                try:
                    self.answer(exchange)
                finally:
                    exchange.is_over = True

            def answer(self, exchange):
                if front.before:
                    front.before(exchange)
                if exchange.status is None:
                    front.ask(exchange)
                if front.after:
                    front.after(exchange)
                self.send_response(exchange.status)
                for name, value in exchange.reply_headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(exchange.reply)))
                self.end_headers()
                self.wfile.write(exchange.reply)

            do_GET = do_POST = do_PUT = do_DELETE = pass_on

            def log_message(self, *_):
                pass

        return Handler

    def ask(self, exchange):
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=30)
        headers = {name: value for name, value in exchange.headers.items() if name not in ("host", "connection")}
        connection.request(exchange.method, exchange.path, exchange.body or None, headers)
        reply = connection.getresponse()
        exchange.reply, exchange.status = reply.read(), reply.status
        passed = {name.lower(): value for name, value in reply.getheaders()}
        for name in ("connection", "content-length", "transfer-encoding", "date", "server"):
            passed.pop(name, None)
        exchange.reply_headers = passed
        connection.close()

    def await_end(self):
        """Waits until no exchange is under way."""
        while not all(each.is_over for each in self.exchanges):
            time.sleep(0.01)

    def since(self, count, end=""):
        """The exchanges after the first `count` whose path ends so."""
        return [each for each in self.exchanges[count:] if each.path.split("?")[0].endswith(end)]


def make_certificates(folder):
    """An anchor and a certificate for 127.0.0.1 from it; the path of the anchor."""
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "anchor.key", "-out", "anchor.pem", "-days", "2", "-subj", "/CN=anchor")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server")
    with open(os.path.join(folder, "names"), "w", encoding="utf-8") as file:
        file.write("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "anchor.pem", "-CAkey", "anchor.key", "-CAcreateserial",
            "-days", "2", "-extfile", "names", "-out", "server.pem")
    return os.path.join(folder, "anchor.pem")
