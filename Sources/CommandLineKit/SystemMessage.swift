import Glibc

/// The text of an errno value, by its own table: `strerror` is neither thread-safe nor free of locale.
package func systemMessage(_ code: Int32) -> String {
  switch code {
  case ENOENT: "no such file or folder"
  case EACCES, EPERM: "permission denied"
  case ENOSPC: "no space left on the device"
  case EDQUOT: "disk quota exceeded"
  case EPIPE: "the reader has gone away"
  case EBADF: "the descriptor is not open for this"
  case ELOOP: "links are not followed"
  case EISDIR: "is a folder"
  case ENOTDIR: "a part of the path is not a folder"
  case EROFS: "read-only file system"
  case EIO: "input/output error"
  case EMFILE, ENFILE: "too many open files"
  case ENXIO, ENODEV, ENOTTY: "no such device"
  case ENAMETOOLONG: "name too long"
  case EFBIG: "the file would be larger than is allowed"
  case ENOMEM: "not enough memory"
  case E2BIG: "the arguments are too long"
  case ENOEXEC: "not a program"
  default: "error \(code)"
  }
}
