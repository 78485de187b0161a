// What the Glibc module lacks about sockets between processes of one machine: SOCK_SEQPACKET, which keeps packets whole.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/// The most descriptors of one packet that these functions send or receive.
enum { clinux_most_descriptors = 253 };

/// The macros of control messages are not in the Glibc module. Sends one packet with descriptors, without SIGPIPE. Without
/// `waits`, EAGAIN when the other end has not read enough; with it, also a descriptor that does not block waits. Returns 0, or an errno value.
int clinux_send_packet(
  int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count, bool waits);

/// The byte count of the next packet, without taking it: 0 for an empty packet and when the other end is gone. Without
/// `waits`, EAGAIN when there is none. Returns -1 with errno set.
ssize_t clinux_next_packet(int socket, bool waits);

/// Takes the next packet. Its descriptors are close-on-exec from the beginning; the caller closes them, also after an
/// error. `descriptors` has room for `clinux_most_descriptors`. EMSGSIZE when the packet or its descriptors were cut.
/// Returns its byte count, or -1 with errno set.
ssize_t clinux_receive_packet(int socket, void *buffer, size_t size, int *descriptors, size_t *descriptor_count);

/// struct ucred needs _GNU_SOURCE. Who made the other end, as the kernel noted it then. Returns 0, or -1 with errno set.
int clinux_peer(int socket, pid_t *process, uid_t *user, gid_t *group);

/// sockaddr_un holds its path in an array of 108 bytes. A connection to the socket at `path`; EAGAIN when too many others wait to be
/// accepted for so many seconds. Close-on-exec. Returns a descriptor, or -1 with errno set.
int clinux_connect_packets(const char *path, int seconds);

/// SOCK_SEQPACKET is an enumeration that Swift imports as another type. Two ends of a connection, close-on-exec. Returns
/// 0, or -1 with errno set.
int clinux_packet_pair(int ends[2]);
