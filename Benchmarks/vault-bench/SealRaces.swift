import CPeers

/// P4, P5, P6, P7: the cipher, the two seals, random bytes.
enum SealRaces {
  static var all: [Race] { [16, 64, 256].flatMap(plain) + committing + record + large + random }

  private static func plain(_ size: Int) -> [Race] {
    [
      Race(
        "gcm-seal-\(size)", "AES-256-GCM, seal \(size) B with a kept schedule", unit: "seal",
        [
          ("floor", unsafe .peer(peer_gcm_seal(size))),
          ("vault", .ours(SealWorkloads.gcm(byteCount: size, opens: false))),
          ("one-shot", unsafe .peer(peer_gcm_seal_naive(size))),
          ("legacy", unsafe .peer(peer_gcm_seal_legacy(size))),
          ("libsodium AES-256-GCM", unsafe .peer(peer_sodium_seal(size))),
          ("libsodium secretbox", unsafe .peer(peer_sodium_box(size))),
        ]),
      Race(
        "gcm-open-\(size)", "AES-256-GCM, open \(size) B with a kept schedule", unit: "opening",
        [
          ("floor", unsafe .peer(peer_gcm_open(size))),
          ("vault", .ours(SealWorkloads.gcm(byteCount: size, opens: true))),
        ]),
    ]
  }

  private static var committing: [Race] {
    let aad = 220
    return [
      Race(
        "suite1-seal", "Committing seal, 64 B, 220 B associated data: seal", unit: "seal",
        [
          ("C", unsafe .peer(peer_committing(64, aad, 0, 0))),
          ("vault", .ours(SealWorkloads.committing(byteCount: 64, aadByteCount: aad, opens: false))),
          ("C kept", unsafe .peer(peer_committing(64, aad, 0, 1))),
          ("salt", unsafe .peer(peer_committing(64, aad, 2, 0))),
          ("keys", unsafe .peer(peer_committing(64, aad, 3, 0))),
          ("cipher", unsafe .peer(peer_committing(64, aad, 4, 0))),
          ("cipher kept", unsafe .peer(peer_committing(64, aad, 4, 1))),
        ]),
      Race(
        "suite1-open", "Committing seal, 64 B, 220 B associated data: open", unit: "opening",
        [
          ("C", unsafe .peer(peer_committing(64, aad, 1, 0))),
          ("vault", .ours(SealWorkloads.committing(byteCount: 64, aadByteCount: aad, opens: true))),
          ("C kept", unsafe .peer(peer_committing(64, aad, 1, 1))),
        ]),
    ]
  }

  private static var record: [Race] {
    [
      Race(
        "suite2-seal", "Record seal, 64 B, 220 B associated data: seal", unit: "seal",
        [
          ("C", unsafe .peer(peer_record_seal(64, 220))),
          ("vault", .ours(SealWorkloads.record(byteCount: 64, aadByteCount: 220, opens: false))),
        ]),
      Race(
        "suite2-open", "Record seal, 64 B, 220 B associated data: open", unit: "opening",
        [
          ("C", unsafe .peer(peer_record_open(64, 220))),
          ("vault", .ours(SealWorkloads.record(byteCount: 64, aadByteCount: 220, opens: true))),
        ]),
    ]
  }

  private static var large: [Race] {
    let size = 1 << 20
    return [
      Race(
        "gcm-large", "AES-256-GCM, seal 1 MiB", unit: "byte",
        [
          ("floor", unsafe .peer(peer_gcm_seal(size), units: Double(size))),
          ("vault", .ours(SealWorkloads.gcm(byteCount: size, opens: false), units: Double(size))),
          ("libsodium AES-256-GCM", unsafe .peer(peer_sodium_seal(size), units: Double(size))),
        ])
    ]
  }

  private static var random: [Race] {
    [12, 32].map { size in
      Race(
        "random-\(size)", "\(size) random bytes for a \(size == 12 ? "nonce" : "salt")", unit: "draw",
        [
          ("RAND_bytes", unsafe .peer(peer_rand_bytes(size))),
          ("vault", .ours(SealWorkloads.random(byteCount: size))),
          ("getrandom", unsafe .peer(peer_getrandom(size))),
          ("pool", unsafe .peer(peer_rand_pool(size))),
        ])
    }
  }
}
