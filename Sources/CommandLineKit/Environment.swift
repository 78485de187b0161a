import Glibc

/// The environment variables of a command. None of them holds a secret.
package struct Environment: Sendable {
  private let look: @Sendable (String) -> String?
  private let has: @Sendable (String) -> Bool

  package init(_ look: @escaping @Sendable (String) -> String?) {
    self.init(look) { look($0)?.isEmpty == false }
  }

  package init(_ values: [String: String]) { self.init { values[$0] } }

  private init(
    _ look: @escaping @Sendable (String) -> String?, has: @escaping @Sendable (String) -> Bool
  ) { (self.look, self.has) = (look, has) }

  /// The variables of this process.
  package static var process: Environment {
    Environment { name in
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe String(validatingCString: value)
    } has: { name in
      unsafe getenv(name).map { unsafe $0.pointee != 0 } ?? false
    }
  }

  package subscript(name: String) -> String? { look(name) }

  /// Whether the variable is set, to UTF-8 or not, and not empty.
  package func isSet(_ name: String) -> Bool { has(name) }

  /// The path of a credential of the service, whether it is there or not; nil where systemd gives none. systemd names an absolute folder.
  package func credential(_ name: String) -> String? {
    guard let folder = look("CREDENTIALS_DIRECTORY"), folder.hasPrefix("/") else { return nil }
    return folder + "/" + name
  }
}
