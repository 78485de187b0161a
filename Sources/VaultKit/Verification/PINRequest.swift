package import VaultFormat

/// What a component asks a person for: the PIN of an item, or a new PIN.
package struct PINRequest: Sendable {
  /// Whether the PIN is a new one.
  package var isNew: Bool
  /// What happens with it, as a verb phrase for the person: "make a code".
  package var action: String
  /// The PIN item: the log has its id, and its name is shown if there is no label.
  package var item: Item?
  /// The name that is shown: that of the item which the PIN guards, or of one that is not stored yet.
  package var label: String?
  /// Which PIN, for the person: "PIN 'pin'". If nil, the prompt uses its own words.
  package var question: String?
  package var policy = PINPolicy.standard
  /// How many wrong PINs are judged before the PIN is blocked; nil where none is judged.
  package var attemptsLeft: Int?
  /// Whether a person types it twice. A new PIN is always typed twice.
  package var isTypedTwice: Bool
  /// Why it is asked for, where the person expects something else; nil otherwise.
  package var problem: String?

  /// The PIN of an item.
  package init(_ action: String, of item: Item?, isTypedTwice: Bool = false) {
    (isNew, self.action, self.item, self.isTypedTwice) = (false, action, item, isTypedTwice)
  }

  /// A new PIN.
  package init(newFor action: String, of item: Item? = nil, label: String? = nil) {
    (isNew, self.action, self.item, self.label, isTypedTwice) = (true, action, item, label, true)
  }

  var subject: PromptRequest.Subject { isNew ? .newPIN : .pin }
}
