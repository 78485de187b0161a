import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultExpectations
import VaultKit
import VaultTestKit

/// A rig, and a vault whose key it keeps.
struct Session {
  let rig: Rig
  private(set) var place: TemporaryVault
  private let busAddress: String

  init() throws {
    rig = try Rig()
    place = TemporaryVault()
    busAddress = rig.address
  }

  /// What a process that starts now would use, with more patience: what is about other things than time shall not
  /// depend on how busy this machine is.
  var protector: SecretServiceProtector {
    SecretServiceProtector(
      busAddress: busAddress, stateFolder: place.folder + "/state", patience: patience)
  }

  /// One with the shipped limits, which pass by a clock.
  func protector(over address: String, by clock: HeldClock) -> SecretServiceProtector {
    SecretServiceProtector(
      busAddress: address, stateFolder: place.folder + "/state", clock: clock.milliseconds)
  }

  /// Another folder for another vault.
  mutating func renew() { place = TemporaryVault() }

  static let canary: [UInt8] = Array("canary".utf8)

  @discardableResult
  func makeVault() throws -> VaultCore {
    let core = try VaultCore.create(
      at: place.path, protector: protector, environment: place.environment
    )
    try fill(core)
    return core
  }

  func fill(_ core: VaultCore) throws {
    _ = try core.add(NewItem(.genericPassword, name: "canary"), secret: SecretBytes(testing: "canary"))
  }

  /// The vault opens with what keeps its key now, and holds what was put in.
  func isWhole() throws -> Bool {
    let kind = try VaultCore.outline(at: place.path).protector
    let core = try VaultCore.open(
      at: place.path, protector: kind == .file ? place.protector : protector, environment: place.environment)
    let item = try core.read { try $0.item(named: "canary") }
    return try core.secret(of: item.id).bytesForTesting == Self.canary
  }

  func openingFault() -> VaultError.Code? {
    thrown { () throws(VaultError) in
      _ = try VaultCore.open(at: place.path, protector: protector, environment: place.environment)
    }?.code
  }

  func creationFault(_ protector: SecretServiceProtector? = nil) -> VaultError.Code? {
    thrown { () throws(VaultError) in
      _ = try VaultCore.create(
        at: place.path, protector: protector ?? self.protector, environment: place.environment)
    }?.code
  }

  /// The key as the service holds it.
  func text(of key: borrowing DeviceKey) -> String {
    key.expose { span in unsafe span.withUnsafeBytes { unsafe Data($0) } }.base64EncodedString()
  }
}
