# What the file systems of this directory share: the protocol of FUSE in bytes (linux/fuse.h), and running a command on a mount.
import ctypes, errno, os, struct, subprocess, sys, threading
STARTED = struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 16, 12, 131072, 1, 32, 0, *[0] * 8)[:64]
ROOM = struct.pack("<5Q4I", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0) + bytes(24)
def mount(folder, name, kind, options):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = "fd=%d,user_id=0,group_id=0,%s" % (device, options)
    if ctypes.CDLL(None, use_errno=True).mount(name, folder.encode(), kind, 0, options.encode()):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    return device
def listed(names, data):
    offset, = struct.unpack_from("<Q", data, 8)
    out = b""
    for number, (name, child) in enumerate(sorted(names.items())):
        if number < offset: continue
        item = struct.pack("<QQII", child, number + 1, len(name), 8) + name
        out += item + bytes(-len(item) % 8)
    return out
def read(file, data):
    offset, size = struct.unpack_from("<QI", data, 8)
    return bytes(file[offset:offset + size])
def write(file, data):
    offset, size = struct.unpack_from("<QI", data, 8)
    file.extend(bytes(max(0, offset + size - len(file))))
    file[offset:offset + size] = data[40:40 + size]
    return struct.pack("<II", size, 0)
def resize(file, size):
    del file[size:]
    file.extend(bytes(size - len(file)))
def answer_simply(code):
    """What every file system answers alike."""
    if code == 26: return STARTED
    if code in (14, 27): return struct.pack("<QII", 0, 0, 0)
    if code in (18, 20, 25, 29, 30): return b""
    if code == 17: return ROOM
    return -errno.ENOSYS
def run(command, device, answer):
    """Runs the command while requests are answered: with bytes, or with a negative error number."""
    def serve():
        while True:
            try: request = os.read(device, 1 << 18)
            except OSError: return
            size, code, unique, node = struct.unpack_from("<IIQQ", request)
            if code in (2, 42, 36): continue
            out = answer(code, node, request[40:])
            number, out = (out, b"") if isinstance(out, int) else (0, out)
            os.write(device, struct.pack("<IiQ", 16 + len(out), number, unique) + out)
    threading.Thread(target=serve, daemon=True).start()
    status = subprocess.run(command).returncode
    os._exit(status if status >= 0 else 128)
