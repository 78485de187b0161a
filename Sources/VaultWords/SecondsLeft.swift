/// A word, and how many seconds are left: `pending 70 s`. Made in one piece, because a list may have thousands.
func words(_ word: String, secondsLeft: Int) -> String {
  let word = word.utf8
  return unsafe String(unsafeUninitializedCapacity: word.count + 22) { buffer in
    var end = unsafe buffer.initialize(fromContentsOf: word)
    func append(_ byte: UInt8) {
      unsafe buffer.initializeElement(at: end, to: byte)
      end += 1
    }
    append(UInt8(ascii: " "))
    let first = end
    var rest = max(0, secondsLeft)
    repeat {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    unsafe buffer[first..<end].reverse()
    append(UInt8(ascii: " "))
    append(UInt8(ascii: "s"))
    return end
  }
}
