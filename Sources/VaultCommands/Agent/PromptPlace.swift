package import VaultKit
package import VaultPrompts

/// Where the person is asked who decides about a request in the agent, as the setting of the agent says.
package enum PromptPlace: Sendable {
  /// In the process of the command.
  case client
  /// In the process of the agent.
  case here(PlaceHere)
  /// In the process of the command, but a yes is a finger on the reader of the agent.
  case finger(PlaceHere)
  /// Nowhere, for this reason.
  case nowhere(VaultError)
}

/// A place where the agent itself asks.
package struct PlaceHere: Sendable {
  /// Asks, and has PAM and the reader of this process.
  package let host: LocalHost
  /// The only way that is taken.
  package let way: AutomaticPrompt.Way
  /// What the place is, for errors: "/dev/pts/3".
  package let name: String
  /// Whether it is the terminal of the command, so that the person need not be told where to look.
  package let isOfCommand: Bool

  package init(_ host: LocalHost, _ way: AutomaticPrompt.Way, named name: String, isOfCommand: Bool) {
    (self.host, self.way, self.name, self.isOfCommand) = (host, way, name, isOfCommand)
  }

  var prompt: any HostPrompt { host.prompt(way) }
}

/// Where the person is asked for one request. Looked at before each prompt: it can be another place after the vault was unlocked.
package protocol PromptPlaces: Sendable {
  var place: PromptPlace { get }
  /// Where a login password is judged, which no derivation does.
  var presencePlace: PromptPlace { get }
  /// Where a finger is.
  var readerPlace: PromptPlace { get }
  /// Whether the person starts a login or the reader by Enter, at ``place``: these may ask there for nothing.
  var startsByHand: Bool { get }
  /// The program that has started the command, and the process of the command; nil if the prompt names none.
  var requester: PromptRequest.Requester? { get }
  /// Counts a prompt of the process of the command that is about to open.
  ///
  /// - Throws: ``VaultError/Code/busy`` if that process has too many open.
  func beginPrompt() throws(VaultError)
  /// A prompt that was counted has ended.
  func endPrompt()
}
