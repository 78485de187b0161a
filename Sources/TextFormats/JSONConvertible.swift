/// A value that JSON can express.
package protocol JSONConvertible {
  var json: JSON { get }
}

extension String: JSONConvertible {
  package var json: JSON { .string(self) }
}

extension Bool: JSONConvertible {
  package var json: JSON { .boolean(self) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
  package var json: JSON { .array(map(\.json)) }
}

extension JSON: JSONConvertible {
  package var json: JSON { self }
}

extension FixedWidthInteger {
  package var json: JSON { Int64(exactly: self).map { .integer($0) } ?? .unsigned(UInt64(self)) }
}

extension Int: JSONConvertible {}
extension Int32: JSONConvertible {}
extension Int64: JSONConvertible {}
extension UInt16: JSONConvertible {}
extension UInt32: JSONConvertible {}
extension UInt64: JSONConvertible {}
