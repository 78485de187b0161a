public import SecretMemory
import VaultKit

/// The members of a request or an answer, by name and in the order in which they were set.
///
/// A name that ends in `Base64` has a ``TransportValue/secret(_:)``, and no other name has one.
public struct TransportFields: Sendable {
  /// The names and values.
  public private(set) var all: [(name: String, value: TransportValue)] = []

  /// No members.
  public init() {}

  /// These members. No name is there twice.
  package init(_ all: [(name: String, value: TransportValue)]) { self.all = all }

  /// The value of a member; `nil` where it is absent.
  public subscript(name: String) -> TransportValue? {
    get { all.first { $0.name == name }?.value }
    set {
      let index = all.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): all[index].value = value
      case (let index?, nil): all.remove(at: index)
      case (nil, let value?): all.append((name, value))
      case (nil, nil): break
      }
    }
  }
}

/// A value in a request or an answer.
@nonexhaustive
public enum TransportValue: Sendable {
  /// A text without control characters, except for LF in the context of a transaction.
  case text(String)
  /// A whole number from 0 on.
  case number(UInt64)
  /// True or false.
  case flag(Bool)
  /// Secret bytes.
  case secret(TransportSecret)
  /// Texts.
  case texts([String])
  /// An object.
  case fields(TransportFields)
  /// Of an answer: what no operation has, such as null, a number below zero or with a fraction, and an array of numbers. A
  /// member that is needed cannot be it; others are ignored.
  case other
}

/// Secret bytes in a request or an answer. They stay in locked memory, and are wiped with the last copy.
public struct TransportSecret: Sendable {
  let shared: SharedSecret

  /// The bytes of a secret.
  public init(_ secret: consuming SecretBytes) { shared = SharedSecret(secret) }

  init(_ shared: SharedSecret) { self.shared = shared }

  /// Lends the bytes to `body`.
  public func expose<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try shared.expose(body)
  }

  /// The bytes, for rooms that write them as base64.
  package var box: SharedSecret { shared }
}

/// Reading an answer: a value of another type, or out of its bounds, is a failure of the peer.
extension TransportFields {
  /// - Throws: ``VaultError/Code/network``.
  func text(_ name: String, _ counts: ClosedRange<Int>) throws(VaultError) -> String? {
    guard let value = self[name] else { return nil }
    guard case .text(let text) = value, counts.contains(text.utf8.count), VisibleText.flaw(in: text) == nil
    else { throw .peerAnswered("'\(name)' is no text of \(counts.lowerBound) to \(counts.upperBound) bytes") }
    return text
  }

  /// A text that a person recognizes something by.
  ///
  /// - Throws: ``VaultError/Code/network``.
  func name(_ name: String, _ counts: ClosedRange<Int> = 1...255) throws(VaultError) -> String? {
    guard let text = try text(name, counts) else { return nil }
    guard VisibleText.flaw(inName: text) == nil else {
      throw .peerAnswered("'\(name)' would not show as itself")
    }
    return text
  }

  /// - Throws: ``VaultError/Code/network``.
  func number(_ name: String, _ bounds: ClosedRange<UInt64>) throws(VaultError) -> UInt64? {
    guard let value = self[name] else { return nil }
    guard case .number(let number) = value, bounds.contains(number) else {
      throw .peerAnswered("'\(name)' is no number from \(bounds.lowerBound) to \(bounds.upperBound)")
    }
    return number
  }

  /// - Throws: ``VaultError/Code/network``.
  func flag(_ name: String) throws(VaultError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard case .flag(let flag) = value else { throw .peerAnswered("'\(name)' is neither true nor false") }
    return flag
  }

  /// - Throws: ``VaultError/Code/network``.
  func secret(_ name: String, _ counts: ClosedRange<Int>) throws(VaultError) -> SharedSecret? {
    guard let value = self[name] else { return nil }
    guard case .secret(let secret) = value, counts.contains(secret.shared.byteCount) else {
      throw .peerAnswered("'\(name)' has not \(counts.lowerBound) to \(counts.upperBound) bytes")
    }
    return secret.shared
  }

  /// - Throws: ``VaultError/Code/network``.
  func texts(_ name: String) throws(VaultError) -> [String]? {
    guard let value = self[name] else { return nil }
    guard case .texts(let texts) = value else { throw .peerAnswered("'\(name)' is no array of texts") }
    return texts
  }

  /// - Throws: ``VaultError/Code/network``.
  func fields(_ name: String) throws(VaultError) -> TransportFields? {
    guard let value = self[name] else { return nil }
    guard case .fields(let fields) = value else { throw .peerAnswered("'\(name)' is no object") }
    return fields
  }

  /// - Throws: ``VaultError/Code/network`` for `nil`.
  static func required<R>(_ name: String, _ value: R?) throws(VaultError) -> R {
    guard let value else { throw .peerAnswered("'\(name)' is missing") }
    return value
  }

  /// How long something waits.
  func lifeSeconds(_ standard: UInt64) throws(VaultError) -> UInt64 {
    try number("lifeSeconds", Self.lives) ?? standard
  }

  /// 1 second to 30 days.
  static let lives: ClosedRange<UInt64> = 1...2_592_000

  /// What a prover has to add to its clock, in seconds; `nil` where the peer names no time.
  ///
  /// - Throws: ``VaultError/Code/network`` for more than a day.
  func secondsOffset(from now: Instant) throws(VaultError) -> Int32? {
    guard let time = try number("unixTime", 0...UInt64(Int64.max)) else { return nil }
    let (offset, isBeyond) = Int64(time).subtractingReportingOverflow(now.seconds)
    guard !isBeyond, (-86_400...86_400).contains(offset) else {
      throw .peerAnswered("its clock differs from the clock here by more than a day")
    }
    return Int32(offset)
  }
}
