"""The server behind `peer` and `control`: its state in one JSON file, and the operations of the guide on it.

Written from docs/guides/transport.md alone. Each operation takes the state and a checked request, changes the state and
returns the members of the answer, or raises `Refusal` with a code of the guide.
"""
import base64
import contextlib
import fcntl
import json
import os
import secrets
import time

import codes

WRONG_CODES_UNTIL_BLOCKED = 10
WRONG_UNLOCK_CODES = 5
DAY = 24 * 60 * 60


class Refusal(Exception):
    """The `error` of an answer."""

    def __init__(self, code, message, hint=None, left=None):
        super().__init__(message)
        self.code, self.message, self.hint, self.left = code, message, hint, left

    def members(self):
        members = {"code": self.code, "message": self.message, "hint": self.hint, "attemptsLeft": self.left}
        return {name: value for name, value in members.items() if value is not None}


# The state ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def changing_state():
    """The state under an exclusive lock; written back, in one piece, also when the request is refused."""
    folder = os.environ["VAULT_TEST_PEER"]
    path = os.path.join(folder, "state.json")
    with open(os.path.join(folder, "lock"), "a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        state = read_state(path)
        try:
            yield state
        finally:
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(state, file)
            os.rename(path + ".new", path)


def read_state(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"users": {}, "holders": {}, "faults": [], "requests": [], "complaints": [], "clockOffset": 0, "passed": 0}


def now():
    """The Unix time of this machine; where $VAULT_TEST_PEER_CLOCK is set, that time, which does not advance."""
    return float(os.environ.get("VAULT_TEST_PEER_CLOCK") or time.time())


def peer_time(state):
    """The clock of the peer: what TOTP and `unixTime` follow."""
    return int(now()) + state["clockOffset"]


def life_time(state):
    """What lives follow: a clock that `control advance` moves."""
    return now() + state["passed"]


def left(state, end):
    return int(end - life_time(state) + 0.999)


def random_digits(count):
    return "".join(secrets.choice("0123456789") for _ in range(count))


def new_credential(model):
    """A credential with a new secret."""
    size = {"SHA1": 20, "SHA256": 32, "SHA512": 64}[model["algorithm"]]
    return {**model, "secretHex": secrets.token_hex(size), "lastStep": -1}


def credential_members(credential):
    """A *credential* of the guide."""
    names = {"hotp": ["algorithm", "digits", "counter"], "totp": ["algorithm", "digits", "periodSeconds"],
             "ocra": ["suite", "counter"]}[credential["type"]]
    if not codes.has_counter(credential):
        names = [name for name in names if name != "counter"]
    secret = base64.b64encode(bytes.fromhex(credential["secretHex"])).decode("ascii")
    return {"type": credential["type"], "secretBase64": secret, **{name: credential[name] for name in names}}


def wrong_code(user):
    """Counts a wrong code of a credential; ten of them block it."""
    user["failures"] += 1
    remaining = WRONG_CODES_UNTIL_BLOCKED - user["failures"]
    if remaining <= 0:
        user["state"] = "blocked"
    return Refusal("CODE", "the code is wrong or was used", "make a new code", max(remaining, 0))


def judge(state, user, code, question=None, device=False):
    """Accepts a code of the credential, or of the device credential, or refuses it and counts."""
    check_active(user)
    credential = user["deviceCredential" if device else "credential"]
    if credential is None:
        raise Refusal("FORBIDDEN", "there is no device credential")
    try:
        right = codes.accept(credential, code, peer_time(state), question)
    except codes.UnsuitableData as error:
        raise Refusal("FORBIDDEN", str(error)) from None
    if not right:
        raise wrong_code(user)
    user["failures"] = 0


def check_active(user):
    if user["state"] == "blocked":
        raise Refusal("BLOCKED", "the credential is blocked", "unlock it with a code of the operator")
    if user["state"] != "active":
        raise Refusal("STATE", f"the credential is {user['state']}", "activate it again")


# The operations -----------------------------------------------------------------------------------------------------


# What makes two requests of an operation the same.
SAME = {"activationFinish": ("secretBase64", "codeBase64"), "unlockFinish": ("unlock", "codeBase64"),
        "onlineFinish": ("challenge", "code"), "consentConfirm": ("challenge", "codeBase64")}


def remember(state, owner, request, end, answer):
    """Keeps an answer that can be lost, for as long as the request can be repeated."""
    same = [request[name] for name in SAME[request["operation"]]]
    owner.setdefault("answered", {})[request["operation"]] = {"same": same, "end": end, "answer": answer}
    return answer


def repeated(state, owner, request):
    """The answer that the same request got before; None if there was none."""
    before = owner.get("answered", {}).get(request["operation"])
    same = before and before["same"] == [request[name] for name in SAME[request["operation"]]]
    return before["answer"] if same and life_time(state) <= before["end"] else None


def activated_user(state, request, code="NODEVICE"):
    """The user whose credential a request names, by peer name and device."""
    for user in state["users"].values():
        if user["peer"] == request["peer"] and user["device"] == request["device"]:
            return user
    raise Refusal(code, "no such credential of this device", "activate it again")


def activation_start(state, request):
    typed = text_of(request["codeBase64"]).replace(" ", "").replace("-", "")
    if len(typed) != 12 or not typed.isascii() or not typed.isdigit():
        raise Refusal("SN", "an activation code has 12 digits", "compare it with the letter")
    for name, user in state["users"].items():
        pending = user["pending"]
        if pending is not None and secrets.compare_digest(pending["activationCode"], typed):
            break
    else:
        raise Refusal("CODE", "that activation code is wrong or was used", "ask for a new one")
    pending.update(peer=f"{name}-{secrets.token_hex(4)}", device=request["device"], secretHex=secrets.token_hex(32),
                   secondCode=random_digits(6), end=life_time(state) + (pending["life"] or 300))
    answer = {"peer": pending["peer"], "secretBase64": base64_of(pending["secretHex"]), "lifeSeconds": pending["life"],
              "pinMode": user["pinMode"], "keepsUnlockKey": user["keepsUnlockKey"]}
    return {**answer, **user["labels"]}


def activation_finish(state, request):
    for user in state["users"].values():
        pending = user["pending"]
        if pending is not None and (pending.get("peer"), pending.get("device")) == (request["peer"], request["device"]):
            break
    else:
        finished = repeated(state, activated_user(state, request, "CODE"), request)
        if finished is None:
            raise Refusal("CODE", "that activation ended", "begin a new one")
        if "unlockKeyBase64" in request:
            activated_user(state, request)["unlockKeyHex"] = base64.b64decode(request["unlockKeyBase64"]).hex()
        return finished
    if life_time(state) > pending["end"]:
        user["pending"] = None
        raise Refusal("TIMEOUT", "the activation took too long", "begin a new one")
    secret = base64.b64decode(request["secretBase64"])
    right = secrets.compare_digest(secret, bytes.fromhex(pending["secretHex"]))
    if not right or text_of(request["codeBase64"]) != pending["secondCode"]:
        user["pending"] = None
        raise Refusal("CODE", "the second code is wrong", "begin a new activation")
    user.update(pending=None, peer=pending["peer"], device=pending["device"], state="active", failures=0, unlock=None,
                challenges={}, transactions=[], credential=new_credential(user["model"]), unlockKeyHex=None,
                deviceCredential=user["deviceModel"] and new_credential(user["deviceModel"]), answered={})
    if "unlockKeyBase64" in request:
        user["unlockKeyHex"] = base64.b64decode(request["unlockKeyBase64"]).hex()
    device = user["deviceCredential"]
    return remember(state, user, request, pending["end"], {
        "credential": credential_members(user["credential"]), "deviceCredential": device and credential_members(device),
        "unixTime": peer_time(state), **user["limits"]})


def unlock_start(state, request):
    user = activated_user(state, request)
    if user["state"] == "disabled":
        raise Refusal("STATE", "the credential is disabled", "activate it again")
    unlock = user["unlock"]
    if unlock is not None and unlock["wrong"] >= WRONG_UNLOCK_CODES:
        raise Refusal("FORBIDDEN", "five wrong codes ended the unlock", "ask the operator for another one")
    if unlock is None or life_time(state) > unlock["end"]:
        unlock = {"name": secrets.token_hex(8), "code": random_digits(8), "wrong": 0}
        unlock["end"] = life_time(state) + user["unlockLife"]
        user["unlock"] = unlock
    return {"unlock": unlock["name"], "lifeSeconds": left(state, unlock["end"]), "pinMode": user["unlockPINMode"]}


def unlock_finish(state, request):
    user = activated_user(state, request)
    unlock = user["unlock"]
    before = repeated(state, user, request)
    if before is not None:
        return before
    if user["state"] == "disabled" or unlock is None or unlock["name"] != request["unlock"]:
        raise Refusal("STATE", "no such unlock", "begin a new one")
    if unlock["wrong"] >= WRONG_UNLOCK_CODES:
        raise Refusal("FORBIDDEN", "five wrong codes ended the unlock", "ask the operator for another one")
    if life_time(state) > unlock["end"]:
        user["unlock"] = None
        raise Refusal("TIMEOUT", "the unlock took too long", "begin a new one")
    if text_of(request["codeBase64"]) != unlock["code"]:
        unlock["wrong"] += 1
        raise Refusal("CODE", "that is not the unlock code", left=WRONG_UNLOCK_CODES - unlock["wrong"])
    user.update(unlock=None, state="active", failures=0)
    if user["unlockPINMode"] == 1:
        return remember(state, user, request, unlock["end"], {})
    if user["unlockKeyHex"] is not None:
        return remember(state, user, request, unlock["end"], {"unlockKeyBase64": base64_of(user["unlockKeyHex"])})
    user["credential"] = new_credential(user["model"])
    return remember(state, user, request, unlock["end"], {"credential": credential_members(user["credential"])})


def disable(state, request):
    activated_user(state, request)["state"] = "disabled"
    return {}


def synchronize(state, request):
    user = activated_user(state, request)
    credential = user["credential"]
    user["synchronizations"].append(
        {"counter": request.get("counter"), "codes": request["codes"], "code": "code" in request})
    if user["state"] == "active":
        if "code" in request:
            judge_synchronization(state, user, request)
        if codes.has_counter(credential) and request.get("counter", 0) > credential["counter"]:
            credential["counter"] = request["counter"]
    answer = {"state": user["state"], "unixTime": peer_time(state), **user["limits"]}
    if codes.has_counter(credential):
        answer["counter"] = credential["counter"]
    return answer


def judge_synchronization(state, user, request):
    """The code shows the PIN while the two sides are apart: a counter code is of the request's counter or the one
    before, also if ours is ahead, and a code of time may be off by a day, as the clocks may."""
    credential = user["credential"]
    if credential["type"] == "ocra":
        raise Refusal("FORBIDDEN", "a code of a suite has no question here")
    expected, now = credential["counter"], peer_time(state)
    if codes.has_counter(credential):
        right = codes.accept(credential, request["code"], now, start=max(request["counter"] - 1, 0), count=2)
        credential["counter"] = max(credential["counter"], expected)
    else:
        right = codes.accept(credential, request["code"], now, spread=DAY // credential["periodSeconds"])
        credential["lastStep"] = min(credential["lastStep"], now // credential["periodSeconds"] - 1)
    if not right:
        raise wrong_code(user)
    user["failures"] = 0


def online_start(state, request):
    user = activated_user(state, request)
    check_active(user)
    challenge = {"purpose": request["purpose"], "end": life_time(state) + (user["onlineLife"] or 300)}
    answer = {"challenge": secrets.token_hex(8), "lifeSeconds": user["onlineLife"]}
    if user["credential"]["type"] == "ocra":
        challenge["question"] = request.get("question") or random_question(user["credential"]["suite"])
        if request["purpose"] == "code":
            answer["question"] = challenge["question"]
    elif request["purpose"] == "seal":
        raise Refusal("FORBIDDEN", "only a credential with a suite makes seals")
    user["challenges"][answer["challenge"]] = challenge
    return answer


def random_question(suite):
    parts = codes.ocra.parts_of(suite)
    alphabet = {"N": "0123456789", "H": "0123456789abcdef"}.get(parts["format"], codes.ocra.ALPHABETS["A"])
    return "".join(secrets.choice(alphabet) for _ in range(int(parts["length"])))


def online_finish(state, request):
    user = activated_user(state, request)
    challenge = user["challenges"].get(request["challenge"])
    before = repeated(state, user, request)
    if before is not None:
        return before
    if challenge is None:
        raise Refusal("STATE", "no such request", "begin a new one")
    if life_time(state) > challenge["end"]:
        del user["challenges"][request["challenge"]]
        raise Refusal("TIMEOUT", "the code came too late", "begin a new one")
    judge(state, user, request["code"], challenge.get("question"))
    del user["challenges"][request["challenge"]]
    user["online"].append(challenge["purpose"])
    answer = {"unixTime": peer_time(state), **user["limits"]}
    if codes.has_counter(user["credential"]):
        answer["counter"] = user["credential"]["counter"]
    return remember(state, user, request, challenge["end"], answer)


def transaction_next(state, request):
    user = activated_user(state, request)
    check_active(user)
    names = [transaction["alias"] for transaction in user["transactions"]]
    begin = names.index(request["after"]) + 1 if request.get("after") in names else 0
    for transaction in user["transactions"][begin:]:
        lapse(state, transaction)
        wanted = request.get("alias", transaction["alias"]) == transaction["alias"]
        wanted = wanted and request.get("type", transaction["action"]) == transaction["action"]
        if wanted and transaction["decision"] == "pending":
            return {"transaction": transaction_members(state, transaction)}
    return {}


def transaction_members(state, transaction):
    members = {"alias": transaction["alias"], "action": transaction["action"], **transaction["members"]}
    if transaction["life"] is not None:
        members["lifeSeconds"] = max(left(state, transaction["end"]), 1)
    return members


def lapse(state, transaction):
    if transaction["decision"] == "pending" and life_time(state) > transaction["end"]:
        transaction["decision"] = "timeout"


def transaction_answer(state, request):
    user = activated_user(state, request)
    check_active(user)
    found = [each for each in user["transactions"] if each["alias"] == request["alias"]]
    if not found:
        raise Refusal("STATE", "no such transaction")
    transaction = found[0]
    lapse(state, transaction)
    if transaction["decision"] == "timeout":
        raise Refusal("TIMEOUT", "the transaction lapsed")
    told = [request.get(name) for name in ("decision", "type", "code", "counter")]
    if transaction.get("told") == told:
        return {}
    if transaction["decision"] != "pending":
        raise Refusal("STATE", f"the transaction is decided: {transaction['decision']}")
    if request["decision"] == "accept":
        judge_acceptance(state, user, transaction, request)
    transaction.update(decision=request["decision"], told=told)
    return {}


def judge_acceptance(state, user, transaction, request):
    if request["type"] not in transaction["members"].get("types", ["pin"]):
        raise Refusal("FORBIDDEN", f"{request['type']} does not accept this transaction")
    device = request["type"] == "device"
    credential = user["deviceCredential" if device else "credential"]
    context = transaction["members"].get("context", "").encode("utf-8")
    judge(state, user, request["code"], question_of(credential, context), device)
    transaction["type"] = request["type"]


def question_of(credential, data):
    if credential is None or credential["type"] != "ocra":
        return None
    try:
        return codes.question_of_data(credential["suite"], data)
    except codes.UnsuitableData as error:
        raise Refusal("FORBIDDEN", str(error)) from None


def login(state, request):
    user = activated_user(state, request)
    data = base64.b64decode(request.get("dataBase64", ""))
    if not data and user["credential"]["type"] == "ocra":
        raise Refusal("OTHER", "a login with a suite needs data")
    judge(state, user, request["code"], question_of(user["credential"], data))
    name = secrets.token_hex(8)
    user["logins"].append({"login": name, "type": request["type"], "dataHex": data.hex()})
    return {"login": name}


def consent_request(state, request):
    holder = state["holders"].get(request["user"])
    if holder is None or request["card"] not in holder["cards"]:
        raise Refusal("FORBIDDEN", "no such user or card")
    if not holder["multiFactor"]:
        raise Refusal("FORBIDDEN", "multi-factor authentication is not enabled", "enable it in the app of the bank")
    name = f"ch-{secrets.token_hex(8)}"
    holder["challenges"][name] = {"code": random_digits(6), "end": life_time(state) + 300, "wrong": 0, "sent": 1,
                                  "card": request["card"], "channel": request.get("channel")}
    holder["last"] = name
    return {"challenge": name}


def consent_challenge(state, request):
    """The challenge that a request names, if it waits."""
    holder = state["holders"].get(request["user"], {"challenges": {}})
    challenge = holder["challenges"].get(request["challenge"])
    if challenge is None or challenge["wrong"] >= 5:
        raise Refusal("STATE", "no such challenge", "request a new one")
    if life_time(state) > challenge["end"]:
        del holder["challenges"][request["challenge"]]
        raise Refusal("TIMEOUT", "the challenge took too long", "request a new one")
    return holder, challenge


def consent_confirm(state, request):
    before = repeated(state, state["holders"].get(request["user"], {}), request)
    if before is not None:
        return before
    holder, challenge = consent_challenge(state, request)
    if text_of(request["codeBase64"]) != challenge["code"]:
        challenge["wrong"] += 1
        raise Refusal("CODE", "that is not the code of the challenge", left=5 - challenge["wrong"])
    del holder["challenges"][request["challenge"]]
    token = f"card-token-{secrets.token_hex(16)}"
    holder["tokens"].append(token)
    return remember(state, holder, request, challenge["end"], {
        "tokenBase64": base64.b64encode(token.encode("ascii")).decode("ascii"), "lifeSeconds": holder["life"]})


def consent_resend(state, request):
    consent_challenge(state, request)[1]["sent"] += 1
    return {}


def text_of(encoded):
    """A code as text: whatever is not UTF-8 is no code of this server."""
    return base64.b64decode(encoded).decode("utf-8", "replace").strip()


def base64_of(hexadecimal):
    return base64.b64encode(bytes.fromhex(hexadecimal)).decode("ascii")


OPERATIONS = {
    "activationStart": activation_start, "activationFinish": activation_finish, "unlockStart": unlock_start,
    "unlockFinish": unlock_finish, "disable": disable, "synchronize": synchronize, "onlineStart": online_start,
    "onlineFinish": online_finish, "transactionNext": transaction_next, "transactionAnswer": transaction_answer,
    "login": login, "consentRequest": consent_request, "consentConfirm": consent_confirm,
    "consentResend": consent_resend,
}
