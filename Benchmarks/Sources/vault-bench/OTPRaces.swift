import CPeers
import OneTimePassword
import SecretMemory
import VaultBenchmarking

/// P1, P2, P3: one code, a window, many credentials.
enum OTPRaces {
  static var all: [Race] { [one, text, window] + bulk }

  private static var one: Race {
    Race(
      "otp-one", "One HOTP as a number, from an unlocked credential", unit: "code",
      [
        ("floor", unsafe .peer(peer_transform_pair())),
        ("vault", generator { peer_keep(UInt64($0.value(at: $1))) }),
        ("EVP_MAC reused", unsafe .peer(peer_evp_mac_reused())),
        ("EVP_MAC, new context", unsafe .peer(peer_evp_mac_new())),
        ("HMAC()", unsafe .peer(peer_hmac_oneshot())),
        ("liboath", unsafe .peer(peer_oath_hotp())),
      ])
  }

  private static var text: Race {
    Race(
      "otp-text", "One HOTP as six digits", unit: "code",
      [
        ("floor", unsafe .peer(peer_transform_pair())),
        ("floor with digits", unsafe .peer(peer_transform_text())),
        ("vault", generator { peer_keep(UInt64($0.code(at: $1).utf8.first!)) }),
        ("liboath", unsafe .peer(peer_oath_hotp())),
      ])
  }

  private static var window: Race {
    let width = 1000
    let ways = OTPWorkloads.lanes.map { lanes in
      (lanes, Contender.ours(OTPWorkloads.window(UInt64(width), lanes: lanes)) as Contender?)
    }
    return Race(
      "otp-window", "A wrong code against a window of 1,000", unit: "window",
      [
        ("liboath", unsafe .peer(peer_oath_window(width))),
        ("midstates", unsafe .peer(peer_midstate_window(width))),
        ("16 lanes by hand", unsafe .peer(peer_lanes_window(width))),
      ] + ways)
  }

  private static var bulk: [Race] {
    let credentials = 4096
    let ways = OTPWorkloads.lanes.map { lanes in
      (
        lanes,
        Contender.ours(OTPWorkloads.bulk(credentials, lanes: lanes), units: Double(credentials)) as Contender?
      )
    }
    return [
      Race(
        "otp-bulk", "Many credentials, cached midstates, one candidate each", unit: "candidate",
        [
          ("floor", unsafe .peer(peer_transform_pair())),
          ("16 lanes by hand", unsafe .peer(peer_lanes_bulk(credentials), units: Double(credentials))),
        ] + ways)
    ]
  }

  /// Through the public API, with the loop here: what a user's own loop costs.
  private static func generator(_ use: @escaping (borrowing HOTPGenerator, UInt64) -> Void) -> Contender {
    let key = SecretBytes(capacity: 20) { output in
      for byte in "12345678901234567890".utf8 { unsafe output.append(byte, as: UInt8.self) }
    }
    // A key of 20 bytes is always accepted; without a key there is nothing to measure.
    guard let generator = try? HOTPGenerator(key: key) else { fatalError("no generator") }
    let box = Box(generator)
    var counter: UInt64 = 0
    return Contender("vault: HOTPGenerator") { count in
      for _ in 0..<count {
        use(box.value, counter)
        counter &+= 1
      }
    }
  }
}
