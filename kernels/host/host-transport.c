/* SPDX-License-Identifier: Apache-2.0 */

/* Collectives through the memory of the host.  A CPU device has its data there;
 * what it queues is a call of the exchange.  That of a GPU goes to and fro in
 * pieces through two pinned buffers, by three streams of its own: while one
 * piece is exchanged, the one before goes back to the device, and the one after
 * comes.  All of it is streams, events and words, so that it can be captured.
 *
 * It is a thread of the transport that exchanges: a stream writes the number of
 * the call into one word, and waits for the answer in another.  Functions of
 * the host that streams call may all be called by one thread, and would wait
 * for each other.
 *
 * What a call is about is kept until the communicator is freed, because a
 * capture may be launched as long; calls that are alike share it. */

#include "kernels/host/host-adam.h"
#include "kernels/transport.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
  BUFFERS = 2,
  /* Behind the buffers: two words, each of which has so many bytes. */
  WORD = 64,
  STAGING = BUFFERS * QM_HOST_TRANSPORT_BYTES + 2 * WORD
};

/* How often the thread looks for a call before it sleeps in between, and how
 * long. */
#define EAGER_LOOKS 20000
#define NAP_NS      20000

typedef struct HostCall HostCall;
typedef struct HostTransport HostTransport;

struct HostCall
{
  HostCall *next;
  HostTransport *transport;
  QmExchange exchange;
  size_t piece;    /* elements in one go */
  uint32_t number; /* from 1 on */
};

struct HostTransport
{
  QmCommunicator *communicator;
  HostCall *calls;
  pthread_mutex_t lock; /* of the calls */
  uint32_t n_calls;
  bool staged;
  pthread_t thread;
  bool started, closing;
  uint32_t *asked, *answered; /* the words; 0: nothing */
  unsigned char *memory;      /* the buffers, one behind the other */
  bool pinned;
  QmStream *down, *host, *up;
  QmEvent *begun, *ended;
  /* Of each buffer: it is full, exchanged, and empty again. */
  QmEvent *full[BUFFERS], *ready[BUFFERS], *empty[BUFFERS];
};

/* One piece after the other; in the thread of the stream. */
static void
run_call (void *data)
{
  const HostCall *call = data;
  const QmCommunicator *communicator = call->transport->communicator;
  QmExchange part = call->exchange;
  const size_t end = part.topic.begin + part.topic.count;
  const size_t size = part.topic.size;
  bool done = true;

  for (size_t at = part.topic.begin; done; at += call->piece)
    {
      size_t skipped = (at - call->exchange.topic.begin) * size;

      part.topic.begin = at;
      part.topic.count = end - at < call->piece ? end - at : call->piece;
      if (call->exchange.from != NULL)
        part.from = (const char *) call->exchange.from + skipped;
      if (call->exchange.to != NULL)
        part.to = (char *) call->exchange.to + skipped;
      done = qm_host_exchange (communicator->world, QM_CHANNEL_STREAM,
                               communicator->rank, &part);
      if (end - at <= call->piece)
        break;
    }
}

/* A call like this one, kept. */
static HostCall *
keep_call (HostTransport *transport, const QmExchange *exchange, size_t piece)
{
  HostCall *call = transport->calls;

  while (call != NULL
         && (memcmp (&call->exchange.topic, &exchange->topic,
                     sizeof exchange->topic)
                 != 0
             || call->exchange.from != exchange->from
             || call->exchange.to != exchange->to
             || call->exchange.stride != exchange->stride
             || call->piece != piece))
    call = call->next;
  if (call != NULL)
    return call;
  call = malloc (sizeof *call);
  if (call != NULL)
    {
      pthread_mutex_lock (&transport->lock);
      *call = (HostCall){ .next = transport->calls,
                          .transport = transport,
                          .exchange = *exchange,
                          .piece = piece,
                          .number = ++transport->n_calls };
      transport->calls = call;
      pthread_mutex_unlock (&transport->lock);
    }
  return call;
}

static HostCall *
find_call (HostTransport *transport, uint32_t number)
{
  HostCall *call;

  pthread_mutex_lock (&transport->lock);
  call = transport->calls;
  while (call != NULL && call->number != number)
    call = call->next;
  pthread_mutex_unlock (&transport->lock);
  return call;
}

/* Answers what the stream asks for, until it is closed. */
static void *
answer (void *data)
{
  HostTransport *transport = data;
  const struct timespec nap = { .tv_nsec = NAP_NS };

  for (int looks = 0;;)
    {
      uint32_t number = __atomic_load_n (transport->asked, __ATOMIC_ACQUIRE);
      HostCall *call;

      if (number == 0)
        {
          if (__atomic_load_n (&transport->closing, __ATOMIC_ACQUIRE))
            return NULL;
          if (looks < EAGER_LOOKS)
            looks++;
          else
            nanosleep (&nap, NULL);
          continue;
        }
      looks = 0;
      __atomic_store_n (transport->asked, 0, __ATOMIC_RELAXED);
      call = find_call (transport, number);
      if (call != NULL)
        run_call (call);
      __atomic_store_n (transport->answered, 1, __ATOMIC_RELEASE);
    }
}

/* Queues a call for the thread. */
static QmStatus
queue_answer (HostTransport *transport,
              QmStream *stream,
              const HostCall *call,
              QmError *error)
{
  QmDevice *device = transport->communicator->device;
  QmStatus status =
      qm_stream_post (device, stream, transport->asked, call->number, error);

  if (status == QM_OK)
    status = qm_stream_until (device, stream, transport->answered, 1, error);
  return status == QM_OK
             ? qm_stream_post (device, stream, transport->answered, 0, error)
             : status;
}

static QmStatus
queue_exchange (HostTransport *transport,
                QmStream *stream,
                const QmExchange *exchange,
                size_t piece,
                QmError *error)
{
  HostCall *call = keep_call (transport, exchange, piece);

  if (call == NULL)
    return qm_error_no_memory (error);
  return transport->staged ? queue_answer (transport, stream, call, error)
                           : qm_stream_call (transport->communicator->device,
                                             stream, run_call, call, error);
}

/* Whether every rank has a part of its own in `from` or `to`. */
static bool
has_parts (const QmCollective *call)
{
  return call->kind == QM_REDUCE_SCATTER || call->kind == QM_ALL_GATHER;
}

/* Elements in one go; the same on all ranks. */
static size_t
piece_of (const QmCommunicator *communicator, const QmCollective *call)
{
  size_t bytes = qm_type_size (call->type);
  size_t piece;

  if (has_parts (call))
    bytes *= (size_t) communicator->world->ranks;
  piece = bytes > 0 ? QM_HOST_TRANSPORT_BYTES / bytes : 1;
  return piece > 0 ? piece : 1;
}

static QmMeetingTopic
topic_of (const QmCollective *call, size_t begin, size_t count)
{
  return (QmMeetingTopic){ .what = (uint32_t) call->kind,
                           .type = (uint32_t) call->type,
                           .size = (uint32_t) qm_type_size (call->type),
                           .total = call->count,
                           .begin = begin,
                           .count = count };
}

static QmStatus
queue_direct (QmCommunicator *communicator,
              QmStream *stream,
              const QmCollective *call,
              QmError *error)
{
  QmExchange exchange = { .topic = topic_of (call, 0, call->count),
                          .from = call->from,
                          .to = call->to,
                          .stride = has_parts (call) ? call->count : 0 };

  return queue_exchange (communicator->state, stream, &exchange,
                         piece_of (communicator, call), error);
}

/* A piece on its way through a buffer. */
typedef struct Passage
{
  HostTransport *transport;
  const QmCollective *call;
  size_t begin, count, size;
  unsigned char *buffer;
  int which;
} Passage;

/* The part of a rank: where it is in memory of the device and in the buffer. */
static size_t
device_offset (const Passage *passage, int part)
{
  return ((size_t) part * passage->call->count + passage->begin)
         * passage->size;
}

static size_t
buffer_offset (const Passage *passage, int part)
{
  return (size_t) part * passage->count * passage->size;
}

static QmStatus
read_part (const Passage *passage,
           int from_part,
           int to_part,
           int parts,
           QmError *error)
{
  const QmCollective *call = passage->call;
  size_t bytes = (size_t) parts * passage->count * passage->size;
  const char *from = call->from;

  if (bytes == 0)
    return QM_OK;
  return qm_stream_read (passage->transport->communicator->device,
                         passage->transport->down,
                         passage->buffer + buffer_offset (passage, to_part),
                         from + device_offset (passage, from_part), bytes,
                         error);
}

static QmStatus
write_part (const Passage *passage,
            int to_part,
            int from_part,
            int parts,
            QmError *error)
{
  size_t bytes = (size_t) parts * passage->count * passage->size;

  if (bytes == 0)
    return QM_OK;
  return qm_stream_write (
      passage->transport->communicator->device, passage->transport->up,
      (char *) passage->call->to + device_offset (passage, to_part),
      passage->buffer + buffer_offset (passage, from_part), bytes, error);
}

/* The parts of all ranks are in one piece where there is one of each. */
static QmStatus
pass_parts (const Passage *passage,
            QmStatus (*pass) (const Passage *, int, int, int, QmError *),
            QmError *error)
{
  int ranks = passage->transport->communicator->world->ranks;
  QmStatus status = QM_OK;

  if (passage->count == passage->call->count)
    return pass (passage, 0, 0, ranks, error);
  for (int i = 0; i < ranks && status == QM_OK; i++)
    status = pass (passage, i, i, 1, error);
  return status;
}

static QmStatus
fill_buffer (const Passage *passage, QmError *error)
{
  int rank = passage->transport->communicator->rank;

  switch (passage->call->kind)
    {
    case QM_ALL_REDUCE:
      return read_part (passage, 0, 0, 1, error);
    case QM_REDUCE_SCATTER:
      return pass_parts (passage, read_part, error);
    case QM_ALL_GATHER:
      return read_part (passage, 0, rank, 1, error);
    case QM_COLLECTIVE_END:
      break;
    }
  return QM_OK;
}

static QmStatus
drain_buffer (const Passage *passage, QmError *error)
{
  int rank = passage->transport->communicator->rank;

  switch (passage->call->kind)
    {
    case QM_ALL_REDUCE:
      return write_part (passage, 0, 0, 1, error);
    case QM_REDUCE_SCATTER:
      return write_part (passage, 0, rank, 1, error);
    case QM_ALL_GATHER:
      return pass_parts (passage, write_part, error);
    case QM_COLLECTIVE_END:
      break;
    }
  return QM_OK;
}

static QmStatus
exchange_buffer (const Passage *passage, QmError *error)
{
  int rank = passage->transport->communicator->rank;
  unsigned char *own = passage->buffer + buffer_offset (passage, rank);
  QmExchange exchange = {
    .topic = topic_of (passage->call, passage->begin, passage->count),
    .from = passage->buffer,
    .to = passage->buffer,
    .stride = has_parts (passage->call) ? passage->count : 0,
  };

  if (passage->call->kind == QM_REDUCE_SCATTER)
    exchange.to = own;
  else if (passage->call->kind == QM_ALL_GATHER)
    exchange.from = own;
  return queue_exchange (passage->transport, passage->transport->host,
                         &exchange, passage->count + 1, error);
}

/* What is queued on `to` from now on waits for all that is on `from`. */
static QmStatus
hand_over (const HostTransport *transport,
           QmStream *from,
           QmEvent *event,
           QmStream *to,
           QmError *error)
{
  QmDevice *device = transport->communicator->device;
  QmStatus status = qm_event_record (device, from, event, error);

  return status == QM_OK ? qm_stream_wait (device, to, event, error) : status;
}

static QmStatus
queue_passage (const Passage *passage, bool again, QmError *error)
{
  const HostTransport *transport = passage->transport;
  QmDevice *device = transport->communicator->device;
  int i = passage->which;
  QmStatus status = QM_OK;

  if (again)
    status =
        qm_stream_wait (device, transport->down, transport->empty[i], error);
  if (status == QM_OK)
    status = fill_buffer (passage, error);
  if (status == QM_OK)
    status = hand_over (transport, transport->down, transport->full[i],
                        transport->host, error);
  if (status == QM_OK)
    status = exchange_buffer (passage, error);
  if (status == QM_OK)
    status = hand_over (transport, transport->host, transport->ready[i],
                        transport->up, error);
  if (status == QM_OK)
    status = drain_buffer (passage, error);
  if (status == QM_OK)
    status =
        qm_event_record (device, transport->up, transport->empty[i], error);
  return status;
}

static QmStatus
queue_staged (QmCommunicator *communicator,
              QmStream *stream,
              const QmCollective *call,
              QmError *error)
{
  HostTransport *transport = communicator->state;
  const size_t piece = piece_of (communicator, call);
  QmStatus status =
      hand_over (transport, stream, transport->begun, transport->down, error);
  size_t begin = 0;

  for (size_t k = 0; status == QM_OK; k++, begin += piece)
    {
      size_t left = call->count - begin;
      Passage passage = { .transport = transport,
                          .call = call,
                          .begin = begin,
                          .count = left < piece ? left : piece,
                          .size = qm_type_size (call->type),
                          .which = (int) (k % BUFFERS) };

      passage.buffer =
          transport->memory + (size_t) passage.which * QM_HOST_TRANSPORT_BYTES;
      status = queue_passage (&passage, k >= BUFFERS, error);
      if (left <= piece)
        break;
    }
  return status == QM_OK ? hand_over (transport, transport->up,
                                      transport->ended, stream, error)
                         : status;
}

static QmStatus
host_queue (QmCommunicator *communicator,
            QmStream *stream,
            const QmCollective *call,
            QmError *error)
{
  const HostTransport *transport = communicator->state;

  return transport->staged ? queue_staged (communicator, stream, call, error)
                           : queue_direct (communicator, stream, call, error);
}

static void
close_transport (QmCommunicator *communicator)
{
  HostTransport *transport = communicator->state;
  QmDevice *device = communicator->device;

  /* Waits for what is under way. */
  if (transport->pinned)
    qm_host_unpin (device, transport->memory);
  __atomic_store_n (&transport->closing, true, __ATOMIC_RELEASE);
  if (transport->started)
    pthread_join (transport->thread, NULL);
  pthread_mutex_destroy (&transport->lock);
  for (int i = 0; i < BUFFERS; i++)
    {
      qm_event_free (device, transport->full[i]);
      qm_event_free (device, transport->ready[i]);
      qm_event_free (device, transport->empty[i]);
    }
  qm_event_free (device, transport->begun);
  qm_event_free (device, transport->ended);
  qm_stream_free (device, transport->down);
  qm_stream_free (device, transport->host);
  qm_stream_free (device, transport->up);
  qm_host_memory_free (transport->memory, STAGING);
  while (transport->calls != NULL)
    {
      HostCall *next = transport->calls->next;

      free (transport->calls);
      transport->calls = next;
    }
  free (transport);
}

static QmStatus
make_staging (HostTransport *transport, QmError *error)
{
  QmDevice *device = transport->communicator->device;
  QmStream **streams[] = { &transport->down, &transport->host, &transport->up };
  QmEvent **events[] = { &transport->begun,    &transport->ended,
                         &transport->full[0],  &transport->full[1],
                         &transport->ready[0], &transport->ready[1],
                         &transport->empty[0], &transport->empty[1] };
  unsigned char *words;
  QmStatus status = QM_OK;

  transport->memory = qm_host_memory_new (STAGING);
  if (transport->memory == NULL)
    return qm_error_no_memory (error);
  words = transport->memory + BUFFERS * QM_HOST_TRANSPORT_BYTES;
  memset (words, 0, (size_t) 2 * WORD);
  transport->asked = (uint32_t *) (void *) words;
  transport->answered = (uint32_t *) (void *) (words + WORD);
  status = qm_host_pin (device, transport->memory, STAGING, error);
  transport->pinned = status == QM_OK;
  for (size_t i = 0; i < 3 && status == QM_OK; i++)
    status = qm_stream_create (device, streams[i], error);
  for (size_t i = 0; i < 2 + 3 * BUFFERS && status == QM_OK; i++)
    status = qm_event_create (device, events[i], error);
  if (status != QM_OK)
    return status;
  transport->started =
      pthread_create (&transport->thread, NULL, answer, transport) == 0;
  return transport->started ? QM_OK
                            : qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0,
                                            0, "the host has no thread for it");
}

QmStatus
qm_host_transport_open (QmCommunicator *communicator,
                        bool staged,
                        QmError *error)
{
  static const QmTransportWays ways = { host_queue, close_transport };
  HostTransport *transport = calloc (1, sizeof *transport);
  QmStatus status = QM_OK;

  if (transport == NULL)
    return qm_error_no_memory (error);
  transport->communicator = communicator;
  transport->staged = staged;
  pthread_mutex_init (&transport->lock, NULL);
  communicator->state = transport;
  if (staged)
    status = make_staging (transport, error);
  if (status == QM_OK)
    communicator->ways = &ways;
  else
    close_transport (communicator);
  return status;
}
