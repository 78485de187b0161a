#!/usr/bin/python3
"""Signed tokens a second time, from RFC 7515, 7517, 7518 and 8037 alone, with the ciphers of `cryptography`.

  jose_reference.py verify FILE        each line {"jwk": {...}, "token": "..."}; prints how many are right
  jose_reference.py make COUNT ALGS    prints COUNT such lines, of the algorithms ALGS in turn
"""
import base64, json, os, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVES = {"ES256": ("P-256", ec.SECP256R1(), 32, hashes.SHA256()), "ES384": ("P-384", ec.SECP384R1(), 48, hashes.SHA384())}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    assert b64(data) == text, "not canonical"
    return data


def number(text):
    return int.from_bytes(unb64(text), "big")


def check(jwk, token):
    head, body, signature = token.split(".")
    algorithm, message, signature = json.loads(unb64(head))["alg"], f"{head}.{body}".encode(), unb64(signature)
    unb64(body)
    if algorithm in CURVES:
        name, curve, size, digest = CURVES[algorithm]
        assert (jwk["kty"], jwk["crv"], len(signature)) == ("EC", name, 2 * size)
        key = ec.EllipticCurvePublicNumbers(number(jwk["x"]), number(jwk["y"]), curve).public_key()
        r, s = int.from_bytes(signature[:size], "big"), int.from_bytes(signature[size:], "big")
        key.verify(encode_dss_signature(r, s), message, ec.ECDSA(digest))
    elif algorithm == "RS256":
        assert jwk["kty"] == "RSA"
        key = rsa.RSAPublicNumbers(number(jwk["e"]), number(jwk["n"])).public_key()
        key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
    elif algorithm == "EdDSA":
        assert (jwk["kty"], jwk["crv"]) == ("OKP", "Ed25519")
        ed25519.Ed25519PublicKey.from_public_bytes(unb64(jwk["x"])).verify(signature, message)
    elif algorithm == "HS256":
        assert jwk["kty"] == "oct"
        code = hmac.HMAC(unb64(jwk["k"]), hashes.SHA256())
        code.update(message)
        code.verify(signature)
    else:
        raise AssertionError("unknown algorithm " + algorithm)


def signer(algorithm, keys={}):
    """A key, its JWK, and a function that signs; RSA keys serve for the whole run."""
    if algorithm in CURVES:
        name, curve, size, digest = CURVES[algorithm]
        key = ec.generate_private_key(curve)
        point = key.public_key().public_numbers()
        jwk = {"kty": "EC", "crv": name, "x": b64(point.x.to_bytes(size, "big")), "y": b64(point.y.to_bytes(size, "big"))}

        def sign(message):
            r, s = decode_dss_signature(key.sign(message, ec.ECDSA(digest)))
            return r.to_bytes(size, "big") + s.to_bytes(size, "big")
        return jwk, sign
    if algorithm == "RS256":
        key = keys.setdefault("rsa", None) or keys.update(rsa=rsa.generate_private_key(65537, 2048)) or keys["rsa"]
        n, e = key.public_key().public_numbers().n, key.public_key().public_numbers().e
        jwk = {"kty": "RSA", "n": b64(n.to_bytes(256, "big")), "e": b64(e.to_bytes(3, "big"))}
        return jwk, lambda message: key.sign(message, padding.PKCS1v15(), hashes.SHA256())
    if algorithm == "EdDSA":
        key = ed25519.Ed25519PrivateKey.generate()
        raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return {"kty": "OKP", "crv": "Ed25519", "x": b64(raw)}, key.sign
    secret = os.urandom(32 + os.urandom(1)[0] % 64)

    def code(message):
        made = hmac.HMAC(secret, hashes.SHA256())
        made.update(message)
        return made.finalize()
    return {"kty": "oct", "k": b64(secret)}, code


def make(count, algorithms):
    for index in range(count):
        algorithm = algorithms[index % len(algorithms)]
        jwk, sign = signer(algorithm)
        message = b64(json.dumps({"alg": algorithm}).encode()) + "." + b64(os.urandom(os.urandom(1)[0]))
        print(json.dumps({"jwk": jwk, "token": message + "." + b64(sign(message.encode()))}))


def verify(path):
    right = wrong = 0
    for line in open(path):
        case = json.loads(line)
        try:
            check(case["jwk"], case["token"])
            right += 1
        except (InvalidSignature, AssertionError, ValueError, KeyError) as error:
            wrong += 1
            if wrong <= 3:  # more than a pipe holds would stop this program
                print(f"wrong: {error!r} {line}", file=sys.stderr)
    print(right)


if __name__ == "__main__":
    if sys.argv[1] == "verify":
        verify(sys.argv[2])
    else:
        make(int(sys.argv[2]), sys.argv[3].split(","))
