extension JSON {
  package static func object(_ pairs: [(String, JSON)]) -> JSON { .object(pairs.map { Field($0.0, $0.1) }) }

  package func adding(_ name: String, _ value: JSON) -> JSON { adding { Field(name, value) } }

  package static func optional(_ name: String, _ value: JSON?) -> [(String, JSON)] {
    value.map { [(name, $0)] } ?? []
  }
}
