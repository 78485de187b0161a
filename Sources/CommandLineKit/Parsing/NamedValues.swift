/// Values by their names, a handful of them. A tool is started for one command, and the first dictionary of a process costs
/// more than every search here.
package struct NamedValues<Value: Sendable>: Sendable {
  private var entries: [(name: String, value: Value)] = []

  package init() {}

  package subscript(name: String) -> Value? {
    get { entries.first { $0.name == name }?.value }
    set {
      entries.removeAll { $0.name == name }
      if let newValue { entries.append((name, newValue)) }
    }
  }
}
