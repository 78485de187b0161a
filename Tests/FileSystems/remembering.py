# remembering.py FOLDER COMMAND...: mounts the file system below at FOLDER and runs the command, in a mount namespace of its own.
import sys
sys.dont_write_bytecode = True
import errno, struct
import fuse
# A file system in memory that lets the kernel remember names and attributes for an hour, as many of FUSE do for a second. Each name has a node of
# its own, as with libfuse, so the kernel does not see that a file has lost its other name. It has modes and links, no flags of rename.
folder, command = sys.argv[1], sys.argv[2:]
device = fuse.mount(folder, b"mirror", b"fuse.mirror", "rootmode=40700")
class File:
    def __init__(self, number, mode): self.data, self.number, self.mode, self.links = bytearray(), number, mode, 1
names, nodes, fresh, hour = {}, {1: File(1, 0o40700)}, [2], 3600
def node_of(file):
    node = fresh[0]; fresh[0] += 1; nodes[node] = file
    return node
def attributes(node):
    file = nodes[node]
    size = len(file.data)
    return struct.pack("<6Q10I", file.number, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, file.mode, file.links, 0, 0, 0, 4096, 0)
def entry(node): return struct.pack("<4Q2I", node, 0, hour, hour, 0, 0) + attributes(node)
def drop(name):
    node = names.pop(name, None)
    if node is not None: nodes[node].links -= 1
    return node
def answer(code, node, data):
    if code == 1: return entry(names[data[:-1]]) if data[:-1] in names else -errno.ENOENT
    if code in (3, 4):
        if code == 4:
            valid, _, _, size = struct.unpack_from("<IIQQ", data)
            file = nodes[node]
            if valid & 1: file.mode = file.mode & ~0o7777 | struct.unpack_from("<I", data, 68)[0] & 0o7777
            if valid & 8: fuse.resize(file.data, size)
        return struct.pack("<QII", hour, 0, 0) + attributes(node)
    if code == 35:
        _, mode, mask = struct.unpack_from("<3I", data)
        name = data[16:-1]
        if name in names: return -errno.EEXIST
        names[name] = node_of(File(fresh[0] + 1000, 0o100000 | mode & 0o777 & ~mask))
        return entry(names[name]) + struct.pack("<QII", 0, 0, 0)
    if code == 13:
        old, = struct.unpack_from("<Q", data)
        if data[8:-1] in names: return -errno.EEXIST
        nodes[old].links += 1
        names[data[8:-1]] = node_of(nodes[old])
        return entry(names[data[8:-1]])
    if code == 15: return fuse.read(nodes[node].data, data)
    if code == 16: return fuse.write(nodes[node].data, data)
    if code == 28: return fuse.listed(names, data)
    if code == 10: return -errno.ENOENT if drop(data[:-1]) is None else b""
    if code == 12:
        old, new = data[8:-1].split(b"\0")
        drop(new)
        names[new] = names.pop(old)
        return b""
    return fuse.answer_simply(code)
fuse.run(command, device, answer)
