import AgentMessages
import CommandLineKit
import Glibc
import SecretMemory
import TransportPrograms
import VaultKit
import VaultPrompts
import VaultWords

/// Answers the calls of the agent in the process of the command, by the same code as without an agent.
final class CallServer {
  /// What answers a call.
  typealias Answer = AgentFields<AgentReply.Content>

  private let host: LocalHost
  /// Shows the questions of PAM's modules, and what the fingerprint reader says.
  private let prompt: CommandPrompt
  private let vaultFiles: VaultFiles?
  /// This side of a move of the vault, for the commands that move it.
  private let side: PersonsSide?
  /// Whether a descriptor is one that this process uses for the agent.
  private let isOwn: (Int32) -> Bool
  /// The files that have no name yet, by the numbers that the agent knows.
  private var files: [Int64: any UnfinishedFile] = [:]
  private var lastFile: Int64 = 0
  private var programs: ServedPrograms
  /// Whether the command line has a program, which this process becomes.
  private let becomesProgram: Bool
  /// The file of its variables, by the path of the command line. This process and the agent read the same bytes of it.
  private let environmentPath: String?
  /// What was in that file; `nil` before the agent has asked for it.
  private(set) var environmentFile: SharedSecret?
  /// The secrets for that program, in the order in which they came.
  private(set) var handedOver: [HandedFile] = []
  /// What the command has committed, as the log names it.
  private(set) var done: [String] = []

  init(
    _ invocation: Invocation, in world: World, host: LocalHost, vaultFiles: VaultFiles?,
    side: PersonsSide? = nil, isOwn: @escaping (Int32) -> Bool
  ) {
    self.host = host
    becomesProgram = invocation.verb.words == Exec.words
    environmentPath = becomesProgram ? invocation[Exec.environmentFile] : nil
    prompt = CommandPrompt(
      secrets: Secrets(invocation: invocation, command: invocation, world: world, known: GivenSecrets()),
      namesProgram: true)
    (self.vaultFiles, self.side, self.isOwn) = (vaultFiles, side, isOwn)
    // A signal ends a program through the agent, which cancels the call.
    programs = ServedPrograms(LocalRunner(.init(time: world.patience.transport)))
  }

  /// - Parameter ending: Ends a prompt or a program whose answer is no longer wanted.
  /// - Throws: If the call is none that this version answers.
  func reply(to call: AgentCall, until ending: PromptEnding) throws(AgentMessageError) -> AgentReply {
    if call.kind.asksPerson { return AgentReply(call.number, try askPerson(call, until: ending)) }
    if let answer = try programs.answer(to: call, until: ending) { return AgentReply(call.number, answer) }
    if let file = try HostFile(call.kind, call.content) { return open(file, for: call) }
    if call.kind == .handOver { return try takeSecret(call) }
    if call.kind == .edit { return edit(call, until: ending) }
    if call.kind == .isVaultThere { return try PersonsSide.isVaultThere(call) }
    if call.kind == .forgetVault {
      side?.release()
      return try PersonsSide.forgetVault(call)
    }
    if let reply = try side?.reply(to: call) { return reply }
    if call.kind == .makeFile { return makeFile(try call.content.text(.path), for: call) }
    return AgentReply(call.number, try answer(call))
  }
}

// MARK: People

extension CallServer {
  private func askPerson(
    _ call: AgentCall, until ending: PromptEnding
  ) throws(AgentMessageError) -> AgentReply.Answer {
    if call.kind == .enrolledFingers {
      return verified { () throws(VaultError) in
        let fingers = try host.biometry.enrolledFingers()
        return { $0.set(.list, fingers) }
      }
    }
    var request = try PromptRequest(call.content.fields(.request))
    request.ending = ending
    switch call.kind {
    case .type: return try type(request, call)
    case .show: self.host(try way(call)).show(try call.content.text(.line), for: request)
    case .confirm:
      let host = host(try way(call))
      return verified { () throws(VaultError) in
        let isTrue = try host.confirm(request)
        return { $0.set(.isTrue, isTrue) }
      }
    case .allow:
      let host = host(try way(call))
      return verified { () throws(VaultError) in
        let answer = try host.allow(request)
        return { $0.set(.text, answer.typed) }
      }
    case .verifyPresence:
      return verified { () throws(VaultError) in
        try host.presence.verifyPresence(request, asking: prompt)
        return { _ in }
      }
    case .verifyFinger:
      return verified { () throws(VaultError) in
        let finger = try host.biometry.verify(request, showing: { prompt.show($0, for: request) })
        return { $0.set(.text, finger) }
      }
    default: throw .wrongValue(AgentCall.Tag.kind.rawValue)
    }
    return .content(Answer())
  }

  private func type(
    _ request: PromptRequest, _ call: AgentCall
  ) throws(AgentMessageError) -> AgentReply.Answer {
    let (host, limit) = (host(try way(call)), Int(clamping: try call.content.number(.limit)))
    let isRepeated = try call.content.flag(.isRepeated)
    do throws(PromptFailure) {
      let secret = SharedSecret(try host.type(request, limit: limit, isRepeated: isRepeated))
      var answer = Answer()
      answer.set(.secret, secret)
      return .content(answer)
    } catch { return .failure(error.failureMessage) }
  }

  private func way(_ call: AgentCall) throws(AgentMessageError) -> AutomaticPrompt.Way {
    guard let way = AutomaticPrompt.Way(rawValue: try call.content.text(.way)) else {
      throw .wrongValue(AgentCall.Content.way.rawValue)
    }
    return way
  }

  private func host(_ way: AutomaticPrompt.Way) -> any HostPrompt { host.prompt(way) }

  private func verified(_ verify: () throws(VaultError) -> (inout Answer) -> Void) -> AgentReply.Answer {
    do throws(VaultError) {
      var answer = Answer()
      try verify()(&answer)
      return .content(answer)
    } catch { return .failure(error.failureMessage) }
  }
}

// MARK: Becoming a program

extension CallServer {
  private func takeSecret(_ call: AgentCall) throws(AgentMessageError) -> AgentReply {
    guard becomesProgram else { throw .wrongValue(AgentCall.Tag.kind.rawValue) }
    done = try call.content.list(.done)
    let isConcealed = try call.content.flag(.isConcealed)
    handedOver += call.descriptors.take().map { HandedFile(file: $0, isConcealed: isConcealed) }
    return AgentReply(call.number, .content(Answer()))
  }

  /// A copy of the file of variables, which may be a pipe: it is read once.
  private func copyOfEnvironmentFile(_ path: String) throws(CommandError) -> Int32 {
    let file: SharedSecret
    if let environmentFile {
      file = environmentFile
    } else {
      file = try EnvironmentFile.contents(of: path, by: host)
      environmentFile = file
    }
    return try MemoryFile.make(file)
  }
}

// MARK: An editor

extension CallServer {
  private func edit(_ call: AgentCall, until ending: PromptEnding) -> AgentReply {
    do throws(CommandError) {
      let files = call.descriptors.take()
      defer { for file in files { close(file) } }
      let text = SharedSecret(try MemoryFile.content(of: files[0]))
      guard case .text(let edited) = try host.edit(text, until: ending, signals: nil) else {
        throw LocalHost.endedBySignal
      }
      return AgentReply(
        call.number, .content(Answer()), descriptors: AgentDescriptors(owning: [try MemoryFile.make(edited)]))
    } catch { return AgentReply(call.number, .failure(error.failureMessage)) }
  }
}

// MARK: Files and the clipboard

extension CallServer {
  private func open(_ file: HostFile, for call: AgentCall) -> AgentReply {
    do throws(CommandError) {
      // A number that the person has not opened can be one of ours.
      if case .descriptor(let number) = file, isOwn(number) {
        throw .io("using descriptor \(number)", errno: EBADF)
      }
      if case .readable(let path, _) = file, path == environmentPath {
        return try passing(copyOfEnvironmentFile(path), Answer(), for: call)
      }
      return try passing(host.open(file), Answer(), for: call)
    } catch { return AgentReply(call.number, .failure(error.failureMessage)) }
  }

  private func makeFile(_ path: String, for call: AgentCall) -> AgentReply {
    do throws(CommandError) {
      // The agent decides what a signal does, which this process passes on.
      let file = try host.makeFile(path, interruption: Interruption())
      lastFile += 1
      var answer = Answer()
      answer.set(.fileNumber, lastFile)
      let copy = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 0)
      guard copy >= 0 else { throw .io("making \(printable(path))", errno: errno) }
      files[lastFile] = file
      return try passing(copy, answer, for: call)
    } catch { return AgentReply(call.number, .failure(error.failureMessage)) }
  }

  /// - Parameter descriptor: Ends with the reply.
  private func passing(
    _ descriptor: Int32, _ answer: Answer, for call: AgentCall
  ) throws(CommandError) -> AgentReply {
    let descriptors = AgentDescriptors(owning: [descriptor])
    if let vaultFiles, vaultFiles.contains(descriptor) {
      throw VaultFiles.refusal("a file or descriptor that an option names")
    }
    return AgentReply(call.number, .content(answer), descriptors: descriptors)
  }

  private func answer(_ call: AgentCall) throws(AgentMessageError) -> AgentReply.Answer {
    var answer = Answer()
    do {
      switch call.kind {
      case .exists: answer.set(.isTrue, try host.exists(call.content.text(.path)))
      case .isOwn: answer.set(.isTrue, host.isOwn(try call.content.text(.path)))
      case .finishFile: try files.removeValue(forKey: call.content.number(.fileNumber))?.finish()
      case .dropFile: files[try call.content.number(.fileNumber)] = nil
      case .removeFile: host.removeFile(try call.content.text(.path))
      case .copy:
        let copied = try host.copyToClipboard(
          call.content.secret(.secret), seconds: call.content.number(.seconds))
        answer.set(.text, copied.clipboard)
        answer.set(.list, copied.notes)
      default: throw AgentMessageError.wrongValue(AgentCall.Tag.kind.rawValue)
      }
      return .content(answer)
    } catch let error as AgentMessageError { throw error } catch {
      return .failure(CommandError(describing: error).failureMessage)
    }
  }
}
