import SecretMemory
import TextFormats
import VaultKit

extension EntryContent {
  /// How many bytes are in secret memory.
  var secretByteCount: Int {
    let values = [sharedPassword, sharedNotes].compactMap(\.self) + sharedAddresses + fields.map(\.shared)
    return values.reduce(0) { $0 + $1.byteCount }
  }

  /// The members of a line of an export that hold it. Of an item with nothing but a password, that is the secret.
  ///
  /// - Throws: ``VaultError/Code/damaged`` for what is no text: no entry that this program makes.
  func exported() throws(VaultError) -> [(String, JSON)] {
    let texts = [sharedNotes].compactMap(\.self) + sharedAddresses + fields.map(\.shared)
    guard texts.allSatisfy({ $0.expose { UTF8Text.isValid($0) } }) else {
      throw VaultError(.damaged, "the entry has a value that is no text")
    }
    var members: [(String, JSON)] = []
    if let notes = sharedNotes { members.append(("notes", .secretText(notes))) }
    if !sharedAddresses.isEmpty { members.append(("urls", .array(sharedAddresses.map { .secretText($0) }))) }
    if !fields.isEmpty || sharedPassword == nil {
      members.append(("fields", .array(fields.map(\.exported))))
    }
    guard let password = sharedPassword else { return members }
    let isText = password.expose { UTF8Text.isValid($0) }
    return members + [isText ? ("secret", .secretText(password)) : ("secretBase64", .secretBase64(password))]
  }
}

extension EntryContent.Field {
  fileprivate var exported: JSON {
    .object {
      JSON.Field("name", name)
      JSON.Field("value", JSON.secretText(shared))
      if isHidden { JSON.Field("hidden", true) }
    }
  }
}
