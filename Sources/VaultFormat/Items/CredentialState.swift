/// How far a credential is activated (offset 112 of its state). Only a peer that activates credentials changes it.
package enum CredentialState: UInt8, Sendable, CaseIterable {
  /// It was never activated, and is used as it is.
  case none
  case started
  case active
  case blocked
  case unlockStarted
  case disabled
}
