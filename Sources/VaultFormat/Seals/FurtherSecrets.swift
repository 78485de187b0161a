package import SecretMemory

/// The secrets besides factors that a data key is wrapped to (section 10, field 5 of an alternative).
package struct FurtherSecrets: Sendable {
  /// The key that the application password became.
  package var password: PasswordKey?
  /// `D` of a checked PIN, 32 bytes.
  package var pin: SharedSecret?
  /// The session, 32 bytes.
  package var session: SharedSecret?

  package init(password: PasswordKey? = nil, pin: SharedSecret? = nil, session: SharedSecret? = nil) {
    self.password = password
    self.pin = pin
    self.session = session
  }

  /// Which secrets there are.
  package struct Names: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let password = Names(rawValue: 1)
    package static let pin = Names(rawValue: 2)
    package static let session = Names(rawValue: 4)
  }

  package var names: Names {
    var names: Names = []
    if password != nil { names.insert(.password) }
    if pin != nil { names.insert(.pin) }
    if session != nil { names.insert(.session) }
    return names
  }

  /// The first secret followed by the others, in the order of the format.
  ///
  /// - Parameter names: Those that count.
  func joined(to first: consuming SecretBytes, _ names: Names) -> SecretBytes {
    var secrets = first
    if names.contains(.password), let password {
      secrets = SecretBytes.joining(secrets, password.box.bytes)
    }
    if names.contains(.pin), let pin { secrets = SecretBytes.joining(secrets, pin.bytes) }
    if names.contains(.session), let session { secrets = SecretBytes.joining(secrets, session.bytes) }
    return secrets
  }
}
