import Glibc
import SecretMemory

/// The key and the certificates of this client: PEM in a sealed file in memory, as `vaultctl exec` hands it over.
enum ClientCertificate {
  static func read(_ descriptor: Int32) throws(Refusal) -> SharedSecret {
    let seals = fcntl(descriptor, Self.getSeals)
    guard seals >= 0, seals & Self.needed == Self.needed, lseek(descriptor, 0, SEEK_SET) == 0 else {
      throw .other(
        "descriptor \(descriptor) is no sealed file in memory",
        hint: "hand the client certificate over with vaultctl exec --fd \(descriptor)=NAME")
    }
    defer { close(descriptor) }
    do throws(SecretInput.Fault) {
      return SharedSecret(try SecretInput.all(of: descriptor, limit: Self.longest))
    } catch { throw .other("the client certificate cannot be read, or has more than \(Self.longest) bytes") }
  }

  /// F_GET_SEALS, and the seals against writing, growing and shrinking: macros of another header.
  private static let getSeals: Int32 = 1034
  private static let needed: Int32 = 0x8 | 0x4 | 0x2
  private static let longest = 256 << 10
}
