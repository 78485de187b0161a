import AgentMessages
package import CommandLineKit
package import SecretMemory
package import TransportPrograms
package import VaultKit
package import VaultPrompts
import VaultWords

/// The host of a command that runs in the agent: it asks the process of the command, which answers by its ``LocalHost``.
package struct RemoteHost: Host {
  let link: ClientLink
  /// Where the person is asked; nil: always in the process of the command.
  private let places: (any PromptPlaces)?

  package init(_ link: ClientLink, asking places: (any PromptPlaces)? = nil) {
    (self.link, self.places) = (link, places)
  }

  package func prompt(_ way: AutomaticPrompt.Way) -> any HostPrompt {
    let remote = RemotePrompt(link: link, way: way)
    return places.map { PlacedPrompt(places: $0, remote: remote) } ?? remote
  }

  package var presence: any PresenceSource {
    let remote = RemotePresence(link: link)
    return places.map { PlacedPresence(places: $0, remote: remote) } ?? remote
  }

  package var biometry: any BiometrySource {
    let remote = RemoteReader(link: link)
    return places.map { PlacedReader(places: $0, remote: remote) } ?? remote
  }

  package func lend<R: ~Copyable>(
    _ file: HostFile, _ body: (Int32) throws(CommandError) -> R
  ) throws(CommandError) -> R {
    let (kind, content) = file.call
    let descriptors = try link.ask(kind, content) { $0.descriptors }
    // They end with this value.
    return try descriptors.lend { (descriptors) throws(CommandError) in try body(link.checked(descriptors)) }
  }

  package func exists(_ path: String) throws(CommandError) -> Bool {
    try link.ask(.exists, .path(path)) { answer throws(AgentMessageError) in try answer.content.flag(.isTrue)
    }
  }

  package func isOwn(_ path: String) -> Bool {
    (try? link.ask(.isOwn, .path(path)) { answer throws(AgentMessageError) in try answer.content.flag(.isTrue)
    })
      ?? false
  }

  package func makeFile(
    _ path: String, interruption: Interruption
  ) throws(CommandError) -> any UnfinishedFile {
    let (number, descriptors) = try link.ask(.makeFile, .path(path)) { answer throws(AgentMessageError) in
      (try answer.content.number(.fileNumber), answer.descriptors)
    }
    return try RemoteFile(number, descriptors, link: link, interruption: interruption)
  }

  package func removeFile(_ path: String) { try? link.ask(.removeFile, .path(path)) { _ in } }

  package func edit(
    _ text: SharedSecret, interruption: Interruption
  ) throws(CommandError) -> SharedSecret {
    do throws(VaultError) { try interruption.yieldToClient() } catch { throw CommandError(describing: error) }
    let file = AgentDescriptors(owning: [try MemoryFile.make(text)])
    let answer = try link.ask(.edit, CallContent(), passing: file) { $0.descriptors }
    return try answer.lend { (descriptors) throws(CommandError) in
      SharedSecret(try MemoryFile.content(of: link.checked(descriptors)))
    }
  }

  package func copyToClipboard(
    _ secret: SharedSecret, seconds: Int64
  ) throws(CommandError) -> CopiedSecret {
    guard secret.byteCount <= Self.longestCopy else {
      throw CommandError(
        .refused, "the secret is too long to be copied through the agent",
        hint: "at most \(Self.longestCopy >> 10) KiB; add --agent never")
    }
    var content = CallContent()
    content.set(.secret, secret)
    content.set(.seconds, seconds)
    return try link.ask(.copy, content) { answer throws(AgentMessageError) in
      CopiedSecret(clipboard: try answer.content.text(.text), notes: try answer.content.list(.list))
    }
  }

  package func programs(within time: Duration) -> any ProgramRunner { RemoteRunner(link: link) }

  package func become(
    _ program: ProgramStart, with secrets: [HandedSecret], after done: [String]
  ) throws(CommandError) {
    for handed in secrets {
      let file = AgentDescriptors(owning: [try MemoryFile.make(handed.secret)])
      var content = CallContent()
      content.set(.done, done)
      content.set(.isConcealed, handed.isConcealed)
      try link.ask(.handOver, content, passing: file) { _ in }
    }
  }

  /// The process of the command holds its own signals while it serves.
  package func holdingEndingSignal<R, E: Error>(
    for seconds: Int, _ body: () throws(E) -> R
  ) throws(E) -> R { try body() }

  /// What leaves room for the other fields of a message.
  private static let longestCopy = 48 << 10
}

extension CallContent {
  fileprivate static func path(_ path: String) -> CallContent {
    var content = CallContent()
    content.set(.path, path)
    return content
  }
}

/// A file that the process of the command makes and names, and that the command writes.
final class RemoteFile: UnfinishedFile {
  let descriptor: Int32
  private let number: Int64
  private let link: ClientLink
  private let interruption: Interruption
  /// The descriptor ends with this value.
  private let descriptors: AgentDescriptors
  private var isDone = false

  init(
    _ number: Int64, _ descriptors: AgentDescriptors, link: ClientLink, interruption: Interruption
  ) throws(CommandError) {
    descriptor = try descriptors.lend { (descriptors) throws(CommandError) in try link.checked(descriptors) }
    (self.number, self.descriptors) = (number, descriptors)
    (self.link, self.interruption) = (link, interruption)
  }

  deinit { if !isDone { try? link.ask(.dropFile, content) { _ in } } }

  func finish() throws(CommandError) {
    do throws(VaultError) { try interruption.hold() } catch { throw CommandError(describing: error) }
    // Whatever comes of the call, the other end has no such file after it.
    isDone = true
    try link.ask(.finishFile, content) { _ in }
  }

  private var content: CallContent {
    var content = CallContent()
    content.set(.fileNumber, number)
    return content
  }
}
