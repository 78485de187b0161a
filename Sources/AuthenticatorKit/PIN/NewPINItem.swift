public import VaultKit

/// A PIN item to make: everything but its PIN.
///
/// ```swift
/// var new = NewPINItem(.checked)
/// new.limit = 5
/// ```
public struct NewPINItem: Sendable {
  /// The vault-wide name, 1–255 bytes of UTF-8 whose characters are all visible. `pin` for a checked PIN and
  /// `pin-camouflaged` for a camouflaged one, if not changed.
  public var name: String
  /// Who judges the PIN.
  public let mode: PINMode
  /// How many wrong PINs in a row block it, 5 to 20; `nil` for 10. Only for ``PINMode/checked``.
  public var limit: Int?
  /// How many digits it has; `nil` for 4 to 6. A camouflaged PIN has at most 6.
  public var policy: PINPolicy?
  /// When it can be used, without constraints. The credentials behind it must have the same accessibility, and be on this
  /// device only if it is.
  public var access = AccessControl()

  /// A second opener of a checked PIN, from ``PINUnlockKey/fresh()``; `nil` for none. Without one, nothing ends a block of
  /// the PIN.
  public var unlockKey: PINUnlockKey?

  /// A PIN item with the default name of its mode.
  public init(_ mode: PINMode) {
    self.mode = mode
    name = mode == .camouflaged ? "pin-camouflaged" : "pin"
  }

  /// - Throws: ``VaultError/Code/malformed``, ``VaultError/Code/policy``.
  func check() throws(VaultError) {
    guard limit == nil || mode == .checked else {
      throw VaultError(.policy, "a camouflaged PIN has no limit: only the server counts wrong ones")
    }
    guard unlockKey == nil || mode == .checked else {
      throw VaultError(.policy, "a camouflaged PIN is never blocked here, so it has no unlock key")
    }
    guard limit.map(PINAttempts.limits.contains) ?? true else {
      throw VaultError(.malformed, "the limit of a PIN is 5 to 20 wrong ones in a row")
    }
    guard mode == .checked || (policy ?? .standard).lengths.upperBound <= CamouflagedPIN.digitCount else {
      throw VaultError(.policy, "a camouflaged PIN has at most 6 digits")
    }
    guard access.constraints.isEmpty else {
      throw VaultError(
        .policy, "a PIN item has no access rule of its own", hint: "give the access rule to the credentials")
    }
  }

  var item: NewItem {
    var attributes = Attributes()
    attributes[.pinMode] = Int64(mode.rawValue)
    if let limit { attributes[.pinLimit] = Int64(limit) }
    if let policy, policy != .standard { attributes[.pinPolicy] = policy.bytes }
    return NewItem(.pin, name: name, attributes: attributes, access: access)
  }
}

extension Attribute where Value == Int64 {
  /// The mode of a PIN item, for display: its data decides.
  static var pinMode: Self { Self(code: 9) }
  /// How many wrong PINs block a checked PIN.
  static var pinLimit: Self { Self(code: 71) }
}

extension Attribute where Value == [UInt8] {
  /// The fewest and the most digits of a PIN, one byte each.
  static var pinPolicy: Self { Self(code: 73) }
}

extension PINPolicy {
  fileprivate var bytes: [UInt8] { [UInt8(lengths.lowerBound), UInt8(lengths.upperBound)] }
}

extension Item {
  /// The limit of a PIN item. An attribute that is none counts as the smallest one, because the device key alone can
  /// change it.
  var pinLimit: UInt32 {
    guard attributes.bytes(of: Attribute<Int64>.pinLimit.code) != nil else {
      return PINAttempts.standardLimit
    }
    let limit = attributes[.pinLimit].flatMap { Int(exactly: $0) } ?? 0
    let limits = PINAttempts.limits
    return UInt32(limits.contains(limit) ? limit : limits.lowerBound)
  }

  /// How many digits the PIN of a PIN item has.
  func pinPolicy() throws(VaultError) -> PINPolicy {
    guard let bytes = attributes[.pinPolicy] else { return .standard }
    guard bytes.count == 2, bytes[0] <= bytes[1],
      let policy = try? PINPolicy(lengths: Int(bytes[0])...Int(bytes[1]))
    else {
      throw VaultError(.unsupported, "the PIN has a policy that this version does not know")
    }
    return policy
  }
}
