import CPeers
import OneTimePassword
import SecretMemory

/// P1, P2, P3: one code, a window, many credentials. P18: OCRA codes.
enum OTPRaces {
  static var all: [Race] { [one, text, window] + bulk + ocra }

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

  /// The peer hashes the same bytes with a kept key, and truncates.
  private static var ocra: [Race] {
    [
      Race(
        "ocra-question", "One OCRA code, QN08", unit: "code",
        [
          ("floor", unsafe .peer(peer_ocra_hmac(0))),
          ("vault", signer("OCRA-1:HOTP-SHA1-6:QN08", hasCounter: false, pin: nil)),
        ]),
      Race(
        "ocra-counter", "One OCRA code, C-QN08-PSHA1", unit: "code",
        [
          ("floor", unsafe .peer(peer_ocra_hmac(1))),
          ("vault", signer("OCRA-1:HOTP-SHA1-6:C-QN08-PSHA1", hasCounter: true, pin: "1234")),
        ]),
    ]
  }

  /// Codes of one question for one counter after the other. The PIN is hashed once for many codes, as for a whole window of
  /// a verifier.
  private static func signer(_ text: String, hasCounter: Bool, pin: String?) -> Contender {
    // The suites and the question of these races are always accepted; without them there is nothing to measure.
    guard let suite = try? OCRASuite(text),
      let generator = try? OCRAGenerator(key: secret(key), suite: suite),
      let question = try? OCRAQuestion("12345678", for: suite)
    else { fatalError("no suite") }
    let box = Box(generator)
    return Contender("vault: OCRAGenerator") { count in
      // A variable of the loop: one that the closure captures would be checked at each access.
      var input = OCRADataInput(question: question, counter: hasCounter ? 0 : nil)
      if let pin { input.pinHash = try? OCRAPINHash(of: secret(pin), algorithm: .sha1) }
      for _ in 0..<count {
        // A wrong input is an error of the race itself.
        guard let code = try? box.value.code(for: input) else { fatalError("no code") }
        peer_keep(UInt64(code.utf8.first!))
        if hasCounter { input.counter! &+= 1 }
      }
    }
  }

  private static let key = "12345678901234567890"

  private static func secret(_ text: String) -> SecretBytes {
    SecretBytes(capacity: text.utf8.count) { output in
      for byte in text.utf8 { unsafe output.append(byte, as: UInt8.self) }
    }
  }

  /// Through the public API, with the loop here: what a user's own loop costs.
  private static func generator(_ use: @escaping (borrowing HOTPGenerator, UInt64) -> Void) -> Contender {
    // A key of 20 bytes is always accepted; without a key there is nothing to measure.
    guard let generator = try? HOTPGenerator(key: secret(key)) else { fatalError("no generator") }
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
