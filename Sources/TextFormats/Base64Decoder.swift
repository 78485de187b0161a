/// The bytes that a JSON text of base64 stands for: padded, without spaces, unused bits zero (RFC 4648 §3.5).
struct Base64Decoder {
  private var text: JSONTextDecoder
  private var groups = Base64Groups(.padded)
  private var group: Base64Groups.Group?
  private var taken = 0

  init(_ text: JSONTextDecoder) { self.text = text }

  mutating func next() throws(TextError) -> UInt8? {
    while taken == group?.count ?? 0 {
      guard let character = try text.next() else {
        _ = try groups.end()
        return nil
      }
      (group, taken) = (try groups.next(character), 0)
    }
    defer { taken += 1 }
    return group?[taken]
  }
}
