import AgentMessages
import VaultKit
import VaultPrompts

/// Which prompt failed: the field `kind` of a failure of a prompt.
private enum Failed: UInt8 {
  case terminal = 1
  case pinentry, nobody
}

extension PromptFailure {
  var failureMessage: FailureMessage {
    var fields = FailureMessage()
    switch self {
    case .terminal(let error):
      fields.set(.kind, Int64(Failed.terminal.rawValue))
      fields.set(.terminal, error.failureMessage)
    case .pinentry(let error):
      fields.set(.kind, Int64(Failed.pinentry.rawValue))
      fields.set(.vault, error.failureMessage)
    case .nobody(let terminal, let absence):
      fields.set(.kind, Int64(Failed.nobody.rawValue))
      fields.set(.terminal, terminal?.failureMessage)
      absence.write(to: &fields)
    }
    return fields
  }

  init(_ fields: FailureMessage) throws(AgentMessageError) {
    let failed: Failed = try fields.value(.kind)
    switch failed {
    case .terminal: self = .terminal(try TerminalError(fields.fields(.terminal)))
    case .pinentry: self = .pinentry(try VaultError(fields.fields(.vault)))
    case .nobody:
      let terminal = try fields.ifAny(.terminal) { tag throws(AgentMessageError) in
        try TerminalError(fields.fields(tag))
      }
      self = .nobody(terminal: terminal, pinentry: try Pinentry.Absence(fields))
    }
  }
}

extension TerminalError {
  private enum Kind: UInt8 {
    case noTerminal = 1
    case background, inUse, noLock, busy, cancelled, timedOut, tooLong, signalled, severalLines
  }

  fileprivate var failureMessage: FailureMessage {
    var fields = FailureMessage()
    let kind: Kind
    switch self {
    case .noTerminal(let code): (kind, _) = (.noTerminal, fields.set(.number, Int64(code)))
    case .background: kind = .background
    case .inUse: kind = .inUse
    case .noLock(let why): (kind, _) = (.noLock, fields.set(.text, why))
    case .busy: kind = .busy
    case .cancelled: kind = .cancelled
    case .timedOut: kind = .timedOut
    case .tooLong(let limit): (kind, _) = (.tooLong, fields.set(.number, Int64(limit)))
    case .severalLines: kind = .severalLines
    case .signalled(let signal): (kind, _) = (.signalled, fields.set(.number, Int64(signal)))
    }
    fields.set(.kind, Int64(kind.rawValue))
    return fields
  }

  fileprivate init(_ fields: FailureMessage) throws(AgentMessageError) {
    let kind: Kind = try fields.value(.kind)
    switch kind {
    case .noTerminal: self = .noTerminal(Int32(clamping: try fields.number(.number)))
    case .background: self = .background
    case .inUse: self = .inUse
    case .noLock: self = .noLock(try fields.text(.text))
    case .busy: self = .busy
    case .cancelled: self = .cancelled
    case .timedOut: self = .timedOut
    case .tooLong: self = .tooLong(limit: Int(clamping: try fields.number(.number)))
    case .severalLines: self = .severalLines
    case .signalled: self = .signalled(Int32(clamping: try fields.number(.number)))
    }
  }
}

extension Pinentry.Absence {
  private enum Kind: UInt8 {
    case notInstalled = 1
    case badVariable, nowhereToAsk, terminalTaken, formerVariable
  }

  fileprivate func write(to fields: inout FailureMessage) {
    var inner = FailureMessage()
    let kind: Kind
    switch self {
    case .notInstalled: kind = .notInstalled
    case .badVariable: kind = .badVariable
    case .formerVariable: kind = .formerVariable
    case .nowhereToAsk: kind = .nowhereToAsk
    case .terminalTaken(let error): (kind, _) = (.terminalTaken, inner.set(.terminal, error.failureMessage))
    }
    inner.set(.kind, Int64(kind.rawValue))
    fields.set(.vault, inner)
  }

  fileprivate init(_ fields: FailureMessage) throws(AgentMessageError) {
    let inner: FailureMessage = try fields.fields(.vault)
    let kind: Kind = try inner.value(.kind)
    switch kind {
    case .notInstalled: self = .notInstalled
    case .badVariable: self = .badVariable
    case .formerVariable: self = .formerVariable
    case .nowhereToAsk: self = .nowhereToAsk
    case .terminalTaken: self = .terminalTaken(try TerminalError(inner.fields(.terminal)))
    }
  }
}
