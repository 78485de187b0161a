import CLinux
import Glibc

/// The text of an errno value, by its own table, and else by that of the C library without a locale: `strerror` is neither thread-safe
/// nor free of one.
package func systemMessage(_ code: Int32) -> String {
  switch code {
  case ENOENT: "no such file or directory"
  case EACCES: "permission denied"
  case EPERM: "the system does not permit it"
  case ENOSYS: "the system has no such call, or a filter denies it"
  case ENOSPC: "no space left on the device"
  case EDQUOT: "disk quota exceeded"
  case EPIPE: "the reader has gone away"
  case EBADF: "the descriptor is not open for this"
  case ELOOP: "links are not followed"
  case EISDIR: "is a directory"
  case ENOTDIR: "a part of the path is not a directory"
  case EROFS: "read-only file system"
  case EIO: "input/output error"
  case EMFILE, ENFILE: "too many open files"
  case ENXIO, ENODEV, ENOTTY: "no such device"
  case ENAMETOOLONG: "name too long"
  case EFBIG: "the file would be larger than is allowed"
  case ENOMEM: "not enough memory"
  case E2BIG: "the arguments are too long"
  case ENOEXEC: "not a program"
  default: unsafe clinux_error_text(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
