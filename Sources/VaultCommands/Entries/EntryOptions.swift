import CommandLineKit
import VaultKit

/// Options of what an entry keeps besides its password. Each says what can be read without the passcode.
enum EntryOptions {
  static let url = Settings(
    "url", .text, "URL", "An address. Sealed, but the host of the first one can be read without the passcode."
  )
  static let notesFile = Setting(
    "notes-file", .path, "PATH", "Read the notes from PATH, lines and all. Sealed.")
  static let notesDescriptor = Setting(
    "notes-fd", .descriptor, "N", "Read the notes from descriptor N to its end. Sealed.")
  static let field = Settings(
    "field", .longText, "NAME=VALUE",
    "A field of your own, whose value 'show' prints. Sealed; but VALUE is on the command line, where other programs read it."
  )
  static let fieldDescriptor = Settings(
    "field-fd", .text, "NAME=N",
    "A field whose value is shown only when asked for, from descriptor N to its end. Sealed.")
  static let fieldFile = Settings(
    "field-file", .text, "NAME=PATH", "The same from a file. Sealed.")
  static let tag = Settings("tag", short: "t", .text, "TAG", "A tag. Can be read without the passcode.")

  /// What is under the seal.
  static let sealed: [any OptionKey] = [
    url, notesFile, notesDescriptor, field, fieldDescriptor, fieldFile,
  ]

  static let publicNote =
    "Whoever has the vault file and the device key can read the name, --account, --service, --label, --comment, --tag and the host of the "
    + "first --url without the passcode, and so can every command in a locked vault. The password, notes, fields and addresses are sealed."
  static let limitsNote =
    "An entry has at most 64 fields and 64 addresses. The name of a field has 1 to 255 bytes without =, its value at most 64 KiB; all of "
    + "it together has at most 256 KiB, and is text in UTF-8. Of a value of one line, the newline at its end is dropped; notes stay as they are."
}
