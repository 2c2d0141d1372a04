/* SPDX-License-Identifier: Apache-2.0 */

/* What a kernel of the host is; only for kernels/host/. */

#ifndef QM_KERNELS_HOST_HOST_KERNELS_H
#define QM_KERNELS_HOST_HOST_KERNELS_H

#include "kernels/host/host-adam.h"

/* What is the same for all weights of an update. */
typedef struct QmHostStep
{
  float factor;      /* of the gradients */
  float rate, decay; /* decoupled: of the weight, rate included */
  float beta1, beta2;
  float rest1, rest2;             /* 1 - beta */
  float correction1, correction2; /* of the moments' bias */
  float epsilon;
  bool decoupled;
} QmHostStep;

typedef void (*QmHostAdamKernel) (const QmHostAdam *adam,
                                  const QmHostStep *step,
                                  int64_t begin,
                                  int64_t end);

typedef void (*QmHostAddKernel) (const QmHostAdd *add,
                                 int64_t begin,
                                 int64_t end);

/* Element i is added to lane i % QM_HOST_LANES. */
#define QM_HOST_LANES 32

typedef void (*QmHostSquaresKernel) (QmType type,
                                     const void *x,
                                     int64_t n,
                                     double lanes[QM_HOST_LANES]);

void qm_host_adam_scalar (const QmHostAdam *adam,
                          const QmHostStep *step,
                          int64_t begin,
                          int64_t end);
void qm_host_add_scalar (const QmHostAdd *add, int64_t begin, int64_t end);
void qm_host_squares_scalar (QmType type,
                             const void *x,
                             int64_t n,
                             double lanes[QM_HOST_LANES]);

#ifdef QM_HAVE_X86_KERNELS
void qm_host_adam_avx2 (const QmHostAdam *adam,
                        const QmHostStep *step,
                        int64_t begin,
                        int64_t end);
void qm_host_add_avx2 (const QmHostAdd *add, int64_t begin, int64_t end);
void qm_host_squares_avx2 (QmType type,
                           const void *x,
                           int64_t n,
                           double lanes[QM_HOST_LANES]);
void qm_host_adam_avx512 (const QmHostAdam *adam,
                          const QmHostStep *step,
                          int64_t begin,
                          int64_t end);
void qm_host_add_avx512 (const QmHostAdd *add, int64_t begin, int64_t end);
void qm_host_squares_avx512 (QmType type,
                             const void *x,
                             int64_t n,
                             double lanes[QM_HOST_LANES]);
#endif

/* Address of element `i`. */
static inline void *
qm_host_at (QmType type, const void *data, int64_t i)
{
  return (char *) data + (size_t) i * (type == QM_TYPE_F32 ? 4 : 2);
}

#endif
