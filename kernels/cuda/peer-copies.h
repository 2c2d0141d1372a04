/* SPDX-License-Identifier: Apache-2.0 */

/* Large sums and gathers of GPUs that read each other's memory, by their copy
 * engines.
 *
 * NCCL's kernels hold 16 and more multiprocessors for as long as data is on its
 * way, and products, whose blocks stay on all of them, wait for those.  Copies
 * take none: each rank fetches from the others what it is to have, and adds up
 * what it fetched in a kernel that is bound by its own memory.  Sums are taken
 * in fp32 in the order of the ranks, and rounded once.
 *
 * Only for kernels/cuda/. */

#ifndef QM_KERNELS_CUDA_PEER_COPIES_H
#define QM_KERNELS_CUDA_PEER_COPIES_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C"
{
#endif

#include "kernels/transport.h"

  enum
  {
    QM_PEERS_MAX = 16
  };

  /* Of one rank. */
  typedef struct QmPeerCopies QmPeerCopies;

  /* All ranks call it together.  `copies` becomes NULL, which is no error,
   * where they are not for copies: in several processes, of GPUs that do not
   * read each other's memory, or where NCCL_P2P_DISABLE says that they shall
   * not. */
  QmStatus qm_peer_copies_new (QmCommunicator *communicator,
                               QmPeerCopies **copies,
                               QmError *error);

  /* Once nothing of its device is under way; NULL is allowed. */
  void qm_peer_copies_free (QmPeerCopies *copies);

  /* Whether this call goes that way; the same for all ranks.  NULL: false. */
  bool qm_peer_copies_take (const QmPeerCopies *copies,
                            const QmCollective *call);

  QmStatus qm_peer_copies_queue (QmPeerCopies *copies,
                                 QmStream *stream,
                                 const QmCollective *call,
                                 QmError *error);

  /* Ends waits of this rank's streams, once the world has failed: to be called
   * again until they have ended.  From any thread; NULL is allowed. */
  void qm_peer_copies_release (QmPeerCopies *copies);

  /* In peer-sum.cu: the sum of `ranks` times `count` elements, one behind the
   * other in memory of this device, each at its own place. */
  typedef struct QmPeerSum
  {
    const void *parts[QM_PEERS_MAX];
    int ranks;
    void *to; /* may be one of them */
    size_t count;
    QmType type; /* QM_TYPE_F32, _F16 or _BF16 */
  } QmPeerSum;

  cudaError_t qm_peer_sum (const QmPeerSum *sum, cudaStream_t stream);

  /* Has the kernel loaded, which must not happen while streams wait. */
  cudaError_t qm_peer_sum_load (void);

#ifdef __cplusplus
}
#endif

#endif
