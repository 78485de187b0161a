package import SecretMemory
import Synchronization

/// Suite 2: AES-256-GCM under one derived, random key per label and generation, whose key schedule is kept. For
/// records that are often listed or rewritten.
///
///     version(1) = 1 ‖ suite(1) = 2 ‖ generation(4, big-endian) ‖ nonce(12) ‖ ciphertext ‖ tag(16)
///
/// The nonce is hedged like the salt of ``CommittingSeal``. The seal does not commit to its key. That is safe
/// because no person chooses such a key, and an attacker cannot guess one.
package final class RecordSeal: Sendable {
  /// How much longer a seal is than its plaintext, in bytes.
  package static var overhead: Int { headerByteCount + SealFormat.tagByteCount }

  /// How many times one key may seal, in all processes together. The caller keeps the persistent count.
  package static var writeLimit: UInt64 { 1 << 31 }

  /// The generation of the root key that new seals carry and that seals must carry to be opened.
  package let generation: UInt32
  private let root: SecretBytes
  private let label: Label
  private let nonceKey: KeyedHMAC
  private let ciphers: Mutex<Ciphers>

  /// How many times this key has sealed, as far as this process knows.
  package init(
    root: borrowing SecretBytes, label: Label, nonceLabel: Label, generation: UInt32, writes: UInt64 = 0
  ) throws(CryptoError) {
    precondition(label != nonceLabel, "RecordSeal: one label for two keys")
    self.generation = generation
    self.root = root.copy()
    self.label = label
    self.nonceKey = KeyedHMAC(key: HKDF.derive(from: root, label: nonceLabel))
    self.ciphers = Mutex(Ciphers(writes: writes))
  }

  /// Frees and wipes the ciphers. Their key schedules are in ordinary memory, because OpenSSL allocates its
  /// contexts there. The next seal or opening derives them again from the root key, which is in secret memory.
  package func releaseCiphers() { ciphers.withLock { $0.release() } }

  /// How many seals this key has written, as far as this process knows.
  package var writes: UInt64 { ciphers.withLock { $0.writes } }

  /// Seals `plaintext`, 0 bytes to 16 MiB, and appends the seal to `output`, without an allocation.
  ///
  /// - Throws: ``CryptoError/tooLarge``, ``CryptoError/randomUnavailable``, ``CryptoError/writeLimitReached``.
  /// - Precondition: `output` has room for ``overhead`` bytes more than `plaintext` has.
  package func seal(
    _ plaintext: RawSpan, aad: RawSpan, random: some RandomSource, into output: inout OutputRawSpan
  ) throws(CryptoError) {
    let count = plaintext.byteCount + RecordSeal.overhead
    precondition(output.freeCapacity >= count, "RecordSeal.seal: no room")
    try unsafe output.withUnsafeMutableBytes { (buffer, written) throws(CryptoError) in
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[written..<written + count])
      try unsafe seal(plaintext, aad, random, into: target)
      written += count
    }
  }

  /// Seals `plaintext`, 0 bytes to 16 MiB.
  ///
  /// - Throws: ``CryptoError/tooLarge``, ``CryptoError/randomUnavailable``, ``CryptoError/writeLimitReached``.
  package func seal(
    _ plaintext: RawSpan, aad: [UInt8], random: some RandomSource
  ) throws(CryptoError) -> [UInt8] {
    let count = plaintext.byteCount + RecordSeal.overhead
    return try unsafe [UInt8](count: count) { (target) throws(CryptoError) in
      try unsafe seal(plaintext, aad.span.bytes, random, into: target)
    }
  }

  /// Seals `plaintext`, 0 bytes to 16 MiB.
  package func seal(
    _ plaintext: [UInt8], aad: [UInt8], random: some RandomSource
  ) throws(CryptoError) -> [UInt8] {
    try unsafe seal(plaintext.span.bytes, aad: aad, random: random)
  }

  /// Seals a secret.
  package func seal(
    _ plaintext: borrowing SecretBytes, aad: [UInt8], random: some RandomSource
  ) throws(CryptoError) -> [UInt8] {
    try plaintext.expose { (plaintext) throws(CryptoError) in
      try seal(plaintext, aad: aad, random: random)
    }
  }

  /// The plaintext of a seal of this generation, appended to `output`, without an allocation.
  ///
  /// - Throws: ``CryptoError/tagMismatch`` for another key, generation or `aad` and for changed bytes;
  ///   ``CryptoError/malformed``, ``CryptoError/unsupported(version:suite:)``.
  /// - Precondition: `output` has room for ``overhead`` bytes less than `sealed` has.
  package func open(
    _ sealed: RawSpan, aad: RawSpan, into output: inout OutputRawSpan
  ) throws(CryptoError) {
    let count = try plaintextByteCount(of: sealed)
    precondition(output.freeCapacity >= count, "RecordSeal.open: no room")
    try unsafe output.withUnsafeMutableBytes { (buffer, written) throws(CryptoError) in
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[written..<written + count])
      try unsafe open(sealed, aad, into: target)
      written += count
    }
  }

  /// The same with associated data that leaves ``roomBeforeAAD`` bytes free in front: the cipher is fed once, not twice.
  @unsafe
  package func open(
    _ sealed: RawSpan, aadBehindRoom memory: UnsafeMutableRawBufferPointer, into output: inout OutputRawSpan
  ) throws(CryptoError) {
    let count = try plaintextByteCount(of: sealed)
    precondition(output.freeCapacity >= count, "RecordSeal.open: no room")
    try unsafe output.withUnsafeMutableBytes { (buffer, written) throws(CryptoError) in
      let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[written..<written + count])
      try unsafe sealed.withUnsafeBytes { (sealed) throws(CryptoError) in
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<RecordSeal.roomBeforeAAD])
        unsafe room.copyMemory(from: UnsafeRawBufferPointer(rebasing: sealed[..<room.count]))
        let parts = unsafe CipherContext.Parts(second: UnsafeRawBufferPointer(memory))
        try unsafe open(sealed, parts, into: target)
      }
      written += count
    }
  }

  /// The plaintext of a seal of this generation.
  package func open(_ sealed: [UInt8], aad: [UInt8]) throws(CryptoError) -> [UInt8] {
    try unsafe open(sealed.span.bytes, aad: aad)
  }

  /// The plaintext of a seal of this generation.
  package func open(_ sealed: RawSpan, aad: [UInt8]) throws(CryptoError) -> [UInt8] {
    try unsafe open(sealed, aad: aad.span.bytes)
  }

  /// The plaintext of a seal of this generation.
  package func open(_ sealed: RawSpan, aad: RawSpan) throws(CryptoError) -> [UInt8] {
    let count = try plaintextByteCount(of: sealed)
    return try unsafe [UInt8](count: count) { (target) throws(CryptoError) in
      try unsafe open(sealed, aad, into: target)
    }
  }

  /// The plaintext of a seal of this generation, written straight into secret memory.
  package func openSecret(_ sealed: RawSpan, aad: [UInt8]) throws(CryptoError) -> SecretBytes {
    var plaintext = SecretBytes(zeroes: try plaintextByteCount(of: sealed))
    try unsafe plaintext.modify { (target) throws(CryptoError) in
      try unsafe open(sealed, aad.span.bytes, into: target)
    }
    return plaintext
  }

  /// The plaintext of a seal of this generation, written straight into secret memory.
  package func openSecret(_ sealed: [UInt8], aad: [UInt8]) throws(CryptoError) -> SecretBytes {
    try unsafe openSecret(sealed.span.bytes, aad: aad)
  }

  /// The generation that a seal says it is of; not authenticated before the seal is opened.
  package static func generation(of sealed: [UInt8]) throws(CryptoError) -> UInt32 {
    try unsafe generation(of: sealed.span.bytes)
  }

  /// The same of a seal in a span.
  package static func generation(of sealed: RawSpan) throws(CryptoError) -> UInt32 {
    try unsafe sealed.withUnsafeBytes { (sealed) throws(CryptoError) in
      try unsafe SealFormat.check(sealed, suite: SealFormat.recordSuite, headerByteCount: headerByteCount)
      return unsafe UInt32(bigEndian: sealed.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
    }
  }

  /// The bytes before the nonce. They are associated data too.
  package static var roomBeforeAAD: Int { 6 }
  private static var headerByteCount: Int { roomBeforeAAD + CipherContext.ivByteCount }

  /// Refuses a seal of another generation as the cipher would: it is bound to the key and to the header.
  private func plaintextByteCount(of sealed: RawSpan) throws(CryptoError) -> Int {
    guard try RecordSeal.generation(of: sealed) == generation else { throw .tagMismatch }
    return sealed.byteCount - RecordSeal.overhead
  }

  private func seal(
    _ plaintext: RawSpan, _ aad: RawSpan, _ random: some RandomSource,
    into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    guard plaintext.byteCount <= SealFormat.maximumPlaintextByteCount else { throw .tooLarge }
    unsafe output[0] = SealFormat.version
    unsafe output[1] = SealFormat.recordSuite
    unsafe output.storeBytes(of: generation.bigEndian, toByteOffset: 2, as: UInt32.self)
    let header = unsafe UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<6])
    let nonce = unsafe output.baseAddress! + 6
    let body = unsafe UnsafeMutableRawBufferPointer(rebasing: output[RecordSeal.headerByteCount...])
    try unsafe plaintext.withUnsafeBytes { (plaintext) throws(CryptoError) in
      try unsafe aad.withUnsafeBytes { (aad) throws(CryptoError) in
        try unsafe writeNonce(to: nonce, plaintext, aad, random)
        try ciphers.withLock { (ciphers) throws(CryptoError) in
          guard ciphers.writes < RecordSeal.writeLimit else { throw .writeLimitReached }
          ciphers.writes += 1
          let parts = unsafe CipherContext.Parts(first: header, second: aad)
          try withCipher(&ciphers.sealing, .seal) { (cipher) throws(CryptoError) in
            try unsafe cipher.seal(plaintext, iv: nonce, aad: parts, into: body)
          }
        }
      }
    }
  }

  /// nonce = HMAC(K_nonce, random32 ‖ SHA256(aad) ‖ SHA256(plaintext)), the first 12 bytes.
  private func writeNonce(
    to nonce: UnsafeMutableRawPointer, _ plaintext: UnsafeRawBufferPointer, _ aad: UnsafeRawBufferPointer,
    _ random: some RandomSource
  ) throws(CryptoError) {
    try unsafe withUnsafeTemporaryAllocation(byteCount: 128, alignment: 16) { (memory) throws(CryptoError) in
      defer { unsafe wipe(memory) }
      try unsafe random.fill(UnsafeMutableRawBufferPointer(rebasing: memory[..<32]))
      unsafe SHA256Core.hash(aad, into: memory.baseAddress! + 32)
      unsafe SHA256Core.hash(plaintext, into: memory.baseAddress! + 64)
      let message = unsafe UnsafeRawBufferPointer(rebasing: memory[..<96])
      unsafe nonceKey.write(to: UnsafeMutableRawBufferPointer(rebasing: memory[96...])) {
        unsafe $0.append(message.bytes)
      }
      unsafe nonce.copyMemory(from: memory.baseAddress! + 96, byteCount: CipherContext.ivByteCount)
    }
  }

  private func open(
    _ sealed: RawSpan, _ aad: RawSpan, into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    try unsafe sealed.withUnsafeBytes { (sealed) throws(CryptoError) in
      let header = unsafe UnsafeRawBufferPointer(rebasing: sealed[..<RecordSeal.roomBeforeAAD])
      try unsafe aad.withUnsafeBytes { (aad) throws(CryptoError) in
        try unsafe open(sealed, CipherContext.Parts(first: header, second: aad), into: output)
      }
    }
  }

  private func open(
    _ sealed: UnsafeRawBufferPointer, _ aad: CipherContext.Parts, into output: UnsafeMutableRawBufferPointer
  ) throws(CryptoError) {
    let nonce = unsafe sealed.baseAddress! + RecordSeal.roomBeforeAAD
    let body = unsafe UnsafeRawBufferPointer(rebasing: sealed[RecordSeal.headerByteCount...])
    try ciphers.withLock { (ciphers) throws(CryptoError) in
      try withCipher(&ciphers.opening, .open) { (cipher) throws(CryptoError) in
        try unsafe cipher.open(body, iv: nonce, aad: aad, into: output)
      }
    }
  }

  /// Lends a cipher, and makes it first when none is kept.
  @inline(__always)
  private func withCipher(
    _ kept: inout CipherContext?, _ direction: CipherContext.Direction,
    _ body: (borrowing CipherContext) throws(CryptoError) -> Void
  ) throws(CryptoError) {
    let cipher: CipherContext
    if let present = kept.take() {
      cipher = present
    } else {
      cipher = try CipherContext(direction, key: HKDF.derive(from: root, label: label))
    }
    do throws(CryptoError) { try body(cipher) } catch {
      kept = consume cipher
      throw error
    }
    kept = consume cipher
  }

  /// The two schedules of one key, while they are kept, and how often it has sealed in this process.
  private struct Ciphers: ~Copyable {
    var sealing: CipherContext?
    var opening: CipherContext?
    var writes: UInt64

    init(writes: UInt64) { self.writes = writes }

    mutating func release() {
      sealing = nil
      opening = nil
    }
  }
}
