"""The targets of Package.swift and what depends on what: the one table of the layers."""
import collections
import json
import os
import subprocess
import tempfile


class Package:
    def __init__(self, root="."):
        # In its usual place, a build of somebody else would have to end first.
        with tempfile.TemporaryDirectory() as scratch:
            dump = subprocess.run(["swift", "package", "--package-path", root, "--scratch-path", scratch, "dump-package"],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
        manifest = json.loads(dump)
        self.directories, self.tests, self.programs, self.users = {}, set(), set(), collections.defaultdict(set)
        self.depends = {}
        self.products = [product["name"] for product in manifest["products"]]
        for target in manifest["targets"]:
            name, is_test = target["name"], target["type"] == "test"
            self.directories[(target.get("path") or f"{'Tests' if is_test else 'Sources'}/{name}") + "/"] = name
            if is_test:
                self.tests.add(name)
            if target["type"] == "executable":
                self.programs.add(name)
            self.depends[name] = {next(iter(kinds.values()))[0] for kinds in target["dependencies"]}
            for dependency in self.depends[name]:
                self.users[dependency].add(name)

    def target(self, path):
        return next((name for directory, name in self.directories.items() if path.startswith(directory)), None)

    def rooms(self, root="."):
        """The targets below Sources that are Swift."""
        return sorted(name for directory, name in self.directories.items() if directory.startswith("Sources/")
                      and not directory.startswith("Sources/CSystem/") and os.path.isdir(os.path.join(root, directory)))

    def below(self, targets):
        """These targets and all that they depend on."""
        found, todo = set(), [*targets]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo += self.depends.get(one, ())
        return found

    def tests_of(self, room):
        if room + "Tests" in self.tests:
            return {room + "Tests"}
        return {test for user in self.users[room] for test in ({user} if user in self.tests else self.tests_of(user))}
