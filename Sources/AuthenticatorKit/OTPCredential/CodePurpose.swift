import VaultKit

/// What a code is made for.
package struct CodePurpose {
  /// Whether the peer gets the code in this operation. Then it does not count as made without a synchronization.
  let isOnline: Bool
  /// What it is for, as a verb phrase for the person; `nil` for the words of the credential.
  let action: String?
  /// How failures of a biokey lead to the PIN; `nil` where a failure is an error.
  let ladder: FactorLadder?
  /// The counter of a code that was made before, and is made once more; `nil` for the next counter.
  let counter: UInt64?
  /// Writes what belongs to the code into the commit of its counter and of the verdict on the PIN.
  let commit: ((inout WriteTransaction, CodeForPeer) throws(VaultError) -> Void)?

  init(
    isOnline: Bool, action: String? = nil, ladder: FactorLadder? = nil, counter: UInt64? = nil,
    commit: ((inout WriteTransaction, CodeForPeer) throws(VaultError) -> Void)? = nil
  ) {
    (self.isOnline, self.action, self.ladder) = (isOnline, action, ladder)
    (self.counter, self.commit) = (counter, commit)
  }

  /// A code that a person shows to whom it may concern.
  package static var offline: CodePurpose { CodePurpose(isOnline: false) }
}
