import Glibc

/// Whether only root and this user decide which file a path names.
///
/// The module is this one question. Programs that this project starts, and files that it believes, are checked when they are
/// open, so that what was checked is what counts. But their paths are followed again at each use: who can write to a directory
/// on the way, or owns a link on it, puts another file there.
///
/// ```swift
/// if let flaw = TrustedPath.flaw(of: path) { … }   // flaw.part: the directory or the link
/// ```
///
/// Who has opened the file asks with it: then the way has no flaw only if it leads to that file.
///
/// Modes alone are looked at: an access control list that lets others write does so through the mode of the group.
package enum TrustedPath {
  /// The first part of a path that others decide about.
  package struct Flaw: Equatable, Sendable {
    /// The directory or the link, absolute.
    package let part: String
    package let reason: Reason
  }

  package enum Reason: Equatable, Sendable {
    /// It is `/dev` or `/proc`, where one name is another file in each process; `/dev/shm` is not meant.
    case ofKernel
    /// Another user owns it.
    case foreignOwner
    /// Its mode lets others replace what is in it.
    case changeableByOthers
    /// It is not the file that was opened by this path before.
    case replaced
  }

  /// The first flaw on the way to a file; `nil` where there is none. A way that ends before the file has none: who opens the file
  /// says so.
  ///
  /// - Parameters:
  ///   - path: Absolute. Links are followed.
  ///   - file: What was opened by this path. The way must lead to it still: who removes or replaces a link of theirs after the opening
  ///     leaves a way without a flaw.
  package static func flaw(of path: String, leadingTo file: Int32? = nil) -> Flaw? {
    guard let file else { return walk(path).flaw }
    var opened = stat()
    let (flaw, found) = walk(path)
    if let flaw { return flaw }
    guard unsafe fstat(file, &opened) == 0, let found, found.st_dev == opened.st_dev,
      found.st_ino == opened.st_ino
    else { return Flaw(part: path, reason: .replaced) }
    return nil
  }

  /// - Returns: The first flaw, or what the way leads to; neither where it ends before that.
  private static func walk(_ path: String) -> (flaw: Flaw?, end: stat?) {
    func flawed(_ part: String, _ reason: Reason) -> (flaw: Flaw?, end: stat?) {
      (Flaw(part: part, reason: reason), nil)
    }
    guard let top = status("/") else { return (nil, nil) }
    if let reason = reason(top, top) { return flawed("/", reason) }
    var left = Array(parts(of: path).reversed())
    var (here, links, isShared) = ("", 0, false)
    while let part = left.popLast() {
      guard part != ".." else {
        here = String(here.prefix(upTo: here.lastIndex(of: "/") ?? here.startIndex))
        continue
      }
      let next = here + "/" + part
      if isOfKernel(part, in: here) { return flawed(here.isEmpty ? next : here, .ofKernel) }
      guard let found = status(next) else { return (nil, nil) }
      switch found.st_mode & S_IFMT {
      case S_IFDIR:
        if let reason = reason(found, top) { return flawed(next, reason) }
        here = next
        isShared = found.st_mode & mode_t(S_ISVTX) != 0 && found.st_mode & (S_IWGRP | S_IWOTH) != 0
      case S_IFLNK:
        guard isTrusted(found.st_uid, top) else { return flawed(next, .foreignOwner) }
        links += 1
        guard links <= mostLinks, let target = target(of: next) else { return (nil, nil) }
        if target.hasPrefix("/") { here = "" }
        left += parts(of: target).reversed()
      default:
        guard left.isEmpty else { return (nil, nil) }
        // Where all may make names, a second name of a file can be another user's choice.
        return isShared && found.st_nlink > 1 ? flawed(next, .changeableByOthers) : (nil, found)
      }
    }
    return (nil, nil)
  }

  /// Whether a name is `/proc`, or is in `/dev` but not in `/dev/shm`, which holds ordinary files.
  private static func isOfKernel(_ part: String, in here: String) -> Bool {
    here == "/dev" && part != "shm" || here.isEmpty && part == "proc"
  }

  /// What is wrong with a directory. In one with the sticky bit, each may replace only what is their own.
  private static func reason(_ found: stat, _ top: stat) -> Reason? {
    guard isTrusted(found.st_uid, top) else { return .foreignOwner }
    guard found.st_mode & mode_t(S_ISVTX) == 0 else { return nil }
    // Debian gives each user a group of its own, with the number of the user; a umask of 002 lets that group write.
    let isOwnGroup = found.st_gid == 0 || found.st_gid == geteuid()
    let isOpen = found.st_mode & S_IWOTH != 0 || found.st_mode & S_IWGRP != 0 && !isOwnGroup
    return isOpen ? .changeableByOthers : nil
  }

  /// Root and this user; and who owns `/`, as which root is seen from a namespace without it.
  private static func isTrusted(_ user: uid_t, _ top: stat) -> Bool {
    user == 0 || user == geteuid() || user == top.st_uid
  }

  private static func parts(of path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init)
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  /// Where a link leads; nil for what is none.
  static func target(of link: String) -> String? {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { bytes, count in
      count = unsafe max(0, readlink(link, bytes.baseAddress!, bytes.count))
    }
    return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
  }

  /// As many as the kernel follows.
  private static let mostLinks = 40
}
