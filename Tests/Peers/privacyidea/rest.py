"""The REST API of privacyIDEA, as much of it as the transport and `run` need."""
import json
import urllib.error
import urllib.parse
import urllib.request


class Unreachable(Exception):
    """No answer, or none of privacyIDEA."""


class Refused(Exception):
    """privacyIDEA answered with an error."""


class Server:
    """A server, and what an administrator may do there if there is a token of one."""

    def __init__(self, url, token=None):
        self.url, self.token = url, token

    def log_in(self, name, password):
        self.token = self.post("/auth", username=name, password=password)["result"]["value"]["token"]

    def post(self, path, **values):
        # As JSON: from a form the server takes %41 for A, also in a code.
        return self.call(path, data=json.dumps(values).encode("utf-8"))

    def get(self, path, **values):
        return self.call(f"{path}?{urllib.parse.urlencode(values)}")

    def delete(self, path):
        return self.call(path, method="DELETE")

    def call(self, path, data=None, method=None):
        headers = {"Content-Type": "application/json"} if data else {}
        if self.token:
            headers["Authorization"] = self.token
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=50) as answer:
                return self.read(answer)
        except urllib.error.HTTPError as error:
            with error:
                message = self.read(error)["result"]["error"]["message"]
            raise Refused(message) from None
        except OSError as error:
            raise Unreachable(str(error)) from None

    @staticmethod
    def read(answer):
        try:
            members = json.load(answer)
            members["result"]
            return members
        except (ValueError, KeyError, TypeError):
            raise Unreachable("that is no answer of privacyIDEA") from None

    # What the transport asks.

    def is_right(self, serial, code, **values):
        """Whether a token accepts a code. Wrong ones count there."""
        return self.post("/validate/check", serial=serial, **{"pass": code}, **values)["result"]["value"] is True

    def new_token(self, kind, **values):
        """A new token: its serial number and what else the enrollment tells."""
        return self.post("/token/init", type=kind, **values)["detail"]

    def token_state(self, serial):
        """The token as the list of tokens has it; None if there is none."""
        tokens = self.get("/token/", serial=serial)["result"]["value"]["tokens"]
        return tokens[0] if tokens else None
