package import SecretMemory
package import VaultFormat

/// The right of an authenticator component to the secrets of its kind, and what the component has obtained for the item
/// that it is about to use. Only AuthenticatorKit makes one.
///
/// The class key opens these secrets, so this right is advisory: it keeps every other part of a program from reading,
/// adding or replacing them.
package struct Component: Sendable {
  /// The kind that the component owns.
  package let kind: ItemKind
  /// What the component knows of the PIN that guards the item.
  package let pin: ObtainedPIN?
  /// The session of a token, 32 bytes.
  package let session: SharedSecret?

  /// What a component obtained from a PIN before it opens what the PIN guards.
  package enum ObtainedPIN: Sendable {
    /// `D` of a checked PIN: part of the item's key.
    case checked(SharedSecret)
    /// The component unmasks the secret itself.
    case camouflaged

    package var mode: PINMode {
      switch self {
      case .checked: .checked
      case .camouflaged: .camouflaged
      }
    }
  }

  package init(_ kind: ItemKind, pin: ObtainedPIN? = nil, session: SharedSecret? = nil) {
    self.kind = kind
    self.pin = pin
    self.session = session
  }

  /// The further secrets for an item, with the key of its application password.
  func furtherSecrets(password: PasswordKey?) -> FurtherSecrets {
    var further = FurtherSecrets(password: password, session: session)
    if case .checked(let secret) = pin { further.pin = secret }
    return further
  }
}

extension Component? {
  func furtherSecrets(password: PasswordKey?) -> FurtherSecrets {
    self?.furtherSecrets(password: password) ?? FurtherSecrets(password: password)
  }
}
