import AuthenticatorKit
import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Imports keys, makes one and signs with them, and waits while the test searches its memory (R7): while a key is open, with
/// the vault open, and with the vault closed.
///
/// The passphrase of the files comes on standard input, so it is in no argument.
enum ClientKeys {
  static func run(_ rig: Rig, files: [String]) {
    do {
      let passphrase = try line()
      var core: VaultCore? = try rig.open()
      var keys: [ClientKeyDescription] = []
      for (number, file) in files.enumerated() {
        keys.append(try imported(file, passphrase, named: "key \(number)", in: core!))
      }
      // Before anything else takes the memory that the imports have freed.
      pause("imported")
      for key in keys { try use(key, in: core!) }
      try hold("key 0", in: core!)
      pause("open")
      core = nil
      pause("closed")
    } catch {
      say("ERROR \(error)")
      exit(1)
    }
  }

  private static func imported(
    _ file: String, _ passphrase: SharedSecret, named name: String, in core: VaultCore
  ) throws -> ClientKeyDescription {
    let descriptor = unsafe Glibc.open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { fail("a file is missing") }
    defer { close(descriptor) }
    let bytes = try SecretInput.all(of: descriptor, limit: KeyFile.longest)
    let file = try KeyFile(bytes)
    return try core.importClientKey(file, passphrase: passphrase, NewClientKey(name: name))
  }

  private static func use(_ made: ClientKeyDescription, in core: VaultCore) throws {
    for _ in 0..<3 {
      let signature = try core.signer(of: made.item.id).sign([1, 2, 3])
      try made.publicKey.verify(signature, of: [1, 2, 3])
    }
  }

  /// Keeps a key open while the test searches: it must be found then, or the search proves nothing.
  private static func hold(_ name: String, in core: VaultCore) throws {
    let signer = try core.signer(of: core.item(named: name).id)
    pause("signing")
    _ = try signer.sign([4])
  }

  /// The first line of standard input, in secret memory.
  private static func line() throws -> SharedSecret {
    var text = SecretBytes(zeroes: 0)
    while true {
      var byte = SecretBytes(zeroes: 1)
      let count = unsafe byte.modify { unsafe read(0, $0.baseAddress, 1) }
      guard count == 1 else { fail("the passphrase is missing") }
      if byte.expose({ unsafe $0.unsafeLoad(as: UInt8.self) }) == UInt8(ascii: "\n") { break }
      text = SecretBytes.joining(text, byte)
    }
    return SharedSecret(text)
  }

  private static func pause(_ state: String) {
    say(state)
    var byte: UInt8 = 0
    guard unsafe read(0, &byte, 1) == 1 else { fail("the test has ended") }
  }
}
