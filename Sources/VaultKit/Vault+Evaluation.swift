public import VaultFormat

/// Verifying a person without an item.
extension Vault {
  /// Whether ``evaluate(_:context:)`` could succeed now: the vault has what the constraints ask for, and neither a delay
  /// after wrong passcodes nor the lock of biometry stands in the way. Asks no person. Does not look at readers and
  /// prompts.
  ///
  /// - Parameter constraints: As for ``evaluate(_:context:)``.
  /// - Throws: ``VaultError/Code/policy`` for constraints that contradict each other, ``VaultError/Code/malformed``.
  public func canEvaluate(_ constraints: Constraints) throws(VaultError) -> Bool {
    try core.canEvaluate(constraints)
  }

  /// Verifies a person, and opens no item.
  ///
  /// **Advisory**: no key depends on the result, so this process alone enforces it. To protect a secret, use an item with
  /// the same constraints. A locked vault is unlocked first, with the passcode, because only unlocking authenticates
  /// the members of the enrolled set.
  ///
  /// The audit log has an entry for each secret that was asked for or given, and for a denial.
  ///
  /// - Parameters:
  ///   - constraints: One or more constraints, with ``Constraints/or`` or ``Constraints/and`` between them. An
  ///     application password belongs to an item, and cannot be evaluated.
  ///   - context: Gives or asks for what the constraints need.
  /// - Throws: ``VaultError/Code/authenticationFailed``, ``VaultError/Code/passcodeDelay``,
  ///   ``VaultError/Code/interactionNotAllowed``; ``VaultError/Code/policy`` for constraints that nothing in this vault
  ///   satisfies; ``VaultError/Code/malformed`` without a constraint; ``VaultError/Code/cancelled`` if the person
  ///   declines; ``VaultError/Code/appCancelled`` if the task is cancelled or the vault is locked meanwhile;
  ///   ``VaultError/Code/busy`` if the factors change meanwhile.
  public func evaluate(
    _ constraints: Constraints, context: AuthenticationContext
  ) async throws(VaultError) -> Evaluation {
    try await asking(context) { core, context throws(VaultError) in
      try core.evaluate(constraints, context: context!)
    }
  }

  /// Whether an evaluation still counts: it was made by this vault value, the vault was not locked since, the machine
  /// was not restarted, the vault still has the passcode and the members that the person showed, and the evaluation is
  /// not older than `age`. False too if the vault cannot be read.
  ///
  /// - Parameters:
  ///   - evaluation: The result of ``evaluate(_:context:)``.
  ///   - age: 0 to 300 s; more is taken as 300 s.
  public func isCurrent(_ evaluation: Evaluation, within age: Duration = .seconds(30)) -> Bool {
    core.isCurrent(evaluation, within: age)
  }

  /// A digest of the enrolled set, 32 bytes; `nil` while no phrase and no finger is enrolled.
  ///
  /// It changes exactly when the set changes, also when a change is taken back. The login password, a new passcode, a
  /// rotation and a restored backup do not change it. It says nothing else about the members. Compare it with a stored
  /// one to find out whether members were added or removed. **Advisory**: for a secret that must not open after a
  /// change, use an item with ``Constraints/biometryCurrentSet``.
  public func enrolledSetDigest() throws(VaultError) -> [UInt8]? { try core.enrolledSetDigest() }
}
