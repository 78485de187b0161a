import CommandLineKit
import TextFormats

extension JSON {
  static func object(_ pairs: [(String, JSON)]) -> JSON { .object(pairs.map { Field($0.0, $0.1) }) }

  func adding(_ name: String, _ value: JSON) -> JSON { adding { Field(name, value) } }

  static func optional(_ name: String, _ value: JSON?) -> [(String, JSON)] {
    value.map { [(name, $0)] } ?? []
  }
}
