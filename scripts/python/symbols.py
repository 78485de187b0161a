"""The declarations of a module as the compiler lists them for documentation: symbol graphs."""
import glob
import json
import os
import shutil
import subprocess
import tempfile

# What VaultKit exports: a program that imports VaultKit imports these too.
EXPORTED = ["VaultFormat", "DeviceKeys", "VaultKeys", "SealedStorage", "ErrorRecovery", "VaultLogging"]


def target():
    shown = subprocess.run(["swift", "-print-target-info"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(shown)["target"]["unversionedTriple"]


def public(root):
    """The modules that have documentation: those that a program imports."""
    return sorted(os.path.basename(path)[:-5] for path in glob.glob(f"{root}/Sources/*/*.docc"))


def clang_options(root, build):
    """How the compiler finds the modules of C that ours are built on."""
    maps = glob.glob(f"{root}/Sources/CSystem/*/module.modulemap") + glob.glob(f"{build}/*.build/module.modulemap")
    return [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]


def extract(root, module, level, build, directory, options=()):
    """Writes the declarations of a module of a build as symbol graphs, and returns their paths."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    done = subprocess.run(
        ["swift-symbolgraph-extract", "-module-name", module, "-target", target(), "-I", f"{build}/Modules",
         "-minimum-access-level", level, "-skip-synthesized-members", "-skip-inherited-docs", "-output-dir", directory,
         f"-experimental-allowed-reexported-modules={','.join(EXPORTED)}", *clang_options(root, build), *options],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"swift-symbolgraph-extract of {module} failed: {done.stderr.strip()}")
    return sorted(glob.glob(f"{directory}/*.symbols.json"))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def count(root, module, build):
    """How many public symbols a program sees that imports the module."""
    with tempfile.TemporaryDirectory() as directory:
        paths = extract(root, module, "public", os.path.abspath(build), f"{directory}/graphs")
        return len({symbol["identifier"]["precise"] for path in paths for symbol in load(path)["symbols"]
                    if "::SYNTHESIZED::" not in symbol["identifier"]["precise"]})
