import VaultFormat

/// The factors that a person showed, as they were in the header then.
struct ShownFactors: Sendable {
  /// The public halves of the factors, and of the member that opened them.
  let halves: [Factor: [UInt8]]
  /// How the passcode became a key, if the person showed the passcode.
  let passcode: KeyDerivation?

  /// Whether the vault still accepts them: no factor has another half, the member is still enrolled, and the passcode is
  /// the same. A prompt can be open for minutes, and the vault changes meanwhile.
  func areAccepted(by header: Header) throws(VaultError) -> Bool {
    if let passcode, header.passcodeDerivation != passcode { return false }
    let present = header.factors
    return halves.allSatisfy { present[$0.key] == $0.value && header.isAlive($0.key) }
  }
}
