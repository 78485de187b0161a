package import VaultCrypto

/// Every label of the format, each used for one purpose (docs/format/vault-file.md, section 3).
package enum Labels {
  // Keys derived from a key.
  package static let keyID = Label("vault/1/key-id")
  package static let header = Label("vault/1/header")
  package static let index = Label("vault/1/index")
  package static let sum = Label("vault/1/sum")
  package static let meta = Label("vault/1/meta")
  package static let metaNonce = Label("vault/1/meta-nonce")
  package static let state = Label("vault/1/state")
  package static let stateNonce = Label("vault/1/state-nonce")
  package static let head = Label("vault/1/head")
  package static let headNonce = Label("vault/1/head-nonce")
  package static let audit = Label("vault/1/audit")
  package static let auditNonce = Label("vault/1/audit-nonce")
  package static let slot = Label("vault/1/slot")
  package static let slotDevice = Label("vault/1/slot-device")
  package static let unlock = Label("vault/1/unlock")
  package static let prompt = Label("vault/1/prompt")
  package static let recovery = Label("vault/1/recovery")
  package static let recoveryWrap = Label("vault/1/recovery-wrap")
  package static let passphrase = Label("vault/1/passphrase")
  package static let auditChain = Label("vault/1/audit-chain")
  package static let auditSegment = Label("vault/1/audit-segment")
  package static let auditNext = Label("vault/1/audit-next")
  package static let factorMAC = Label("vault/1/factor-mac")
  package static let member = Label("vault/1/member")
  package static let memberWrap = Label("vault/1/member-wrap")
  package static let alternative = Label("vault/1/alternative")
  package static let ephemeral = Label("vault/1/ephemeral")
  package static let pin = Label("vault/1/pin")
  package static let pinUnlock = Label("vault/1/pin-unlock")
  package static let camouflage = Label("vault/1/camouflage")
  // Seals of suite 1.
  package static let sealSlot = Label("vault/1/seal-slot")
  package static let sealKeys = Label("vault/1/seal-keys")
  package static let sealSecret = Label("vault/1/seal-secret")
  package static let sealAlternative = Label("vault/1/seal-alternative")
  package static let sealPIN = Label("vault/1/seal-pin")
  // Hashes.
  package static let recoveryCheck = Label("vault/1/recovery-check")
  package static let pinUnlockCheck = Label("vault/1/pin-unlock-check")
  package static let auditAnchor = Label("vault/1/audit-anchor")
  package static let enrolledDigest = Label("vault/1/enrolled-digest")
  package static let session = Label("vault/1/session")

  /// All of them, for the uniqueness test and for comparison with the specification.
  package static let all = [
    keyID, header, index, sum, meta, metaNonce, state, stateNonce, head, headNonce, audit, auditNonce, slot,
    slotDevice, unlock, prompt, recovery, recoveryWrap, passphrase, auditChain, auditSegment, auditNext,
    factorMAC,
    member, memberWrap, alternative, ephemeral, pin, pinUnlock, camouflage, sealSlot, sealKeys, sealSecret,
    sealAlternative, sealPIN,
    recoveryCheck, pinUnlockCheck, auditAnchor, enrolledDigest, session,
  ]
}
