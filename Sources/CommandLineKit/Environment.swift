import Glibc

/// The environment variables of a command. None of them holds a secret.
package struct Environment: Sendable {
  private let look: @Sendable (String) -> String?

  package init(_ look: @escaping @Sendable (String) -> String?) { self.look = look }

  package init(_ values: [String: String]) { look = { values[$0] } }

  /// The variables of this process.
  package static var process: Environment {
    Environment { name in
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe String(validatingCString: value)
    }
  }

  package subscript(name: String) -> String? { look(name) }

  /// The path of a credential of the service, whether it is there or not; nil where systemd gives none. systemd names an absolute folder.
  package func credential(_ name: String) -> String? {
    guard let folder = look("CREDENTIALS_DIRECTORY"), folder.hasPrefix("/") else { return nil }
    return folder + "/" + name
  }
}
