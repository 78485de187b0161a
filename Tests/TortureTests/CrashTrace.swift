import Foundation
import TestSupport

extension Torture {
  /// One thing that a command did to the disk, in the order of its system calls.
  enum DiskStep {
    case write(file: Int, offset: Int, bytes: [UInt8])
    case truncate(file: Int, count: Int)
    case synchronize(file: Int)
    case synchronizeFolder(String)
    case makeFolder(String)
    /// A name for a file, a new one or one that has another name already.
    case name(String, file: Int)
    case remove(String)
    case rename(String, to: String)
    case exchange(String, with: String)
    /// Standard output: from here on the command is acknowledged.
    case say

    /// The folder whose names it changes.
    var folder: String? {
      switch self {
      case .makeFolder(let path), .name(let path, _), .remove(let path), .rename(let path, _),
        .exchange(let path, _):
        (path as NSString).deletingLastPathComponent
      default: nil
      }
    }
  }

  /// What a command did below a folder, read from the output of `strace -f -xx -s 70000`.
  struct CrashTrace {
    /// The files before the first step.
    let base: Disk
    private(set) var steps: [DiskStep] = []

    private var names: [String: Int]
    private var handles: [Int: Handle] = [:]
    private var files: Int
    private let folder: String

    private enum Handle {
      case file(Int, position: Int)
      case folder(String)
    }

    static let calls = [
      "openat", "close", "write", "pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "unlinkat",
      "rename",
      "renameat", "renameat2", "link", "linkat", "mkdir", "mkdirat", "lseek", "writev", "pwritev",
      "fallocate",
      "copy_file_range", "sendfile", "open", "creat", "truncate", "rmdir", "symlink", "symlinkat", "execve",
    ]

    init(_ log: String, folder: String, base: Disk) throws {
      self.base = base
      self.folder = folder
      names = base.names
      files = base.files.count
      let calls = try TracedCall.all(in: log)
      // What became another program, such as a transport, is left out: what it writes is no result of the command, and its
      // descriptors are its own.
      let programs = calls.filter { $0.name == "execve" }.map(\.process)
      let others = Set(programs).subtracting([calls.first?.process])
      for call in calls where !others.contains(call.process) {
        if let result = call.result { try note(call, result) }
      }
      try fillIn()
    }

    private mutating func note(_ call: TracedCall, _ result: Int) throws {
      let words = call.arguments
      switch call.name {
      case "openat":
        let isMade = words[2].contains("O_CREAT")
        opened(path(words[0], words[1], orHome: !isMade), flags: words[2], handle: result)
      case "execve": break
      case "close": handles[Int(words[0])!] = nil
      case "write", "pwrite64": try wrote(words, result)
      case "fdatasync", "fsync":
        switch handles[Int(words[0])!] {
        case .file(let file, _): steps.append(.synchronize(file: file))
        case .folder(let path): steps.append(.synchronizeFolder(path))
        case nil: break
        }
      case "ftruncate":
        if case .file(let file, _) = handles[Int(words[0])!] {
          steps.append(.truncate(file: file, count: Int(words[1])!))
        }
      case "mkdir", "mkdirat":
        if let path = path(call.name == "mkdir" ? "AT_FDCWD" : words[0], words[call.name == "mkdir" ? 0 : 1])
        {
          steps.append(.makeFolder(path))
        }
      case "unlink": removed(path("AT_FDCWD", words[0]))
      case "unlinkat": removed(path(words[0], words[1]))
      case "rename": renamed(path("AT_FDCWD", words[0]), path("AT_FDCWD", words[1]), flags: "0")
      case "renameat", "renameat2":
        renamed(path(words[0], words[1]), path(words[2], words[3]), flags: words.count > 4 ? words[4] : "0")
      case "link": linked(file("AT_FDCWD", words[0]), path("AT_FDCWD", words[1]))
      case "linkat": linked(file(words[0], words[1]), path(words[2], words[3]))
      default:
        // What this model does not know must not touch one of the files.
        if words.contains(where: { handles[Int($0) ?? -1] != nil || path("AT_FDCWD", $0) != nil }) {
          throw TracedCall.Unreadable("\(call)")
        }
      }
    }

    private mutating func opened(_ path: String?, flags: String, handle: Int) {
      handles[handle] = nil
      guard let path else { return }
      if flags.contains("O_TMPFILE") {
        handles[handle] = .file(files, position: 0)
        return files += 1
      }
      if flags.contains("O_DIRECTORY") { return handles[handle] = .folder(path) }
      if let file = names[path] {
        if flags.contains("O_TRUNC") { steps.append(.truncate(file: file, count: 0)) }
        return handles[handle] = .file(file, position: 0)
      }
      // A folder that was not opened as one; what is made has a name now.
      guard flags.contains("O_CREAT") else { return handles[handle] = .folder(path) }
      names[path] = files
      steps.append(.name(path, file: files))
      handles[handle] = .file(files, position: 0)
      files += 1
    }

    private mutating func wrote(_ words: [String], _ count: Int) throws {
      let handle = Int(words[0])!
      guard case .file(let file, let position) = handles[handle] else {
        if handle == 1 { steps.append(.say) }
        return
      }
      // `write` goes on where it stopped; nothing of ours seeks and writes.
      let offset = words.count > 3 ? Int(words[3])! : position
      if words.count == 3 { handles[handle] = .file(file, position: position + count) }
      // What lies in secret memory strace cannot see: it is filled in afterwards.
      let bytes = words[1].hasPrefix("\"") ? Array(TracedCall.bytes(words[1]).prefix(count)) : []
      steps.append(.write(file: file, offset: offset, bytes: bytes.isEmpty ? Self.unseen(count) : bytes))
      if bytes.isEmpty { unseen.append((steps.count - 1, count)) }
    }

    private mutating func removed(_ path: String?) {
      guard let path, names.removeValue(forKey: path) != nil else { return }
      steps.append(.remove(path))
    }

    private mutating func renamed(_ from: String?, _ to: String?, flags: String) {
      guard let from, let to, let file = names[from] else { return }
      if flags.contains("EXCHANGE") {
        names[from] = names[to]
        steps.append(.exchange(from, with: to))
      } else {
        names[from] = nil
        steps.append(.rename(from, to: to))
      }
      names[to] = file
    }

    private mutating func linked(_ file: Int?, _ to: String?) {
      guard let file, let to else { return }
      names[to] = file
      steps.append(.name(to, file: file))
    }

    /// The file of a name, or of a descriptor that is named as one: a file may have no name before.
    private func file(_ place: String, _ word: String) -> Int? {
      let own = "/proc/self/fd/"
      if word.hasPrefix("\"") {
        let name = String(decoding: TracedCall.bytes(word), as: UTF8.self)
        if name.hasPrefix(own), case .file(let file, _) = handles[Int(name.dropFirst(own.count)) ?? -1] {
          return file
        }
      }
      return path(place, word).flatMap { names[$0] }
    }

    /// The path below the folder, or `nil`; the folder itself only when it is asked for. Slashes at the end of a
    /// folder's name are ignored.
    private func path(_ place: String, _ word: String, orHome: Bool = false) -> String? {
      guard word.hasPrefix("\"") else { return nil }
      var path = String(decoding: TracedCall.bytes(word), as: UTF8.self)
      if !path.hasPrefix("/"), case .folder(let above) = handles[Int(place) ?? -1] {
        path = path == "." ? above : above + "/" + path
      }
      while path.count > 1, path.hasSuffix("/") { path.removeLast() }
      if path == folder { return orHome ? path : nil }
      // The log that SQLite keeps in shared memory is made again after a crash.
      return path.hasPrefix(folder + "/") && !path.hasSuffix("-shm") ? path : nil
    }

    // MARK: What strace cannot see

    private var unseen: [(step: Int, count: Int)] = []
    private static func unseen(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xEE, count: count) }

    /// A device key is written from secret memory: its bytes are taken from the file that is there in the end.
    private mutating func fillIn() throws {
      for (step, count) in unseen {
        guard case .write(let file, let offset, _) = steps[step],
          let path = names.first(where: { $0.value == file })?.key,
          let content = FileManager.default.contents(atPath: path), content.count >= offset + count
        else { throw TracedCall.Unreadable("what was written from secret memory is gone") }
        steps[step] = .write(file: file, offset: offset, bytes: Array(content[offset..<offset + count]))
      }
    }
  }
}
