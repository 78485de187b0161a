import SecretMemory
import VaultKit
import VaultTestKit

/// What a random walk over entries must leave after each step, without a vault: a function of the seed and of the number of steps.
///
/// It knows the one rule: after any step, an entry has all that it had, or what the step asked for.
struct EntryModel: Equatable {
  /// What an entry keeps.
  struct Content: Equatable {
    var password: String?
    var notes: String?
    var fields: [String: String] = [:]

    /// A password without anything else is no entry.
    var words: String {
      let fields = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      return "\(password ?? "-")/\(notes ?? "-")/\(fields.joined(separator: ","))"
    }
  }

  struct Entry: Equatable {
    var content: Content
    /// The newest first.
    var former: [Content] = []
    /// The counter of its code.
    var counter: UInt64?

    var words: String {
      "\(content.words) [\(former.map(\.words).joined(separator: " "))] \(counter.map(String.init) ?? "-")"
    }

    mutating func replace(by new: Content) {
      former = Array(([content] + former).prefix(5))
      content = new
    }
  }

  var entries: [String: Entry] = [:]
  var trash: [String: Entry] = [:]

  /// One line for the whole state.
  var words: String {
    let lines = { (entries: [String: Entry]) in
      entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.words)" }.joined(separator: "; ")
    }
    return lines(entries) + " | " + lines(trash)
  }

  /// A step, and what it is done with.
  enum Step: Equatable {
    case add(String, Content)
    case password(String, String?)
    case notes(String, String?)
    case field(String, String, String?)
    case rename(String, to: String)
    case discard(String)
    case putBack(String, as: String)
    case delete(String)
    case restore(String, Int)
    case forget(String)
    case newRule(String)
    case addCode(String)
    case code(String)
    case newKeys
    case empty
  }

  mutating func apply(_ step: Step) {
    switch step {
    case .add(let name, let content): entries[name] = Entry(content: content)
    case .password(let name, let value): change(name) { $0.password = value }
    case .notes(let name, let value): change(name) { $0.notes = value }
    case .field(let name, let field, let value): change(name) { $0.fields[field] = value }
    case .rename(let name, let other): (entries[other], entries[name]) = (entries[name], nil)
    case .discard(let name): (trash[name], entries[name]) = (entries[name], nil)
    case .putBack(let name, let other): (entries[other], trash[name]) = (trash[name], nil)
    case .delete(let name): entries[name] = nil
    case .restore(let name, let index):
      let former = entries[name]!.former[index]
      change(name) { $0 = former }
    case .forget(let name), .newRule(let name): entries[name]!.former = []
    case .addCode(let name): entries[name]!.counter = 0
    case .code(let name): entries[name]!.counter! += 1
    case .newKeys:
      for name in entries.keys { entries[name]!.former = [] }
      for name in trash.keys { trash[name]!.former = [] }
    case .empty: trash = [:]
    }
  }

  /// A change that leaves all as it was makes no version.
  private mutating func change(_ name: String, _ body: (inout Content) -> Void) {
    var content = entries[name]!.content
    body(&content)
    guard content != entries[name]!.content else { return }
    entries[name]!.replace(by: content)
  }

  /// The next step of a walk. Each can be done in this state.
  func next(_ random: inout Dice) -> Step {
    let free = Self.names.filter { entries[$0] == nil }
    let names = entries.keys.sorted()
    guard let name = random.pick(names) else { return .add(random.pick(free)!, random.content()) }
    switch random.below(24) {
    case 0...3:
      if let other = random.pick(free.filter { trash[$0] == nil }) { return .add(other, random.content()) }
    case 4...6: return .password(name, random.below(8) == 0 ? nil : random.word())
    case 7, 8: return .notes(name, random.below(4) == 0 ? nil : random.word() + "\n" + random.word())
    case 9...11:
      let field = random.pick(["a", "b", "PIN of card"])!
      let removes = entries[name]!.content.fields[field] != nil && random.below(3) == 0
      return .field(name, field, removes ? nil : random.word())
    case 12: if let other = random.pick(free.filter { trash[$0] == nil }) { return .rename(name, to: other) }
    case 13, 14: if trash[name] == nil { return .discard(name) }
    case 15, 16:
      if let other = random.pick(trash.keys.sorted()), let target = random.pick(free) {
        return .putBack(other, as: target)
      }
    case 17: return .delete(name)
    case 18: if let index = random.pick(Array(entries[name]!.former.indices)) { return .restore(name, index) }
    case 19: return random.below(2) == 0 ? .forget(name) : .newRule(name)
    case 20: if entries[name]!.counter == nil { return .addCode(name) }
    case 21, 22: if entries[name]!.counter != nil { return .code(name) }
    default: if random.below(6) == 0 { return random.below(2) == 0 ? .newKeys : .empty }
    }
    return .password(name, random.word())
  }

  static let names = ["shop", "mail", "bank", "Größe", "a/b"]

  /// What the walk decides with.
  struct Dice {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    /// SplitMix64: the same numbers in each process.
    private mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      return mixed ^ mixed >> 31
    }

    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
    mutating func pick<T>(_ values: [T]) -> T? { values.isEmpty ? nil : values[below(values.count)] }
    mutating func word() -> String { String(next(), radix: 36) }
    mutating func content() -> Content {
      var content = Content(password: below(10) == 0 ? nil : word(), notes: below(3) == 0 ? word() : nil)
      if below(3) == 0 { content.fields["a"] = word() }
      return content
    }
  }
}
