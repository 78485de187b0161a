# fat.py FOLDER COMMAND...: mounts the file system below at FOLDER and runs the command, in a mount namespace of its own.
import sys
sys.dont_write_bytecode = True
import errno, struct
import fuse
# A file system in memory as FAT is seen on Linux: mode 0755 for every file, no links, no files without a name, no flags of rename.
folder, command = sys.argv[1], sys.argv[2:]
device = fuse.mount(folder, b"stick", b"fuse", "rootmode=40000,allow_other")
names, files, fresh = {}, {}, [2]
def attributes(node):
    kind, size = (0o40755, 4096) if node == 1 else (0o100755, len(files[node]))
    return struct.pack("<6Q10I", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, kind, 1, 0, 0, 0, 4096, 0)
def entry(node): return struct.pack("<4Q2I", node, 0, 0, 0, 0, 0) + attributes(node)
def make(name):
    node = fresh[0]; fresh[0] += 1; files[node] = bytearray(); names[name] = node
    return node
def answer(code, node, data):
    if code == 1: return entry(names[data[:-1]]) if data[:-1] in names else -errno.ENOENT
    if code in (3, 4):
        if code == 4:
            valid, _, _, size = struct.unpack_from("<IIQQ", data)
            if valid & 1: return -errno.EPERM
            if valid & 8: fuse.resize(files[node], size)
        return struct.pack("<QII", 0, 0, 0) + attributes(node)
    if code == 35:
        name = data[16:-1]
        if name in names: return -errno.EEXIST
        return entry(make(name)) + struct.pack("<QII", 0, 0, 0)
    if code == 15: return fuse.read(files[node], data)
    if code == 16: return fuse.write(files[node], data)
    if code == 28: return fuse.listed(names, data)
    if code == 10: return b"" if names.pop(data[:-1], None) else -errno.ENOENT
    if code == 12:
        old, new = data[8:-1].split(b"\0")
        names[new] = names.pop(old)
        return b""
    return fuse.answer_simply(code)
fuse.run(command, device, answer)
