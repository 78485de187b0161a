import VaultKit

/// A biokey to register.
public struct NewBiokey: Sendable {
  /// The vault-wide name; `nil` for the name of the PIN item and `-biokey`.
  public var name: String?
  /// The name of this device, for lists.
  public var device: String?
  /// Whom the biokey knows. **Enforced by key derivation** while all members are phrases; advisory in this process with a
  /// fingerprint reader.
  public var members: Biokey.Members

  /// A biokey of the enrolled set as it is now, if not said otherwise.
  public init(_ members: Biokey.Members = .currentSet) { self.members = members }

  /// The item of a biokey for a PIN. It stays on this device, and needs a passcode to be set.
  func item(for pin: Item) throws(VaultError) -> NewItem {
    var attributes = Attributes()
    attributes[.pinItem] = pin.id.bytes
    attributes[.applicationTag] = pin.id.bytes
    if let device { attributes[.label] = device }
    let constraint: Constraints = members == .any ? .biometryAny : .biometryCurrentSet
    return NewItem(
      .biokey, name: name ?? (pin.name ?? pin.id.hexadecimal) + "-biokey", attributes: attributes,
      access: try AccessControl(constraint, accessibility: .whenPasscodeSet, thisDeviceOnly: true))
  }
}
