import AuthenticatorKit
import CommandLineKit
import TextFormats
import VaultKit
import VaultWords

/// The arguments and options of verbs about PINs.
enum PINOptions {
  static let item = Argument(
    "PINITEM", .name, "The name of the PIN item; pin if not given.", isRequired: false)
  static let newItem = Argument(
    "PINITEM", .newName, "The name of the new PIN item; pin or pin-camouflaged if not given.",
    isRequired: false)
  static let mode = Setting(
    "mode", .choice(["checked": PINMode.checked, "camouflaged": .camouflaged]), "",
    "checked: the vault judges the PIN. camouflaged: only the server does, by the code.",
    defaultValue: "checked")
  static let limit = Setting(
    "limit", .number(UInt64(5)...20), "N",
    "How many wrong PINs in a row block a checked PIN; 10 if not given.")
  static let keepBiokeys = Flag("keep-biokeys", "Keep the biokeys that replace this PIN.")

  /// Where a new credential gets its PIN item from.
  enum Guard {
    case none
    case mode(PINMode)
  }
  static let guardMode = Setting(
    "pin-mode",
    .choice(["none": Guard.none, "checked": .mode(.checked), "camouflaged": .mode(.camouflaged)]), "",
    "Put the credential behind the PIN item pin or pin-camouflaged, which is made when it is first used.",
    defaultValue: "none")
  static let guardItem = Setting(
    "pin", .text, "PINITEM", "Put the credential behind this PIN item, which 'pin set' has made.")
}
