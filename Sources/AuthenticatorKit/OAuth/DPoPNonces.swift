import JOSE
import VaultKit

/// What servers want to see in the next proof, by origin (RFC 9449 §8): kept with the registration, the newest first.
struct DPoPNonces {
  private var all: [(origin: String, nonce: String)] = []

  /// The most origins that are remembered.
  static let most = 16

  init(_ item: Item) {
    guard let bytes = item.attributes[.nonces], let list = try? Record(decoding: bytes) else { return }
    // The device key alone can change an attribute: what cannot be a nonce is left out.
    for number in 1...UInt16(Self.most) {
      guard let entry = try? list.recordIfPresent(number), let origin = try? entry.string(1),
        let nonce = try? entry.string(2), DPoPProof.isNonce(nonce)
      else { continue }
      all.append((origin, nonce))
    }
  }

  /// The nonce for an address.
  subscript(_ target: HTTPTarget) -> String? { all.first { $0.origin == target.origin }?.nonce }

  mutating func note(_ nonce: String, for target: HTTPTarget) {
    all.removeAll { $0.origin == target.origin }
    all.insert((target.origin, nonce), at: 0)
    all = Array(all.prefix(Self.most))
  }

  var attribute: [UInt8] {
    var list = Record()
    for (index, entry) in all.enumerated() {
      var record = Record()
      record.set(1, string: entry.origin)
      record.set(2, string: entry.nonce)
      list.set(UInt16(index + 1), record: record)
    }
    return list.encoded
  }
}

extension HTTPTarget {
  /// Scheme, host and port.
  var origin: String {
    let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    return parts.prefix(3).joined(separator: "/")
  }
}

extension Attribute where Value == String {
  /// The template of a client registration.
  static var template: Self { Self(code: 90) }
}

extension Attribute where Value == [UInt8] {
  /// The nonces of a client registration.
  static var nonces: Self { Self(code: 91) }
}
