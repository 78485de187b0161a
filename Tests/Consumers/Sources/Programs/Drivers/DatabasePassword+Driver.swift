import VaultKit
import VaultTestKit

extension Driver {
  static let databasePassword = Driver(name: "DatabasePassword") {
    let place = TemporaryVault()
    let password = DatabasePassword(vault: try place.make())
    let server = Server()

    try await password.rotate { server.setPassword($0.text) }
    let first = server.password
    try expect(first.utf8.count == 32, "the first password has 32 characters")
    try expect(try await password.connect { server.accepts($0.text) } == true, "the first one connects")

    for changed in [false, true] {
      // The program ends before or after the server has the new password.
      do {
        try await password.rotate {
          if changed { server.setPassword($0.text) }
          throw Interrupted()
        }
      } catch is Interrupted {}
      try expect(
        try await password.connect { server.accepts($0.text) } == true, "an interruption locks no one out")
    }
    try await password.rotate { server.setPassword($0.text) }
    try expect(server.password != first, "the password is another one")
    try expect(try await password.connect { server.accepts($0.text) } == true, "the second one connects")
    try expect(try await password.vault.status().itemCount == 1, "the old one is gone")
  }
}

private struct Interrupted: Error {}

/// A database server, whose password is the last one that was set.
private final class Server: Sendable {
  private let passwords = Record()

  var password: String { passwords.all.last ?? "" }

  func setPassword(_ text: String) { passwords.add(text) }

  func accepts(_ text: String) -> Bool? { password == text ? true : nil }
}
