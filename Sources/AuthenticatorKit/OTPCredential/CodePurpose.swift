import VaultKit

/// What a code is made for.
package struct CodePurpose {
  /// Whether the peer gets the code in this operation. Then it does not count as made without a synchronization.
  let isOnline: Bool
  /// Writes what belongs to the code into the commit of its counter and of the verdict on the PIN.
  let commit: ((inout WriteTransaction) throws(VaultError) -> Void)?
  init(isOnline: Bool, commit: ((inout WriteTransaction) throws(VaultError) -> Void)? = nil) {
    (self.isOnline, self.commit) = (isOnline, commit)
  }

  /// A code that a person shows to whom it may concern.
  package static var offline: CodePurpose { CodePurpose(isOnline: false) }
}
