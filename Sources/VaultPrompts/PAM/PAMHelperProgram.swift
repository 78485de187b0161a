import CLinux
import Glibc
import TrustedPaths
import VaultKit

extension PAMPresence {
  /// The program in which PAM's modules run, and the places where it is looked for: at a given path; otherwise
  /// beside the running program, then where it is installed. Never along PATH. No option and no variable names it.
  package struct Helper: Sendable {
    private let given: String?
    /// Its only argument, in tests.
    let word: String?
    /// The directories of the PAM services that the helper knows.
    let services: [String]
    /// Who starts it.
    let start: Start

    enum Start: Sendable {
      case thisProcess
      /// The process that root has left for this; nil if it has left none.
      case root(PAMStarter?)
    }

    package static let installed = Helper(given: nil, word: nil, services: systemServices)

    /// - Parameter path: An absolute path.
    package init(at path: String) { self.init(given: path, word: nil, services: Self.systemServices) }

    /// A helper that takes a directory of services, for tests. It is never installed.
    package init(at path: String, services folder: String) {
      self.init(given: path, word: folder, services: [folder])
    }

    /// The installed helper, which root starts for a keeper.
    package static func ofKeeper(_ starter: PAMStarter?) -> Helper {
      Helper(given: nil, word: nil, services: systemServices, start: .root(starter))
    }

    /// The same with a directory of services, for tests.
    package static func ofKeeper(_ starter: PAMStarter?, at path: String, services folder: String) -> Helper {
      Helper(given: path, word: nil, services: [folder], start: .root(starter))
    }

    private init(given: String?, word: String?, services: [String], start: Start = .thisProcess) {
      (self.given, self.word, self.services, self.start) = (given, word, services, start)
    }

    private static let systemServices = ["/etc/pam.d", "/usr/lib/pam.d"]
    fileprivate static let installedPath = CLINUX_INSTALLED_HELPER
  }
}

extension PAMPresence.Helper {
  /// Opens the first helper that exists at one of the places, and checks that it can be trusted.
  ///
  /// - Throws: `.unsupported` where there is none; `.verificationUnavailable` where another user could have put it
  ///   there or could change it, and no other place is tried then; also where root has left nobody to start it.
  func opened() throws(VaultError) -> TrustedProgram {
    if case .root(let starter) = start {
      guard let starter else { throw .noPAMStarter() }
      try starter.requireProcess()
    }
    for path in try places() {
      do throws(TrustedProgram.Flaw) { return try TrustedProgram(path) } catch {
        if error != .missing { throw Self.unusable(path, because: error) }
      }
    }
    throw VaultError(
      .unsupported,
      "the helper program \(given.map { PromptText.visible($0) } ?? "vault-pam") is missing",
      hint: "as root: scripts/install-pam --helper PATH-OF-VAULT-PAM")
  }

  private func places() throws(VaultError) -> [String] {
    guard let given else {
      return [TrustedProgram.path(beside: "vault-pam"), Self.installedPath].compactMap(\.self)
    }
    guard given.hasPrefix("/") else {
      throw VaultError(.unsupported, "the path of vault-pam must be absolute: \(PromptText.visible(given))")
    }
    return [given]
  }

  private static func unusable(_ path: String, because flaw: TrustedProgram.Flaw) -> VaultError {
    switch flaw {
    case .missing: unusable(path, why: "is missing", hint: replacing(path))
    case .closed(let code): unusable(path, why: "cannot be opened", hint: nil, code: code)
    case .notAProgram: unusable(path, why: "is not a program", hint: replacing(path))
    case .foreignOwner: unusable(path, why: "belongs to another user", hint: replacing(path))
    case .changeableByOthers: unusable(path, why: "can be changed by others", hint: advice(path))
    case .replaceable(let flaw):
      unusable(
        path, why: "can be replaced by others, who own \(PromptText.visible(flaw.part)) or can write to it",
        hint: "allow only root or yourself to own it and to write to it")
    }
  }

  static func unusable(
    _ path: String, why: String, hint: Hint?, code: Int32? = nil
  ) -> VaultError {
    VaultError(
      .verificationUnavailable, "\(PromptText.visible(path)) \(why), so PAM is not asked", hint: hint,
      underlying: code)
  }

  /// How to replace a file that should not be at this place. Installing one elsewhere does not help, because no
  /// other place is tried.
  private static func replacing(_ path: String) -> Hint {
    path == installedPath
      ? "as root: scripts/install-pam --helper PATH-OF-VAULT-PAM"
      : "replace it with one that you or root built: scripts/build-release"
  }

  /// Advice for a file that others can change. The usual reason is a build under umask 002. No such advice for a
  /// link, which may lead to a file with another purpose.
  private static func advice(_ path: String) -> Hint {
    var entry = stat()
    guard unsafe lstat(path, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG, entry.st_nlink == 1 else {
      return replacing(path)
    }
    return "\(entry.st_uid == geteuid() ? "" : "as root: ")chmod go-w '\(PromptText.visible(path))'"
  }
}
