/// A value that a statement takes. Nil is NULL.
protocol Bindable {
  func bind(to statement: borrowing Cursor, at index: Int32) throws(StorageError)
}

extension Bindable where Self: FixedWidthInteger {
  func bind(to statement: borrowing Cursor, at index: Int32) throws(StorageError) {
    try statement.bind(self, at: index)
  }
}

extension Int: Bindable {}
extension Int64: Bindable {}
extension UInt8: Bindable {}
extension UInt32: Bindable {}
extension UInt64: Bindable {}

extension [UInt8]: Bindable {
  func bind(to statement: borrowing Cursor, at index: Int32) throws(StorageError) {
    try statement.bind(self, at: index)
  }
}

extension Bytes16: Bindable {
  func bind(to statement: borrowing Cursor, at index: Int32) throws(StorageError) {
    try statement.bind(self, at: index)
  }
}

extension String: Bindable {
  func bind(to statement: borrowing Cursor, at index: Int32) throws(StorageError) {
    try statement.bind(self, at: index)
  }
}

extension Optional: Bindable where Wrapped: Bindable {
  /// A value that is not bound is NULL.
  func bind(to statement: borrowing Cursor, at index: Int32) throws(StorageError) {
    try self?.bind(to: statement, at: index)
  }
}
