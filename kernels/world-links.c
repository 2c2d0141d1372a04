/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/world.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Parts that one call of the system takes. */
#define PARTS 64

/* Milliseconds between two words of life. */
#define PULSE 500

QmFrameHead
qm_frame_head (QmFrameKind kind, size_t bytes)
{
  QmFrameHead head = { .version = QM_FRAME_VERSION,
                       .kind = (uint32_t) kind,
                       .bytes = (uint32_t) bytes };

  memcpy (head.magic, QM_FRAME_MAGIC, sizeof head.magic);
  return head;
}

bool
qm_frame_check (const QmFrameHead *head, size_t most)
{
  return memcmp (head->magic, QM_FRAME_MAGIC, sizeof head->magic) == 0
         && head->version == QM_FRAME_VERSION && head->bytes <= most
         && head->zero == 0;
}

bool
qm_frame_send (int fd, QmFrameKind kind, const void *data, size_t bytes)
{
  QmFrameHead head = qm_frame_head (kind, bytes);
  struct iovec parts[2] = { { &head, sizeof head }, { (void *) data, bytes } };
  struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

  return sendmsg (fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL)
         == (ssize_t) (sizeof head + bytes);
}

bool
qm_pieces_add (QmPieces *pieces, const void *data, size_t bytes)
{
  QmPiece *before = pieces->n > 0 ? &pieces->items[pieces->n - 1] : NULL;

  if (bytes == 0)
    return true;
  if (before != NULL && before->data + before->bytes == data)
    {
      before->bytes += bytes;
      return true;
    }
  if (pieces->n == pieces->capacity)
    {
      size_t capacity = pieces->capacity * 2 + 16;
      QmPiece *items = realloc (pieces->items, capacity * sizeof *items);

      if (items == NULL)
        return false;
      pieces->items = items;
      pieces->capacity = capacity;
    }
  pieces->items[pieces->n++] = (QmPiece){ (unsigned char *) data, bytes };
  return true;
}

/* What a process says before its data, which is what this one says. */
typedef struct Opening
{
  uint64_t sequence;
  QmMeetingTopic topic;
} Opening;

/* To and from one of the others. */
typedef struct Flow
{
  QmPieces *out, *in;
  Opening theirs;
  size_t sent, received; /* bytes of the openings */
} Flow;

typedef struct Transfer
{
  QmWorld *world;
  QmChannel channel;
  Opening ours;
  Flow *flows;
  struct pollfd *polls; /* of all, then the alarm */
} Transfer;

static bool
through (const QmPieces *pieces)
{
  return pieces->at == pieces->n;
}

/* The parts that are not through. */
static size_t
list_parts (const QmPieces *pieces, struct iovec *parts, size_t most)
{
  size_t n = 0;

  for (size_t i = pieces->at; i < pieces->n && n < most; i++, n++)
    {
      size_t done = i == pieces->at ? pieces->done : 0;

      parts[n].iov_base = pieces->items[i].data + done;
      parts[n].iov_len = pieces->items[i].bytes - done;
    }
  return n;
}

static void
advance (QmPieces *pieces, size_t bytes)
{
  while (bytes > 0 && !through (pieces))
    {
      size_t left = pieces->items[pieces->at].bytes - pieces->done;
      size_t step = bytes < left ? bytes : left;

      bytes -= step;
      pieces->done += step;
      if (step == left)
        {
          pieces->at++;
          pieces->done = 0;
        }
    }
}

/* A process is gone: if it said why, that is the sentence.  The thread that
 * listens hears that, or the end of what is said, but on a busy machine not at
 * once; and nobody is silent for longer. */
static bool
lost (QmWorld *world, const QmPeer *peer)
{
  struct timespec deadline = qm_deadline (world->silence);
  char names[64];
  bool left;

  qm_ranks_name (peer->first, peer->local, names, sizeof names);
  pthread_mutex_lock (&world->lock);
  while (!world->failed && !peer->left
         && pthread_cond_timedwait (&world->changed, &world->lock, &deadline)
                == 0)
    ;
  left = peer->left;
  pthread_mutex_unlock (&world->lock);
  qm_world_lose (world,
                 left ? "the process of %s has ended before the others"
                      : "the process of %s is gone",
                 names);
  return false;
}

/* Whether a call of the system did nothing because it would have to wait. */
static bool
again (ssize_t result)
{
  return result < 0
         && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static bool
send_some (const Transfer *transfer, int index, bool *moved)
{
  const QmPeer *peer = &transfer->world->peers[index];
  Flow *flow = &transfer->flows[index];
  struct iovec parts[PARTS];
  struct msghdr message = { .msg_iov = parts };
  ssize_t sent;
  size_t own = sizeof transfer->ours - flow->sent;

  parts[0].iov_base = (char *) &transfer->ours + flow->sent;
  parts[0].iov_len = own;
  message.msg_iovlen = own > 0;
  message.msg_iovlen += list_parts (flow->out, parts + message.msg_iovlen,
                                    PARTS - (size_t) message.msg_iovlen);
  sent = sendmsg (peer->data[transfer->channel], &message,
                  MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0)
    return again (sent) || lost (transfer->world, peer);
  *moved = *moved || sent > 0;
  own = (size_t) sent < own ? (size_t) sent : own;
  flow->sent += own;
  advance (flow->out, (size_t) sent - own);
  return true;
}

/* What another process is about has to be what this one is about. */
static bool
compare_openings (const Transfer *transfer, int index)
{
  const QmPeer *peer = &transfer->world->peers[index];
  const Opening *theirs = &transfer->flows[index].theirs;
  char names[64];

  if (memcmp (theirs, &transfer->ours, sizeof *theirs) == 0)
    return true;
  qm_ranks_name (peer->first, peer->local, names, sizeof names);
  if (theirs->sequence != transfer->ours.sequence)
    qm_world_fail (transfer->world,
                   "the process of %s sends what is not expected", names);
  else if (theirs->topic.what != transfer->ours.topic.what)
    qm_world_fail (transfer->world, "%s called another function than %s", names,
                   "the others");
  else
    qm_world_fail (transfer->world,
                   "%s brought %llu elements of %u bytes, others %llu of %u, "
                   "or another type or root",
                   names, (unsigned long long) theirs->topic.total,
                   (unsigned) theirs->topic.size,
                   (unsigned long long) transfer->ours.topic.total,
                   (unsigned) transfer->ours.topic.size);
  return false;
}

static bool
receive_opening (const Transfer *transfer, int index, bool *moved)
{
  const QmPeer *peer = &transfer->world->peers[index];
  Flow *flow = &transfer->flows[index];
  ssize_t got = recv (peer->data[transfer->channel],
                      (char *) &flow->theirs + flow->received,
                      sizeof flow->theirs - flow->received, MSG_DONTWAIT);

  if (got <= 0)
    return again (got) || lost (transfer->world, peer);
  *moved = true;
  flow->received += (size_t) got;
  return flow->received < sizeof flow->theirs
         || compare_openings (transfer, index);
}

static bool
receive_some (const Transfer *transfer, int index, bool *moved)
{
  const QmPeer *peer = &transfer->world->peers[index];
  Flow *flow = &transfer->flows[index];
  struct iovec parts[PARTS];
  struct msghdr message = { .msg_iov = parts };
  ssize_t got;

  if (flow->received < sizeof flow->theirs)
    return receive_opening (transfer, index, moved);
  message.msg_iovlen = list_parts (flow->in, parts, PARTS);
  got = recvmsg (peer->data[transfer->channel], &message, MSG_DONTWAIT);
  if (got <= 0)
    return again (got) || lost (transfer->world, peer);
  *moved = true;
  advance (flow->in, (size_t) got);
  return true;
}

/* What to wait for; how many flows are not through. */
static int
prepare_polls (const Transfer *transfer)
{
  const QmWorld *world = transfer->world;
  int open = 0;

  for (int i = 0; i < world->n_peers; i++)
    {
      const Flow *flow = &transfer->flows[i];
      short events = 0;

      if (flow->sent < sizeof transfer->ours || !through (flow->out))
        events |= POLLOUT;
      if (flow->received < sizeof flow->theirs || !through (flow->in))
        events |= POLLIN;
      transfer->polls[i].fd =
          events != 0 ? world->peers[i].data[transfer->channel] : -1;
      transfer->polls[i].events = events;
      open += events != 0;
    }
  transfer->polls[world->n_peers] =
      (struct pollfd){ .fd = world->alarm, .events = POLLIN };
  return open;
}

/* Names the processes that do not go on. */
static bool
give_up (const Transfer *transfer)
{
  QmWorld *world = transfer->world;
  char names[64];

  for (int i = 0; i < world->n_peers; i++)
    if (transfer->polls[i].fd >= 0)
      {
        qm_ranks_name (world->peers[i].first, world->peers[i].local, names,
                       sizeof names);
        break;
      }
  qm_world_fail (world, "%s did not come to the others within %g s", names,
                 world->patience);
  return false;
}

/* Does what can be done now. */
static bool
move (const Transfer *transfer, bool *moved)
{
  for (int i = 0; i < transfer->world->n_peers; i++)
    {
      const struct pollfd *poll = &transfer->polls[i];
      short ready = poll->fd >= 0 ? poll->revents : 0;
      bool end = (ready & (POLLERR | POLLHUP)) != 0;

      if ((poll->events & POLLIN) != 0 && ((ready & POLLIN) != 0 || end)
          && !receive_some (transfer, i, moved))
        return false;
      if ((poll->events & POLLOUT) != 0 && ((ready & POLLOUT) != 0 || end)
          && !send_some (transfer, i, moved))
        return false;
    }
  return true;
}

static bool
move_all (const Transfer *transfer)
{
  QmWorld *world = transfer->world;
  struct timespec deadline = qm_deadline (world->patience);

  while (prepare_polls (transfer) > 0)
    {
      double left = qm_deadline_left (&deadline);
      int wait = left < 1000 ? (int) (left * 1000) + 1 : 1000000;
      bool moved = false;
      int ready = poll (transfer->polls, (nfds_t) world->n_peers + 1, wait);

      if (ready < 0 && errno != EINTR)
        {
          qm_world_fail (world, "sockets cannot be waited for: %s",
                         strerror (errno));
          return false;
        }
      if (transfer->polls[world->n_peers].revents != 0)
        return false;
      if (ready > 0 && !move (transfer, &moved))
        return false;
      if (moved)
        deadline = qm_deadline (world->patience);
      else if (qm_deadline_left (&deadline) <= 0)
        return give_up (transfer);
    }
  return true;
}

bool
qm_links_transfer (QmWorld *world,
                   QmChannel channel,
                   const QmMeetingTopic *topic,
                   QmPieces *out,
                   QmPieces *in)
{
  size_t n = (size_t) world->n_peers;
  Transfer transfer = { .world = world, .channel = channel };
  bool done = false;

  transfer.ours.sequence = world->meetings[channel].sequence++;
  transfer.ours.topic = *topic;
  transfer.flows = calloc (n, sizeof *transfer.flows);
  transfer.polls = calloc (n + 1, sizeof *transfer.polls);
  if (transfer.flows != NULL && transfer.polls != NULL)
    {
      for (size_t i = 0; i < n; i++)
        {
          transfer.flows[i].out = &out[i];
          transfer.flows[i].in = &in[i];
        }
      done = move_all (&transfer);
    }
  else
    qm_world_fail (world, "the host is out of memory");
  free (transfer.flows);
  free (transfer.polls);
  return done;
}

void
qm_links_tell (QmWorld *world)
{
  const uint64_t one = 1;

  for (int i = 0; i < world->n_peers; i++)
    if (world->peers[i].control >= 0)
      qm_frame_send (world->peers[i].control,
                     world->lost ? QM_FRAME_LOST : QM_FRAME_ABORT, world->why,
                     strlen (world->why));
  if (world->alarm >= 0 && write (world->alarm, &one, sizeof one) < 0)
    return; /* it is readable already */
}

/* A whole message of another process. */
static void
take_frame (QmWorld *world, QmPeer *peer, const QmFrameHead *head)
{
  const unsigned char *text = peer->frame + sizeof *head;

  if (head->kind == QM_FRAME_GOODBYE)
    {
      pthread_mutex_lock (&world->lock);
      peer->left = true;
      pthread_cond_broadcast (&world->changed);
      pthread_mutex_unlock (&world->lock);
    }
  else if (head->kind == QM_FRAME_ABORT && head->bytes > 0)
    qm_world_fail (world, "%.*s", (int) head->bytes, (const char *) text);
  else if (head->kind == QM_FRAME_LOST && head->bytes > 0)
    qm_world_lose (world, "%.*s", (int) head->bytes, (const char *) text);
}

/* Reads a message, or a part of one; false: nothing will come any more. */
static bool
listen_to (QmWorld *world, QmPeer *peer)
{
  QmFrameHead head = { .bytes = 0 };
  size_t wanted = sizeof head;
  ssize_t got;

  if (peer->have >= sizeof head)
    {
      memcpy (&head, peer->frame, sizeof head);
      wanted += head.bytes;
    }
  got = recv (peer->control, peer->frame + peer->have, wanted - peer->have,
              MSG_DONTWAIT);
  if (got <= 0)
    return again (got);
  peer->until = qm_deadline (world->silence);
  peer->have += (size_t) got;
  if (peer->have < sizeof head)
    return true;
  memcpy (&head, peer->frame, sizeof head);
  if (!qm_frame_check (&head, QM_WORLD_WHY))
    return false;
  if (peer->have < sizeof head + head.bytes)
    return true;
  take_frame (world, peer, &head);
  peer->have = 0;
  return true;
}

/* Its socket is at its end. */
static void
hear_no_more (QmWorld *world, const QmPeer *peer)
{
  char names[64];

  if (peer->left)
    return;
  qm_ranks_name (peer->first, peer->local, names, sizeof names);
  qm_world_lose (world, "the process of %s is gone", names);
}

/* Says that this process lives, and looks for those that do not say so. */
static void
beat (QmWorld *world, struct timespec *next)
{
  char names[64];

  if (qm_deadline_left (next) > 0)
    return;
  /* Who was stopped and goes on knows nothing of the time between. */
  if (qm_deadline_left (&world->slept) <= 0)
    for (int i = 0; i < world->n_peers; i++)
      world->peers[i].until = qm_deadline (world->silence);
  world->slept = qm_deadline (world->silence / 2);
  *next = qm_deadline (PULSE * 1e-3);
  for (int i = 0; i < world->n_peers; i++)
    {
      const QmPeer *peer = &world->peers[i];

      if (peer->left)
        continue;
      qm_frame_send (peer->control, QM_FRAME_ALIVE, NULL, 0);
      if (qm_deadline_left (&peer->until) > 0)
        continue;
      qm_ranks_name (peer->first, peer->local, names, sizeof names);
      qm_world_lose (world, "the process of %s says nothing for %g s", names,
                     world->silence);
    }
}

/* Listens until the world fails or ends. */
static void *
listen_to_all (void *data)
{
  QmWorld *world = data;
  nfds_t n = (nfds_t) world->n_peers;
  struct pollfd *polls = calloc (n + 1, sizeof *polls);
  struct timespec next = qm_deadline (0);

  world->slept = qm_deadline (world->silence);
  if (polls == NULL)
    {
      qm_world_fail (world, "the host is out of memory");
      return NULL;
    }
  for (nfds_t i = 0; i < n; i++)
    {
      polls[i] =
          (struct pollfd){ .fd = world->peers[i].control, .events = POLLIN };
      world->peers[i].until = qm_deadline (world->silence);
    }
  polls[n] = (struct pollfd){ .fd = world->alarm, .events = POLLIN };
  while (polls[n].revents == 0)
    {
      int ready = poll (polls, n + 1, PULSE);

      for (nfds_t i = 0; i < n && ready > 0; i++)
        if (polls[i].fd >= 0 && polls[i].revents != 0
            && !listen_to (world, &world->peers[i]))
          {
            hear_no_more (world, &world->peers[i]);
            polls[i].fd = -1;
          }
      if (polls[n].revents == 0)
        beat (world, &next);
    }
  free (polls);
  return NULL;
}

QmStatus
qm_links_listen (QmWorld *world, QmError *error)
{
  int code;

  world->alarm = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (world->alarm < 0)
    return qm_error_set (error, QM_STATUS_IO, "", 0, 0,
                         "the system gives no event: %s", strerror (errno));
  code = pthread_create (&world->listener, NULL, listen_to_all, world);
  if (code != 0)
    return qm_error_set (error, QM_STATUS_IO, "", 0, 0,
                         "the system gives no thread: %s", strerror (code));
  world->listening = true;
  return QM_OK;
}

void
qm_links_close (QmWorld *world)
{
  const uint64_t one = 1;

  if (world->listening)
    {
      if (write (world->alarm, &one, sizeof one) == sizeof one
          || errno == EAGAIN)
        pthread_join (world->listener, NULL);
      for (int i = 0; i < world->n_peers && !world->failed; i++)
        qm_frame_send (world->peers[i].control, QM_FRAME_GOODBYE, NULL, 0);
    }
  for (int i = 0; i < world->n_peers; i++)
    {
      QmPeer *peer = &world->peers[i];

      for (int j = 0; j < QM_CHANNELS; j++)
        if (peer->data[j] >= 0)
          close (peer->data[j]);
      if (peer->control >= 0)
        close (peer->control);
    }
  if (world->alarm >= 0)
    close (world->alarm);
}
