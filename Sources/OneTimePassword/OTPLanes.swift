import COTPKernels

/// Ways to compute the codes of many counters side by side. All give the same values. The processor decides which
/// ways exist, and a test can force each.
package enum OTPLanes: String, CaseIterable, Sendable {
  /// 128-bit vectors of the compiler, on any processor.
  case portable
  /// The SHA extensions of x86-64, four streams; SHA-1 and SHA-256.
  case shani
  /// 256-bit vectors.
  case avx2
  /// 512-bit vectors.
  case avx512

  /// Whether this processor supports this way for this algorithm.
  package func isSupported(for algorithm: OTPAlgorithm) -> Bool {
    otp_lanes_supported(kernel, algorithm.kernel) != 0
  }

  /// The fastest way on this processor.
  package static func best(for algorithm: OTPAlgorithm) -> OTPLanes {
    // Fastest first, as measured: eight lanes of AVX2 beat the SHA extensions at SHA-1 and lose at SHA-256.
    let ways: [OTPLanes] = algorithm == .sha1 ? [.avx512, .avx2, .shani] : [.avx512, .shani, .avx2]
    return ways.first { $0.isSupported(for: algorithm) } ?? .portable
  }

  var kernel: otp_lanes {
    switch self {
    case .portable: otp_portable
    case .shani: otp_shani
    case .avx2: otp_avx2
    case .avx512: otp_avx512
    }
  }
}

extension OTPAlgorithm {
  var kernel: otp_hash {
    switch self {
    case .sha1: otp_sha1
    case .sha256: otp_sha256
    case .sha512: otp_sha512
    }
  }

  /// The bytes of one midstate pair.
  var midstateByteCount: Int { otp_midstates_size(kernel) }
}
