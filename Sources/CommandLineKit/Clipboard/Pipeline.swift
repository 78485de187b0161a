import CLinux
import Glibc
import SecretMemory

/// Runs a program with a pipe to it or from it, for a limited time.
enum Pipeline {
  /// Gives a program its standard input and waits for its end.
  ///
  /// - Returns: Whether it was there, read all of it and ended with 0.
  static func run(_ words: [String], giving secret: SharedSecret?, within patience: Duration) -> Bool {
    guard let pipe = Ends() else { return false }
    let process = start(words, input: pipe.reading, output: -1)
    close(pipe.reading)
    guard process > 0 else {
      close(pipe.writing)
      return false
    }
    let deadline = Deadline(after: patience)
    let isGiven = secret.map { give($0, to: pipe.writing, until: deadline) } ?? true
    close(pipe.writing)
    return end(of: process, until: deadline) && isGiven
  }

  /// What a program prints.
  ///
  /// - Returns: Nil when it is absent, fails, or prints more than `limit` bytes.
  static func output(of words: [String], limit: Int, within patience: Duration) -> SecretBytes? {
    guard let pipe = Ends() else { return nil }
    let process = start(words, input: -1, output: pipe.writing)
    close(pipe.writing)
    defer { close(pipe.reading) }
    guard process > 0 else { return nil }
    let deadline = Deadline(after: patience)
    let printed = take(from: pipe.reading, limit: limit, until: deadline)
    guard end(of: process, until: deadline) else { return nil }
    return printed
  }

  private static func start(_ words: [String], input: Int32, output: Int32) -> pid_t {
    let copies = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    return unsafe copies.withUnsafeBufferPointer { unsafe clinux_spawn($0.baseAddress!, input, output) }
  }

  private static func give(_ secret: SharedSecret, to descriptor: Int32, until deadline: Deadline) -> Bool {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    return secret.expose { bytes in
      var offset = 0
      while offset < bytes.byteCount {
        let written = unsafe bytes.extracting(offset..<bytes.byteCount).withUnsafeBytes {
          unsafe write(descriptor, $0.baseAddress, $0.count)
        }
        if written > 0 { offset += written; continue }
        guard errno == EAGAIN || errno == EINTR, deadline.wait(for: POLLOUT, of: descriptor) else {
          return false
        }
      }
      return true
    }
  }

  private static func take(from descriptor: Int32, limit: Int, until deadline: Deadline) -> SecretBytes? {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var isWhole = false
    let bytes = SecretBytes(capacity: limit + 1) { output in
      while output.freeCapacity > 0 {
        var got = 0
        unsafe output.withUnsafeMutableBytes { bytes, count in
          got = unsafe read(descriptor, bytes.baseAddress! + count, bytes.count - count)
          count += max(got, 0)
        }
        if got == 0 { isWhole = true; break }
        if got > 0 { continue }
        guard errno == EAGAIN || errno == EINTR, deadline.wait(for: POLLIN, of: descriptor) else { break }
      }
    }
    guard isWhole, bytes.byteCount <= limit else { return nil }
    return bytes
  }

  /// Whether the program ended by itself and with 0; one that is late is killed.
  private static func end(of process: pid_t, until deadline: Deadline) -> Bool {
    var status: Int32 = 0
    while true {
      let ended = unsafe waitpid(process, &status, WNOHANG)
      if ended == process { return status == 0 }
      guard ended == 0 || errno == EINTR else { return false }
      guard deadline.millisecondsLeft > 0 else {
        kill(process, SIGKILL)
        _ = unsafe waitpid(process, &status, 0)
        return false
      }
      usleep(2_000)
    }
  }

  /// The two ends of a pipe, both close-on-exec.
  private struct Ends {
    let reading: Int32
    let writing: Int32

    init?() {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (reading, writing) = (ends[0], ends[1])
    }
  }

  private struct Deadline {
    private let end: Int64

    init(after patience: Duration) { end = Self.now + Int64(patience / .milliseconds(1)) }

    var millisecondsLeft: Int64 { max(0, end - Self.now) }

    func wait(for event: Int32, of descriptor: Int32) -> Bool {
      var wait = pollfd(fd: descriptor, events: Int16(event), revents: 0)
      return unsafe poll(&wait, 1, Int32(clamping: millisecondsLeft)) > 0
    }

    private static var now: Int64 {
      var time = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
  }
}
