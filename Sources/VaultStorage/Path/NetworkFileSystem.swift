import CLinux
import Glibc

/// File systems whose locks or shared memory do not hold between machines, or between a mount and its server.
package enum NetworkFileSystem {
  /// The name of the refused file system that `folder` lies on; nil when it is none of them.
  static func name(of folder: Int32, device: UInt64) throws(StorageError) -> String? {
    let type = clinux_file_system_type(folder)
    guard type >= 0 else { throw .cannotOpen(errno: errno) }
    if type == fuse { return refusedFUSE(MountTable.type(ofDevice: device)) }
    return name(ofType: type)
  }

  /// FUSE says only that it is FUSE; its kind stands in the mount table. One that is not found there is refused.
  package static func refusedFUSE(_ kind: String?) -> String? {
    guard let kind else { return "fuse" }
    return remoteFUSE.contains(kind) ? kind : nil
  }

  private static let fuse: Int64 = 0x6573_5546

  /// The name of the refused file system with this magic number of statfs(2); nil for all others.
  package static func name(ofType type: Int64) -> String? {
    switch type {
    case 0x6969: "nfs"
    case 0xFF53_4D42: "cifs"
    case 0xFE53_4D42: "smb2"
    case 0x517B: "smb"
    case 0x0102_1997: "9p"
    case 0x5346_414F, 0x6B41_4653: "afs"
    case 0x7375_7245: "coda"
    case 0x00C3_6400: "ceph"
    case 0x0BD0_0BD0: "lustre"
    case 0x564C: "ncp"
    default: nil
    }
  }

  private static let remoteFUSE: Set<String> = [
    "fuse", "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs", "fuse.davfs2", "fuse.curlftpfs",
    "fuse.gvfsd-fuse", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.gcsfuse", "fuse.blobfuse2",
    "fuse.mount-s3", "fuse.kio-fuse", "fuse.smbnetfs", "fuse.afp", "fuse.portal",
  ]
}
