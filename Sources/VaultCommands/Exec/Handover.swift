import CommandLineKit
import VaultWords

/// One secret and where the program finds it.
struct Handover {
  enum Place {
    case descriptor(Int32)
    case path(in: String)
    case value(of: String)
  }

  let option: String
  let place: Place
  let item: String

  var number: Int32? { if case .descriptor(let number) = place { number } else { nil } }

  static func all(in invocation: Invocation) throws(CommandError) -> [Handover] {
    var handovers: [Handover] = []
    var seen: Set<String> = []
    for option in [Exec.fd, Exec.file, Exec.env] {
      for (index, value) in invocation[option].enumerated() {
        let handover = try Handover(value, of: option.name, named: "\(option.shown) number \(index + 1)")
        let key =
          option.name == Exec.fd.name ? "\(handover.number ?? -1)" : String(value.prefix { $0 != "=" })
        guard seen.insert(key).inserted else {
          throw .usage(
            "\(option.shown) names a place that is taken already", hint: "give each secret its own")
        }
        handovers.append(handover)
      }
    }
    guard !handovers.isEmpty else {
      throw .usage("nothing to hand over", hint: "give --fd N=NAME, --file VAR=NAME or --env VAR=NAME")
    }
    return handovers
  }

  private init(_ value: String, of option: String, named place: String) throws(CommandError) {
    guard let equals = value.firstIndex(of: "=") else {
      throw .usage(
        "\(place) has no =", hint: option == "fd" ? "write --fd 3=NAME" : "write --\(option) VAR=NAME")
    }
    let left = String(value[..<equals])
    item = String(value[value.index(after: equals)...])
    self.option = place
    try Names.check(item, named: "the name in \(place)")
    if option == "fd" {
      guard let number = Int32(left), left.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        number == 0 || number > 2
      else { throw .usage("\(place) takes descriptor 0, or 3 and more") }
      self.place = .descriptor(number)
    } else {
      guard Self.isVariable(left) else {
        throw .usage(
          "\(place) names no variable", hint: "a variable has letters, digits and _, and no digit first")
      }
      self.place = option == "file" ? .path(in: left) : .value(of: left)
    }
  }

  private static func isVariable(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.enumerated().allSatisfy { index, byte in
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x5F: true
        case 0x30...0x39: index > 0
        default: false
        }
      }
  }
}
