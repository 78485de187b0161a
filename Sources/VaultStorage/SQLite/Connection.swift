import CLinux
import CSQLite
import Glibc

/// One connection to one database file, with its prepared statements, for one caller at a time.
///
/// A child made by `fork` must not use it and does not close it. Closing would release the locks of the parent and
/// remove the files beside the database.
@safe
struct Connection: ~Copyable {
  private let database: OpaquePointer
  private let statements: UnsafeMutablePointer<Statement>
  private let wait: UnsafeMutablePointer<BusyWait>
  private let bound: UnsafeMutablePointer<WorkBound>
  private let lending: UnsafeMutablePointer<Lending>
  private let forkCount: UInt32
  private let isQueryOnly: Bool
  /// What is compared before each transaction; nil before ``watchSideFiles(beside:)``, and where there are no such files.
  private var sides: SideFiles?
  /// Ends after the database is closed; nil for a file that has no name yet.
  private let entry: OpenVaultFiles.Entry?

  /// How the file is opened.
  enum Mode {
    case readWrite
    /// Takes locks and keeps the files beside the database, but no statement may write.
    case readOnly
    /// The medium, the file or the directory is not writable, and there is a log to be read beside the file.
    case readOnlyMedium
    /// The same without such a log: the file cannot change. Takes no lock, and makes nothing beside the file.
    case immutable
    /// There is a log to be read, and no room for the index of it: the index is in memory. The caller holds the lock that excludes
    /// all other connections (``DatabaseHold``), because this one takes none.
    case heldLog
    /// A file that is open, read by its descriptor. Nobody changes it.
    case openFile
    /// An empty file that is open, written by its descriptor. Nobody else uses it, and it is worth nothing until it is whole.
    case newFile

    var isWritable: Bool { self == .readWrite || self == .newFile }
  }

  /// Opens an existing file. `path` is absolute and contains no symbolic link. A wait for a lock ends once `name`
  /// no longer leads to the file.
  static func open(
    _ path: String, mode: Mode, patience: Int64, name: OpenedName? = nil
  ) throws(StorageError) -> Connection {
    try ForkGuard.check()
    try SQLiteLibrary.check(sqlite3_libversion_number())
    // Before the first lock.
    let entry = name?.entry
    let database = try unsafe handle(for: path, mode: mode)
    let wait = UnsafeMutablePointer<BusyWait>.allocate(capacity: 1)
    unsafe wait.initialize(to: BusyWait(patience: patience, name: name))
    unsafe BusyWait.install(on: database, wait)
    let bound = UnsafeMutablePointer<WorkBound>.allocate(capacity: 1)
    let isOpenFile = mode == .openFile || mode == .newFile
    unsafe bound.initialize(to: WorkBound(path: isOpenFile ? "/proc/self/fd" + path : path))
    unsafe WorkBound.install(on: database, bound)
    let connection = unsafe Connection(
      database, wait: wait, bound: bound, entry: entry, isQueryOnly: !mode.isWritable)
    if mode == .heldLog {
      // Before anything reads the file, which would ask for an index beside it.
      try connection.execute("PRAGMA locking_mode=EXCLUSIVE")
      connection.leaveLog()
    }
    try connection.configure()
    if mode == .newFile {
      try connection.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=OFF")
      try connection.query("PRAGMA journal_mode=MEMORY") { _ in }
    }
    return connection
  }

  @unsafe
  private init(
    _ database: OpaquePointer, wait: UnsafeMutablePointer<BusyWait>,
    bound: UnsafeMutablePointer<WorkBound>, entry: consuming OpenVaultFiles.Entry?, isQueryOnly: Bool
  ) {
    self.entry = entry
    self.isQueryOnly = isQueryOnly
    unsafe self.database = database
    unsafe self.wait = unsafe wait
    unsafe self.bound = unsafe bound
    forkCount = clinux_fork_count()
    ForkGuard.opened()
    unsafe lending = .allocate(capacity: 1)
    unsafe lending.initialize(to: Lending())
    unsafe statements = .allocate(capacity: Query.allCases.count)
    for query in Query.allCases { unsafe (statements + query.rawValue).initialize(to: Statement(query)) }
  }

  deinit {
    guard isOfThisProcess else { return }
    if let sides, sides.wrong != nil {
      saveLog()
      leaveLog()
    }
    unsafe statements.deinitialize(count: Query.allCases.count)
    unsafe statements.deallocate()
    unsafe sqlite3_close_v2(database)
    ForkGuard.closed()
    unsafe wait.deinitialize(count: 1)
    unsafe wait.deallocate()
    unsafe bound.deinitialize(count: 1)
    unsafe bound.deallocate()
    unsafe lending.deinitialize(count: 1)
    unsafe lending.deallocate()
  }

  /// False in a child that inherited the connection by `fork`.
  var isOfThisProcess: Bool { forkCount == clinux_fork_count() }

  /// True from a successful BEGIN to the end of the transaction. Some errors end it.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(database) == 0 }

  /// The extended result code of the last call that failed.
  var lastFailure: Int32 { unsafe sqlite3_extended_errcode(database) }

  /// The number of rows that the last statement inserted, changed or deleted.
  var changes: Int64 { unsafe sqlite3_changes64(database) }

  /// The version of the pages that this connection reads: it changes with each commit, of this process or of another. Zero
  /// where SQLite does not tell.
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    guard isOfThisProcess else { return version }
    _ = unsafe sqlite3_file_control(database, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Lends the statement of `query` to `body`, with `values` bound from position 1.
  mutating func use<each Value: Bindable, R, E: StorageFailure>(
    _ query: Query, _ values: repeat each Value, body: (borrowing Cursor) throws(E) -> R
  ) throws(E) -> R {
    guard isOfThisProcess else { throw E(.usedAfterFork) }
    unsafe bound.pointee.begin()
    return try unsafe statements[query.rawValue].use(
      on: database, lending: lending, values: repeat each values, body: body)
  }

  /// Frees the cached pages, which can be read again.
  func releasePages() {
    guard isOfThisProcess else { return }
    unsafe sqlite3_db_release_memory(database)
  }

  /// Runs statements without a result that are used once.
  func execute(_ sql: String) throws(StorageError) {
    guard isOfThisProcess else { throw .usedAfterFork }
    unsafe bound.pointee.begin()
    errno = 0
    try unsafe check(sqlite3_exec(database, sql, nil, nil, nil), on: database)
  }

  /// The number that a PRAGMA answers; nil when it answers with no row.
  func number<Number: FixedWidthInteger>(ofPragma name: String) throws(StorageError) -> Number? {
    var number: Number?
    try query("PRAGMA \(name)") { row throws(StorageError) in number = try row.integer(0) }
    return number
  }

  /// Runs a statement that is used once, lending each row to `body`.
  func query<each Value: Bindable>(
    _ sql: String, _ values: repeat each Value, body: (borrowing Cursor) throws(StorageError) -> Void
  ) throws(StorageError) {
    guard isOfThisProcess else { throw .usedAfterFork }
    unsafe bound.pointee.begin()
    var statement: OpaquePointer?
    errno = 0
    try unsafe check(sqlite3_prepare_v2(database, sql, -1, &statement, nil), on: database)
    defer { unsafe sqlite3_finalize(statement) }
    guard let statement = unsafe statement else { return }
    let cursor = unsafe Cursor(statement: statement, database: database, table: .header, lending: lending)
    try cursor.bind(values: repeat each values)
    while try cursor.step() { try body(cursor) }
  }

  /// Moves the log into the database file, and empties the log if `truncate`. False when readers prevent it for
  /// longer than `patience`, in nanoseconds. The caller tries again later.
  func checkpoint(truncate: Bool, patience: Int64) throws(StorageError) -> Bool {
    guard isOfThisProcess else { throw .usedAfterFork }
    errno = 0
    let mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    var (frames, moved): (Int32, Int32) = (0, 0)
    let usual = unsafe wait.pointee.patience
    unsafe wait.pointee.patience = patience
    defer { unsafe wait.pointee.patience = usual }
    let code = unsafe sqlite3_wal_checkpoint_v2(database, nil, mode, &frames, &moved)
    if code & 0xff == SQLITE_BUSY || code & 0xff == SQLITE_LOCKED { return false }
    try unsafe check(code, on: database)
    return frames == moved
  }

  /// Writes changed pages into the log without a commit.
  func writeOut() throws(StorageError) {
    guard isOfThisProcess else { throw .usedAfterFork }
    try unsafe check(sqlite3_db_cacheflush(database), on: database)
  }

  /// Makes the file keep a write-ahead log. A vault copied by VACUUM INTO has none yet.
  func useLog() throws(StorageError) {
    var mode: String?
    try query("PRAGMA journal_mode=WAL") { row in mode = row.text(0) }
    guard mode == "wal" else { throw .cannotOpen(errno: 0) }
  }

  /// The lines of `PRAGMA integrity_check`; empty when there is no fault, or when `progress` ended the check before
  /// it found one.
  func integrityCheck(progress: (() -> Bool)?) throws(StorageError) -> [String] {
    var lines: [String] = []
    func check() throws(StorageError) {
      try query("PRAGMA integrity_check") { row in lines.append(row.text(0) ?? "?") }
    }
    do throws(StorageError) {
      try withProgress(progress, body: check)
    } catch .damaged(.page) where progress != nil && lines.isEmpty {
      // `progress` ended the check, so the caller knows.
    }
    return lines == ["ok"] ? [] : lines
  }

  /// Runs `body`, and calls `progress` from time to time. When `progress` returns false, `body` ends.
  private func withProgress(
    _ progress: (() -> Bool)?, body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    guard let progress else { return try body() }
    let box = Box(progress)
    unsafe sqlite3_progress_handler(
      database, 20_000,
      { unsafe Unmanaged<Box>.fromOpaque($0!).takeUnretainedValue().body() ? 0 : 1 },
      Unmanaged.passUnretained(box).toOpaque())
    defer {
      unsafe WorkBound.install(on: database, bound)
      withExtendedLifetime(box) {}
    }
    try body()
  }

  private final class Box {
    let body: () -> Bool
    init(_ body: @escaping () -> Bool) { self.body = body }
  }

  /// Leaves the log beside the file as it is when this connection is closed, because it may belong to another file.
  func leaveLog() { unsafe _ = csqlite_configure(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  // MARK: - The files beside the database

  /// Notes which files beside the database are open.
  mutating func watchSideFiles(beside path: String) throws(StorageError) {
    // The first read opens both.
    let _: Int? = try number(ofPragma: "schema_version")
    sides = try SideFiles(beside: path)
  }

  /// - Throws: ``StorageError/sideFile(_:)`` if one of them is not the one that is open.
  func checkSideFiles() throws(StorageError) {
    guard let wrong = sides?.wrong else { return }
    if !isInTransaction { saveLog() }
    throw .sideFile(wrong)
  }

  /// Moves the commits of a log whose name is gone into the database, because no other process could read them. Does nothing for
  /// another log.
  func saveLog() {
    if let sides, sides.isLogLost { _ = try? checkpoint(truncate: false, patience: 0) }
  }

  // MARK: - Opening

  private static func handle(for path: String, mode: Mode) throws(StorageError) -> OpaquePointer {
    var flags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var name = path
    var system = "unix"
    switch mode {
    case .readWrite, .readOnly: flags |= SQLITE_OPEN_READWRITE
    case .readOnlyMedium: flags |= SQLITE_OPEN_READONLY
    case .immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:" + percentEncoded(path) + "?immutable=1"
    case .heldLog:
      flags |= SQLITE_OPEN_READONLY
      // SQLite's own file system, without its locks.
      system = "unix-none"
    case .openFile:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:" + path + "?immutable=1"
    case .newFile: flags |= SQLITE_OPEN_READWRITE
    }
    var database: OpaquePointer?
    // Names SQLite's own file system, because the host program may have made another one the default.
    if mode == .openFile || mode == .newFile {
      try DescriptorFileSystem.register()
      system = DescriptorFileSystem.name
    }
    let code = unsafe sqlite3_open_v2(name, &database, flags, system)
    guard code == SQLITE_OK, let database = unsafe database else {
      let error = unsafe storageError(code, on: database)
      unsafe sqlite3_close_v2(database)
      throw error
    }
    return unsafe database
  }

  private func configure() throws(StorageError) {
    try unsafe Lending.install(on: database, lending)
    let switches: [(Int32, Int32)] = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
      (SQLITE_DBCONFIG_ENABLE_VIEW, 0), (SQLITE_DBCONFIG_ENABLE_FKEY, 0), (SQLITE_DBCONFIG_DQS_DML, 0),
      (SQLITE_DBCONFIG_DQS_DDL, 0),
    ]
    for (option, value) in switches {
      try unsafe check(csqlite_configure(database, option, value), on: database)
    }
    unsafe sqlite3_limit(database, SQLITE_LIMIT_LENGTH, Int32(Store.mostBytes))
    try execute(
      """
      PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; \
      PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA cache_size=-\(mostCachedKiB); \
      PRAGMA journal_size_limit=\(Self.mostIdleLogBytes);
      """)
    if isQueryOnly { try execute("PRAGMA query_only=ON") }
  }

  /// The size to which the log is cut when it restarts after a long reader let it grow. An ordinary log is smaller.
  private static let mostIdleLogBytes = 8 << 20

  /// The most memory for cached pages: half of what a command may use for a vault of any size (docs/security/invariants.md). The
  /// system caches the file beyond that.
  private var mostCachedKiB: Int { 28 << 10 }

  /// Runs `body` with a quarter of that. SQLite gives a temporary database a cache of the same size.
  func withSmallCache(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    try execute("PRAGMA cache_size=-\(mostCachedKiB / 4)")
    defer { try? execute("PRAGMA cache_size=-\(mostCachedKiB)") }
    try body()
  }

  /// A path as it is written in a URI: every byte but letters, digits and `/-._~` as `%XX`.
  private static func percentEncoded(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        out.append(byte)
      default: out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
