/* SPDX-License-Identifier: Apache-2.0 */

/* The ranks of a world as one process sees them: its own, which are threads,
 * and the other processes, which are at the ends of sockets.  Only for
 * kernels/; everybody else uses kernels/communicator.h.
 *
 * Every two processes are connected, so that what one has for another goes
 * there by the shortest way and no process passes on the data of others: three
 * sockets for each pair, one that is always listened to, for what ends a world,
 * and one for the data of each channel, which is read when it is asked for.
 *
 * What is read from a socket is taken for hostile: its size is known before it
 * is read, from what this process expects. */

#ifndef QM_KERNELS_WORLD_H
#define QM_KERNELS_WORLD_H

#include "data/sha256.h"
#include "kernels/communicator.h"
#include "kernels/deadline.h"

#include <pthread.h>
#include <time.h>

/* Ranks meet for what their threads do and for what their streams do; either is
 * in the same order on all ranks, but not the one and the other. */
typedef enum QmChannel
{
  QM_CHANNEL_THREAD,
  QM_CHANNEL_STREAM,
  QM_CHANNELS
} QmChannel;

enum
{
  QM_WORLD_WHY = 256 /* bytes of a sentence */
};

/* What every rank says of itself when they meet, and which has to be the same
 * for all. */
typedef struct QmMeetingTopic
{
  uint32_t what; /* any number but 0 */
  uint32_t type;
  uint32_t tag;  /* what a gather between threads is for; else 0 */
  uint32_t size; /* bytes of an element */
  uint64_t total, begin, count;
} QmMeetingTopic;

/* Where the ranks of this process wait for each other. */
typedef struct QmMeeting
{
  uint64_t turn; /* how often they have met */
  int arrived;
  bool leading; /* the last that came does something for all */
  bool *here;   /* of each rank of this process: whether it has come */
  bool *inside; /* whether it works with the memory of the others */
  int n_inside;
  pthread_cond_t moved;
  QmMeetingTopic *topics; /* of each; and what it brings */
  const void **from;
  void **to;
  size_t *stride;
  uint64_t sequence;      /* of data to and from other processes */
  unsigned char *scratch; /* of the last that came */
  size_t scratch_bytes;
} QmMeeting;

/* Another process. */
typedef struct QmPeer
{
  int first, local;
  int control, data[QM_CHANNELS]; /* sockets; -1: none */
  bool left;                      /* it said that it goes */
  struct timespec until;          /* it is taken for lost, if it says nothing */
  unsigned char frame[64 + QM_WORLD_WHY];
  size_t have; /* bytes of the frame */
} QmPeer;

enum
{
  QM_WORLD_WORD = 40 /* bytes of a version, with a zero at the end */
};

/* What processes of a world have to have alike, besides its size. */
typedef struct QmWorldPass
{
  char secret[QM_SHA256_HEX - 1]; /* digests; zeros: none */
  char purpose[QM_SHA256_HEX - 1];
  char version[QM_WORLD_WORD];
} QmWorldPass;

struct QmWorld
{
  int ranks, first, local;
  double patience, coming, silence;
  QmWorldPass pass;
  pthread_mutex_t lock;
  pthread_cond_t changed; /* it failed, or somebody wants to be looked at */
  bool failed, lost;      /* lost: since a process is gone */
  char why[QM_WORLD_WHY];
  QmMeeting meetings[QM_CHANNELS];
  bool *taken; /* of each rank of this process: it has a communicator */
  QmPeer *peers;
  int n_peers;
  int alarm; /* readable when the world failed or ends; -1: one process */
  pthread_t listener;
  bool listening;
  struct timespec slept; /* if this is over, the listener was stopped */
};

/* "rank 3", "ranks 2 to 3"; returns `text`. */
const char *qm_ranks_name (int first, int local, char *text, size_t size);

/* "rank 1", "ranks 1, 2 and 5": those of `ranks` from `first` that have not
 * `come`; returns `text`. */
const char *qm_ranks_missing (
    const bool *come, int first, int ranks, char *text, size_t size);

/* Ends the world as qm_world_abort() does, with a sentence of its own. */
void qm_world_fail (QmWorld *world, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The same where a process cannot be reached any more. */
void qm_world_lose (QmWorld *world, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Does something for all ranks of the process, in the thread of the last that
 * came; false: the world was ended. */
typedef bool (*QmMeetingWork) (QmWorld *world, QmChannel channel, void *data);

/* Waits until all ranks of this process have come here, and for `work`, which
 * may be NULL.  Afterwards the memory of the others may be used, until the next
 * meeting; not so after the `last`.  False: the world has failed, and no rank
 * uses the memory of this one any more. */
bool qm_world_meet (QmWorld *world,
                    QmChannel channel,
                    int rank,
                    bool last,
                    QmMeetingWork work,
                    void *data);

/* A part of what goes to a process, or comes from it. */
typedef struct QmPiece
{
  unsigned char *data;
  size_t bytes;
} QmPiece;

typedef struct QmPieces
{
  QmPiece *items;
  size_t n, capacity;
  size_t at, done; /* the first that is not through, and how much of it is */
} QmPieces;

/* Adds a part; those that follow each other in memory become one. */
bool qm_pieces_add (QmPieces *pieces, const void *data, size_t bytes);

/* Sends to each of the other processes, and receives from it, what is in its
 * list, after both have said what it is about.  Called in a meeting.  False: it
 * failed, which has ended the world. */
bool qm_links_transfer (QmWorld *world,
                        QmChannel channel,
                        const QmMeetingTopic *topic,
                        QmPieces *out,
                        QmPieces *in);

/* A message between processes: what ends a world, or begins one. */
typedef enum QmFrameKind
{
  QM_FRAME_HELLO = 1, /* to the process of rank 0: counts, and a port */
  QM_FRAME_WELCOME,   /* from there: who is where */
  QM_FRAME_REFUSE,    /* from there: a sentence why not */
  QM_FRAME_LINK,      /* from one of the others, on a new socket */
  QM_FRAME_ABORT,     /* a sentence */
  QM_FRAME_GOODBYE,
  QM_FRAME_LOST, /* as abort: a process is gone */
  QM_FRAME_ALIVE
} QmFrameKind;

#define QM_FRAME_MAGIC   "qm-world"
#define QM_FRAME_VERSION 2

/* Before every message.  Numbers are in the order of the machine; one with
 * another order sees another version. */
typedef struct QmFrameHead
{
  char magic[8];
  uint32_t version;
  uint32_t kind;
  uint32_t bytes; /* that follow */
  uint32_t zero;
} QmFrameHead;

/* The head of such a message. */
QmFrameHead qm_frame_head (QmFrameKind kind, size_t bytes);
/* Whether it is one of ours, of this version and with no more than `most`
 * bytes. */
bool qm_frame_check (const QmFrameHead *head, size_t most);

/* Sends a short message at once, as far as the socket takes it. */
bool qm_frame_send (int fd, QmFrameKind kind, const void *data, size_t bytes);

/* What this process knows, as others are told it. */
void qm_pass_make (const QmWorldOptions *options, QmWorldPass *pass);
/* Whether another knows the secret, in a time that tells nothing of it. */
bool qm_pass_is_ours (const QmWorldPass *ours, const QmWorldPass *theirs);
/* Whether one from rank `first` on is of the same program and about the same;
 * says why not. */
bool qm_pass_check (const QmWorldPass *ours,
                    const QmWorldPass *theirs,
                    int first,
                    char *why,
                    size_t size);

/* Draws a number that nobody guesses; false: the system has none. */
bool qm_pass_token (uint64_t *token);

/* Connects the processes of a world; what was connected is in world->peers,
 * also where it fails. */
QmStatus qm_world_join (QmWorld *world, const char *rendezvous, QmError *error);

/* Listens to the others, in a thread of its own. */
QmStatus qm_links_listen (QmWorld *world, QmError *error);
/* Tells the others that we go, and closes all. */
void qm_links_close (QmWorld *world);
/* Tells the others the sentence; the lock is held. */
void qm_links_tell (QmWorld *world);

#endif
