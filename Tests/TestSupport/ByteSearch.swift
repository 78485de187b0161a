package import Foundation
import Glibc

/// Looks for some bytes among others, as `memmem` does; `range(of:)` of Foundation takes ten times as long.
package enum ByteSearch {
  /// Where the bytes first stand in the place; `nil` if they do not, and for no bytes.
  package static func first(
    _ bytes: UnsafeRawBufferPointer, in place: UnsafeRawBufferPointer
  ) -> UnsafeRawPointer? {
    guard unsafe !bytes.isEmpty, let start = place.baseAddress, let wanted = bytes.baseAddress else {
      return nil
    }
    return unsafe memmem(start, place.count, wanted, bytes.count)
  }

  /// The Glibc module lacks it.
  private static let memmem = unsafe unsafeBitCast(
    dlsym(nil, "memmem")!,
    to: (@convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeRawPointer?).self)
}

extension StringProtocol {
  /// Whether the text has these characters, of the same Unicode scalars; `contains` of the standard library and of Foundation
  /// take ten times as long.
  package func holds(_ text: String) -> Bool {
    var (place, wanted) = (Substring(self), text)
    return place.withUTF8 { place in
      wanted.withUTF8 { wanted in
        unsafe ByteSearch.first(UnsafeRawBufferPointer(wanted), in: UnsafeRawBufferPointer(place)) != nil
      }
    }
  }
}

extension Data {
  /// Whether the bytes stand in this data.
  package func holds(_ bytes: some ContiguousBytes) -> Bool {
    unsafe withUnsafeBytes { place in
      unsafe bytes.withUnsafeBytes { unsafe ByteSearch.first($0, in: place) != nil }
    }
  }
}
