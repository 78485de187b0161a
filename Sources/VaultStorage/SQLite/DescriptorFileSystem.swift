import CSQLite
import Glibc

/// SQLite's way to a file that is open in this process, by its descriptor: a file without a name, or one on a file system that has neither
/// locks nor modes.
///
/// Nobody else uses such a file, so there are no locks, and nothing is beside it. Whoever opened the file synchronizes and closes it.
@safe
enum DescriptorFileSystem {
  static let name = "vault-descriptor"

  /// The path by which SQLite asks this file system for a descriptor.
  static func path(of descriptor: Int32) -> String { "/\(descriptor)" }

  /// Makes it known to SQLite, once and never as the default.
  static func register() throws(StorageError) {
    guard registration == SQLITE_OK else { throw .unexpected(code: registration) }
  }

  private static let registration: Int32 = {
    // Time and randomness are those of SQLite's own file system.
    guard let usual = unsafe sqlite3_vfs_find("unix") else { return SQLITE_ERROR }
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: fileMethods)
    let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe system.initialize(to: usual.pointee)
    unsafe system.pointee.iVersion = 1
    unsafe system.pointee.pNext = nil
    unsafe system.pointee.zName = unsafe UnsafePointer(strdup(name))
    unsafe system.pointee.szOsFile = Int32(MemoryLayout<OpenDescriptor>.size)
    unsafe system.pointee.pAppData = UnsafeMutableRawPointer(methods)
    unsafe system.pointee.xOpen = { system, path, file, flags, outFlags in
      // A journal or a temporary file would have no descriptor: both are in memory.
      guard flags & SQLITE_OPEN_MAIN_DB != 0, let path = unsafe path, let file = unsafe file,
        let system = unsafe system,
        let descriptor = unsafe Int32(String(cString: path).dropFirst())
      else { return SQLITE_CANTOPEN }
      let opened = unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenDescriptor.self)
      unsafe opened.pointee.descriptor = descriptor
      unsafe file.pointee.pMethods = unsafe UnsafePointer(
        system.pointee.pAppData.assumingMemoryBound(to: sqlite3_io_methods.self))
      if let outFlags = unsafe outFlags { unsafe outFlags.pointee = flags }
      return SQLITE_OK
    }
    unsafe system.pointee.xDelete = { _, _, _ in SQLITE_OK }
    unsafe system.pointee.xAccess = { _, _, _, found in
      unsafe found?.pointee = 0
      return SQLITE_OK
    }
    unsafe system.pointee.xFullPathname = { _, path, capacity, out in
      guard let path = unsafe path, let out = unsafe out, unsafe strlen(path) < Int(capacity) else {
        return SQLITE_CANTOPEN
      }
      unsafe strcpy(out, path)
      return SQLITE_OK
    }
    unsafe system.pointee.xGetLastError = { _, _, _ in errno }
    return unsafe sqlite3_vfs_register(system, 0)
  }()

  /// What SQLite keeps for an open file. Its own part comes first.
  @unsafe
  private struct OpenDescriptor {
    var base: sqlite3_file
    var descriptor: Int32
  }

  private static func descriptor(of file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file = unsafe file else { return -1 }
    return unsafe UnsafeMutableRawPointer(file).assumingMemoryBound(to: OpenDescriptor.self).pointee
      .descriptor
  }

  private static var fileMethods: sqlite3_io_methods {
    var methods = sqlite3_io_methods()
    methods.iVersion = 1
    unsafe methods.xClose = { _ in SQLITE_OK }
    unsafe methods.xRead = { file, bytes, count, offset in
      unsafe DescriptorFileSystem.read(
        DescriptorFileSystem.descriptor(of: file), into: bytes, Int(count), at: offset)
    }
    unsafe methods.xWrite = { file, bytes, count, offset in
      unsafe DescriptorFileSystem.write(
        bytes, Int(count), to: DescriptorFileSystem.descriptor(of: file), at: offset)
    }
    unsafe methods.xTruncate = { file, size in
      unsafe ftruncate(DescriptorFileSystem.descriptor(of: file), off_t(size)) == 0
        ? SQLITE_OK : Int32(csqlite_io_error_write)
    }
    unsafe methods.xSync = { _, _ in SQLITE_OK }
    unsafe methods.xFileSize = { file, size in
      var about = stat()
      guard unsafe fstat(DescriptorFileSystem.descriptor(of: file), &about) == 0 else { return SQLITE_IOERR }
      unsafe size?.pointee = sqlite3_int64(about.st_size)
      return SQLITE_OK
    }
    unsafe methods.xLock = { _, _ in SQLITE_OK }
    unsafe methods.xUnlock = { _, _ in SQLITE_OK }
    unsafe methods.xCheckReservedLock = { _, isReserved in
      unsafe isReserved?.pointee = 0
      return SQLITE_OK
    }
    unsafe methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    unsafe methods.xSectorSize = { _ in Int32(Schema.pageSize) }
    unsafe methods.xDeviceCharacteristics = { _ in 0 }
    return methods
  }

  /// What is behind the end of the file counts as zeros, as SQLite asks for.
  @unsafe
  private static func read(
    _ file: Int32, into bytes: UnsafeMutableRawPointer?, _ count: Int, at offset: Int64
  ) -> Int32 {
    guard let bytes = unsafe bytes else { return SQLITE_IOERR }
    var done = 0
    while done < count {
      let got = unsafe pread(file, bytes + done, count - done, off_t(offset) + done)
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return SQLITE_IOERR }
      guard got > 0 else {
        unsafe memset(bytes + done, 0, count - done)
        return Int32(csqlite_io_error_short_read)
      }
      done += got
    }
    return SQLITE_OK
  }

  @unsafe
  private static func write(
    _ bytes: UnsafeRawPointer?, _ count: Int, to file: Int32, at offset: Int64
  ) -> Int32 {
    guard let bytes = unsafe bytes else { return SQLITE_IOERR }
    var done = 0
    while done < count {
      let put = unsafe pwrite(file, bytes + done, count - done, off_t(offset) + done)
      if put < 0, errno == EINTR { continue }
      guard put > 0 else {
        return put == 0 || [ENOSPC, EDQUOT, EFBIG].contains(errno)
          ? SQLITE_FULL : Int32(csqlite_io_error_write)
      }
      done += put
    }
    return SQLITE_OK
  }
}
