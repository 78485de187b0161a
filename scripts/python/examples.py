"""The examples in Swift of doc comments, of the front pages of modules and of the guides, compiled as a user of the library does."""
import glob
import os
import re
import subprocess
import tempfile

# What examples use and do not make: `vault`, `key`, `transport`…
SURROUNDINGS = "docs/site/Surroundings.swift"
FENCE = re.compile(r"^ *```swift\n(.*?)^ *```", re.M | re.S)
IMPORT = re.compile(r"^ *import (\w+)$", re.M)
# A manifest, and a program of tests, are no part of a function; tests compile them.
APART = re.compile(r"import PackageDescription|import Testing|#if canImport|\A\.product\(")


def of_symbols(root, graphs):
    """File, line and text of each example in the comments of public declarations."""
    for graph in graphs:
        for symbol in graph["symbols"]:
            comment = symbol.get("docComment")
            if not comment:
                continue
            lines = comment["lines"]
            for match in FENCE.finditer("".join(line["text"] + "\n" for line in lines)):
                # The lines are counted from 0, and the fence is one of them.
                number = match.string[:match.start()].count("\n") + 1
                file = symbol.get("location", {}).get("uri", "").removeprefix(f"file://{root}/")
                yield file, lines[number]["range"]["start"]["line"] + 1, match[1]


def of_page(root, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in FENCE.finditer(text):
        if not APART.search(match[1]):
            yield os.path.relpath(path, root), text[:match.start(1)].count("\n") + 1, match[1]


def complaints(root, build, modules, graphs):
    """What the compiler says about the examples, with the place of each."""
    import symbols
    found = {example for module in modules for example in of_symbols(root, graphs[module])}
    for pattern in ["README.md", "docs/guides/*.md", *(f"Sources/{module}/{module}.docc/*.md" for module in modules)]:
        for path in glob.glob(f"{root}/{pattern}"):
            found |= set(of_page(root, path))
    if len(found) < 30:
        return [f"only {len(found)} examples were found"]
    imports, functions = set(modules), []
    for number, (file, line, text) in enumerate(sorted(found)):
        # What only Apple's systems have stays where it is, in a branch that is not compiled here.
        imports |= set(IMPORT.findall(text)) - {"Security"}
        body = IMPORT.sub(lambda match: match[0] if match[1] == "Security" else "", text)
        functions.append(
            f"func example{number}() async throws {{\n#sourceLocation(file: \"{file}\", line: {line})\n{body}#sourceLocation()\n}}\n")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "Examples.swift")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(f"import {name}\n" for name in sorted(imports)) + "\n" + "\n".join(functions))
        done = subprocess.run(
            ["swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm",
             "-strict-memory-safety", "-Werror", "StrictMemorySafety", "-I", f"{build}/Modules",
             *symbols.clang_options(root, build), path, f"{root}/{SURROUNDINGS}"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    # Where no line has that word, the compiler itself failed.
    return ([line for line in lines if " error: " in line] or lines or ["swiftc failed"]) if done.returncode else []
