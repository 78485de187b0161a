import Glibc
import VaultKit

extension PAMPresence.Helper {
  /// Makes sure that libpam reads the file of this service. Where it reads none, it silently takes the service `other`.
  ///
  /// - Throws: `.unsupported` where there is none; `.verificationUnavailable` where this user cannot read it.
  func requireService(_ name: String) throws(VaultError) {
    try Self.requireServiceName(name)
    for folder in services {
      let path = folder + "/" + name
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      if file < 0, errno == ENOENT || errno == ENOTDIR { continue }
      guard file >= 0 else {
        throw Self.unusable(
          path, why: "cannot be read by this user", hint: "as root: chmod 644 \(PromptText.visible(path))",
          code: errno)
      }
      defer { close(file) }
      var status = stat()
      guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw Self.unusable(path, why: "is no file", hint: "as root: replace it: scripts/install-pam --print")
      }
      return
    }
    throw VaultError(
      .unsupported, "PAM has no service '\(PromptText.visible(name))' here",
      hint: "as root: scripts/install-pam")
  }

  /// libpam makes capitals small, and drops what is before a slash: it would read another file than the one that was looked at.
  private static func requireServiceName(_ name: String) throws(VaultError) {
    let isPlain = name.utf8.allSatisfy { byte in
      byte != 0 && byte != UInt8(ascii: "/") && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }
    guard isPlain, (1...255).contains(name.utf8.count) else {
      throw VaultError(
        .unsupported, "PAM takes no service of the name '\(PromptText.visible(name))'",
        hint: "a name of PAM has no capitals and no '/'")
    }
  }
}
