package import Testing

/// Expects two equal values.
///
/// `#expect(value == expected)` says the same, but the compiler takes many times as long for it, and tests have thousands.
package func expect<Value: Equatable>(
  _ value: Value, equals expected: Value, _ comment: @autoclosure () -> Comment? = nil,
  file: String = #fileID, path: String = #filePath, line: Int = #line, column: Int = #column
) {
  guard value != expected else { return }
  let place = SourceLocation(fileID: file, filePath: path, line: line, column: column)
  let reason = comment().map { "\($0.rawValue): " } ?? ""
  Issue.record("\(reason)\(value) is not equal to \(expected)", sourceLocation: place)
}
