#define _GNU_SOURCE
#include "CLinuxSockets.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/// Waits after a call that would have had to wait, if `waits`. Returns whether the call is to be repeated.
static bool may_repeat(int socket, short events, bool waits) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN || !waits) return false;
  struct pollfd wait = {.fd = socket, .events = events};
  return poll(&wait, 1, -1) >= 0 || errno == EINTR;
}

int clinux_send_packet(
  int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count, bool waits) {
  alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * clinux_most_descriptors)] = {0};
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor_count > clinux_most_descriptors) return EINVAL;
  if (descriptor_count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptor_count);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * descriptor_count);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * descriptor_count);
  }
  while (true) {
    ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | (waits ? 0 : MSG_DONTWAIT));
    if (sent >= 0) return (size_t)sent == count ? 0 : EMSGSIZE;
    if (!may_repeat(socket, POLLOUT, waits)) return errno;
  }
}

ssize_t clinux_next_packet(int socket, bool waits) {
  while (true) {
    ssize_t count = recv(socket, NULL, 0, MSG_PEEK | MSG_TRUNC | (waits ? 0 : MSG_DONTWAIT));
    if (count >= 0 || !may_repeat(socket, POLLIN, waits)) return count;
  }
}

ssize_t clinux_receive_packet(int socket, void *buffer, size_t size, int *descriptors, size_t *descriptor_count) {
  // CMSG_LEN, so that the kernel has room for exactly as many descriptors.
  alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * clinux_most_descriptors)] = {0};
  struct iovec part = {.iov_base = buffer, .iov_len = size};
  struct msghdr message = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
    .msg_controllen = CMSG_LEN(sizeof(int) * clinux_most_descriptors)};
  *descriptor_count = 0;
  ssize_t count;
  do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  while (count < 0 && errno == EINTR);
  if (count < 0) return -1;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(descriptors + *descriptor_count, CMSG_DATA(header), came * sizeof(int));
    *descriptor_count += came;
  }
  if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
    // There is room for as many descriptors as the kernel passes, so only this process can have had none left.
    errno = message.msg_flags & MSG_TRUNC ? EMSGSIZE : EMFILE;
    return -1;
  }
  return count;
}

int clinux_peer(int socket, pid_t *process, uid_t *user, gid_t *group) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
  *process = peer.pid;
  *user = peer.uid;
  *group = peer.gid;
  return 0;
}

int clinux_connect_packets(const char *path, int seconds) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  int end = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (end < 0) return -1;
  const struct sockaddr *to = (const struct sockaddr *)&address;
  if (connect(end, to, sizeof address) == 0) {
    if (fcntl(end, F_SETFL, 0) == 0) return end;
  } else if (errno == EAGAIN && seconds > 0) {
    // The time of sending is that of connecting too.
    struct timeval patience = {.tv_sec = seconds}, forever = {0};
    if (fcntl(end, F_SETFL, 0) == 0 && setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
        connect(end, to, sizeof address) == 0 &&
        setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &forever, sizeof forever) == 0)
      return end;
  }
  int problem = errno;
  close(end);
  errno = problem;
  return -1;
}

int clinux_packet_pair(int ends[2]) { return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends); }
