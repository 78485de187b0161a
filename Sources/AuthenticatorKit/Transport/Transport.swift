public import VaultKit
import VaultLogging

// Read in this order:
//
// - `Transport`, `TransportRequest`, `TransportAnswer`, `TransportFields`: what a conforming type gets and makes.
// - `VaultError+Peer.swift`: the errors of a peer. `PeerCredential`: a credential that a peer has activated.
// - `VaultCore+Exchange.swift`: one request and its answer, outside of every lock and transaction.

/// The way to the server that has activated a credential, or to a program in front of it: the *peer*.
///
/// The library opens no connection. It hands a request to a transport and gets the answer. The guide *Transports*
/// says what each operation means, with all of its fields: the names are the same in Swift and in JSON.
///
/// ```swift
/// struct Loopback: Transport {
///   let identity = "app:loopback"
///   func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer {
///     guard request.operation == .synchronize else { throw VaultError(peer: "STATE", "not in this state") }
///     var fields = TransportFields()
///     fields["state"] = .text("active")
///     return TransportAnswer(fields)
///   }
/// }
/// ```
public protocol Transport: Sendable {
  /// What is stored at an activation: the absolute path of a program, or a name that the program's author chooses, 1 to
  /// 1,024 bytes. A credential that was activated through another transport asks for the passcode of the vault first.
  /// Advisory: the device key alone can change it.
  var identity: String { get }

  /// Sends a request to the peer and returns its answer.
  ///
  /// Called on a thread that may wait; no lock and no transaction is open. Several requests can be under way at once.
  ///
  /// - Throws: `VaultError(peer:_:hint:attemptsLeft:isUnsent:)` for an error of the peer, ``VaultError/Code/network`` if
  ///   there is no answer. It has an `underlying` number only if the request surely did not reach the peer: then the code of an
  ///   unlock does not count as a try. What is thrown ends the operation, and nothing from the answer is stored.
  func send(_ request: TransportRequest) throws(VaultError) -> TransportAnswer

  /// Ends the requests that are under way, from any thread. Called when the task of the call is cancelled, its context is
  /// invalidated, or the vault is locked. ``TransportRequest/isCancelled`` says which request is meant. The call does not
  /// wait for a request that goes on: its answer is discarded.
  func cancel()
}

extension Transport {
  /// Does nothing.
  public func cancel() {}
}

/// One request to a peer.
public struct TransportRequest: Sendable {
  /// What the peer is asked for.
  public let operation: TransportOperation
  /// 16 random bytes in 32 lower-case hexadecimal digits; new for each request.
  public let id: String
  /// The members of the operation, with `device` and `peer`.
  public let fields: TransportFields
  /// Ends the request when its answer is no longer wanted.
  package var ending: PromptEnding?

  /// A request, for tests of a transport.
  public init(_ operation: TransportOperation, id: String, fields: TransportFields) {
    (self.operation, self.id, self.fields) = (operation, id, fields)
  }

  /// Whether the answer is no longer wanted: the call was cancelled, its context was invalidated, or the vault was locked.
  public var isCancelled: Bool { ending?.isEnded ?? false }
}

/// The answer of a peer.
public struct TransportAnswer: Sendable {
  /// The members of the answer.
  public let fields: TransportFields

  /// An answer with these members.
  public init(_ fields: TransportFields = TransportFields()) { self.fields = fields }
}

/// What a peer is asked for. The set is open.
public struct TransportOperation: RawRepresentable, Sendable, Hashable {
  /// The word in JSON.
  public let rawValue: String
  /// The operation of this word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Begin an activation.
  public static let activationStart = Self(rawValue: "activationStart")
  /// End an activation.
  public static let activationFinish = Self(rawValue: "activationFinish")
  /// Send the person a code that ends a block.
  public static let unlockStart = Self(rawValue: "unlockStart")
  /// Judge that code.
  public static let unlockFinish = Self(rawValue: "unlockFinish")
  /// End the use of the credential on this device.
  public static let disable = Self(rawValue: "disable")
  /// Bring counter, clock and state together.
  public static let synchronize = Self(rawValue: "synchronize")
  /// Announce a code or a seal.
  public static let onlineStart = Self(rawValue: "onlineStart")
  /// Deliver it.
  public static let onlineFinish = Self(rawValue: "onlineFinish")
  /// Ask for a transaction that waits for the person.
  public static let transactionNext = Self(rawValue: "transactionNext")
  /// Deliver the person's decision.
  public static let transactionAnswer = Self(rawValue: "transactionAnswer")
  /// Ask for the code with which a person consents to a card token.
  public static let consentRequest = Self(rawValue: "consentRequest")
  /// Deliver that code.
  public static let consentConfirm = Self(rawValue: "consentConfirm")
  /// Have the code sent again.
  public static let consentResend = Self(rawValue: "consentResend")
  /// Have an OAuth server describe itself.
  public static let oauthMetadata = Self(rawValue: "oauthMetadata")
  /// Register a client at an OAuth server.
  public static let oauthRegister = Self(rawValue: "oauthRegister")
  /// Begin what a person on another device agrees to at an OAuth server.
  public static let oauthDevice = Self(rawValue: "oauthDevice")
  /// Get tokens of an OAuth server, or refresh them.
  public static let oauthToken = Self(rawValue: "oauthToken")
  /// Revoke a token at an OAuth server.
  public static let oauthRevoke = Self(rawValue: "oauthRevoke")
  /// Say that the person has shown a factor.
  public static let login = Self(rawValue: "login")
}

extension TransportOperation: VaultLog.Value {
  package var logText: String { rawValue }
}
