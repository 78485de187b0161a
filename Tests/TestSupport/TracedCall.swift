/// A system call in a log of `strace -f -o FILE`. It is read here, in a module that is optimized: such a log has megabytes.
package struct TracedCall: Sendable {
  /// The number of the process, or of the thread.
  package let process: String
  package let name: String
  /// As strace writes them.
  package let arguments: [String]
  /// What the call returned, not below zero; `nil` when it failed or did not return.
  package let result: Int?

  package struct Unreadable: Error {
    package let line: String

    package init(_ line: String) { self.line = line }
  }

  /// The calls in the order in which they ended. One that did not end is left out.
  package static func all(in log: String) throws(Unreadable) -> [TracedCall] {
    var calls: [TracedCall] = []
    // A call during which another process made one is on two lines.
    var begun: [String: ArraySlice<UInt8>] = [:]
    for line in Array(log.utf8).split(separator: UInt8(ascii: "\n")) {
      let process = text(line.prefix { $0 != UInt8(ascii: " ") })
      var rest = line.drop { $0 != UInt8(ascii: " ") }.drop { $0 == UInt8(ascii: " ") }
      if rest.starts(with: "+++".utf8) || rest.starts(with: "---".utf8) { continue }
      if rest.suffix(unfinished.count).elementsEqual(unfinished) {
        begun[process] = rest.dropLast(unfinished.count)
        continue
      }
      if rest.starts(with: "<... ".utf8) {
        guard let start = begun.removeValue(forKey: process),
          let mark = rest.firstIndex(of: UInt8(ascii: ">"))
        else { throw Unreadable(text(line.prefix(200))) }
        rest = start + rest[(mark + 1)...]
      }
      guard let call = TracedCall(process, rest) else { throw Unreadable(text(line.prefix(200))) }
      calls.append(call)
    }
    return calls
  }

  private static let unfinished = Array(" <unfinished ...>".utf8)

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// `call(argument, argument) = result …`
  private init?(_ process: String, _ line: ArraySlice<UInt8>) {
    guard let open = line.firstIndex(of: UInt8(ascii: "(")),
      let equals = line.indices.last(where: { line[$0...].starts(with: "= ".utf8) }),
      let end = line[..<equals].lastIndex(of: UInt8(ascii: ")")), open < end
    else { return nil }
    self.process = process
    name = Self.text(line[..<open])
    arguments = Self.parted(line[(open + 1)..<end])
    let number = Int(Self.text(line[(equals + 2)...].prefix { $0 != UInt8(ascii: " ") }))
    result = number.flatMap { $0 < 0 ? nil : $0 }
  }

  private static func parted(_ list: ArraySlice<UInt8>) -> [String] {
    var parts: [String] = []
    var start = list.startIndex
    for index in list.indices.dropLast()
    where list[index] == UInt8(ascii: ",") && list[index + 1] == UInt8(ascii: " ") {
      parts.append(text(list[start..<index]))
      start = index + 2
    }
    return parts + [text(list[start...])]
  }

  /// The bytes of an argument that `strace -xx` has written: `"\x2f\x6f…"`.
  package static func bytes(_ argument: String) -> [UInt8] {
    func digit(_ code: UInt8) -> UInt8 { code < 58 ? code - 48 : code - 87 }
    let codes = Array(argument.utf8)
    return stride(from: 3, to: codes.count - 1, by: 4).map { digit(codes[$0]) << 4 | digit(codes[$0 + 1]) }
  }
}
