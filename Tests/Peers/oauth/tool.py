"""`vaultctl` and `vault-http` as the client: a vault in a home of its own, and a configuration of vault-http as its transport."""
import base64
import json
import os
import secrets
import subprocess
import urllib.parse


class Tool:
    """Each run of a program is a process of its own. Secrets go through pipes."""

    def __init__(self, vaultctl, vault_http, folder, front):
        self.program, self.folder, self.said = os.path.abspath(vaultctl), folder, []
        home = os.path.join(folder, "home")
        os.mkdir(home, 0o700)
        self.environment = {"HOME": home, "PATH": os.defpath}
        # The first line of a configuration holds a path without a space.
        self.interpreter = os.path.join(folder, "vault-http")
        os.symlink(os.path.abspath(vault_http), self.interpreter)
        self.transport = os.path.join(folder, "transport")
        configuration = {"version": 1, "origins": [front.origin], "mapping": "oauth", "anchors": front.anchor}
        with open(os.open(self.transport, os.O_WRONLY | os.O_CREAT, 0o700), "w", encoding="utf-8") as file:
            file.write(f"#!{self.interpreter}\n{json.dumps(configuration)}\n")
        self.run("init", "--no-passcode", wanted=0)

    def start(self, *words, transport=False, passes=()):
        """A running command, which also gets the descriptors `passes`."""
        words = [self.program, *words, "--no-input"]
        if transport:
            words += ["--transport", self.transport]
        return subprocess.Popen(words, env=self.environment, pass_fds=passes, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words, wanted=None, **options):
        process = self.start(*words, **options)
        process.out, process.err = process.communicate(timeout=120)
        self.said.append(process.err)
        if wanted is not None and process.returncode != wanted:
            raise AssertionError(f"{' '.join(words)}: {process.returncode} instead of {wanted}: {process.err.strip()}")
        return process

    def json(self, *words, **options):
        return json.loads(self.run(*words, "--json", wanted=0, **options).out)

    def has_helper(self):
        """Whether our vault-http runs."""
        for each in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{each}/cmdline", "rb") as file:
                    if self.interpreter.encode() in file.read():
                        return True
            except OSError:
                continue
        return False

    # A request without the verbs of `oauth`.

    def send(self, operation, url, form=None, headers=(), body=None):
        """One request through vault-http: status, headers and body of the reply."""
        request = {"version": 1, "id": secrets.token_hex(16), "operation": operation, "url": url}
        if form is not None:
            body = urllib.parse.urlencode(form)
        if body is not None:
            request["bodyBase64"] = base64.b64encode(body.encode()).decode()
        if headers:
            lines = "".join(f"{name}: {value}\n" for name, value in headers)
            request["headersBase64"] = base64.b64encode(lines.encode()).decode()
        done = subprocess.run([self.transport], input=json.dumps(request) + "\n", env=self.environment, check=True,
                              capture_output=True, text=True)
        answer = json.loads(done.stdout)
        if answer["id"] != request["id"] or "error" in answer:
            raise AssertionError(f"vault-http: {done.stdout}")
        found = {}
        for line in base64.b64decode(answer.get("headersBase64", "")).decode().splitlines():
            name, _, value = line.partition(": ")
            found[name] = value
        return answer["status"], found, base64.b64decode(answer.get("bodyBase64", "")).decode()

    def proof(self, key, method, url, nonce=None):
        words = ["dpop", key, "--method", method, "--url", url]
        return self.run(*words, *(["--nonce", nonce] if nonce else []), wanted=0).out.strip()

    def assertion(self, key, client, audience, now, key_id):
        """What a client signs to say who it is (RFC 7523)."""
        claims = {"iss": client, "sub": client, "aud": audience, "jti": secrets.token_hex(16), "iat": now, "exp": now + 120}
        path = os.path.join(self.folder, "claims")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(claims, file)
        with open(path, encoding="utf-8") as file:
            done = subprocess.run([self.program, "jwt", "sign", key, "--kid", key_id, "--no-input"], stdin=file, check=True,
                                  env=self.environment, capture_output=True, text=True)
        return done.stdout.strip()
