/* SPDX-License-Identifier: Apache-2.0 */

/* How the processes of a world find each other.  That of rank 0 listens where
 * all know; the others say hello there, with the port at which they listen
 * themselves.  When all have come, each is told where the others are, and calls
 * those whose ranks are before its own.  What calls and is not of this world is
 * hung up on, so a stranger holds up nobody; one of ours whose counts do not
 * fit is an error for all. */

#include "kernels/world-sockets.h"
#include "kernels/world.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Seconds that a guest may say nothing, between two calls of somebody who is
 * not there, and that one call may take. */
#define SILENCE 5
#define PAUSE   0.05
#define CALL    2

/* Guests that have not said yet who they are. */
#define GUESTS 256

typedef struct Hello
{
  uint32_t ranks, first, local, port;
  QmWorldPass pass;
} Hello;

typedef struct Refusal
{
  uint32_t status;
  char why[QM_WORLD_WHY];
} Refusal;

/* Where a process is. */
typedef struct Seat
{
  uint32_t first, local;
  unsigned char address[sizeof (QmAddress)]; /* with the port */
} Seat;

/* With the seats behind it. */
typedef struct Welcome
{
  uint64_t token; /* of this world */
  uint32_t seats, zero;
} Welcome;

typedef struct Link
{
  uint64_t token;
  uint32_t first;   /* of who calls */
  uint32_t channel; /* 0: control; else 1 + the channel */
} Link;

/* Somebody who has called. */
typedef struct Guest
{
  int fd; /* -1: no more */
  struct timespec until;
  QmAddress address;
  unsigned char said[sizeof (QmFrameHead) + sizeof (Hello)];
  size_t have;
} Guest;

typedef struct Join
{
  QmWorld *world;
  const char *rendezvous;
  struct timespec deadline;
  int listener;
  uint64_t token;
  Guest guests[GUESTS];
  Seat *seats;
  int n_seats;
  int strangers; /* that were sent away */
  QmError *error;
} Join;

static QmStatus
fail_join (Join *join, QmStatus status, const char *what, const char *why)
{
  return qm_error_set (join->error, status, "", 0, 0, "%.80s: %s%s",
                       join->rendezvous, what, why);
}

/* Reads "HOST:PORT" and asks what it means. */
static QmStatus
look_up (Join *join, bool passive, struct addrinfo **found)
{
  const struct addrinfo hints = {
    .ai_family = AF_UNSPEC,
    .ai_socktype = SOCK_STREAM,
    .ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0),
  };
  const char *text = join->rendezvous, *colon = strrchr (text, ':');
  char host[256];
  size_t length = colon != NULL ? (size_t) (colon - text) : 0;
  int code;

  if (length > 2 && text[0] == '[' && text[length - 1] == ']')
    {
      text++;
      length -= 2;
    }
  if (length == 0 || length >= sizeof host || strlen (colon + 1) > 5
      || strspn (colon + 1, "0123456789") != strlen (colon + 1)
      || atoi (colon + 1) < 1 || atoi (colon + 1) > 65535)
    return fail_join (join, QM_STATUS_INVALID,
                      "a place to meet is a host and a port, HOST:PORT", "");
  memcpy (host, text, length);
  host[length] = '\0';
  code = getaddrinfo (host, colon + 1, &hints, found);
  if (code != 0)
    return fail_join (join, QM_STATUS_IO,
                      "there is no such host: ", gai_strerror (code));
  return QM_OK;
}

/* Whether ranks of another process are some of the world and not another's;
 * says why not. */
static bool
check_counts (const Join *join, const Hello *hello, char *why, size_t size)
{
  const QmWorld *world = join->world;
  uint32_t first = hello->first, end = hello->first + hello->local;

  if (hello->ranks != (uint32_t) world->ranks)
    snprintf (why, size,
              "a process has come that knows %u ranks, where the others know "
              "%d",
              (unsigned) hello->ranks, world->ranks);
  else if (hello->local < 1 || hello->local > hello->ranks
           || first > hello->ranks - hello->local)
    snprintf (why, size, "a process has come with %u ranks from rank %u, of %d",
              (unsigned) hello->local, (unsigned) first, world->ranks);
  else
    {
      bool taken = first < (uint32_t) world->local;

      for (int i = 0; i < world->n_peers; i++)
        taken = taken
                || (first < (uint32_t) (world->peers[i].first
                                        + world->peers[i].local)
                    && end > (uint32_t) world->peers[i].first);
      if (!taken)
        return true;
      snprintf (why, size, "two processes have come with rank %u",
                (unsigned) first);
    }
  return false;
}

/* Adds a process; a socket to it may be known. */
static bool
add_peer (QmWorld *world, uint32_t first, uint32_t local, int control)
{
  QmPeer *peers =
      realloc (world->peers, (size_t) (world->n_peers + 1) * sizeof *peers);
  QmPeer *peer;

  if (peers == NULL)
    return false;
  world->peers = peers;
  peer = &peers[world->n_peers++];
  memset (peer, 0, sizeof *peer);
  peer->first = (int) first;
  peer->local = (int) local;
  peer->control = control;
  for (int i = 0; i < QM_CHANNELS; i++)
    peer->data[i] = -1;
  return true;
}

/* Takes a call, where somebody calls and there is room. */
static QmStatus
take_call (Join *join)
{
  for (int i = 0; i < GUESTS; i++)
    if (join->guests[i].fd < 0)
      {
        Guest *guest = &join->guests[i];
        socklen_t size = sizeof guest->address;
        int fd = accept (join->listener, &guest->address.any, &size);

        if (fd < 0)
          return errno == EMFILE || errno == ENFILE || errno == ENOMEM
                     ? fail_join (join, QM_STATUS_IO,
                                  "no more can come: ", strerror (errno))
                     : QM_OK;
        qm_socket_set_up (fd);
        guest->fd = fd;
        guest->have = 0;
        guest->until = qm_deadline (SILENCE);
        return QM_OK;
      }
  return QM_OK;
}

/* Reads what a guest says: a message of `kind` and `bytes`.  Whether it is
 * whole; strangers are hung up on. */
static bool
hear_guest (Guest *guest, QmFrameKind kind, size_t bytes, bool *other)
{
  size_t wanted = sizeof (QmFrameHead);
  QmFrameHead head;
  ssize_t got;

  if (guest->have >= wanted)
    wanted += bytes;
  got = recv (guest->fd, guest->said + guest->have, wanted - guest->have,
              MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return false;
  guest->have += got > 0 ? (size_t) got : 0;
  memcpy (&head, guest->said, sizeof head);
  *other = guest->have >= sizeof head && head.version != QM_FRAME_VERSION
           && memcmp (head.magic, QM_FRAME_MAGIC, sizeof head.magic) == 0;
  if (got <= 0
      || (guest->have >= sizeof head && !*other
          && (!qm_frame_check (&head, bytes) || head.kind != (uint32_t) kind
              || head.bytes != bytes)))
    {
      qm_socket_close (&guest->fd);
      return false;
    }
  return *other || guest->have == sizeof head + bytes;
}

typedef QmStatus (*GuestTaker) (Join *join, Guest *guest, bool other);

/* Waits once for callers and what they say. */
static QmStatus
serve (Join *join, QmFrameKind kind, size_t bytes, GuestTaker take)
{
  struct pollfd polls[GUESTS + 1];
  double left = qm_deadline_left (&join->deadline);
  QmStatus status = QM_OK;
  bool room = false;

  for (int i = 0; i < GUESTS; i++)
    {
      if (join->guests[i].fd >= 0
          && qm_deadline_left (&join->guests[i].until) <= 0)
        qm_socket_close (&join->guests[i].fd);
      room = room || join->guests[i].fd < 0;
      polls[i] = (struct pollfd){ join->guests[i].fd, POLLIN, 0 };
    }
  polls[GUESTS] = (struct pollfd){ room ? join->listener : -1, POLLIN, 0 };
  if (poll (polls, GUESTS + 1, left < 1 ? (int) (left * 1000) + 1 : 1000) <= 0)
    return QM_OK;
  for (int i = 0; i < GUESTS && status == QM_OK; i++)
    {
      bool other = false;

      if (polls[i].fd >= 0 && polls[i].revents != 0
          && hear_guest (&join->guests[i], kind, bytes, &other))
        status = take (join, &join->guests[i], other);
    }
  if (status == QM_OK && polls[GUESTS].revents != 0)
    status = take_call (join);
  return status;
}

static void
refuse_guest (int fd, QmStatus status, const char *why)
{
  Refusal refusal = { .status = (uint32_t) status };

  snprintf (refusal.why, sizeof refusal.why, "%.*s", QM_WORLD_WHY - 1, why);
  qm_frame_send (fd, QM_FRAME_REFUSE, &refusal, sizeof refusal);
}

/* Somebody of ours has come to the process of rank 0. */
static QmStatus
take_hello (Join *join, Guest *guest, bool other)
{
  QmWorld *world = join->world;
  char why[QM_WORLD_WHY] = "a process of another version of this program has "
                           "come";
  Seat *seats;
  Hello hello;

  memcpy (&hello, guest->said + sizeof (QmFrameHead), sizeof hello);
  if (!other && !qm_pass_is_ours (&world->pass, &hello.pass))
    {
      snprintf (why, sizeof why, "%.80s: rank 0 has another secret",
                join->rendezvous);
      refuse_guest (guest->fd, QM_STATUS_INVALID, why);
      qm_socket_close (&guest->fd);
      join->strangers++;
      return QM_OK;
    }
  if (other || !check_counts (join, &hello, why, sizeof why)
      || !qm_pass_check (&world->pass, &hello.pass, (int) hello.first, why,
                         sizeof why))
    {
      refuse_guest (guest->fd, QM_STATUS_INVALID, why);
      qm_socket_close (&guest->fd);
      return fail_join (join, QM_STATUS_INVALID, why, "");
    }
  if (hello.port < 1 || hello.port > 65535)
    {
      qm_socket_close (&guest->fd);
      return QM_OK;
    }
  seats = realloc (join->seats, (size_t) (join->n_seats + 1) * sizeof *seats);
  if (seats == NULL)
    return qm_error_no_memory (join->error);
  join->seats = seats;
  if (!add_peer (world, hello.first, hello.local, guest->fd))
    return qm_error_no_memory (join->error);
  guest->fd = -1;
  qm_address_set_port (&guest->address, hello.port);
  seats = &join->seats[join->n_seats++];
  memset (seats, 0, sizeof *seats);
  seats->first = hello.first;
  seats->local = hello.local;
  memcpy (seats->address, &guest->address, qm_address_bytes (&guest->address));
  return QM_OK;
}

/* Those of the ranks that have not come to the process of rank 0. */
static QmStatus
fail_missing (Join *join)
{
  const QmWorld *world = join->world;
  bool come[QM_WORLD_MAX] = { false };
  char names[128];

  for (int i = 0; i < world->local; i++)
    come[i] = true;
  for (int i = 0; i < world->n_peers; i++)
    for (int j = 0; j < world->peers[i].local; j++)
      come[world->peers[i].first + j] = true;
  qm_ranks_missing (come, 0, world->ranks, names, sizeof names);
  return qm_error_set (join->error, QM_STATUS_GONE, "", 0, 0,
                       "%.80s: %s did not come within %g s%s", join->rendezvous,
                       names, world->coming,
                       join->strangers > 0
                           ? ", but somebody with another secret"
                           : "");
}

/* Hangs up on all that have not said who they are. */
static void
clear_guests (Join *join)
{
  for (int i = 0; i < GUESTS; i++)
    qm_socket_close (&join->guests[i].fd);
}

/* Waits for all processes, in that of rank 0. */
static QmStatus
wait_for_all (Join *join)
{
  QmWorld *world = join->world;
  QmStatus status = QM_OK;
  int come = world->local;

  while (status == QM_OK && come < world->ranks)
    {
      if (qm_deadline_left (&join->deadline) <= 0)
        status = fail_missing (join);
      else
        status = serve (join, QM_FRAME_HELLO, sizeof (Hello), take_hello);
      come = world->local;
      for (int i = 0; i < world->n_peers; i++)
        come += world->peers[i].local;
    }
  return status;
}

/* Tells all who is where. */
static QmStatus
welcome_all (Join *join)
{
  QmWorld *world = join->world;
  size_t seats = (size_t) join->n_seats * sizeof *join->seats;
  Welcome welcome = { .token = join->token, .seats = (uint32_t) join->n_seats };
  QmFrameHead head = qm_frame_head (QM_FRAME_WELCOME, sizeof welcome + seats);
  char names[64];

  for (int i = 0; i < world->n_peers; i++)
    {
      int fd = world->peers[i].control;

      if (!qm_socket_send (fd, &head, sizeof head, &join->deadline)
          || !qm_socket_send (fd, &welcome, sizeof welcome, &join->deadline)
          || !qm_socket_send (fd, join->seats, seats, &join->deadline))
        {
          qm_ranks_name (world->peers[i].first, world->peers[i].local, names,
                         sizeof names);
          return fail_join (join, QM_STATUS_GONE, names, " went again");
        }
    }
  return QM_OK;
}

static QmPeer *
find_peer (QmWorld *world, uint32_t first)
{
  for (int i = 0; i < world->n_peers; i++)
    if ((uint32_t) world->peers[i].first == first)
      return &world->peers[i];
  return NULL;
}

/* The socket of a process for a channel: 0 is control. */
static int *
peer_socket (QmPeer *peer, uint32_t channel)
{
  return channel == 0 ? &peer->control : &peer->data[channel - 1];
}

static QmStatus
take_link (Join *join, Guest *guest, bool other)
{
  QmPeer *peer;
  Link link;
  int *fd = NULL;

  memcpy (&link, guest->said + sizeof (QmFrameHead), sizeof link);
  peer = find_peer (join->world, link.first);
  if (!other && link.token == join->token && peer != NULL
      && link.channel <= QM_CHANNELS)
    fd = peer_socket (peer, link.channel);
  if (fd == NULL || *fd >= 0)
    {
      qm_socket_close (&guest->fd);
      return QM_OK;
    }
  *fd = guest->fd;
  guest->fd = -1;
  return QM_OK;
}

/* The first process without one of its sockets, or NULL. */
static QmPeer *
find_unconnected (QmWorld *world)
{
  for (int i = 0; i < world->n_peers; i++)
    for (uint32_t channel = 0; channel <= QM_CHANNELS; channel++)
      if (*peer_socket (&world->peers[i], channel) < 0)
        return &world->peers[i];
  return NULL;
}

/* Waits for the calls of those whose ranks come later. */
static QmStatus
wait_for_links (Join *join)
{
  QmWorld *world = join->world;
  QmStatus status = QM_OK;
  const QmPeer *peer;
  char names[64];

  while (status == QM_OK && (peer = find_unconnected (world)) != NULL)
    if (qm_deadline_left (&join->deadline) > 0)
      status = serve (join, QM_FRAME_LINK, sizeof (Link), take_link);
    else
      {
        qm_ranks_name (peer->first, peer->local, names, sizeof names);
        status = fail_join (join, QM_STATUS_GONE, names,
                            " did not connect to the others");
      }
  return status;
}

/* Tells those that have come why there will be no world. */
static void
refuse_all (Join *join)
{
  const QmError *error = join->error;

  for (int i = 0; i < join->world->n_peers; i++)
    refuse_guest (join->world->peers[i].control, error->status, error->message);
}

/* What the process of rank 0 does. */
static QmStatus
receive (Join *join)
{
  struct addrinfo *found = NULL;
  QmStatus status = look_up (join, true, &found);

  if (status != QM_OK)
    return status;
  for (const struct addrinfo *one = found; one != NULL && join->listener < 0;
       one = one->ai_next)
    join->listener = qm_socket_listen (one->ai_addr, one->ai_addrlen);
  if (join->listener < 0)
    status = fail_join (join, QM_STATUS_IO,
                        "rank 0 cannot listen there: ", strerror (errno));
  freeaddrinfo (found);
  if (status == QM_OK && !qm_pass_token (&join->token))
    status =
        fail_join (join, QM_STATUS_IO, "the system has no random numbers", "");
  if (status == QM_OK)
    status = wait_for_all (join);
  if (status != QM_OK)
    {
      refuse_all (join);
      return status;
    }
  clear_guests (join);
  status = welcome_all (join);
  return status == QM_OK ? wait_for_links (join) : status;
}

/* Calls until somebody answers. */
static QmStatus
call_rendezvous (Join *join, int *fd)
{
  struct addrinfo *found = NULL;
  QmStatus status = look_up (join, false, &found);
  int code = 0;

  if (status != QM_OK)
    return status;
  for (*fd = -1; *fd < 0 && qm_deadline_left (&join->deadline) > 0;)
    {
      struct timespec pause = qm_deadline (PAUSE);
      double left = qm_deadline_left (&join->deadline);
      struct timespec one_call = qm_deadline (left < CALL ? left : CALL);

      for (const struct addrinfo *one = found; one != NULL && *fd < 0;
           one = one->ai_next)
        *fd = qm_socket_call (one->ai_addr, one->ai_addrlen, &one_call);
      code = errno;
      if (*fd < 0)
        clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &pause, NULL);
    }
  freeaddrinfo (found);
  return *fd >= 0 ? QM_OK
                  : fail_join (join, QM_STATUS_GONE,
                               "rank 0 did not come: ", strerror (code));
}

/* Listens at a port of the address that rank 0 was called from, and says so. */
static QmStatus
say_hello (Join *join, int fd)
{
  const QmWorld *world = join->world;
  Hello hello = { .ranks = (uint32_t) world->ranks,
                  .first = (uint32_t) world->first,
                  .local = (uint32_t) world->local,
                  .pass = world->pass };
  QmAddress here;
  socklen_t size = sizeof here;

  if (getsockname (fd, &here.any, &size) == 0)
    {
      qm_address_set_port (&here, 0);
      join->listener = qm_socket_listen (&here.any, qm_address_bytes (&here));
    }
  size = sizeof here;
  if (join->listener < 0 || getsockname (join->listener, &here.any, &size) != 0)
    return fail_join (join, QM_STATUS_IO,
                      "there is no port for others: ", strerror (errno));
  hello.port = ntohs (here.any.sa_family == AF_INET6 ? here.six.sin6_port
                                                     : here.four.sin_port);
  return qm_frame_send (fd, QM_FRAME_HELLO, &hello, sizeof hello)
             ? QM_OK
             : fail_join (join, QM_STATUS_GONE, "rank 0 went again", "");
}

/* Why there is no answer: none in time, or another one. */
static QmStatus
no_answer (Join *join)
{
  if (qm_deadline_left (&join->deadline) <= 0)
    return qm_error_set (join->error, QM_STATUS_GONE, "", 0, 0,
                         "%.80s: the ranks did not all come within %g s",
                         join->rendezvous, join->world->coming);
  return fail_join (
      join, QM_STATUS_GONE,
      "what answers is not rank 0 of this version of this program, or "
      "it went again",
      "");
}

static QmStatus
hear_refusal (Join *join, int fd, const QmFrameHead *head)
{
  Refusal refusal;

  if (head->bytes != sizeof refusal
      || !qm_socket_receive (fd, &refusal, sizeof refusal, &join->deadline))
    return no_answer (join);
  refusal.why[sizeof refusal.why - 1] = '\0';
  /* It names the place already. */
  return qm_error_set (join->error,
                       refusal.status == QM_STATUS_INVALID ? QM_STATUS_INVALID
                                                           : QM_STATUS_GONE,
                       "", 0, 0, "%s", refusal.why);
}

/* Makes a peer of each seat but our own: together they are all ranks. */
static bool
take_seats (Join *join, int control)
{
  QmWorld *world = join->world;
  uint32_t ranks = (uint32_t) world->ranks;
  bool come[QM_WORLD_MAX] = { false };
  uint32_t end = 0;

  for (int i = 0; i < join->n_seats; i++)
    {
      const Seat *seat = &join->seats[i];

      if (seat->local < 1 || seat->local > ranks
          || seat->first > ranks - seat->local)
        return false;
      for (uint32_t j = 0; j < seat->local; j++)
        {
          if (come[seat->first + j])
            return false;
          come[seat->first + j] = true;
        }
      end += seat->local;
      if (seat->first == (uint32_t) world->first)
        {
          if (seat->local != (uint32_t) world->local)
            return false;
        }
      else if (!add_peer (world, seat->first, seat->local, -1))
        return false;
    }
  /* What is left is that of rank 0, which knows where it is. */
  for (uint32_t i = 0; i < ranks - end; i++)
    if (come[i])
      return false;
  if (end >= ranks || !come[world->first]
      || !add_peer (world, 0, ranks - end, control))
    return false;
  return true;
}

static QmStatus
hear_welcome (Join *join, int *fd)
{
  const size_t most = sizeof (Welcome) + QM_WORLD_MAX * sizeof (Seat);
  size_t bytes;
  QmFrameHead head;
  Welcome welcome;

  if (!qm_socket_receive (*fd, &head, sizeof head, &join->deadline)
      || !qm_frame_check (&head, most))
    return no_answer (join);
  if (head.kind == QM_FRAME_REFUSE)
    return hear_refusal (join, *fd, &head);
  if (head.kind != QM_FRAME_WELCOME || head.bytes < sizeof welcome
      || !qm_socket_receive (*fd, &welcome, sizeof welcome, &join->deadline)
      || welcome.seats > QM_WORLD_MAX)
    return no_answer (join);
  bytes = welcome.seats * sizeof *join->seats;
  if (head.bytes != sizeof welcome + bytes)
    return no_answer (join);
  join->seats = malloc (bytes + 1);
  if (join->seats == NULL)
    return qm_error_no_memory (join->error);
  if (!qm_socket_receive (*fd, join->seats, bytes, &join->deadline))
    return no_answer (join);
  join->n_seats = (int) welcome.seats;
  join->token = welcome.token;
  if (!take_seats (join, *fd))
    return fail_join (join, QM_STATUS_INVALID,
                      "what rank 0 says makes no world", "");
  *fd = -1;
  return QM_OK;
}

/* Calls a process for those sockets that there are not yet. */
static QmStatus
call_peer (Join *join, QmPeer *peer, const QmAddress *address)
{
  Link link = { .token = join->token, .first = (uint32_t) join->world->first };
  char names[64];

  for (uint32_t channel = 0; channel <= QM_CHANNELS; channel++)
    {
      int *fd = peer_socket (peer, channel);

      link.channel = channel;
      if (*fd >= 0)
        continue;
      *fd = qm_socket_call (&address->any, qm_address_bytes (address),
                            &join->deadline);
      if (*fd < 0 || !qm_frame_send (*fd, QM_FRAME_LINK, &link, sizeof link))
        {
          qm_ranks_name (peer->first, peer->local, names, sizeof names);
          return qm_error_set (join->error, QM_STATUS_GONE, "", 0, 0,
                               "%.80s: the process of %s cannot be reached: "
                               "%s",
                               join->rendezvous, names, strerror (errno));
        }
    }
  return QM_OK;
}

/* Calls those whose ranks are before ours. */
static QmStatus
call_all (Join *join)
{
  QmWorld *world = join->world;
  QmPeer *root = find_peer (world, 0), *peer;
  QmAddress address = { .any = { .sa_family = AF_UNSPEC } };
  socklen_t size = sizeof address;
  QmStatus status = QM_OK;

  if (root == NULL || getpeername (root->control, &address.any, &size) != 0)
    return fail_join (join, QM_STATUS_GONE, "rank 0 went again", "");
  status = call_peer (join, root, &address);
  for (int i = 0; i < join->n_seats && status == QM_OK; i++)
    {
      const Seat *seat = &join->seats[i];

      if (seat->first >= (uint32_t) world->first)
        continue;
      memcpy (&address, seat->address, sizeof address);
      if (address.any.sa_family != AF_INET && address.any.sa_family != AF_INET6)
        return fail_join (join, QM_STATUS_INVALID,
                          "what rank 0 says makes no world", "");
      peer = find_peer (world, seat->first);
      if (peer != NULL)
        status = call_peer (join, peer, &address);
    }
  return status;
}

/* What the others do. */
static QmStatus
visit (Join *join)
{
  int fd = -1;
  QmStatus status = call_rendezvous (join, &fd);

  if (status == QM_OK)
    status = say_hello (join, fd);
  if (status == QM_OK)
    status = hear_welcome (join, &fd);
  if (status == QM_OK)
    status = call_all (join);
  if (status == QM_OK)
    status = wait_for_links (join);
  qm_socket_close (&fd);
  return status;
}

static int
compare_peers (const void *a, const void *b)
{
  const QmPeer *one = a, *other = b;

  return (one->first > other->first) - (one->first < other->first);
}

QmStatus
qm_world_join (QmWorld *world, const char *rendezvous, QmError *error)
{
  Join *join = calloc (1, sizeof *join);
  QmError own = { 0 };
  QmStatus status;

  if (join == NULL)
    return qm_error_no_memory (error);
  join->world = world;
  join->rendezvous = rendezvous;
  join->deadline = qm_deadline (world->coming);
  join->listener = -1;
  join->error = error != NULL ? error : &own;
  for (int i = 0; i < GUESTS; i++)
    join->guests[i].fd = -1;
  status = world->first == 0 ? receive (join) : visit (join);
  if (status == QM_OK)
    qsort (world->peers, (size_t) world->n_peers, sizeof *world->peers,
           compare_peers);
  clear_guests (join);
  qm_socket_close (&join->listener);
  free (join->seats);
  free (join);
  return status;
}
