"""A counting server that is not ours: pam_oath, asked through libpam in this process (under libpam_wrapper).

Usage: oath_server.py SERVICE USER, with LD_PRELOAD=libpam_wrapper.so, PAM_WRAPPER=1 and PAM_WRAPPER_SERVICE_DIR set.
Reads one code per line from standard input, and prints "yes" or "no" for each: whether PAM lets the user in with it.
"""

import ctypes
import sys

pam = ctypes.CDLL(None)  # the wrapper, which stands before libpam
libc = ctypes.CDLL("libc.so.6")
libc.calloc.restype = ctypes.c_void_p
libc.strdup.restype = ctypes.c_void_p


class Message(ctypes.Structure):
    _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]


class Response(ctypes.Structure):
    _fields_ = [("text", ctypes.c_void_p), ("code", ctypes.c_int)]


Talk = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.POINTER(Message)), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p
)


class Conversation(ctypes.Structure):
    _fields_ = [("talk", Talk), ("context", ctypes.c_void_p)]


def lets_in(service, user, code):
    def talk(count, messages, answers, context):
        responses = libc.calloc(count, ctypes.sizeof(Response))
        for index in range(count):
            response = Response.from_address(responses + index * ctypes.sizeof(Response))
            response.text = libc.strdup(code.encode())
        answers[0] = responses
        return 0

    conversation = Conversation(Talk(talk), None)
    handle = ctypes.c_void_p()
    if pam.pam_start(service.encode(), user.encode(), ctypes.byref(conversation), ctypes.byref(handle)) != 0:
        sys.exit("pam_start failed")
    result = pam.pam_authenticate(handle, 0)
    pam.pam_end(handle, result)
    return result == 0


for line in sys.stdin:
    print("yes" if lets_in(sys.argv[1], sys.argv[2], line.strip()) else "no", flush=True)
