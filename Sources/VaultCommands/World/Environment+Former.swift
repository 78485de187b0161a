package import CommandLineKit
package import VaultKit

extension Environment {
  /// A variable that is set under the name that it had before the first release; nil if there is none.
  package var formerVariable: FormerVariable? { FormerVariable.all.first { isSet($0.name) } }
}
