/* SPDX-License-Identifier: Apache-2.0 */

/* Ranks tell each other by words of pinned memory that streams write and wait
 * for, one for each that tells and each that is told: that a rank's memory is
 * ready to be read, and that another has read it.  Who waited for a word makes
 * it 0 again, and it is not written before that was waited for in turn; so a
 * call can be captured and launched again. */

#include "kernels/cuda/peer-copies.h"

#include "kernels/cuda/cuda-ops.h"
#include "kernels/cuda/cuda-stream.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum
{
  TAG_DEVICE = 3000,
  TAG_WORDS,
  TAG_CALL,
  TAG_QUEUED,
  WORD = 64, /* bytes */
  ALIGNMENT = 256
};

/* For what is fetched to be added up; part of what
 * qm_communicator_reserved() says. */
#define STAGING ((size_t) 256 << 20)
/* Smaller ones take longer than NCCL's: ranks tell each other through the
 * host's memory, twice. */
#define LEAST ((size_t) 8 << 20)

/* Of all ranks; the last that leaves frees it. */
typedef struct Words
{
  atomic_int users;
  unsigned char *memory;
} Words;

struct QmPeerCopies
{
  QmCommunicator *communicator;
  int rank, ranks;
  Words *words;
  char *staging;
};

/* What every rank says of itself. */
typedef struct Presence
{
  int32_t ordinal;
  int32_t willing;
} Presence;

typedef enum Telling
{
  READY, /* memory of the first may be read by the second */
  READ   /* the first has read that of the second */
} Telling;

static uint32_t *
word (const Words *words, int ranks, Telling what, int from, int to)
{
  size_t index =
      ((size_t) what * (size_t) ranks + (size_t) from) * (size_t) ranks
      + (size_t) to;

  return (uint32_t *) (void *) (words->memory + index * WORD);
}

static size_t
words_bytes (int ranks)
{
  return (size_t) 2 * (size_t) ranks * (size_t) ranks * WORD;
}

static QmStatus
failed (cudaError_t code, QmError *error)
{
  return code == cudaSuccess
             ? QM_OK
             : qm_cuda_failed (code, "copies between GPUs", error);
}

static QmStatus
gather (const QmCommunicator *communicator,
        uint32_t tag,
        const void *own,
        void *all,
        size_t bytes,
        QmError *error)
{
  return qm_host_gather (communicator->world, communicator->rank, tag, own, all,
                         bytes)
             ? QM_OK
             : qm_world_check (communicator->world, error);
}

/* -- coming together ------------------------------------------------------- */

/* Has the memory of all others readable. */
static bool
reach (int own, const Presence *all, int ranks)
{
  for (int r = 0; r < ranks; r++)
    if (all[r].ordinal != own)
      {
        cudaError_t code = cudaErrorInvalidDevice;

        if (qm_cuda_peers (own, all[r].ordinal))
          code = cudaDeviceEnablePeerAccess (all[r].ordinal, 0);
        cudaGetLastError ();
        if (code != cudaSuccess && code != cudaErrorPeerAccessAlreadyEnabled)
          return false;
      }
  return true;
}

/* Whether all want to and can; the same for all. */
static QmStatus
agree (QmCommunicator *communicator, bool *good, QmError *error)
{
  const char *forbidden = getenv ("NCCL_P2P_DISABLE");
  int ranks = communicator->world->ranks, ordinal = -1;
  Presence all[QM_PEERS_MAX] = { 0 }, own = { 0 };
  QmStatus status;

  if (cudaGetDevice (&ordinal) == cudaSuccess
      && (forbidden == NULL || atoi (forbidden) == 0))
    own.willing = qm_peer_sum_load () == cudaSuccess;
  own.ordinal = ordinal;
  cudaGetLastError ();
  status = gather (communicator, TAG_DEVICE, &own, all, sizeof own, error);
  if (status != QM_OK)
    return status;
  own.willing = own.willing && reach (ordinal, all, ranks);
  status = gather (communicator, TAG_DEVICE, &own, all, sizeof own, error);
  *good = true;
  for (int r = 0; r < ranks; r++)
    *good = *good && all[r].willing != 0;
  return status;
}

/* By rank 0, for all. */
static Words *
make_words (int ranks)
{
  Words *words = calloc (1, sizeof *words);
  void *memory = NULL;

  if (words != NULL
      && cudaHostAlloc (&memory, words_bytes (ranks),
                        cudaHostAllocPortable | cudaHostAllocMapped)
             == cudaSuccess)
    {
      memset (memory, 0, words_bytes (ranks));
      words->memory = memory;
      atomic_init (&words->users, ranks);
      return words;
    }
  cudaGetLastError ();
  free (words);
  return NULL;
}

/* Where some rank has no memory, all do without. */
static QmStatus
get_memory (QmPeerCopies *copies, bool *good, QmError *error)
{
  QmCommunicator *communicator = copies->communicator;
  Words *all[QM_PEERS_MAX] = { 0 }, *own = NULL;
  void *staging = NULL;
  Presence mine = { 0 }, memories[QM_PEERS_MAX] = { 0 };
  QmStatus status;

  if (copies->rank == 0)
    own = make_words (copies->ranks);
  if (cudaMalloc (&staging, STAGING) != cudaSuccess)
    cudaGetLastError ();
  copies->staging = staging;
  mine.willing = staging != NULL;
  status = gather (communicator, TAG_WORDS, &own, all, sizeof (Words *), error);
  if (status == QM_OK)
    status =
        gather (communicator, TAG_DEVICE, &mine, memories, sizeof mine, error);
  copies->words = all[0] != NULL ? all[0] : own;
  *good = copies->words != NULL;
  for (int r = 0; r < copies->ranks; r++)
    *good = *good && memories[r].willing != 0;
  return status;
}

QmStatus
qm_peer_copies_new (QmCommunicator *communicator,
                    QmPeerCopies **copies,
                    QmError *error)
{
  const QmWorld *world = communicator->world;
  QmPeerCopies *new;
  bool good = false;
  QmStatus status = qm_cuda_enter (communicator->device, error);

  *copies = NULL;
  if (status != QM_OK || world->ranks < 2 || world->local != world->ranks
      || world->ranks > QM_PEERS_MAX)
    return status;
  status = agree (communicator, &good, error);
  if (status != QM_OK || !good)
    return status;
  new = calloc (1, sizeof *new);
  if (new == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  new->communicator = communicator;
  new->rank = communicator->rank;
  new->ranks = world->ranks;
  status = get_memory (new, &good, error);
  if (status == QM_OK && good)
    *copies = new;
  else
    qm_peer_copies_free (new);
  return status;
}

void
qm_peer_copies_free (QmPeerCopies *copies)
{
  if (copies == NULL)
    return;
  if (qm_cuda_enter (copies->communicator->device, NULL) == QM_OK)
    cudaFree (copies->staging);
  if (copies->words != NULL && atomic_fetch_sub (&copies->words->users, 1) == 1)
    {
      cudaFreeHost (copies->words->memory);
      free (copies->words);
    }
  cudaGetLastError ();
  free (copies);
}

void
qm_peer_copies_release (QmPeerCopies *copies)
{
  if (copies == NULL)
    return;
  for (int r = 0; r < copies->ranks; r++)
    for (int what = READY; what <= READ; what++)
      __atomic_store_n (word (copies->words, copies->ranks, (Telling) what, r,
                              copies->rank),
                        1, __ATOMIC_RELEASE);
}

/* -- one call -------------------------------------------------------------- */

bool
qm_peer_copies_take (const QmPeerCopies *copies, const QmCollective *call)
{
  const size_t bytes = call->count * qm_type_size (call->type);

  if (copies == NULL)
    return false;
  switch (call->kind)
    {
    case QM_ALL_REDUCE:
      return bytes >= LEAST;
    case QM_REDUCE_SCATTER:
    case QM_ALL_GATHER:
      return bytes * (size_t) copies->ranks >= LEAST;
    case QM_COLLECTIVE_END:
      break;
    }
  return false;
}

/* A call on its way. */
typedef struct Copying
{
  const QmPeerCopies *copies;
  cudaStream_t stream;
  const char *from[QM_PEERS_MAX]; /* memory of each rank */
} Copying;

/* Writes the word that another rank waits for, or waits for the other's. */
static cudaError_t
tell (const Copying *c, Telling what, int to)
{
  return qm_cuda_stream_word (c->stream,
                              word (c->copies->words, c->copies->ranks, what,
                                    c->copies->rank, to),
                              1, false);
}

static cudaError_t
hear (const Copying *c, Telling what, int from)
{
  uint32_t *told =
      word (c->copies->words, c->copies->ranks, what, from, c->copies->rank);
  cudaError_t code = qm_cuda_stream_word (c->stream, told, 1, true);

  return code == cudaSuccess ? qm_cuda_stream_word (c->stream, told, 0, false)
                             : code;
}

/* The i-th of the others, each rank beginning with another, so that no GPU is
 * read by all at once. */
static int
other (const Copying *c, int i)
{
  return (c->copies->rank + i) % c->copies->ranks;
}

/* All others are heard, or told. */
static cudaError_t
for_others (const Copying *c,
            cudaError_t (*do_it) (const Copying *, Telling, int),
            Telling what)
{
  cudaError_t code = cudaSuccess;

  for (int i = 1; i < c->copies->ranks && code == cudaSuccess; i++)
    code = do_it (c, what, other (c, i));
  return code;
}

static cudaError_t
copy (const Copying *c, void *to, const void *from, size_t bytes)
{
  return to == from || bytes == 0
             ? cudaSuccess
             : cudaMemcpyAsync (to, from, bytes, cudaMemcpyDefault, c->stream);
}

/* How elements are divided among ranks: so many to each, but to the last what
 * is left. */
typedef struct Parts
{
  size_t all, each, size; /* elements; bytes of one */
} Parts;

static size_t
part_begin (const Parts *parts, int rank)
{
  size_t begin = (size_t) rank * parts->each;

  return begin < parts->all ? begin : parts->all;
}

static size_t
part_count (const Parts *parts, int rank)
{
  return part_begin (parts, rank + 1) - part_begin (parts, rank);
}

/* Every rank's part, which is where `from` says, to its place in `to`. */
static cudaError_t
fetch_part (const Copying *c, const Parts *parts, int rank, char *to)
{
  return copy (c, to + part_begin (parts, rank) * parts->size, c->from[rank],
               part_count (parts, rank) * parts->size);
}

static cudaError_t
fetch_all (const Copying *c, const Parts *parts, char *to)
{
  cudaError_t code = for_others (c, tell, READY);

  if (code == cudaSuccess)
    code = fetch_part (c, parts, c->copies->rank, to);
  for (int i = 1; i < c->copies->ranks && code == cudaSuccess; i++)
    {
      int from = other (c, i);

      code = hear (c, READY, from);
      if (code == cudaSuccess)
        code = fetch_part (c, parts, from, to);
      if (code == cudaSuccess)
        code = tell (c, READ, from);
    }
  return code == cudaSuccess ? for_others (c, hear, READ) : code;
}

/* Bytes for what comes from one of the others. */
static size_t
slot_of (const QmPeerCopies *copies)
{
  return STAGING / (size_t) (copies->ranks - 1) / ALIGNMENT * ALIGNMENT;
}

/* What is fetched of everybody's elements [begin, begin + n), and added up. */
static cudaError_t
fetch_piece (const Copying *c, const Parts *parts, QmPeerSum *sum, size_t begin)
{
  const QmPeerCopies *copies = c->copies;
  cudaError_t code = cudaSuccess;

  sum->parts[copies->rank] = c->from[copies->rank] + begin * parts->size;
  for (int i = 1; i < copies->ranks && code == cudaSuccess; i++)
    {
      int from = other (c, i);
      char *staged = copies->staging + (size_t) (i - 1) * slot_of (copies);

      sum->parts[from] = staged;
      code = copy (c, staged, c->from[from] + begin * parts->size,
                   sum->count * parts->size);
    }
  return code;
}

/* The sum of everybody's elements that are this rank's part, in pieces for
 * which there is room. */
static cudaError_t
add_part (const Copying *c, const Parts *parts, QmType type, char *to)
{
  const size_t begins = part_begin (parts, c->copies->rank);
  const size_t n = part_count (parts, c->copies->rank);
  const size_t piece = slot_of (c->copies) / parts->size;
  QmPeerSum sum = { .ranks = c->copies->ranks, .type = type };
  cudaError_t code = for_others (c, tell, READY);

  if (code == cudaSuccess)
    code = for_others (c, hear, READY);
  for (size_t at = 0; at < n && code == cudaSuccess; at += piece)
    {
      sum.to = to + at * parts->size;
      sum.count = n - at < piece ? n - at : piece;
      code = fetch_piece (c, parts, &sum, begins + at);
      if (code == cudaSuccess && at + sum.count == n)
        code = for_others (c, tell, READ);
      if (code == cudaSuccess)
        code = qm_peer_sum (&sum, c->stream);
    }
  if (code == cudaSuccess && n == 0)
    code = for_others (c, tell, READ);
  return code == cudaSuccess ? for_others (c, hear, READ) : code;
}

/* Each rank adds up a part, which all others then fetch. */
static cudaError_t
add_all (const Copying *c, const QmCollective *call, char *const *to)
{
  const size_t vectors = 8, size = qm_type_size (call->type);
  const size_t most = (size_t) c->copies->ranks * vectors;
  const Parts parts = { .all = call->count,
                        .each = (call->count + most - 1) / most * vectors,
                        .size = size };
  const int rank = c->copies->rank;
  Copying back = *c;
  cudaError_t code = add_part (c, &parts, call->type,
                               to[rank] + part_begin (&parts, rank) * size);

  for (int r = 0; r < c->copies->ranks; r++)
    back.from[r] = to[r] + part_begin (&parts, r) * size;
  return code == cudaSuccess ? fetch_all (&back, &parts, to[rank]) : code;
}

/* Waits until all ranks have queued the call: until then a stream may wait for
 * what is not queued anywhere, and a rank that meanwhile frees memory, which
 * the driver does when all GPUs that read it are idle, would keep the others
 * from queueing it. */
static QmStatus
meet (const QmPeerCopies *copies, QmError *error)
{
  char own = 0, all[QM_PEERS_MAX];

  return gather (copies->communicator, TAG_QUEUED, &own, all, sizeof own,
                 error);
}

QmStatus
qm_peer_copies_queue (QmPeerCopies *copies,
                      QmStream *stream,
                      const QmCollective *call,
                      QmError *error)
{
  struct
  {
    const void *from;
    void *to;
  } own = { call->from, call->to }, all[QM_PEERS_MAX] = { 0 };
  Copying c = { .copies = copies, .stream = qm_cuda_stream (stream) };
  const Parts parts = { .all = call->count * (size_t) copies->ranks,
                        .each = call->count,
                        .size = qm_type_size (call->type) };
  char *to[QM_PEERS_MAX];
  cudaError_t code;
  QmStatus status =
      gather (copies->communicator, TAG_CALL, &own, all, sizeof own, error);

  if (status != QM_OK)
    return status;
  for (int r = 0; r < copies->ranks; r++)
    {
      c.from[r] = all[r].from;
      to[r] = all[r].to;
    }
  if (call->kind == QM_ALL_GATHER)
    code = fetch_all (&c, &parts, call->to);
  else if (call->kind == QM_REDUCE_SCATTER)
    code = add_part (&c, &parts, call->type, call->to);
  else
    code = add_all (&c, call, to);
  status = failed (code, error);
  return status == QM_OK ? meet (copies, error) : status;
}
