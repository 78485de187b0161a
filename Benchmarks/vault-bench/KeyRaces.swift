import CPeers

/// P12 and P13: key derivation and signatures.
enum KeyRaces {
  static var derivation: [Race] {
    let (memory, passes, lanes): (UInt32, UInt32, UInt32) = (64 << 10, 3, 4)
    return [
      Race(
        "argon2", "Argon2id, 64 MiB, 3 passes, 4 lanes", unit: "derivation", rounds: 15,
        [
          ("libargon2", unsafe .peer(peer_argon2(memory, passes, lanes), most: 1)),
          (
            "vault",
            .ours(
              KeyWorkloads.argon2id(memoryKiB: memory, iterations: passes, parallelism: lanes), most: 1)
          ),
          ("libargon2, large pages", unsafe .peer(peer_argon2_huge(memory, passes, lanes), most: 1)),
        ]),
      Race(
        "hkdf", "HKDF-SHA256, 32 bytes", unit: "key",
        [("EVP_KDF", unsafe .peer(peer_hkdf())), ("vault", .ours(KeyWorkloads.hkdf()))]),
    ]
  }

  static var signatures: [Race] {
    [
      Race(
        "sign-p256", "P-256 signature of 32 bytes, key held open", unit: "signature",
        [("OpenSSL", unsafe .peer(peer_sign_p256())), ("vault", .ours(KeyWorkloads.signP256()))]),
      Race(
        "sign-ed25519", "Ed25519 signature of 32 bytes, key held open", unit: "signature",
        [
          ("OpenSSL", unsafe .peer(peer_sign_ed25519())), ("vault", .ours(KeyWorkloads.signEd25519())),
          ("libsodium", unsafe .peer(peer_sodium_ed25519())),
        ]),
    ]
  }
}
