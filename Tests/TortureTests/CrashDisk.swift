import Foundation
import Glibc
import VaultTestKit

extension Torture {
  /// Files and their names, as they would be found after a crash.
  struct Disk {
    var files: [Int: [UInt8]] = [:]
    var names: [String: Int] = [:]
    var folders: Set<String> = []
    /// The files by their numbers in the file system: a vault that is found in another one is "a copy".
    private var originals: [UInt64: String] = [:]

    /// What lies below a folder.
    init(below folder: String) throws {
      let manager = FileManager.default
      for name in try manager.subpathsOfDirectory(atPath: folder).sorted() where !name.hasSuffix("-shm") {
        let path = folder + "/" + name
        var isFolder: ObjCBool = false
        guard unsafe manager.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
        if isFolder.boolValue {
          folders.insert(path)
        } else {
          names[path] = files.count
          originals[Self.inode(of: path)] = path
          files[files.count] = Array(manager.contents(atPath: path) ?? Data())
        }
      }
    }

    mutating func apply(_ step: DiskStep) {
      switch step {
      case .write(let file, let offset, let bytes):
        grow(file, to: offset + bytes.count)
        files[file]!.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      case .truncate(let file, let count):
        grow(file, to: count)
        files[file]!.removeLast(files[file]!.count - count)
      case .makeFolder(let path): folders.insert(path)
      case .name(let path, let file):
        names[path] = file
        files[file, default: []] += []
      case .remove(let path): names[path] = nil
      case .rename(let from, let to):
        if let file = names.removeValue(forKey: from) { names[to] = file }
      case .exchange(let first, let second): (names[first], names[second]) = (names[second], names[first])
      case .synchronize, .synchronizeFolder, .say: break
      }
    }

    /// A write of which only some blocks of 512 bytes came to the disk; its length did.
    mutating func apply(_ step: DiskStep, blocks isKept: (Int) -> Bool) {
      guard case .write(let file, let offset, let bytes) = step else { return apply(step) }
      grow(file, to: offset + bytes.count)
      for index in bytes.indices where isKept((offset + index) / 512) {
        files[file]![offset + index] = bytes[index]
      }
    }

    private mutating func grow(_ file: Int, to count: Int) {
      let present = files[file, default: []]
      files[file] = present + [UInt8](repeating: 0, count: max(0, count - present.count))
    }

    private static func inode(of path: String) -> UInt64 {
      var entry = stat()
      return unsafe lstat(path, &entry) == 0 ? UInt64(entry.st_ino) : 0
    }

    /// Makes the folder hold just this. A file that is there keeps its inode, under whatever name it is now.
    func write(below folder: String) throws {
      let manager = FileManager.default
      for name in try manager.subpathsOfDirectory(atPath: folder) {
        let path = folder + "/" + name
        if let original = originals[Self.inode(of: path)], original != path {
          unsafe rename(path, original)
        }
      }
      for path in folders.sorted() where !manager.fileExists(atPath: path) {
        // A directory in a lost directory is lost too.
        guard manager.fileExists(atPath: (path as NSString).deletingLastPathComponent) else { continue }
        try manager.createDirectory(
          atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
      }
      for name in try manager.subpathsOfDirectory(atPath: folder) {
        let path = folder + "/" + name
        if names[path] == nil, !folders.contains(path) { try? manager.removeItem(atPath: path) }
      }
      let now = try manager.subpathsOfDirectory(atPath: folder).map { folder + "/" + $0 }
      for path in now.sorted().reversed() where names[path] == nil && !folders.contains(path) {
        try? manager.removeItem(atPath: path)
      }
      for (path, file) in names { try Self.write(files[file]!, to: path) }
    }

    /// Whether what is at this path is the file that was there at first, or nothing as then.
    func isOriginal(at path: String) -> Bool { names[path] == nil || originals[Self.inode(of: path)] == path }

    struct CannotWrite: Error { let path: String }

    private static func write(_ bytes: [UInt8], to path: String) throws {
      // A name whose folder was lost is lost too.
      let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard file >= 0 else {
        if errno == ENOENT { return }
        throw CannotWrite(path: path)
      }
      defer { close(file) }
      guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else { throw CannotWrite(path: path) }
    }
  }

  /// The states that a crash after any step of a command can leave: what was synchronized is there, of the rest any part.
  struct CrashStates {
    let trace: CrashTrace
    /// For each step the one that made it durable.
    private let durableFrom: [Int]
    private let said: Int

    /// - Parameter isSaidLast: Whether the last output alone acknowledges the call, as where each of several commits has a
    ///   line of its own; else the first one does.
    init(_ trace: CrashTrace, isSaidLast: Bool) {
      self.trace = trace
      var (durable, files, folders) = ([Int](), [Int: Int](), [String: Int]())
      for (index, step) in trace.steps.enumerated().reversed() {
        switch step {
        case .synchronize(let file):
          files[file] = index
          durable.append(index)
        case .synchronizeFolder(let path):
          folders[path] = index
          durable.append(index)
        case .write(let file, _, _), .truncate(let file, _): durable.append(files[file] ?? .max)
        case .say: durable.append(index)
        default: durable.append(folders[step.folder!] ?? .max)
        }
      }
      durableFrom = durable.reversed()
      let outputs = trace.steps.indices.filter { index in
        if case .say = trace.steps[index] { return true }
        return false
      }
      said = (isSaidLast ? outputs.last : outputs.first) ?? trace.steps.count
    }

    /// One of them.
    struct State: CustomStringConvertible {
      let steps: Int
      let kind: Kind
      let isAcknowledged: Bool
      var description: String { "after \(steps) steps, \(kind)\(isAcknowledged ? ", acknowledged" : "")" }
    }

    enum Kind {
      /// A process that was killed: the system has it all.
      case kept
      /// What was not synchronized is lost.
      case dropped
      /// Of the last write that was not synchronized only so many blocks are there, all else is; or only the others.
      case torn(blocks: Int, isStart: Bool)
      /// Any part of it: each write is there, not there or torn; names changed in order.
      case some(seed: UInt64)
    }

    /// All states of the first three kinds, and `random` of the last after each step.
    func all(random: Int, seed: UInt64) -> [State] {
      var states: [State] = []
      for steps in 0...trace.steps.count {
        func add(_ kind: Kind) {
          // The end of the process says that it is done, where it says nothing.
          let isAcknowledged = steps > said || steps == trace.steps.count
          states.append(State(steps: steps, kind: kind, isAcknowledged: isAcknowledged))
        }
        add(.kept)
        let pending = pending(steps)
        guard let last = pending.last else { continue }
        add(.dropped)
        if case .write(_, let offset, let bytes) = trace.steps[last], last == steps - 1 {
          let blocks = (offset + bytes.count - 1) / 512 - offset / 512 + 1
          for count in 1..<max(2, blocks) {
            add(.torn(blocks: count, isStart: true))
            add(.torn(blocks: count, isStart: false))
          }
        }
        if pending.count > 1 {
          for number in 0..<random { add(.some(seed: seed &+ UInt64(steps * 10_007 + number))) }
        }
      }
      return states
    }

    private func pending(_ steps: Int) -> [Int] { (0..<steps).filter { durableFrom[$0] >= steps } }

    func disk(_ state: State) -> Disk {
      var disk = trace.base
      let pending = pending(state.steps)
      let lost = Set(pending)
      let random: SeededRandom? =
        if case .some(let seed) = state.kind { SeededRandom(seed: seed) } else { nil }
      // Names change in the order of the calls: up to some call all of them did.
      let names = random.map { random in pending.isEmpty ? 0 : pending[random.below(pending.count)] } ?? 0
      for (index, step) in trace.steps.prefix(state.steps).enumerated() {
        guard lost.contains(index) else {
          disk.apply(step)
          continue
        }
        switch state.kind {
        case .kept: disk.apply(step)
        case .dropped: break
        case .torn(let blocks, let isStart):
          guard index == pending.last, case .write(_, let offset, _) = step else {
            disk.apply(step)
            continue
          }
          disk.apply(step) { ($0 - offset / 512 < blocks) == isStart }
        case .some:
          if step.folder != nil {
            if index <= names { disk.apply(step) }
          } else {
            switch random!.below(3) {
            case 0: disk.apply(step)
            case 1:
              let mask = random!.next()
              disk.apply(step) { mask >> UInt64($0 % 64) & 1 == 1 }
            default: break
            }
          }
        }
      }
      return disk
    }
  }
}
