"""Glewlwyd, a server of OAuth and OpenID Connect, on the loopback interface: started, set up, and ended with the `with` block."""
import base64
import gzip
import http.cookiejar
import json
import os
import secrets
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

USER = "anna"
SCOPE = "g_profile"

CONFIGURATION = """
port={port}
bind_address="127.0.0.1"
external_url="{front}"
login_url="login.html"
api_prefix="api"
log_mode="file"
log_level="DEBUG"
log_file="{folder}/glewlwyd.log"
cookie_domain="127.0.0.1"
cookie_secure=0
session_expiration=2419200
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="{scope}"
user_module_path="{modules}/user/"
user_middleware_module_path="{folder}/none/"
client_module_path="{modules}/client/"
user_auth_scheme_module_path="{modules}/scheme/"
plugin_module_path="{modules}/plugin/"
hash_algorithm="SHA512"
database={{type="sqlite3" path="{folder}/glewlwyd.db"}}
"""


def find_root():
    """The directory that has usr/bin/glewlwyd: where the packages were unpacked, or the system's own."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    roots = [os.environ.get("VAULT_GLEWLWYD"), os.path.join(cache, "vault-peers", "glewlwyd"), "/"]
    for root in filter(None, roots):
        if os.access(os.path.join(root, "usr/bin/glewlwyd"), os.X_OK):
            return os.path.abspath(root)
    sys.exit("run: Glewlwyd is missing; scripts/install-deps --oauth-peer gets it")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Glewlwyd:
    """The server. Its plugins, each an OpenID provider below /api/NAME, are the ways in which it can be set up."""

    def __init__(self, folder, front):
        self.root, self.folder, self.front = find_root(), folder, front
        self.port = free_port()
        self.libraries = os.path.join(self.root, "usr/lib")
        self.admin, self.user = Session(self.port), Session(self.port)

    def __enter__(self):
        self.write_database()
        with open(os.path.join(self.folder, "glewlwyd.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=self.port, front=self.front, folder=self.folder, scope=SCOPE,
                                            modules=os.path.join(self.libraries, "glewlwyd")))
        os.mkdir(os.path.join(self.folder, "none"))
        environment = dict(os.environ)
        if self.root != "/":
            machine = os.listdir(self.libraries)
            environment["LD_LIBRARY_PATH"] = ":".join(
                os.path.join(self.libraries, name) for name in machine if name.endswith("-linux-gnu"))
        self.process = subprocess.Popen(
            [os.path.join(self.root, "usr/bin/glewlwyd"), "-c", os.path.join(self.folder, "glewlwyd.conf")],
            env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        self.log_in_when_it_listens()
        self.password = secrets.token_hex(16)
        self.admin.expect(200, "POST", "/api/user/", {
            "username": USER, "name": "Anna", "password": self.password, "scope": [SCOPE, "openid"], "enabled": True})
        self.user.expect(200, "POST", "/api/auth/", {"username": USER, "password": self.password})
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def write_database(self):
        """The tables of the package, and one property of clients more: whether their tokens must be bound."""
        script = os.path.join(self.root, "usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")
        with sqlite3.connect(os.path.join(self.folder, "glewlwyd.db")) as database, gzip.open(script, "rt") as text:
            database.executescript(text.read())
            (found,) = database.execute("SELECT gcmi_parameters FROM g_client_module_instance").fetchone()
            parameters = json.loads(found)
            parameters["data-format"]["dpop_bound_access_tokens"] = {"multiple": False, "read": True, "write": True}
            database.execute("UPDATE g_client_module_instance SET gcmi_parameters = ?", [json.dumps(parameters)])
        database.close()

    def log_in_when_it_listens(self):
        for _ in range(200):
            try:
                return self.admin.expect(200, "POST", "/api/auth/", {"username": "admin", "password": "password"})
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"run: Glewlwyd ended with {self.process.returncode}")
                time.sleep(0.05)
        sys.exit("run: Glewlwyd does not answer")

    # What its operator does.

    def add_plugin(self, name, nonce, rotates):
        """An OpenID provider that asks for a nonce in proofs, and gives a new refresh token for each old one, or not."""
        key = os.path.join(self.folder, f"{name}.pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key],
                       check=True, capture_output=True)
        public = subprocess.run(["openssl", "pkey", "-in", key, "-pubout"], check=True, capture_output=True, text=True)
        with open(key, encoding="utf-8") as file:
            private = file.read()
        parameters = {
            "iss": f"{self.front}/api/{name}", "jwt-type": "rsa", "jwt-key-size": "256", "key": private,
            "cert": public.stdout, "access-token-duration": 3600, "refresh-token-duration": 1209600,
            "code-duration": 600, "refresh-token-rolling": True,
            "refresh-token-one-use": "always" if rotates else "never", "allow-non-oidc": True,
            "auth-type-client-enabled": True, "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True,
            "auth-type-token-enabled": False, "auth-type-id-token-enabled": True, "auth-type-none-enabled": False,
            "auth-type-password-enabled": False, "auth-type-refresh-enabled": True, "auth-type-device-enabled": False,
            "pkce-allowed": True, "pkce-method-plain-allowed": False, "pkce-required": True,
            "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 60, "oauth-dpop-iat-gap-duration": 5,
            "oauth-dpop-nonce-mandatory": nonce, "oauth-dpop-nonce-counter": 2,
            "oauth-dpop-dpop_bound_access_tokens-property": "dpop_bound_access_tokens",
            "subject-type": "public", "address-claim": {"type": "no"}, "claims": [], "scope": [],
            "additional-parameters": [], "introspection-revocation-allowed": True,
            "introspection-revocation-auth-scope": [SCOPE], "introspection-revocation-allow-target-client": True,
            "register-client-allowed": True, "register-client-auth-scope": [],
            "register-client-credentials-scope": [SCOPE], "request-parameter-allow": True, "request-maximum-exp": 300,
            "client-pubkey-parameter": "pubkey", "client-jwks-parameter": "jwks", "client-jwks_uri-parameter": "jwks_uri",
        }
        self.admin.expect(200, "POST", "/api/mod/plugin", {
            "module": "oidc", "name": name, "display_name": name, "parameters": parameters, "enabled": True})

    def change_client(self, identifier, **properties):
        client = self.admin.expect(200, "GET", f"/api/client/{identifier}")
        self.admin.expect(200, "PUT", f"/api/client/{identifier}", {**client, **properties})

    def is_active(self, plugin, token, client, secret):
        """What the server itself says of a token to its client, one of `client_secret_basic` (RFC 7662)."""
        status, _, body = Session(self.port).call("POST", f"/api/{plugin}/introspect", {"token": token}, True, (client, secret))
        if status != 200:
            raise AssertionError(f"introspection: {status} {body}")
        return json.loads(body)["active"]

    # What its user does in a browser.

    def consent(self, address):
        """Follows the address that the tool printed, and agrees: the address to which the server leads back."""
        parts = urllib.parse.urlsplit(address)
        query = urllib.parse.parse_qs(parts.query, strict_parsing=True)
        client = query["client_id"][0]
        self.user.expect(200, "PUT", f"/api/auth/grant/{client}", {"scope": query["scope"][0]})
        status, headers, body = self.user.call("GET", f"{parts.path}?{parts.query}&g_continue")
        target = headers.get("location", "")
        if status != 302 or "code=" not in target:
            raise AssertionError(f"the authorization: {status} {target} {body}")
        return target


class Session:
    """Requests with the cookies of one user."""

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), self.NoRedirect,
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def call(self, method, path, body=None, form=False, client=None):
        data, headers = None, {}
        if client:
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(client).encode()).decode()
        if body is not None:
            data = (urllib.parse.urlencode(body) if form else json.dumps(body)).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded" if form else "application/json"
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            reply = self.opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            reply = error
        with reply:
            return reply.status, {name.lower(): value for name, value in reply.headers.items()}, reply.read().decode()

    def expect(self, wanted, method, path, body=None):
        status, _, text = self.call(method, path, body)
        if status != wanted:
            raise AssertionError(f"{method} {path}: {status} {text[:500]}")
        return json.loads(text) if text else None
