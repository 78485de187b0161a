import OneTimePassword

/// HOTP codes whose counters were reserved by one durable write. Taking one writes nothing.
///
/// Codes that are not taken become a gap, which the server must look ahead over. The key is in locked memory until this
/// value ends, also while the vault is locked.
public struct ReservedCodes: ~Copyable, Sendable {
  private let name: String
  private let generator: HOTPGenerator
  private var block: CounterReservation

  init(name: String, generator: consuming HOTPGenerator, block: consuming CounterReservation) {
    self.name = name
    self.generator = generator
    self.block = block
  }

  /// How many codes are left.
  public var remaining: UInt64 { block.remaining }

  /// The next code; `nil` when all were taken.
  public mutating func next() -> OTPResult? {
    guard let counter = block.take() else { return nil }
    return OTPResult(
      name: name, code: generator.code(at: counter), digits: generator.format.length,
      factor: .counter(counter))
  }
}
