import Glibc
import VaultKit

extension PAMPresence {
  /// The program in which PAM's modules run, and where it is looked for: at a path that was given; else beside the running
  /// program, then where it is installed. Never along PATH, and neither an option nor a variable names it.
  package struct Helper: Sendable {
    private let given: String?
    /// Where `scripts/install-pam` installs it; nil for a program that is looked for beside the running program alone.
    private let installed: String?
    /// Its one word, in tests.
    let word: String?
    /// The folders of the services that it knows.
    let services: [String]

    static let besideProgram = Helper(given: nil, word: nil, services: systemServices)

    /// The one beside the running program, else an installed one.
    ///
    /// - Parameter path: An absolute path, a constant of the program.
    package init(besideOrInstalledAt path: String) {
      self.init(given: nil, installed: path, word: nil, services: Self.systemServices)
    }

    /// - Parameter path: An absolute path.
    package init(at path: String) { self.init(given: path, word: nil, services: Self.systemServices) }

    /// One that is never installed and takes a folder of services, for tests.
    package init(at path: String, services folder: String) {
      self.init(given: path, word: folder, services: [folder])
    }

    private init(given: String?, installed: String? = nil, word: String?, services: [String]) {
      (self.given, self.installed, self.word, self.services) = (given, installed, word, services)
    }

    /// A program beside the one that this process runs.
    package static func beside(_ name: String) -> String? {
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
      guard count > 0, count < buffer.count else { return nil }
      let own = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard own.hasPrefix("/"), let slash = own.lastIndex(of: "/") else { return nil }
      return own[...slash] + name
    }

    private static let systemServices = ["/etc/pam.d", "/usr/lib/pam.d"]
  }
}

extension PAMPresence.Helper {
  /// The first of the places where there is such a file, opened and found to be trustworthy.
  ///
  /// - Throws: `.unsupported` where there is none; `.verificationUnavailable` where somebody else could have put it there
  ///   or could change it: then no other place is tried.
  func opened() throws(VaultError) -> Program {
    for path in try places() {
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      if file < 0, errno == ENOENT || errno == ENOTDIR { continue }
      guard file >= 0 else { throw Self.unusable(path, "cannot be opened", hint: nil, errno) }
      let program = Program(descriptor: file, path: path, isInstalled: path == installed)
      try program.check()
      return program
    }
    throw VaultError(
      .unsupported, "there is no \(given.map { PromptText.visible($0) } ?? "vault-pam") to ask PAM with",
      hint: "as root: scripts/install-pam --helper PATH-OF-VAULT-PAM")
  }

  private func places() throws(VaultError) -> [String] {
    guard let given else { return [Self.beside("vault-pam"), installed].compactMap(\.self) }
    guard given.hasPrefix("/") else {
      throw VaultError(.unsupported, "the path of vault-pam must be absolute: \(PromptText.visible(given))")
    }
    return [given]
  }

  static func unusable(
    _ path: String, _ why: String, hint: Hint?, _ code: Int32? = nil
  ) -> VaultError {
    VaultError(
      .verificationUnavailable, "\(PromptText.visible(path)) \(why), so PAM is not asked", hint: hint,
      underlying: code)
  }

  /// How a file that should not be at this place is replaced. Installing one elsewhere does not help: no other is looked for.
  fileprivate static func replacing(isInstalled: Bool) -> Hint {
    isInstalled
      ? "as root: scripts/install-pam --helper PATH-OF-VAULT-PAM"
      : "put one that you or root made in its place: scripts/build-release"
  }

  /// An open file: what is checked is what is started, whatever has its path by then.
  struct Program: ~Copyable {
    let descriptor: Int32
    let path: String
    let isInstalled: Bool

    deinit { close(descriptor) }

    fileprivate borrowing func check() throws(VaultError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw unusable(path, "is no program", hint: replacing(isInstalled: isInstalled))
      }
      guard status.st_uid == 0 || status.st_uid == geteuid() else {
        throw unusable(path, "belongs to another user", hint: replacing(isInstalled: isInstalled))
      }
      guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
        throw unusable(path, "can be changed by others", hint: advice(status))
      }
    }

    /// A build under umask 002 is the usual reason. Not for a link, which may lead to a file of another purpose.
    private borrowing func advice(_ status: stat) -> Hint {
      var entry = stat()
      guard unsafe lstat(path, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG, entry.st_nlink == 1 else {
        return replacing(isInstalled: isInstalled)
      }
      return "\(status.st_uid == geteuid() ? "" : "as root: ")chmod go-w '\(PromptText.visible(path))'"
    }
  }
}
