"""Describes the machine of the measurements, and the versions of the peers."""
import os
import platform
import re
import subprocess


def first_line(*words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines and done.returncode == 0 else None


def package(name):
    version = first_line("dpkg-query", "-W", "-f=${Version}", name)
    return version or "absent"


def describe(folder):
    cpu = open("/proc/cpuinfo").read()
    model = re.search(r"model name\s*:\s*(.*)", cpu)
    flags = set(re.search(r"flags\s*:\s*(.*)", cpu)[1].split())
    wanted = ["sha_ni", "avx2", "avx512f", "vaes", "vpclmulqdq"]
    memory = re.search(r"MemTotal:\s*(\d+)", open("/proc/meminfo").read())
    return {
        "processor": model[1] if model else platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "extensions": [w for w in wanted if w in flags],
        "memoryGiB": round(int(memory[1]) / 2**20),
        "kernel": platform.release(),
        "file system": first_line("stat", "-f", "-c", "%T", folder),
        "swift": first_line("swift", "--version"),
        "openssl": first_line("openssl", "version"),
        "load at start": os.getloadavg()[0],
        "packages": {
            name: package(name)
            for name in ("libssl3", "libsqlite3-0", "libargon2-1", "liboath0", "oathtool", "libsodium23", "liblmdb0",
                         "python3-pyotp", "gnome-keyring", "libsecret-tools", "pass", "gnupg", "keepassxc", "keyutils",
                         "age", "systemd")
        },
    }
