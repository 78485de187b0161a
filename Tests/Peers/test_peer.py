#!/usr/bin/python3
"""Tests of the peer and its operator, as a device that follows docs/guides/transport.md sees them. Run: test_peer.py"""
import base64
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)
import codes

DEVICE = "90ad" * 8
SUITE = "OCRA-1:HOTP-SHA256-8:C-QH64"


def encoded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode("utf-8")).decode("ascii")


def decoded(text):
    return base64.b64decode(text, validate=True)


def script(name):
    """A script of this directory as a module."""
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


PEER, CONTROL = script("peer"), script("control")


class PeerTestCase(unittest.TestCase):
    """A server of its own, and the device that speaks to it.

    Peer and operator run in this process, which saves a second of each test; `FaultTests` starts them as programs.
    """

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.environment = {"VAULT_TEST_PEER": folder.name, "PATH": os.defpath}
        os.environ.update(self.environment)
        self.peer, self.credential, self.device_credential = None, None, None

    def control(self, *arguments, status=0):
        with contextlib.redirect_stdout(io.StringIO()) as output, self.assertRaises(SystemExit) as ended:
            CONTROL.main([str(argument) for argument in arguments])
        self.assertEqual(ended.exception.code, status)
        return output.getvalue().strip()

    def show(self):
        return json.loads(self.control("show"))

    def run_peer(self, line):
        return subprocess.CompletedProcess([], 0, PEER.respond(line), b"")

    def request(self, operation, /, **members):
        request = {"version": 1, "id": secrets.token_hex(16), "operation": operation}
        if not operation.startswith("consent"):
            request["device"] = DEVICE
            if operation != "activationStart":
                request["peer"] = self.peer
        return {**request, **members}

    def ask(self, operation, /, **members):
        """The members of the answer, after what every answer has."""
        request = self.request(operation, **members)
        done = self.run_peer(json.dumps(request).encode("utf-8") + b"\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(b"\n"), 1)
        answer = json.loads(done.stdout)
        self.assertEqual((answer.pop("version"), answer.pop("id")), (1, request["id"]))
        return answer

    def refused(self, error, operation, /, **members):
        answer = self.ask(operation, **members)
        self.assertEqual(answer.get("error", {}).get("code"), error, answer)
        return answer["error"]

    def start(self, activation_code):
        answer = self.ask("activationStart", codeBase64=encoded(activation_code))
        self.peer = answer["peer"]
        return answer

    def activate(self, *options):
        started = self.start(self.control("add-user", "anna", *options))
        answer = self.ask("activationFinish", secretBase64=started["secretBase64"],
                          codeBase64=encoded(self.control("second-code", "anna")),
                          **({"unlockKeyBase64": encoded(b"k" * 16)} if started["keepsUnlockKey"] else {}))
        self.credential = self.kept(answer["credential"])
        if "deviceCredential" in answer:
            self.device_credential = self.kept(answer["deviceCredential"])
        return answer

    @staticmethod
    def kept(answer):
        return {**answer, "secretHex": decoded(answer["secretBase64"]).hex()}

    def code(self, question=None, at=None, credential=None):
        """The device makes its next code."""
        credential = credential or self.credential
        counter = None
        if codes.has_counter(credential):
            counter = credential["counter"]
            credential["counter"] += 1
        seconds = codes.step_seconds(credential)
        step = int(time.time() if at is None else at) // seconds if seconds else None
        return codes.code_at(credential, counter, step, question)


class ActivationTests(PeerTestCase):
    def test_two_steps_give_a_credential_with_a_new_secret(self):
        answer = self.activate("--device-credential", "--offline-codes", 5, "--offline-seconds", 60, "--counter", 7)
        self.assertEqual(answer["credential"]["type"], "hotp")
        self.assertEqual(answer["credential"]["counter"], 7)
        self.assertEqual((answer["offlineCodes"], answer["offlineSeconds"]), (5, 60))
        self.assertNotEqual(answer["credential"]["secretBase64"], answer["deviceCredential"]["secretBase64"])
        self.assertEqual(self.show()["complaints"], [])

    def test_members_of_each_type(self):
        for options, members in [((), {"type", "secretBase64", "algorithm", "digits", "counter"}),
                                 (("--type", "totp"), {"type", "secretBase64", "algorithm", "digits", "periodSeconds"}),
                                 (("--type", "ocra"), {"type", "secretBase64", "suite", "counter"})]:
            self.assertEqual(self.activate(*options)["credential"].keys(), members)

    def test_activation_codes(self):
        code = self.control("add-user", "anna")
        self.refused("SN", "activationStart", codeBase64=encoded("12345"))
        wrong = f"{(int(code) + 1) % 10 ** 12:012}"
        self.refused("CODE", "activationStart", codeBase64=encoded(wrong))
        self.start(f"{code[:4]}-{code[4:8]} {code[8:]}")

    def test_a_wrong_second_code_ends_the_activation(self):
        code = self.control("add-user", "anna")
        started = self.start(code)
        right = encoded(self.control("second-code", "anna"))
        self.refused("CODE", "activationFinish", secretBase64=started["secretBase64"], codeBase64=encoded("x"))
        self.refused("CODE", "activationFinish", secretBase64=started["secretBase64"], codeBase64=right)
        self.refused("CODE", "activationStart", codeBase64=encoded(code))

    def test_a_wrong_activation_secret_ends_the_activation(self):
        self.start(self.control("add-user", "anna"))
        right = encoded(self.control("second-code", "anna"))
        self.refused("CODE", "activationFinish", secretBase64=encoded(b"s" * 32), codeBase64=right)

    def test_the_life_of_an_activation(self):
        for options, life in [((), 300), (("--life", 20), 20)]:
            started = self.start(self.control("add-user", "anna", *options))
            self.assertEqual(started.get("lifeSeconds", 300), life)
            self.control("advance", life + 1)
            self.refused("TIMEOUT", "activationFinish", secretBase64=started["secretBase64"],
                         codeBase64=encoded(self.control("second-code", "anna")))

    def test_a_finished_activation_is_answered_again_while_it_lives(self):
        started = self.start(self.control("add-user", "anna", "--life", 60))
        members = {"secretBase64": started["secretBase64"], "codeBase64": encoded(self.control("second-code", "anna"))}
        first = self.ask("activationFinish", **members)
        self.assertIn("credential", first)
        self.assertEqual(self.ask("activationFinish", **members), first)
        self.refused("CODE", "activationFinish", **{**members, "codeBase64": encoded("x")})
        self.assertEqual(self.ask("activationFinish", **members), first)
        self.control("advance", 61)
        self.refused("CODE", "activationFinish", **members)

    def test_another_device_has_no_credential(self):
        self.activate()
        self.refused("NODEVICE", "disable", device="00" * 16)


class CodeTests(PeerTestCase):
    def test_a_code_counts_once_in_a_window_of_ten(self):
        self.activate()
        first = self.code()
        self.assertEqual(self.control("judge", "anna", first), "accepted")
        self.assertTrue(self.control("judge", "anna", first, status=1).startswith("CODE"))
        self.credential["counter"] = 11
        self.assertEqual(self.control("judge", "anna", self.code()), "accepted")
        self.credential["counter"] = 12 + 11
        self.control("judge", "anna", self.code(), status=1)

    def test_a_time_code_may_be_a_step_off_and_counts_once(self):
        self.activate("--type", "totp", "--period", 3600)
        now = time.time()
        for hours, status in [(-2, 1), (-1, 0), (-1, 1), (0, 0), (-1, 1), (1, 0)]:
            self.control("judge", "anna", self.code(at=now + hours * 3600), status=status)

    def test_the_clock_of_the_peer(self):
        self.activate("--type", "totp")
        self.control("clock-offset", -600)
        self.control("judge", "anna", self.code(), status=1)
        self.control("judge", "anna", self.code(at=time.time() - 600))

    def test_the_clock_of_the_peer_can_be_stopped(self):
        os.environ["VAULT_TEST_PEER_CLOCK"] = "59"
        self.addCleanup(os.environ.pop, "VAULT_TEST_PEER_CLOCK")
        self.assertEqual(self.activate("--type", "totp")["unixTime"], 59)
        self.control("judge", "anna", self.code(at=59))
        self.control("judge", "anna", self.code(at=150), status=1)

    def test_a_suite_signs_data(self):
        self.activate("--type", "ocra", "--suite", SUITE)
        code = self.code(hashlib.sha256(b"Pay 12").hexdigest())
        self.control("judge", "anna", code, "--data", "Pay 13", status=1)
        self.control("judge", "anna", code, "--data", "Pay 12")
        self.control("judge", "anna", code, "--data", "Pay 12", status=1)

    def test_data_that_a_suite_takes_as_it_is(self):
        for form, data, right in [("QN08", b"12345678", True), ("QN08", b"1", False), ("QA04", b"a1", True),
                                  ("QH08", b"abcdef01", True), ("QH08", b"ABCDEF01", False)]:
            suite = f"OCRA-1:HOTP-SHA1-6:C-{form}"
            with self.subTest(suite=suite, data=data):
                if right:
                    self.assertEqual(codes.question_of_data(suite, data), data.decode("ascii"))
                else:
                    self.assertRaises(codes.UnsuitableData, codes.question_of_data, suite, data)

    def test_the_vectors_of_hotp(self):
        key = {"secretHex": b"12345678901234567890".hex(), "algorithm": "SHA1", "digits": 6}
        self.assertEqual([codes.hotp(key, counter) for counter in range(3)], ["755224", "287082", "359152"])

    def test_ten_wrong_codes_block(self):
        self.activate()
        right = self.code()
        for count in range(10):
            error = self.refused("CODE", "login", type="pin", code="x", counter=0)
            self.assertEqual(error["attemptsLeft"], 9 - count)
        self.refused("BLOCKED", "login", type="pin", code=right, counter=0)
        self.assertEqual(self.ask("synchronize", counter=1, codes=1)["state"], "blocked")

    def test_a_right_code_resets_the_count(self):
        self.activate()
        for _ in range(9):
            self.refused("CODE", "login", type="pin", code="x")
        self.ask("login", type="pin", code=self.code())
        self.assertEqual(self.refused("CODE", "login", type="pin", code="x")["attemptsLeft"], 9)


class UnlockTests(PeerTestCase):
    def blocked(self, *options):
        self.activate(*options)
        self.control("block", "anna")
        return self.ask("unlockStart")

    def finish(self, unlock, code):
        return self.ask("unlockFinish", unlock=unlock, codeBase64=encoded(code))

    def test_a_code_ends_the_block(self):
        unlock = self.blocked()
        self.assertEqual(unlock["pinMode"], 1)
        self.assertEqual(self.finish(unlock["unlock"], self.control("unlock-code", "anna")), {})
        self.assertIn("login", self.ask("login", type="pin", code=self.code()))
        self.refused("STATE", "unlockFinish", unlock=unlock["unlock"], codeBase64=encoded("1"))

    def test_an_ended_unlock_is_answered_again_while_it_lives(self):
        unlock = self.blocked("--unlock-mode", 2, "--unlock-life", 60)
        code = self.control("unlock-code", "anna")
        first = self.finish(unlock["unlock"], code)
        self.assertEqual(self.finish(unlock["unlock"], code), first)
        self.control("advance", 61)
        self.assertEqual(self.finish(unlock["unlock"], code)["error"]["code"], "STATE")

    def test_five_wrong_codes_end_the_unlock(self):
        unlock = self.blocked()["unlock"]
        right = self.control("unlock-code", "anna")
        for count in range(5):
            self.assertEqual(self.finish(unlock, "x")["error"]["attemptsLeft"], 4 - count)
        self.assertEqual(self.finish(unlock, right)["error"]["code"], "FORBIDDEN")
        self.refused("FORBIDDEN", "unlockStart")
        self.control("new-unlock", "anna")
        self.assertNotEqual(self.ask("unlockStart")["unlock"], unlock)

    def test_a_new_pin_gets_the_unlock_key(self):
        unlock = self.blocked("--keeps-unlock-key", "--pin-mode", 2, "--unlock-mode", 2)
        self.assertEqual(unlock["pinMode"], 2)
        answer = self.finish(unlock["unlock"], self.control("unlock-code", "anna"))
        self.assertEqual(decoded(answer["unlockKeyBase64"]), b"k" * 16)

    def test_a_new_pin_without_an_unlock_key_gets_a_new_secret(self):
        unlock = self.blocked("--unlock-mode", 2)
        old = self.code()
        answer = self.finish(unlock["unlock"], self.control("unlock-code", "anna"))
        self.control("judge", "anna", old, status=1)
        self.credential = self.kept(answer["credential"])
        self.control("judge", "anna", self.code())

    def test_the_life_of_an_unlock(self):
        unlock = self.blocked("--unlock-life", 60)
        self.control("advance", 61)
        self.assertEqual(self.finish(unlock["unlock"], "x")["error"]["code"], "TIMEOUT")


class SynchronizationTests(PeerTestCase):
    def test_the_larger_counter_counts(self):
        self.activate()
        self.assertEqual(self.ask("synchronize", counter=500, codes=500)["counter"], 500)
        self.control("set-counter", "anna", 900)
        self.assertEqual(self.ask("synchronize", counter=500, codes=0)["counter"], 900)

    def test_the_code_may_be_far_from_the_counter_of_the_peer(self):
        self.activate()
        for ours, peers in [(400, 0), (10, 1000)]:
            self.control("set-counter", "anna", peers)
            self.credential["counter"] = ours
            code = self.code()
            answer = self.ask("synchronize", counter=ours + 1, codes=0, code=code)
            self.assertEqual(answer["counter"], max(ours + 1, peers))
        self.refused("CODE", "synchronize", counter=2000, codes=0, code="000000")

    def test_the_clocks_may_be_apart(self):
        self.activate("--type", "totp")
        self.control("clock-offset", 5000)
        answer = self.ask("synchronize", codes=0, code=self.code())
        self.assertLess(abs(answer["unixTime"] - time.time() - 5000), 10)
        self.assertNotIn("counter", answer)
        self.control("judge", "anna", self.code(at=answer["unixTime"]))

    def test_state_and_limits_come_from_the_peer(self):
        self.activate()
        self.control("limits", "anna", "--offline-codes", 3)
        self.assertEqual(self.ask("synchronize", counter=0, codes=0)["offlineCodes"], 3)
        for command, state in [("block", "blocked"), ("unblock", "active"), ("disable", "disabled")]:
            self.control(command, "anna")
            self.assertEqual(self.ask("synchronize", counter=0, codes=0)["state"], state)
        self.refused("STATE", "onlineStart", purpose="code")

    def test_a_device_disables_itself(self):
        self.activate()
        self.assertEqual(self.ask("disable"), {})
        self.assertEqual(self.ask("synchronize", counter=0, codes=0)["state"], "disabled")


class OnlineTests(PeerTestCase):
    def test_a_code(self):
        self.activate()
        challenge = self.ask("onlineStart", purpose="code")
        self.assertNotIn("question", challenge)
        members = {"challenge": challenge["challenge"], "code": self.code(), "counter": 0}
        answer = self.ask("onlineFinish", **members)
        self.assertEqual(answer["counter"], 1)
        self.assertEqual(self.ask("onlineFinish", **members), answer)
        self.refused("STATE", "onlineFinish", challenge=challenge["challenge"], code=self.code(), counter=1)

    def test_the_question_of_a_suite(self):
        self.activate("--type", "ocra", "--suite", SUITE)
        challenge = self.ask("onlineStart", purpose="code")
        code = self.code(challenge["question"])
        self.ask("onlineFinish", challenge=challenge["challenge"], code=code, counter=0)
        question = hashlib.sha256(b"Pay 12").hexdigest()
        challenge = self.ask("onlineStart", purpose="seal", question=question)
        self.refused("CODE", "onlineFinish", challenge=challenge["challenge"], code=self.code("00"), counter=1)
        self.assertIn("counter", self.ask("onlineFinish", challenge=challenge["challenge"], code=self.code(question)))
        self.assertEqual(self.show()["users"]["anna"]["online"], ["code", "seal"])

    def test_the_peer_waits_so_long(self):
        self.activate("--online-life", 30)
        challenge = self.ask("onlineStart", purpose="code")
        self.assertEqual(challenge["lifeSeconds"], 30)
        self.control("advance", 31)
        self.refused("TIMEOUT", "onlineFinish", challenge=challenge["challenge"], code=self.code())


class TransactionTests(PeerTestCase):
    def answer(self, alias, decision, **members):
        return self.ask("transactionAnswer", alias=alias, decision=decision, **members)

    def test_none_one_and_two(self):
        self.activate()
        self.assertEqual(self.ask("transactionNext"), {})
        first, second = self.control("push", "anna"), self.control("push", "anna", "--action", "activate")
        self.assertEqual(self.ask("transactionNext")["transaction"], {"alias": first, "action": "authenticate"})
        self.assertEqual(self.ask("transactionNext", type="activate")["transaction"]["alias"], second)
        self.assertEqual(self.ask("transactionNext", alias=second)["transaction"]["alias"], second)
        self.assertEqual(self.ask("transactionNext", after=first)["transaction"]["alias"], second)
        self.assertEqual(self.ask("transactionNext", after=second), {})
        self.assertEqual(self.ask("transactionNext", after="gone")["transaction"]["alias"], first)
        self.assertEqual(self.answer(first, "reject"), {})
        self.assertEqual(self.answer(first, "reject"), {})
        self.assertEqual(self.answer(first, "cancel")["error"]["code"], "STATE")
        self.assertEqual(self.ask("transactionNext", after=first)["transaction"]["alias"], second)
        self.assertEqual(self.answer(second, "cancel"), {})
        self.assertEqual(self.ask("transactionNext"), {})
        self.assertEqual([self.control("decision", "anna", alias) for alias in (first, second)], ["reject", "cancel"])

    def test_accepted_by_a_code_over_the_context(self):
        self.activate("--type", "ocra", "--suite", SUITE, "--device-credential")
        alias = self.control("push", "anna", "--context", "Pay 12\nto Anna", "--types", "pin,device")
        context = self.ask("transactionNext")["transaction"]["context"]
        question = hashlib.sha256(context.encode("utf-8")).hexdigest()
        altered = hashlib.sha256(b"Pay 92\nto Anna").hexdigest()
        self.assertEqual(self.answer(alias, "accept", type="biometry", code="1")["error"]["code"], "FORBIDDEN")
        self.assertEqual(self.answer(alias, "accept", type="pin", code=self.code(altered))["error"]["code"], "CODE")
        code = self.code(question)
        for _ in range(2):
            self.assertEqual(self.answer(alias, "accept", type="pin", code=code, counter=1), {})
        second = self.answer(alias, "accept", type="pin", code=self.code(question), counter=2)
        self.assertEqual(second["error"]["code"], "STATE")
        alias = self.control("push", "anna", "--types", "device")
        code = self.code(credential=self.device_credential)
        self.assertEqual(self.answer(alias, "accept", type="device", code=code), {})

    def test_the_life_of_a_transaction(self):
        self.activate()
        for options, life in [((), 70), (("--life", 40), 40)]:
            alias = self.control("push", "anna", *options)
            self.control("advance", life - 5)
            transaction = self.ask("transactionNext")["transaction"]
            self.assertIn(transaction.get("lifeSeconds"), [4, 5] if options else [None])
            self.control("advance", 6)
            self.assertEqual(self.ask("transactionNext"), {})
            self.assertEqual(self.answer(alias, "reject")["error"]["code"], "TIMEOUT")
            self.assertEqual(self.control("decision", "anna", alias), "timeout")

    def test_an_answer_may_be_the_first_to_come_too_late(self):
        self.activate()
        alias = self.control("push", "anna")
        self.control("advance", 71)
        self.assertEqual(self.answer(alias, "reject")["error"]["code"], "TIMEOUT")

    def test_the_payload_of_a_push(self):
        self.activate()
        payload = json.loads(self.control("push", "anna", "--payload", "--service", "s", "--life", 9))
        self.assertEqual(payload.keys(), {"deviceAlias", "action", "alias", "serviceid", "serviceName", "time_to_live"})
        self.assertEqual(self.ask("transactionNext", alias=payload["alias"])["transaction"]["service"], "s")


class LoginTests(PeerTestCase):
    def test_with_and_without_data(self):
        self.activate()
        first = self.ask("login", type="pin", code=self.code(), counter=0)["login"]
        second = self.ask("login", type="biometry", code=self.code(), counter=1, dataBase64=encoded("data"))["login"]
        self.assertNotEqual(first, second)

    def test_with_a_suite_the_code_is_bound_to_the_data(self):
        self.activate("--type", "ocra", "--suite", SUITE)
        question = hashlib.sha256(b"data").hexdigest()
        self.refused("CODE", "login", type="pin", code=self.code(question), counter=0, dataBase64=encoded("other"))
        self.ask("login", type="pin", code=self.code(question), counter=1, dataBase64=encoded("data"))
        self.refused("OTHER", "login", type="pin", code=self.code(question), counter=2)


class RequestTests(PeerTestCase):
    """The peer is strict, so that a test of ours sees what leaves the guide."""

    def test_what_is_no_request(self):
        self.activate()
        good = json.dumps(self.request("synchronize", counter=0, codes=0)).encode("utf-8")
        lines = [b"", b"{}\n", good, good + b"\n\n", good[:-1] + b',"counter":1}\n']
        for old, new in [(b'codes": 0', b'codes": 0.0'), (b'codes": 0', b'codes": -1'), (b'codes": 0', b'codes": true'),
                         (b'version": 1', b'version": 2'), (b"90ad", b"90AD")]:
            lines.append(good.replace(old, new) + b"\n")
        for line in lines:
            self.assertEqual(json.loads(self.run_peer(line).stdout)["error"]["code"], "OTHER", line)
        self.assertEqual(len(self.show()["complaints"]), len(lines))

    def test_a_member_that_the_guide_does_not_name_is_noted(self):
        self.activate()
        self.ask("disable", color="red")
        self.assertEqual(self.show()["complaints"], ["disable has color"])

    def test_members_that_do_not_go_together(self):
        self.activate()
        for operation, members in [("onlineStart", {"purpose": "seal"}),
                                   ("onlineStart", {"purpose": "code", "question": "1"}),
                                   ("transactionAnswer", {"alias": "a", "decision": "reject", "code": "1"}),
                                   ("transactionAnswer", {"alias": "a", "decision": "accept", "type": "pin"})]:
            self.refused("OTHER", operation, **members)


class FaultTests(PeerTestCase):
    def control(self, *arguments, status=0):
        done = subprocess.run([os.path.join(HERE, "control"), *map(str, arguments)], env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.strip()

    def run_peer(self, line):
        return subprocess.run([os.path.join(HERE, "peer")], env=self.environment, input=line, capture_output=True,
                              check=False)

    def output(self, fault, *options):
        self.control("fault", fault, *options)
        return self.run_peer(json.dumps(self.request("synchronize", counter=3, codes=0)).encode("utf-8") + b"\n")

    def setUp(self):
        super().setUp()
        self.activate()

    def counter(self):
        return self.show()["users"]["anna"]["credential"]["counter"]

    def test_faults_before_the_work_change_nothing(self):
        for fault, status in [("exit1", 1), ("sigpipe", -signal.SIGPIPE), ("sigkill", -signal.SIGKILL)]:
            done = self.output(fault)
            self.assertEqual((done.returncode, done.stdout, self.counter()), (status, b"", 0))
        error = json.loads(self.output("error:BLOCKED:2").stdout)["error"]
        self.assertEqual((error["code"], error["attemptsLeft"], self.counter()), ("BLOCKED", 2, 0))
        with self.assertRaises(subprocess.TimeoutExpired):
            self.control("fault", "hang")
            subprocess.run([os.path.join(HERE, "peer")], env=self.environment, timeout=0.5, check=False,
                           input=json.dumps(self.request("disable")).encode("utf-8") + b"\n")
        self.assertEqual(self.show()["users"]["anna"]["state"], "active")

    def test_a_lost_answer_comes_after_the_work(self):
        done = self.output("lost")
        self.assertEqual((done.returncode, done.stdout, self.counter()), (1, b"", 3))

    def test_broken_answers(self):
        good = self.output("stderr")
        self.assertEqual(good.stderr, b"a line that nobody sees\n")
        for fault in ["half", "empty", "not-json", "nul", "not-utf8"]:
            with self.assertRaises(ValueError, msg=fault):
                json.loads(self.output(fault).stdout.decode("utf-8"))
        self.assertIsInstance(json.loads(self.output("array").stdout), list)
        self.assertEqual(self.output("twice").stdout.count(b"\n"), 2)
        self.assertGreater(len(self.output("big").stdout), 2 * 1024 * 1024)
        self.assertEqual(json.loads(self.output("wrong-id").stdout)["id"], "0" * 32)
        self.assertEqual(json.loads(self.output("wrong-version").stdout)["version"], 2)
        self.assertEqual(self.output("duplicate").stdout.count(b'"version"'), 2)
        self.assertIn(b"[[[[", self.output("deep").stdout)
        self.assertEqual(json.loads(self.output("unknown-members").stdout)["y"], [1.5, -2, {"z": "é"}])

    def test_altered_members(self):
        self.assertNotIn("state", json.loads(self.output("without:state").stdout))
        self.assertEqual(json.loads(self.output("member:counter=18446744073709551615").stdout)["counter"], 2 ** 64 - 1)

    def test_a_fault_waits_for_its_operation(self):
        self.assertIn("state", json.loads(self.output("wrong-id", "--operation", "login").stdout))
        self.assertEqual(len(self.show()["faults"]), 1)

    def test_requests_in_parallel_wait_for_one_another(self):
        line = json.dumps(self.request("login", type="pin", code=self.code())).encode("utf-8") + b"\n"
        runs = [subprocess.Popen([os.path.join(HERE, "peer")], env=self.environment, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE) for _ in range(8)]
        for run in runs:
            run.stdin.write(line)
            run.stdin.close()
        answers = []
        for run in runs:
            with run.stdout:
                answers.append(json.load(run.stdout))
            run.wait()
        self.assertEqual(sum("login" in answer for answer in answers), 1)
        self.assertEqual(self.show()["users"]["anna"]["failures"], 7)


class ConsentTests(PeerTestCase):
    """A person with a card, whose system wants a consent."""

    def setUp(self):
        super().setUp()
        self.control("add-holder", "u-17", "c-4", "--life", 60)

    def challenge(self, **members):
        return self.ask("consentRequest", user="u-17", card="c-4", **members)["challenge"]

    def code(self):
        return encoded(self.control("consent-code", "u-17"))

    def test_code_gives_one_token(self):
        name = self.challenge(channel="sms")
        code = self.code()
        answer = self.ask("consentConfirm", user="u-17", challenge=name, codeBase64=code)
        self.assertEqual(decoded(answer["tokenBase64"]).decode("ascii"), self.control("consent-token", "u-17"))
        self.assertEqual(answer["lifeSeconds"], 60)
        again = {"user": "u-17", "challenge": name, "codeBase64": code}
        self.assertEqual(self.ask("consentConfirm", **again), answer)
        self.control("advance", 301)
        self.refused("STATE", "consentConfirm", **again)
        self.assertEqual(self.show()["complaints"], [])

    def test_five_wrong_codes(self):
        name, right = self.challenge(), self.code()
        wrong = encoded("000000" if decoded(right) != b"000000" else "000001")
        for left in (4, 3, 2, 1, 0):
            error = self.refused("CODE", "consentConfirm", user="u-17", challenge=name, codeBase64=wrong)
            self.assertEqual(error["attemptsLeft"], left)
        self.refused("STATE", "consentConfirm", user="u-17", challenge=name, codeBase64=right)

    def test_life_and_resend(self):
        name, code = self.challenge(), self.code()
        self.control("advance", 290)
        self.assertEqual(self.ask("consentResend", user="u-17", challenge=name), {})
        self.assertEqual(self.code(), code)
        self.control("advance", 11)
        self.refused("TIMEOUT", "consentConfirm", user="u-17", challenge=name, codeBase64=code)
        self.refused("STATE", "consentResend", user="u-17", challenge=name)

    def test_refusals(self):
        self.control("add-holder", "u-2", "c-5", "--no-multi-factor")
        error = self.refused("FORBIDDEN", "consentRequest", user="u-2", card="c-5")
        self.assertEqual(error["message"], "multi-factor authentication is not enabled")
        self.assertTrue(error["hint"])
        self.refused("FORBIDDEN", "consentRequest", user="u-17", card="c-5")
        self.refused("OTHER", "consentRequest", user="u-17", card="")
        self.refused("OTHER", "consentRequest", user="u-17", card="c-4", device=DEVICE)
        for code in ("12345", "1234567", "12345a"):
            self.refused("OTHER", "consentConfirm", user="u-17", challenge="x", codeBase64=encoded(code))


if __name__ == "__main__":
    unittest.main()
