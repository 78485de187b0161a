import Glibc
import TrustedPaths
package import VaultKit
package import VaultPrompts

/// The program that has started a command, as the kernel describes it: the parent of the command's process.
///
/// All of it is looked at while the command's process and its parent live, so no number of a process is that of a later one. Where
/// ``ExecutableReader`` does not know an executable, the name of the process stands in for it, which the process chooses itself.
package struct MeasuredProgram: Sendable {
  /// What tells the program from every other one, as far as the kernel says.
  package struct Identity: Sendable, Hashable {
    package let user: UInt32
    package let process: Int32
    /// In clock ticks since boot.
    package let started: UInt64
    /// nil where it cannot be read.
    package let executable: String?

    package init(user: UInt32, process: Int32, started: UInt64, executable: String?) {
      (self.user, self.process, self.started, self.executable) = (user, process, started, executable)
    }
  }

  package let identity: Identity
  /// The process that has connected.
  let command: PromptRequest.Requester
  private let name: String
  private let parents: [PromptRequest.Requester]
  private let unit: (kernels: String?, own: String?)
  /// Whether the command is of the session of its parent. A process whose parent has ended becomes a child of another one, such as the
  /// service manager, and would then pass for a command that this one has started. It keeps its session.
  package let isOfSession: Bool

  /// - Parameters:
  ///   - command: The process at the other end of a connection, as it was when the connection was accepted.
  ///   - connection: That connection.
  ///   - executables: Knows which programs processes run.
  /// - Returns: nil where the kernel does not say: the process is gone, or hidden.
  package init?(
    starting command: Caller, over connection: Int32, knowing executables: ExecutableReader = .own
  ) {
    let process = Int32(bitPattern: command.process)
    guard let before = ProcessStatus(of: process), command.started == before.started,
      let parent = ProcessStatus(of: before.parent), let user = ProcessFile.user(of: before.parent)
    else { return nil }
    identity = Identity(
      user: user, process: before.parent, started: parent.started,
      executable: executables.path(of: before.parent))
    name = parent.name
    self.command = Self.process(process, before, executables)
    isOfSession = before.session == parent.session
    parents = Self.parents(of: before.parent, whose: parent, executables)
    unit = Self.unit(of: before.parent)
    // A process whose parent ends gets another one before the number of the parent is free. So the parent is still the same one.
    guard let after = ProcessStatus(of: process), after.started == before.started,
      after.parent == before.parent, after.session == before.session,
      ProcessStatus(of: before.parent)?.started == parent.started, Self.hasPeer(connection)
    else { return nil }
  }

  /// The same, as a prompt shows it.
  package var requester: PromptRequest.Requester {
    var requester = PromptRequest.Requester(processID: identity.process, executable: identity.executable)
    if identity.executable == nil { requester.name = name }
    requester.parents = parents
    (requester.unit, requester.ownUnit) = unit
    return requester
  }

  /// Whether the program is still there: neither ended nor become another program.
  package static func isThere(_ identity: Identity, knowing executables: ExecutableReader = .own) -> Bool {
    ProcessStatus(of: identity.process)?.started == identity.started
      && executables.path(of: identity.process) == identity.executable
  }
}

extension MeasuredProgram {
  /// The chain up to the first process of the system, or as far as this.
  private static let mostParents = 4

  private static func parents(
    of process: Int32, whose program: ProcessStatus, _ executables: ExecutableReader
  ) -> [PromptRequest.Requester] {
    var parents: [PromptRequest.Requester] = []
    var next = program.parent
    var child = process
    while next > 0, parents.count < mostParents, let status = ProcessStatus(of: next) {
      let parent = Self.process(next, status, executables)
      // As above: it is the parent as long as it lives.
      guard ProcessStatus(of: child)?.parent == next else { break }
      parents.append(parent)
      (child, next) = (next, status.parent)
    }
    return parents
  }

  private static func process(
    _ number: Int32, _ status: ProcessStatus, _ executables: ExecutableReader
  ) -> PromptRequest.Requester {
    var process = PromptRequest.Requester(processID: number, executable: executables.path(of: number))
    if process.executable == nil { process.name = status.name }
    return process
  }

  /// Its unit of systemd, by the control group (cgroups(7)).
  ///
  /// Below `user@UID.service`, each program of the user can move itself to any group, and so choose the unit.
  ///
  /// - Returns: The unit that no program of the user chooses, and the one below it.
  static func unit(of process: Int32) -> (kernels: String?, own: String?) {
    units(inGroups: ProcessFile.text("cgroup", of: process) ?? "")
  }

  /// - Parameter groups: The lines of the kernel: number, controllers and path, with colons between them.
  package static func units(inGroups groups: String) -> (kernels: String?, own: String?) {
    let lines = groups.split(separator: "\n" as Character)
    let fields = lines.map { $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false) }
    let line = fields.first { $0.count == 3 && ($0[0] == "0" && $0[1].isEmpty || $0[1] == "name=systemd") }
    guard let path = line?.last else { return (nil, nil) }
    let units = path.split(separator: "/").filter { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
    let manager = units.firstIndex { $0.hasPrefix("user@") }
    // A unit can make others below its own.
    guard let manager else {
      return (units.first.map { String($0) }, units.dropFirst().last.map { String($0) })
    }
    let own = units[(manager + 1)...].last
    return (String(units[manager]), own.map { String($0) })
  }

  /// Whether the process that has connected has not ended. The kernel keeps it apart from a later process of the same number (Linux 6.5);
  /// an older one cannot say, and only the start time does.
  static func hasPeer(_ connection: Int32) -> Bool {
    var descriptor: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(connection, SOL_SOCKET, peerDescriptor, &descriptor, &length) == 0 else {
      return errno == ENOPROTOOPT
    }
    defer { close(descriptor) }
    var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&ended, 1, 0) == 0
  }

  /// `SO_PEERPIDFD`, which Swift's Glibc module lacks.
  private static let peerDescriptor: Int32 = 77
}

/// Knows which program a process runs. The kernel says it to the user of the process alone, and to root.
package struct ExecutableReader: Sendable {
  /// In a keeper, the process that root has left beside it.
  private let root: PAMStarter?

  package init(asking root: PAMStarter?) { self.root = root }

  package static let own = ExecutableReader(asking: nil)

  /// - Returns: nil where it is not known, and where the path leads this process to another file.
  func path(of process: Int32) -> String? {
    ProcessFile.executable(of: process) ?? root?.executable(of: process)
  }
}
