import Glibc
import SecretMemory
import VaultKit
import VaultTestKit

/// Rotates the epoch again and again until the test kills it (R22).
enum Rotating {
  /// - Parameter stops: Whether it waits for that after the first batch of a rotation, with two generations in force.
  static func run(_ rig: Rig, passcode: String, stops: Bool) {
    func note(_ progress: VerifyProgress) {
      if stops, progress.isMoving {
        say("moving")
        waitForKill()
      }
    }
    do throws(VaultError) {
      let core = try rig.open()
      say("ready")
      while true {
        if passcode.isEmpty {
          try core.rotateEpoch(progress: note)
        } else {
          try core.rotateEpoch(passcode: Passcode(testing: passcode), progress: note)
        }
        say("rotated \(try core.status().generation)")
      }
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }
}

extension VerifyProgress {
  /// Whether a rotation has moved items already: before that it opens all of them.
  fileprivate var isMoving: Bool { done > total / 2 }
}

/// Rotates the epoch once, in the batches of the real world, and prints how many bytes this process wrote for that, to all files
/// (S4), and after how many items each batch ended.
enum CountedRotation {
  /// - Parameters:
  ///   - purges: Whether it is the rotation of a purge, which also rewrites the file.
  ///   - stops: Whether it waits after the first batch until the test lets it go.
  static func run(_ rig: Rig, purges: Bool, stops: Bool) {
    var mayStop = stops
    var rig = rig
    rig.environment.rotation = .standard
    var ends: [Int] = []
    func note(_ progress: VerifyProgress) {
      guard progress.isMoving else { return }
      let end = progress.done - progress.total / 2
      if ends.last != end { ends.append(end) }
      guard mayStop else { return }
      mayStop = false
      say("moving")
      waitForStart()
    }
    do throws(VaultError) {
      let core = try rig.open()
      let before = written()
      if purges { try core.purge(progress: note) } else { try core.rotateEpoch(progress: note) }
      say("batches \(ends)")
      say("bytes \(written() - before)")
    } catch { fail("\(error.word) \(error.message)") }
  }

  /// `wchar` of /proc/self/io.
  private static func written() -> Int {
    let file = unsafe open("/proc/self/io", O_RDONLY)
    guard file >= 0 else { fail("/proc/self/io is not readable") }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(file, &buffer, buffer.count)
    for line in String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n")
    where line.hasPrefix("wchar: ") {
      return Int(line.dropFirst(7)) ?? 0
    }
    fail("/proc/self/io has no wchar")
  }
}

/// Reads random items until the test stops it. Opens the vault again from time to time (R22).
enum Watching {
  static func run(_ rig: Rig, passcode: String, count: Int, seed: UInt64) {
    let random = SeededRandom(seed: seed)
    do throws(VaultError) {
      var reads = 0
      while !isStopAsked() {
        let core = try rig.open()
        for _ in 0..<100 where !isStopAsked() {
          try read(core, name: "n\(random.below(count))", passcode: passcode)
          reads += 1
        }
      }
      say("end \(reads)")
    } catch {
      say("ERROR \(error.word) \(error.message)")
      exit(1)
    }
  }

  /// Reads one item. Unlocks again when a class behind the passcode has new keys.
  private static func read(_ core: VaultCore, name: String, passcode: String) throws(VaultError) {
    for _ in 0..<20 {
      do throws(VaultError) {
        let item = try core.item(named: name)
        let secret = try core.secret(of: item.id, by: Component(item.kind))
        guard secret.bytesForTesting == Array("secret of \(name)".utf8) else {
          fail("\(name) holds another secret")
        }
        return
      } catch  where error.code == .locked {
        try core.unlock(with: Passcode(testing: passcode))
      }
    }
    fail("\(name) is locked again and again")
  }
}
