import Foundation
import OneTimePassword
import SecretMemory
import TestSupport
import Testing
import VaultCrypto

/// One file of the vector folder: the whole folder is read, and what nobody checks is a failure.
struct VectorFile {
  let name: String
  let header: [String: Any]

  static func all() throws -> [VectorFile] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Vectors/otp")
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
      .map { url in
        let header = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
        return VectorFile(name: url.lastPathComponent, header: try #require(header as? [String: Any]))
      }
  }

  /// The rows of a list, after checking that the file and the rows have no key that the test does not know.
  func rows(_ list: String, header known: Set<String>, keys: Set<String>) throws -> [[String: Any]] {
    expect(Set(header.keys).subtracting(known), equals: [], "\(name): unknown header keys")
    let rows = try #require(header[list] as? [[String: Any]])
    #expect(!rows.isEmpty, "\(name): no rows")
    for row in rows { expect(Set(row.keys).subtracting(keys), equals: [], "\(name): unknown row keys") }
    return rows
  }
}

private struct UnknownVectorFile: Error { let name: String }

extension [String: Any] {
  func string(_ key: String) throws -> String { try #require(self[key] as? String) }
  func integer(_ key: String) throws -> Int64 { try #require(self[key] as? NSNumber).int64Value }
  fileprivate func algorithm() throws -> OTPAlgorithm {
    try #require(OTPAlgorithm(rawValue: string("hash")))
  }
  fileprivate func key() throws -> SecretBytes { secret(bytes(hex: try string("secretHex"))) }
}

@Suite("Published and generated vectors", .bounded, .requirement("R6"))
struct VectorTests {
  @Test("every file of the folder is known, and every row of it gives the expected code")
  func folder() throws {
    let files = try VectorFile.all()
    #expect(!files.isEmpty, "the vector folder is empty")
    for file in files {
      let count = try check(file)
      print("vectors: \(file.name): \(count) rows checked")
    }
  }

  private func check(_ file: VectorFile) throws -> Int {
    switch file.name {
    case "rfc4226_hotp.json": try counterVectors(file)
    case "rfc6238_totp.json": try timeVectors(file)
    case "generated_hotp_totp.json": try generatedCounters(file) + generatedTimes(file)
    case "steam_guard.json": try steamVectors(file)
    case "otpauth_uris.json": try acceptedURIs(file) + refusedURIs(file)
    case "rfc6287_ocra.json", "generated_ocra.json", "tiqr_ocra.json": try ocraVectors(file)
    default: throw UnknownVectorFile(name: file.name)
    }
  }

  private func counterVectors(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "tests", header: ["source", "hash", "digits", "secretHex", "tests"],
      keys: ["counter", "hmacHex", "truncated", "otp"])
    let digits = Int(try file.header.integer("digits"))
    let generator = try HOTPGenerator(
      key: file.header.key(), algorithm: file.header.algorithm(), digits: digits)
    let hmac = KeyedHMAC(key: try file.header.key(), algorithm: .sha1)
    for row in rows {
      let counter = UInt64(try row.integer("counter"))
      #expect(generator.code(at: counter) == (try row.string("otp")))
      #expect(Int64(generator.truncatedValue(at: counter)) == (try row.integer("truncated")))
      expect(generator.value(at: counter), equals: UInt32(try row.string("otp")))
      let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) }
      #expect(hex(hmac.code(for: message)) == (try row.string("hmacHex")))
    }
    return rows.count
  }

  private func timeVectors(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "tests", header: ["source", "digits", "period", "t0", "tests"],
      keys: ["hash", "secretHex", "unixTime", "counter", "otp"])
    let header = file.header
    for row in rows {
      let generator = try TOTPGenerator(
        key: row.key(), algorithm: row.algorithm(), digits: Int(header.integer("digits")),
        periodSeconds: header.integer("period"), t0: header.integer("t0"))
      let code = try generator.code(at: row.integer("unixTime"))
      #expect(code.code == (try row.string("otp")))
      #expect(Int64(code.step.number) == (try row.integer("counter")))
    }
    return rows.count
  }

  private func generatedCounters(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "hotp", header: ["source", "hotp", "totp"], keys: ["digits", "counter", "hash", "secretHex", "otp"])
    for row in rows {
      let generator = try HOTPGenerator(
        key: row.key(), algorithm: row.algorithm(), digits: Int(row.integer("digits")))
      let counter = try #require(UInt64(row.string("counter")))
      #expect(generator.code(at: counter) == (try row.string("otp")))
    }
    return rows.count
  }

  private func generatedTimes(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "totp", header: ["source", "hotp", "totp"],
      keys: ["digits", "unixTime", "hash", "secretHex", "period", "otp"])
    for row in rows {
      let generator = try TOTPGenerator(
        key: row.key(), algorithm: row.algorithm(), digits: Int(row.integer("digits")),
        periodSeconds: row.integer("period"))
      try expect(generator.code(at: row.integer("unixTime")).code, equals: row.string("otp"))
    }
    return rows.count
  }

  private func steamVectors(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "tests", header: ["source", "tests"], keys: ["secretHex", "unixTime", "code"])
    for row in rows {
      let generator = try TOTPGenerator(steamKey: row.key())
      try expect(generator.code(at: row.integer("unixTime")).code, equals: row.string("code"))
      try expect(OTPCode(row.string("code")).text, equals: row.string("code"))
    }
    return rows.count
  }

  private func acceptedURIs(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "valid", header: ["source", "secretHex", "valid", "reject"],
      keys: ["uri", "type", "issuer", "account", "algorithm", "digits", "period", "note"])
    for row in rows {
      let uri = try OTPAuthURI(parsing: secret(row.string("uri")))
      expect(uri.kind, equals: .totp(periodSeconds: try row.integer("period")))
      try expect(row.string("type"), equals: "totp")
      #expect(uri.issuer == (try row.string("issuer")))
      #expect(uri.account == (try row.string("account")))
      #expect(uri.algorithm.rawValue == (try row.string("algorithm")))
      #expect(Int64(uri.format.length) == (try row.integer("digits")))
      #expect(hex(bytes(of: uri.secret)) == (try file.header.string("secretHex")))
      expect(uri.warnings, equals: [])
    }
    return rows.count
  }

  private func refusedURIs(_ file: VectorFile) throws -> Int {
    let rows = try file.rows(
      "reject", header: ["source", "secretHex", "valid", "reject"], keys: ["uri", "why"])
    for row in rows {
      let why = try row.string("why")
      #expect(throws: OTPError.self, "accepted although: \(why)") {
        _ = try OTPAuthURI(parsing: secret(row.string("uri")))
      }
    }
    return rows.count
  }
}
