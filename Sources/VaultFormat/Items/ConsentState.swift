/// What became of a consent (offset 112 of its state).
package enum ConsentState: UInt8, Sendable, CaseIterable {
  case requested
  case confirmed
  case failed
  case expired
  case revoked
}
