import AgentMessages
import CommandLineKit
import Synchronization
import VaultCommands
import VaultKit
import VaultWords

/// One command line that runs in the agent, for one client.
final class AgentRequest: Sendable {
  let run: AgentRun
  /// The vault file that the client found, or that the keeper has; nil where there is none or none is needed.
  let file: FileIdentity?
  let caller: Caller
  let link: ClientLink
  let interruption: Interruption
  /// The numbers of standard input, output and error of the client in this process.
  private let numbers: [Int32]
  /// What owns them.
  private let descriptors: AgentDescriptors
  /// How often it got the vault.
  private let uses = Atomic(0)

  /// Reads a request, and runs it on this thread or says why not.
  ///
  /// All that is done with the descriptors of the client is done here, because a file system of the client can take its time.
  ///
  /// - Parameters:
  ///   - caller: The process that has connected; nil for one that this process does not see.
  ///   - isInReserve: Whether it came when the agent ran as many requests as it can, but for those that it always runs.
  static func serve(
    _ packet: AgentPacket, from caller: Caller?, over link: ClientLink, isInReserve: Bool,
    in service: AgentService
  ) {
    defer { for number in packet.descriptors.take() { service.close(number) } }
    do throws(AgentMessageError) {
      let (run, isOfThisProtocol) = try read(packet)
      if let refusal = service.refusal(
        of: run, isOfThisProtocol: isOfThisProtocol, isInReserve: isInReserve)
      {
        return try link.socket.send(refusal.packet, waits: false)
      }
      guard let caller else {
        let refusal = AgentRefusal(.verb, "the agent does not see the process of the command")
        return try link.socket.send(refusal.packet, waits: false)
      }
      // They stand for nothing.
      if isOfThisProtocol { for number in packet.descriptors.take() { service.close(number) } }
      // A command that has waited too long does it by itself by now, and sends nothing any more.
      guard let standard = try isOfThisProtocol ? link.begin() : packet.descriptors else {
        return try link.socket.send(AgentRefusal.ending.packet, waits: false)
      }
      let numbers = standard.take()
      let descriptors = AgentDescriptors(owning: numbers) { service.close($0) }
      // Not before: their numbers are looked at.
      defer { for number in descriptors.take() { service.close(number) } }
      if let refusal = service.refusal(of: numbers) {
        return try link.socket.send(refusal.packet, waits: false)
      }
      let unsettled =
        service.move == nil ? settleMove(for: caller, with: link, in: service) : nil
      let file = service.file(of: run)
      AgentRequest(run, file, numbers: numbers, of: descriptors, for: caller, over: link)
        .serve(in: service, orTelling: unsettled ?? missingVault(file, for: run, in: service))
    } catch { link.gone() }
  }

  private static func read(
    _ packet: AgentPacket
  ) throws(AgentMessageError) -> (run: AgentRun, isOfThisProtocol: Bool) {
    do throws(AgentMessageError) { return (try AgentRun(packet), true) } catch .otherProtocol {
      return (try AgentRun(ofOtherProtocol: packet), false)
    }
  }

  private init(
    _ run: AgentRun, _ file: FileIdentity?, numbers: [Int32], of descriptors: AgentDescriptors,
    for caller: Caller, over link: ClientLink
  ) {
    (self.run, self.caller, self.link, interruption) = (run, caller, link, link.interruption)
    (self.numbers, self.descriptors) = (numbers, descriptors)
    self.file = file
  }

  /// Runs it on this thread, and tells the client how it ended.
  ///
  /// - Parameter refusal: Why nothing is run.
  private func serve(in service: AgentService, orTelling refusal: CommandError?) {
    service.vaults.dropReplaced()
    let world = world(of: service)
    let ending: Ending
    if let refusal {
      VaultControl.tell(refusal, for: run.words, in: world)
      ending = .exit(refusal.exit)
    } else {
      ending = VaultControl.run(run.words.map { $0 }, in: world)
    }
    if let file { service.vaults.beginMissingLease(file) }
    // The vault is then as after a command without an agent.
    endUses(in: service)
    // The reader of its output sees the end no later than the client.
    for number in descriptors.take() { service.close(number) }
    link.end(ending)
  }

  /// It uses the vault no more. One that is not unlocked is closed with its last use.
  func endUses(in service: AgentService) {
    guard let file else { return }
    service.vaults.ended(file, uses: uses.exchange(0, ordering: .sequentiallyConsistent))
  }

  /// Ends a move of the keeper's vault that was interrupted, before anything else.
  ///
  /// - Returns: Why it is not known where the vault is.
  private static func settleMove(
    for caller: Caller, with link: ClientLink, in service: AgentService
  ) -> CommandError? {
    guard service.world.isKeeper, KeeperMove.isUnsettled(in: service.world.keeper) else { return nil }
    do {
      try service.moving(for: caller.process) {
        try KeeperMove(in: service.world.keeper, with: link, environment: service.world.vault).settle()
      }
      return nil
    } catch { return CommandError(describing: error) }
  }

  /// - Returns: Why a keeper whose vault has just moved out runs nothing.
  private static func missingVault(
    _ file: FileIdentity?, for run: AgentRun, in service: AgentService
  ) -> CommandError? {
    guard service.world.isKeeper, file == nil, service.needsVault(run) else { return nil }
    return CommandError(
      .noVault, "the keeper did not run this: \(service.noVault)", code: "keeperRefused")
  }

  /// It has the vault, until it ends.
  func usesVault() { uses.add(1, ordering: .sequentiallyConsistent) }

  private func world(of service: AgentService) -> World {
    let host = RemoteHost(link, asking: RequestPlaces(service, self))
    var world = World(environment: service.environment(of: run), host: host, interruption: interruption)
    (world.isKeeper, world.keeper) = (service.world.isKeeper, service.world.keeper)
    world.vault = service.world.vault
    world.random = service.world.random
    world.wait = service.world.wait
    // A command that waits ends with its client, where the clock is that of the machine.
    let interruption = interruption
    if service.world.vault.clock is SystemClock {
      world.wait = { seconds in interruption.wait(seconds: seconds) }
    }
    world.patience = service.world.patience
    world.standardInput = numbers[0]
    world.standardOutput = numbers[1]
    world.standardError = numbers[2]
    world.ignoredBrokenPipes = run.ignoresBrokenPipes
    world.vaults = RequestVaults(service: service, request: self)
    world.agent = RequestControl(service: service, request: self)
    return world
  }
}
