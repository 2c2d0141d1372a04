/* SPDX-License-Identifier: Apache-2.0 */

/* Sockets with a deadline; only for kernels/. */

#ifndef QM_KERNELS_WORLD_SOCKETS_H
#define QM_KERNELS_WORLD_SOCKETS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

typedef union QmAddress
{
  struct sockaddr any;
  struct sockaddr_in four;
  struct sockaddr_in6 six;
} QmAddress;

/* Its size by its family. */
socklen_t qm_address_bytes (const QmAddress *address);

/* In the order of the machine. */
void qm_address_set_port (QmAddress *address, uint32_t port);

/* Small messages go at once, a machine that is switched off is noticed, and no
 * program that this one starts gets it. */
void qm_socket_set_up (int fd);

/* Makes it -1, which is allowed. */
void qm_socket_close (int *fd);

/* All bytes, or false. */
bool qm_socket_send (int fd,
                     const void *data,
                     size_t bytes,
                     const struct timespec *deadline);
bool qm_socket_receive (int fd,
                        void *data,
                        size_t bytes,
                        const struct timespec *deadline);

/* A connection, or -1 with errno. */
int qm_socket_call (const struct sockaddr *address,
                    socklen_t bytes,
                    const struct timespec *deadline);

/* A socket that can be called, or -1 with errno. */
int qm_socket_listen (const struct sockaddr *address, socklen_t bytes);

#endif
