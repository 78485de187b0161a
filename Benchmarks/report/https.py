"""P25: a request over HTTPS to this machine, by vault-http and by curl."""
import json
import os
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "Tests" / "Peers" / "https" / "server.py"
REQUEST = {"version": 1, "id": "5b1f0c0dd00dfeed5b1f0c0dd00dfeed", "operation": "login", "peer": "c-17"}


def run(spawner, vaultctl, folder):
    folder = Path(folder) / "https"
    folder.mkdir()
    with subprocess.Popen(["/usr/bin/python3", "-EB", "-W", "ignore", SERVER, folder], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as server:
        origin = f"https://127.0.0.1:{json.loads(server.stdout.readline())['ports']['good']}"
        anchors, configuration, request = folder / "anchor.pem", folder / "configuration", folder / "request"
        mapping = {"login": {"method": "POST", "path": "/echo", "send": "json", "fields": {"peer": "{peer}"}, "answer": {"login": "path"}}}
        configuration.write_text(json.dumps({"version": 1, "origins": [origin], "anchors": str(anchors), "operations": mapping}))
        configuration.chmod(0o600)
        request.write_text(json.dumps(REQUEST) + "\n")
        contenders = [
            ("curl", ["curl", "-sS", "--cacert", str(anchors), "-H", "Content-Type: application/json", "--data-binary",
                      '{"peer":"c-17"}', f"{origin}/echo"], None),
            ("vault: vault-http", [str(Path(vaultctl).with_name("vault-http")), str(configuration)], str(request)),
        ]
        race = spawner.race("start-https", "a request over HTTPS on this machine, start included", contenders, dict(os.environ))
        server.stdin.close()
    if any(reading["exit"] for reading in race["readings"]):
        sys.exit("bench: a request over HTTPS failed: " + str([(r["name"], r["exit"]) for r in race["readings"]]))
    return [race]
