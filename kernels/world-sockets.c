/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/world-sockets.h"

#include "kernels/world.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

void
qm_socket_close (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

void
qm_socket_set_up (int fd)
{
  const int on = 1, idle = 10, interval = 5, probes = 3;

  fcntl (fd, F_SETFD, FD_CLOEXEC);
  setsockopt (fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt (fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
#ifdef TCP_KEEPIDLE
  setsockopt (fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt (fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt (fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
#endif
}

/* Waits until it can be read or written, POLLIN or POLLOUT; false: the deadline
 * came. */
static bool
wait_until (int fd, short events, const struct timespec *deadline)
{
  struct pollfd poll_one = { .fd = fd, .events = events };

  for (;;)
    {
      double left = qm_deadline_left (deadline);
      int wait = left < 1000 ? (int) (left * 1000) + 1 : 1000000;
      int ready = poll (&poll_one, 1, wait);

      if (ready > 0)
        return true;
      if ((ready < 0 && errno != EINTR) || qm_deadline_left (deadline) <= 0)
        return false;
    }
}

bool
qm_socket_send (int fd,
                const void *data,
                size_t bytes,
                const struct timespec *deadline)
{
  const char *at = data;

  while (bytes > 0)
    {
      ssize_t sent = send (fd, at, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

      if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return false;
      if (sent < 0 && !wait_until (fd, POLLOUT, deadline))
        return false;
      at += sent > 0 ? sent : 0;
      bytes -= sent > 0 ? (size_t) sent : 0;
    }
  return true;
}

bool
qm_socket_receive (int fd,
                   void *data,
                   size_t bytes,
                   const struct timespec *deadline)
{
  char *at = data;

  while (bytes > 0)
    {
      ssize_t got = recv (fd, at, bytes, MSG_DONTWAIT);

      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        return false;
      if (got < 0 && !wait_until (fd, POLLIN, deadline))
        return false;
      at += got > 0 ? got : 0;
      bytes -= got > 0 ? (size_t) got : 0;
    }
  return true;
}

socklen_t
qm_address_bytes (const QmAddress *address)
{
  return address->any.sa_family == AF_INET6 ? sizeof address->six
                                            : sizeof address->four;
}

void
qm_address_set_port (QmAddress *address, uint32_t port)
{
  if (address->any.sa_family == AF_INET6)
    address->six.sin6_port = htons ((uint16_t) port);
  else
    address->four.sin_port = htons ((uint16_t) port);
}

int
qm_socket_call (const struct sockaddr *address,
                socklen_t bytes,
                const struct timespec *deadline)
{
  int fd = socket (address->sa_family,
                   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int code = fd < 0 ? errno : 0;
  socklen_t size = sizeof code;
  QmAddress here, there;
  socklen_t here_size = sizeof here, there_size = sizeof there;

  if (fd >= 0 && connect (fd, address, bytes) != 0)
    {
      code = errno;
      if (code == EINPROGRESS
          && (!wait_until (fd, POLLOUT, deadline)
              || getsockopt (fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0))
        code = ETIMEDOUT;
    }
  /* Where nobody listens, a socket can be given the port that it calls. */
  if (code == 0
      && (getsockname (fd, &here.any, &here_size) != 0
          || getpeername (fd, &there.any, &there_size) != 0
          || (here_size == there_size
              && memcmp (&here, &there, here_size) == 0)))
    code = ECONNREFUSED;
  if (code != 0)
    {
      qm_socket_close (&fd);
      errno = code;
      return -1;
    }
  qm_socket_set_up (fd);
  return fd;
}

int
qm_socket_listen (const struct sockaddr *address, socklen_t bytes)
{
  int fd = socket (address->sa_family,
                   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  int code;

  if (fd < 0)
    return -1;
  setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind (fd, address, bytes) == 0 && listen (fd, SOMAXCONN) == 0)
    return fd;
  code = errno;
  qm_socket_close (&fd);
  errno = code;
  return -1;
}
