import Foundation
import TestSupport
import Testing
import VaultKit
import VaultTestKit

/// Where a program finds the vault that nothing names. The processes of these tests have variables of their own.
@Suite("Standard places", .bounded)
struct StandardPlaceTests {
  @Test("a variable names the vault, else it is below the data directory; relative directories do not count")
  func places() async {
    await #expect(processExitsWith: .success) {
      for name in ["VAULTCTL_PATH", "VAULT_PATH", "XDG_DATA_HOME"] { unsafe unsetenv(name) }
      unsafe setenv("HOME", "/nowhere", 1)
      func path() -> String? { try? VaultPath.standard().path }
      precondition(path() == "/nowhere/.local/share/vaultctl/default.vault")
      unsafe setenv("XDG_DATA_HOME", "data", 1)
      precondition(path() == "/nowhere/.local/share/vaultctl/default.vault")
      unsafe setenv("XDG_DATA_HOME", "/data", 1)
      precondition(path() == "/data/vaultctl/default.vault")
      unsafe setenv("VAULTCTL_PATH", "v", 1)
      precondition(path() == "v")
    }
  }

  /// Verified to fail when the former variable is not looked at.
  @Test("the former variable is an error that names the present one, also beside it; an empty one is not set")
  func formerVariable() async {
    await #expect(processExitsWith: .success) {
      unsafe setenv("HOME", "/nowhere", 1)
      for present in ["", "/new.vault"] {
        unsafe setenv("VAULTCTL_PATH", present, 1)
        unsafe setenv("VAULT_PATH", "", 1)
        precondition((try? VaultPath.standard()) != nil)
        unsafe setenv("VAULT_PATH", "/old.vault", 1)
        do throws(VaultError) {
          _ = try VaultPath.standard()
          preconditionFailure("found")
        } catch {
          precondition(error.code == .unsupported && error.message.contains("VAULTCTL_PATH"))
        }
      }
    }
  }

  /// Verified to fail when only the present directory is looked at: a program would make a second vault.
  @Test(
    "a vault in the directory of the former name is an error, until there is one in the present directory")
  func formerDirectory() async throws {
    let place = TemporaryVault()
    let home = place.folder + "/home"
    for name in ["vault", "vaultctl"] {
      try FileManager.default.createDirectory(
        atPath: "\(home)/.local/share/\(name)", withIntermediateDirectories: true)
    }
    await #expect(processExitsWith: .success) { [home = home as String] in
      for name in ["VAULTCTL_PATH", "VAULT_PATH", "XDG_DATA_HOME"] { unsafe unsetenv(name) }
      unsafe setenv("HOME", home, 1)
      func make(_ name: String) { close(unsafe creat("\(home)/.local/share/\(name)/default.vault", 0o600)) }
      let present = home + "/.local/share/vaultctl/default.vault"
      precondition((try? VaultPath.standard().path) == present)
      make("vault")
      do throws(VaultError) {
        _ = try VaultPath.standard()
        preconditionFailure("found")
      } catch {
        precondition(
          error.code == .vaultMissing && error.message.contains(".local/share/vault/default.vault"))
      }
      make("vaultctl")
      precondition((try? VaultPath.standard().path) == present)
    }
  }
}
