import Glibc
import SecretMemory
import TrustedPaths

/// A file that only root or this user can change or replace.
enum TrustedFile {
  /// The whole content.
  ///
  /// - Parameter name: What the file is, for an error.
  static func read(_ path: String, _ name: String, limit: Int) throws(Refusal) -> SecretBytes {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else {
      throw .other("\(name) \(path) \(errno == ENOENT ? "does not exist" : "cannot be opened")")
    }
    defer { close(file) }
    let place = place(of: path, file)
    let opened = place == path ? file : nil
    let path = shown(path)
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .other("\(name) \(path) is not a file")
    }
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      throw .other("\(name) \(path) belongs to another user", hint: "it must belong to root or to you")
    }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw .other(
        "\(name) \(path) can be changed by others", hint: "allow only its owner to write to it")
    }
    if let flaw = place.flatMap({ TrustedPath.flaw(of: $0, leadingTo: opened) }) {
      throw .other(
        "\(name) \(path) can be replaced by others, who own \(flaw.part) or can write to it",
        hint: "allow only root or yourself to own it and to write to it")
    }
    do throws(SecretInput.Fault) { return try SecretInput.all(of: file, limit: limit) } catch {
      switch error {
      case .tooLong: throw .other("\(name) \(path) has more than \(limit) bytes")
      case .notOpen, .failed: throw .other("\(name) \(path) cannot be read")
      }
    }
  }

  /// The path by which others could replace the file. In `/dev` and `/proc` it is an open file, which has a path of its own.
  private static func place(of path: String, _ file: Int32) -> String? {
    guard path.hasPrefix("/"), TrustedPath.flaw(of: path)?.reason != .ofKernel else {
      return shown("/proc/self/fd/\(file)")
    }
    return path
  }

  /// The path for an error. As an interpreter, this program is given its configuration as an open descriptor.
  static func shown(_ path: String) -> String {
    guard path.hasPrefix("/proc/self/fd/") else { return path }
    let target = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { bytes, count in
      count = unsafe max(0, readlink(path, bytes.baseAddress!, bytes.count))
    }
    return String(validating: target, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 } ?? path
  }
}
