/// A row of `state`.
package struct StateRow: Equatable, Sendable {
  package var revision: UInt64
  package var body: [UInt8]

  package init(revision: UInt64, body: [UInt8]) {
    self.revision = revision
    self.body = body
  }
}
