package import SecretMemory

/// What holds for the items of one kind in every call and in every program: one value for each kind, written in the room of
/// its component and registered with ``KindRegistry``.
///
/// The rest of the library asks the rules of a kind and never which kind it is. What a component leaves out here has the value
/// that permits and does the least.
package final class KindRules: Sendable {
  package let kind: ItemKind
  /// The word of `--kind` and of listings.
  package let word: String
  /// Whether a list can be asked for the items of this kind alone.
  package let isListedAlone: Bool
  /// Which part of a program opens, adds and replaces the secret.
  package let secret: Owner
  /// Whether an item can be an entry, which keeps more than a password.
  package let canBeEntry: Bool
  /// Whether a deleted item lies in the trash for a while.
  package let goesToTrash: Bool
  package let attributes: AttributeRules
  package let expiry: ExpiryRules
  package let state: StateRules
  package let policy: PolicyRules
  package let relations: Relations
  /// What the audit says about items of this kind, besides what it says about all items.
  package let operations: [AuditOperation.Meaning]
  /// What a list says of an item besides its common attributes.
  package let facts: (@Sendable (Attributes) -> [Fact])?
  /// What a server chose too weak, as a phrase.
  package let weakness: (@Sendable (Attributes) -> String?)?

  package init(
    _ kind: ItemKind, word: String, isListedAlone: Bool = false, secret: Owner,
    canBeEntry: Bool = false, goesToTrash: Bool = false, attributes: AttributeRules = AttributeRules(),
    expiry: ExpiryRules = ExpiryRules(),
    state: StateRules = .none, policy: PolicyRules = PolicyRules(), relations: Relations = Relations(),
    operations: [AuditOperation.Meaning] = [],
    facts: (@Sendable (Attributes) -> [Fact])? = nil, weakness: (@Sendable (Attributes) -> String?)? = nil
  ) {
    (self.kind, self.word, self.isListedAlone, self.secret) = (kind, word, isListedAlone, secret)
    (self.canBeEntry, self.goesToTrash) = (canBeEntry, goesToTrash)
    (self.attributes, self.expiry, self.state) = (attributes, expiry, state)
    (self.policy, self.relations, self.operations) = (policy, relations, operations)
    (self.facts, self.weakness) = (facts, weakness)
  }

  /// Who may open, add and replace a secret.
  package enum Owner: Sendable {
    case everybody
    /// The component alone. `name` is what a refusal calls the item, and `hint` what the component does instead.
    case component(name: String, hint: Hint? = nil)
    /// The component alone, unless the policy of the item says that it is exportable.
    case componentUnlessExportable(name: String, hint: Hint? = nil)
    /// Nobody in this program: it does not know the kind.
    case unknown
  }

  package struct Fact: Sendable {
    package enum Value: Sendable {
      case text(String)
      case number(Int64)
    }
    package let key: String
    package let value: Value

    package init(_ key: String, _ text: String) { (self.key, value) = (key, .text(text)) }
    package init(_ key: String, _ number: Int64) { (self.key, value) = (key, .number(number)) }
  }
}

/// The attributes of items of a kind.
package struct AttributeRules: Sendable {
  /// Whether such an item can have a name.
  package var hasName: Bool
  /// What makes an item unique; `nil` where only its component knows that.
  package var primary: [UInt16]?
  /// Whether an item without a name is unique by its identifier: another item names it by that.
  package var namelessHasOwner: Bool
  /// Whether an item with a name is unique by it alone.
  package var isUniqueByName: Bool
  /// Attributes in which the component keeps what another system said, which are for people in items of other kinds.
  package var fixed: Set<UInt16>
  /// Refuses attributes that no item of this kind ever has. Called by ``Item/check(_:)``, and for a new item.
  package var check: @Sendable (Attributes) throws(VaultError) -> Void
  /// Refuses a secret that no item of this kind ever has.
  package var checkSecret: @Sendable (borrowing SecretBytes) throws(VaultError) -> Void

  package init(
    hasName: Bool = true, primary: [UInt16]? = [1], namelessHasOwner: Bool = false,
    isUniqueByName: Bool = false,
    fixed: Set<UInt16> = [],
    check: @escaping @Sendable (Attributes) throws(VaultError) -> Void = { _ in },
    checkSecret: @escaping @Sendable (borrowing SecretBytes) throws(VaultError) -> Void = { _ in }
  ) {
    (self.hasName, self.primary, self.namelessHasOwner) = (hasName, primary, namelessHasOwner)
    (self.isUniqueByName, self.fixed) = (isUniqueByName, fixed)
    (self.check, self.checkSecret) = (check, checkSecret)
  }
}

/// What the expiry of an item of a kind means.
package struct ExpiryRules: Sendable {
  /// Whether only the component changes it.
  package var isFixed: Bool
  /// Whether the secret is given after it too, unless the item's policy refuses that: a person stores it, and needs the old
  /// password to change it.
  package var isGivenAfter: Bool
  /// Whether the item is deleted a day after it. What a person stores never is: only what ends by its protocol, and what a
  /// program defines.
  package var endsByClock: Bool
  /// Whether it only says until when the item is kept: its use ends at a deadline.
  package var isForKeepingOnly: Bool
  /// The deadline of an item and of its state, if it has one. A state is given where the kind has one.
  package var deadline: @Sendable (Attributes, ItemState?) -> Deadline?

  package init(
    isFixed: Bool = false, isGivenAfter: Bool = false, endsByClock: Bool = false,
    isForKeepingOnly: Bool = false,
    deadline: @escaping @Sendable (Attributes, ItemState?) -> Deadline? = { _, state in state?.deadline }
  ) {
    (self.isFixed, self.isGivenAfter, self.endsByClock) = (isFixed, isGivenAfter, endsByClock)
    (self.isForKeepingOnly, self.deadline) = (isForKeepingOnly, deadline)
  }
}

/// The state of items of a kind.
package struct StateRules: Sendable {
  package enum Presence: Sendable {
    case never
    /// Every item has one. A missing one is damage.
    case always
    /// Those that were added with one.
    case sometimes
  }
  package var presence: Presence
  /// Whether it counts codes, by its attributes: who follows the counter.
  package var counter: (@Sendable (Attributes) -> Counter?)?
  /// Whether another side may always have seen a later state than a copy has: what a program says, or the person who tried a
  /// PIN in the original.
  package var canBeBehind: Bool
  /// Keeps what a newer state of the same item has and the fields of all kinds do not, when an older one is restored.
  package var keep: @Sendable (_ restored: inout ItemState, _ newer: ItemState) -> Void
  /// In which item wrong phrases and fingers for an item count, and until when; `nil` where they count in the vault.
  package var biometry: BiometryRule?

  package enum Counter: Sendable {
    case prover, verifier
  }

  package struct BiometryRule: Sendable {
    /// The item whose use ends the failures; `nil` for an item that names none.
    package let until: @Sendable (Attributes) -> ItemID?
    /// What is said once it is locked.
    package let lock: @Sendable () -> VaultError

    package init(
      until: @escaping @Sendable (Attributes) -> ItemID?, lock: @escaping @Sendable () -> VaultError
    ) { (self.until, self.lock) = (until, lock) }
  }

  package init(
    _ presence: Presence, canBeBehind: Bool = false,
    counter: (@Sendable (Attributes) -> Counter?)? = nil,
    biometry: BiometryRule? = nil,
    keep: @escaping @Sendable (_ restored: inout ItemState, _ newer: ItemState) -> Void = { _, _ in }
  ) {
    (self.presence, self.canBeBehind, self.counter) = (presence, canBeBehind, counter)
    (self.biometry, self.keep) = (biometry, keep)
  }

  package static let none = StateRules(.never)
}

/// What the policy of an item of a kind can require, and where the item goes.
package struct PolicyRules: Sendable {
  /// Whether a PIN can guard it.
  package var canHavePIN: Bool
  /// How an item with a life ends; `nil` where items of this kind have none.
  package var end: EndRule?
  /// Whether it is too short-lived for a backup.
  package var staysHere: Bool

  package struct EndRule: Sendable {
    /// What the audit calls the end by itself.
    package let operation: AuditOperation
    /// What the state says then; `nil` where nothing is known of it.
    package let mark: (@Sendable (_ state: inout ItemState, _ isOver: Bool) -> Void)?

    package init(
      _ operation: AuditOperation,
      mark: (@Sendable (_ state: inout ItemState, _ isOver: Bool) -> Void)? = nil
    ) { (self.operation, self.mark) = (operation, mark) }
  }

  package init(canHavePIN: Bool = false, end: EndRule? = nil, staysHere: Bool = false) {
    (self.canHavePIN, self.end, self.staysHere) = (canHavePIN, end, staysHere)
  }
}

/// What items of a kind are to other items.
package struct Relations: Sendable {
  /// Whether it guards others by its data, as a PIN does: it stays while others are behind it. They are deleted in the same
  /// transaction, or it is not.
  package var guardsOthers: Bool
  /// The kind of the item that its account names, without which it is of no use: it is deleted with that.
  package var belongsTo: ItemKind?

  package init(guardsOthers: Bool = false, belongsTo: ItemKind? = nil) {
    (self.guardsOthers, self.belongsTo) = (guardsOthers, belongsTo)
  }
}

extension Item {
  /// Refuses attributes that no item of its kind ever has. An item of a kind that is not known here may be a card token, but only
  /// if it has a life.
  package func check(_ attributes: Attributes) throws(VaultError) {
    guard kind.isKnown || policy.hasLife else { return }
    try kind.rules.attributes.check(attributes)
  }
}

extension KindRules {
  /// The attribute codes that make an item unique, in addition to access group and synchronizable; `nil` where only its
  /// component knows them.
  package func primaryAttributes(isNamed: Bool) -> [UInt16]? {
    isNamed && attributes.isUniqueByName ? [1] : attributes.primary
  }

  /// Whether only its component changes what makes such an item what it is.
  package func isOfComponent(isExportable: Bool) -> Bool {
    switch secret {
    case .everybody: false
    case .componentUnlessExportable: !isExportable
    case .component, .unknown: true
    }
  }

  /// Whether the policy of such an item says if its secret can be exported.
  package var dependsOnExport: Bool {
    if case .componentUnlessExportable = secret { return true }
    return false
  }

  /// Whether an item of this kind can be one that belongs to an item of another kind, and goes with it.
  ///
  /// - Parameter owner: The kind of the other; `nil` where that is not known. Among kinds that this program does not know, each
  ///   can belong to each.
  package func canBelong(to owner: ItemKind?) -> Bool {
    guard isKnown else { return owner?.isKnown != true }
    guard let own = relations.belongsTo else { return false }
    return owner == nil || owner == own
  }

  /// Whether this program knows what the secret of such an item is. Other items are listed, and never opened.
  package var isKnown: Bool {
    if case .unknown = secret { return false }
    return true
  }
}
