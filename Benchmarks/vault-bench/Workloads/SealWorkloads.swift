import SecretMemory
import VaultCrypto

/// The seals, and the cipher that they use.
enum SealWorkloads {
  /// AES-256-GCM with a kept key schedule, into the caller's buffer.
  static func gcm(byteCount: Int, opens: Bool) -> Workload {
    let cipher = Box(must { try AESGCM(key: key()) })
    let plaintext = unsafe buffer(byteCount)
    let sealed = unsafe buffer(byteCount + 16)
    let iv = unsafe buffer(12)
    must { try unsafe cipher.value.seal(constant(plaintext), iv: iv.baseAddress!, into: sealed) }
    if opens {
      return Workload("open \(byteCount) B") {
        try unsafe cipher.value.open(constant(sealed), iv: iv.baseAddress!, into: plaintext)
      }
    }
    return Workload("seal \(byteCount) B") {
      unsafe iv.storeBytes(of: iv.load(as: UInt64.self) &+ 1, as: UInt64.self)
      try unsafe cipher.value.seal(constant(plaintext), iv: iv.baseAddress!, into: sealed)
    }
  }

  /// Suite 1, the seal that commits to its key.
  static func committing(byteCount: Int, aadByteCount: Int, opens: Bool) -> Workload {
    let key = Box(key())
    let plaintext = [UInt8](repeating: 7, count: byteCount)
    let aad = [UInt8](repeating: 9, count: aadByteCount)
    let label = Label("vault/1/seal-secret")
    let random = SystemRandom()
    let sealed = must {
      try CommittingSeal.seal(plaintext, under: key.value, label: label, aad: aad, random: random)
    }
    if opens {
      return Workload("suite 1, open \(byteCount) B") {
        _ = try CommittingSeal.open(sealed, under: key.value, label: label, aad: aad)
      }
    }
    return Workload("suite 1, seal \(byteCount) B") {
      _ = try CommittingSeal.seal(plaintext, under: key.value, label: label, aad: aad, random: random)
    }
  }

  /// Suite 2, into the caller's buffer.
  static func record(byteCount: Int, aadByteCount: Int, opens: Bool) -> Workload {
    let seal = must {
      try RecordSeal(
        root: key(), label: Label("vault/1/meta"), nonceLabel: Label("vault/1/meta-nonce"), generation: 1)
    }
    let random = SystemRandom()
    let plaintext = [UInt8](repeating: 7, count: byteCount)
    let aad = [UInt8](repeating: 9, count: aadByteCount)
    let sealed = must { try seal.seal(plaintext, aad: aad, random: random) }
    let space = unsafe buffer(sealed.count)
    if opens {
      return Workload("suite 2, open \(byteCount) B") {
        var output = unsafe OutputRawSpan(buffer: space, initializedCount: 0)
        try unsafe seal.open(sealed.span.bytes, aad: aad.span.bytes, into: &output)
        _ = output.byteCount
      }
    }
    return Workload("suite 2, seal \(byteCount) B") {
      var output = unsafe OutputRawSpan(buffer: space, initializedCount: 0)
      try unsafe seal.seal(plaintext.span.bytes, aad: aad.span.bytes, random: random, into: &output)
      _ = output.byteCount
    }
  }

  /// Random bytes for a nonce (12) or a salt (32).
  static func random(byteCount: Int) -> Workload {
    let source = SystemRandom()
    let space = unsafe buffer(byteCount)
    return Workload("\(byteCount) random bytes") { try unsafe source.fill(space) }
  }

  static func key() -> SecretBytes { SecretBytes(copying: (0..<32).map { UInt8($0 * 7 & 0xff) }) }

  /// Memory that is never freed, because the benchmark needs it until it ends.
  @unsafe
  private static func buffer(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, 16), alignment: 64)
    _ = unsafe space.initializeMemory(as: UInt8.self, repeating: 5)
    return unsafe UnsafeMutableRawBufferPointer(rebasing: space[..<byteCount])
  }

  @unsafe
  private static func constant(_ space: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(space)
  }
}
