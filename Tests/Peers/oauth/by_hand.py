"""The parts alone: requests by vault-http, proofs and assertions by the verbs `dpop` and `jwt`. What the server itself checks."""
import base64
import hashlib
import json
import secrets
import time
import urllib.parse

import glewlwyd

REDIRECT = "https://app.invalid/back"


def expect(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r} instead of {wanted!r}")


def says(line):
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class ByHand:
    """A client that this script itself registered."""

    def __init__(self, world, plugin, method="client_secret_post", **more):
        self.world, self.nonce, self.asked = world, None, 0
        self.endpoint = world.url(plugin, "/token")
        status, _, body = world.tool.send("oauthRegister", world.url(plugin, "/register"), body=json.dumps({
            "redirect_uris": [REDIRECT], "client_name": "by hand", "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
            "token_endpoint_auth_method": method, **more}))
        expect(status, 200, "the registration")
        self.client, self.secret, self.plugin = json.loads(body)["client_id"], json.loads(body).get("client_secret"), plugin

    def token(self, form, key=None):
        """Status and answer; a nonce that is asked for is given, once."""
        form = {**form, "client_id": self.client, "client_secret": self.secret}
        for _ in range(2):
            headers = []
            if key:
                headers = [("DPoP", self.world.tool.proof(key, "POST", self.endpoint, self.nonce))]
            status, found, body = self.world.tool.send("oauthToken", self.endpoint, form, headers)
            self.nonce = found.get("dpop-nonce", self.nonce)
            answer = json.loads(body) if body else {}
            if answer.get("error") != "use_dpop_nonce":
                break
            self.asked += 1
        return status, answer

    def code(self):
        verifier, state = base64url(secrets.token_bytes(32)), secrets.token_hex(8)
        challenge = base64url(hashlib.sha256(verifier.encode()).digest())
        query = urllib.parse.urlencode({
            "response_type": "code", "client_id": self.client, "redirect_uri": REDIRECT, "scope": "openid g_profile",
            "state": state, "nonce": state, "code_challenge": challenge, "code_challenge_method": "S256"})
        back = self.world.server.consent(f"{self.world.url(self.plugin, '/auth')}?{query}")
        found = urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)
        expect(found["state"], [state], "the state")
        return {"grant_type": "authorization_code", "code": found["code"][0], "redirect_uri": REDIRECT,
                "code_verifier": verifier}


def parts(world):
    """What the server does, so that a step after this one shows what the tool does."""
    by_hand = ByHand(world, "strict")
    grant = by_hand.code()
    expect(by_hand.token({**grant, "code_verifier": "x" * 43})[0], 403, "a wrong verifier")
    status, first = by_hand.token(grant, "k1")
    expect((status, first["token_type"], by_hand.asked), (200, "DPoP", 1), "a code with a proof")
    refresh = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    for key in ("k2", None):
        expect(by_hand.token(refresh, key)[1].get("error"), "invalid_dpop_proof", f"a refresh with the key {key}")
    status, second = by_hand.token(refresh, "k1")
    expect((status, second["refresh_token"] == first["refresh_token"]), (200, False), "a refresh")
    expect(by_hand.token(refresh, "k1")[0], 400, "a refresh token used twice")
    replayed(world)
    assertions(world)
    says("parts: verifier, nonce, key and rotation are checked; a replayed proof and a replayed assertion are refused")


def replayed(world):
    by_hand = ByHand(world, "plain")
    form = {"grant_type": "client_credentials", "scope": glewlwyd.SCOPE, "client_id": by_hand.client,
            "client_secret": by_hand.secret}
    proof = [("DPoP", world.tool.proof("k1", "POST", by_hand.endpoint))]
    expect(world.tool.send("oauthToken", by_hand.endpoint, form, proof)[0], 200, "a proof")
    status, _, body = world.tool.send("oauthToken", by_hand.endpoint, form, proof)
    expect((status, json.loads(body)["error"]), (403, "invalid_dpop_proof"), "the same proof again")
    for what, other in [("method", ["GET", by_hand.endpoint]), ("address", ["POST", by_hand.endpoint + "/"])]:
        proof = [("DPoP", world.tool.proof("k1", *other))]
        expect(world.tool.send("oauthToken", by_hand.endpoint, form, proof)[0], 403, f"a proof for another {what}")


def assertions(world):
    jwk = json.loads(world.tool.run("key", "public", "k2", "--format", "jwk", wanted=0).out)
    by_hand = ByHand(world, "plain", "private_key_jwt", jwks={"keys": [{**jwk, "kid": "k2"}]})
    now = int(time.time())
    for audience, key, wanted in [(by_hand.endpoint, "k2", [200, 403]), (by_hand.endpoint, "k1", [403]),
                                  (world.url("plain"), "k2", [403])]:
        form = {"grant_type": "client_credentials", "scope": glewlwyd.SCOPE, "client_id": by_hand.client,
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": world.tool.assertion(key, by_hand.client, audience, now, key_id="k2")}
        found = [world.tool.send("oauthToken", by_hand.endpoint, form)[0] for _ in wanted]
        expect(found, wanted, f"an assertion of {key} for {audience}")


def decoded(part):
    """A part of a signed token."""
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
