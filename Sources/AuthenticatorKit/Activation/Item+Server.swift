import VaultKit

extension Item {
  /// Whether a server has activated it.
  package var hasServer: Bool { kind == .otp && attributes[.peer] != nil && !isActivation }

  /// Whether it stands for something at a server: a credential that a server has activated, its device credential, or an
  /// activation that is not complete.
  package var isOfServer: Bool { kind == .otp && attributes[.device] != nil }

  /// Whether it is an activation that is not complete: it makes no code.
  package var isActivation: Bool { kind == .otp && attributes[.otpType] == Activation.type }
}
