import AgentMessages
import CLinux
import Glibc
import TrustedPaths

/// What root makes for a keeper: the directories, the note whose state it is, the lock, and the socket.
///
/// Nothing of a user is on the way to any of them, so no name is looked up twice with different results. What is there already is
/// looked at, and never changed.
struct KeeperDirectories {
  let place: KeeperPlace
  let accounts: KeeperAccounts

  init(for accounts: KeeperAccounts) {
    self.accounts = accounts
    place = KeeperPlace(of: accounts.person.user)
  }

  /// Makes what is missing, and checks all of it.
  func make() throws(KeeperError) {
    for directory in place.open {
      try make(directory, mode: 0o755, owner: 0, group: 0)
    }
    // Also /run and /var/lib, above them.
    if let flaw = [place.socket, place.name].lazy.compactMap({ TrustedPath.flaw(of: $0) }).first {
      throw .unsafe(flaw.part, why: "can be changed by others than root")
    }
    try noteOwner()
    try make(place.state, mode: 0o700, owner: accounts.keeper.user, group: accounts.keeper.group)
  }

  /// A directory that a killed start made is still root's and empty: it gets its owner again.
  private func make(_ path: String, mode: mode_t, owner: uid_t, group: gid_t) throws(KeeperError) {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw .system("making \(path)", errno) }
    let directory = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard directory >= 0 else {
      throw errno == ENOTDIR || errno == ELOOP
        ? .unsafe(path, why: "is no directory") : .system("opening \(path)", errno)
    }
    defer { close(directory) }
    var about = stat()
    guard unsafe fstat(directory, &about) == 0 else { throw .system("looking at \(path)", errno) }
    if about.st_uid == 0, owner != 0, about.st_mode & 0o7777 == 0o700, Self.isEmpty(path) {
      guard fchown(directory, owner, group) == 0 else { throw .system("giving \(path) to the keeper", errno) }
      about.st_uid = owner
    }
    if about.st_uid == 0, owner == 0, about.st_mode & 0o7777 == 0o700 {
      guard fchmod(directory, mode) == 0 else { throw .system("opening \(path) to others", errno) }
      about.st_mode = about.st_mode & ~0o7777 | mode
    }
    guard about.st_uid == owner else {
      throw .unsafe(path, why: "belongs to user \(about.st_uid) and not to user \(owner)")
    }
    guard about.st_mode & 0o022 == 0, owner == 0 || about.st_mode & 0o077 == 0 else {
      throw .unsafe(
        path,
        why:
          "has the mode \(String(about.st_mode & 0o7777, radix: 8)) and must have \(String(mode, radix: 8))")
    }
  }

  private static func isEmpty(_ path: String) -> Bool {
    guard let listing = unsafe opendir(path) else { return false }
    defer { unsafe closedir(listing) }
    while let entry = unsafe readdir(listing) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
      }
      if name != ".", name != ".." { return false }
    }
    return true
  }

  /// Notes the name of the person before there is a state, or compares it.
  private func noteOwner() throws(KeeperError) {
    let name = accounts.person.name
    let file = unsafe clinux_create(AT_FDCWD, place.name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw .system("opening \(place.name)", errno) }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe read(file, &bytes, bytes.count)
    guard count >= 0 else { throw .system("reading \(place.name)", errno) }
    let noted = String(decoding: bytes.prefix(count), as: UTF8.self)
    guard noted.isEmpty || noted == name + "\n" else {
      throw .otherPerson(name, state: place.state, of: noted.trimmed)
    }
    guard noted.isEmpty else { return }
    let line = name + "\n"
    guard unsafe write(file, line, line.utf8.count) == line.utf8.count, fsync(file) == 0 else {
      throw .system("writing \(place.name)", errno)
    }
  }

  /// Takes the lock of the keeper that runs. The keeper inherits it, and it ends with the keeper.
  func lock() throws(KeeperError) -> Int32 {
    let file = unsafe clinux_create(AT_FDCWD, place.lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .system("opening \(place.lock)", errno) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      throw errno == EWOULDBLOCK ? .isRunning : .system("locking \(place.lock)", errno)
    }
    return file
  }

  /// The socket, which the person alone can open. Call it under the lock.
  func listen() throws(KeeperError) -> Int32 {
    if unsafe unlink(place.socket) != 0, errno != ENOENT { throw .system("removing \(place.socket)", errno) }
    let socket = unsafe clinux_listen_packets(place.socket)
    guard socket >= 0 else { throw .system("listening at \(place.socket)", errno) }
    guard unsafe lchown(place.socket, accounts.person.user, gid_t.max) == 0 else {
      throw .system("giving \(place.socket) to the person", errno)
    }
    return socket
  }
}

extension String {
  fileprivate var trimmed: String { split(whereSeparator: \.isNewline).first.map(String.init) ?? "" }
}
