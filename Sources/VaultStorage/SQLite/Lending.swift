import CSQLite

/// Lends the columns of a row within the step that reads it, as the arguments of a function `lend` that statements of
/// ours call. Read after the step, each column is looked up once more, which takes as long as the step itself.
@safe
struct Lending {
  typealias Columns = UnsafeMutablePointer<OpaquePointer?>

  /// Takes the columns of a row; answers whether a further one is wanted.
  var body: ((Columns) throws(StorageError) -> Bool)?
  /// What it answered last.
  private(set) var goesOn = true
  /// Why it did not answer.
  private(set) var failure: StorageError?

  /// Adds the function to `database`. `lending` must outlive the connection.
  @unsafe
  static func install(
    on database: OpaquePointer, _ lending: UnsafeMutablePointer<Lending>
  ) throws(StorageError) {
    let code = unsafe sqlite3_create_function_v2(
      database, "lend", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, lending,
      { context, _, columns in
        unsafe sqlite3_user_data(context)!.assumingMemoryBound(to: Lending.self).pointee.lend(columns!)
      }, nil, nil, nil)
    try unsafe check(code, on: database)
  }

  private mutating func lend(_ columns: Columns) {
    do throws(StorageError) { goesOn = try unsafe body?(columns) ?? true } catch {
      failure = error
      goesOn = false
    }
  }
}
