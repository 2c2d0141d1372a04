/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-choice.h"

#include <stdlib.h>
#include <string.h>

/* Both ways are timed so often, in turns, each time for about so many
 * milliseconds; ours has to be faster by more than what timings scatter, so
 * that runs rarely differ in their choice. */
#define ROUNDS       3
#define MILLISECONDS 1.0f
#define MAX_REPEATS  8
#define MARGIN       0.98f

typedef struct Choice
{
  QmHopperProduct shape; /* only whether there are bias and pre */
  bool own;
} Choice;

struct QmCudaChoices
{
  cudaEvent_t begin, end;
  Choice *choices;
  size_t n, capacity;
};

typedef struct Way
{
  const QmHopperProduct *own; /* or the library */
  QmCudaOperator library;
  const QmOpCall *call;
  int repeats;
  float milliseconds; /* the least so far; negative before the first */
} Way;

QmStatus
qm_cuda_choices_new (QmCudaChoices **result, QmError *error)
{
  QmCudaChoices *choices = calloc (1, sizeof *choices);
  cudaError_t code;

  *result = NULL;
  if (choices == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                         "the host is out of memory");
  code = cudaEventCreate (&choices->begin);
  if (code == cudaSuccess)
    code = cudaEventCreate (&choices->end);
  if (code != cudaSuccess)
    {
      qm_cuda_choices_free (choices);
      return qm_cuda_failed (code, "timing", error);
    }
  *result = choices;
  return QM_OK;
}

void
qm_cuda_choices_free (QmCudaChoices *choices)
{
  if (choices == NULL)
    return;
  if (choices->begin != NULL)
    cudaEventDestroy (choices->begin);
  if (choices->end != NULL)
    cudaEventDestroy (choices->end);
  free (choices->choices);
  free (choices);
}

static QmHopperProduct
shape_of (const QmHopperProduct *product)
{
  QmHopperProduct shape;

  memset (&shape, 0, sizeof shape);
  shape.type = product->type;
  shape.finish = product->finish;
  shape.activation = product->activation;
  shape.transposed = product->transposed;
  shape.rows = product->rows;
  shape.columns = product->columns;
  shape.inner = product->inner;
  shape.step_a = product->step_a;
  shape.step_b = product->step_b;
  shape.step_d = product->step_d;
  shape.step_pre = product->step_pre;
  shape.bias = product->bias != NULL ? &shape_of : NULL;
  shape.pre = product->pre != NULL ? (void *) &shape_of : NULL;
  return shape;
}

static QmStatus
run (QmCudaContext *context, cudaStream_t stream, const Way *way)
{
  return way->own != NULL ? qm_hopper_product (context, stream, way->own, NULL)
                          : way->library (context, stream, way->call, NULL);
}

static bool
time_way (QmCudaContext *context, cudaStream_t stream, Way *way)
{
  QmCudaChoices *choices = context->choices;
  float elapsed;

  if (cudaEventRecord (choices->begin, stream) != cudaSuccess)
    return false;
  for (int i = 0; i < way->repeats; i++)
    if (run (context, stream, way) != QM_OK)
      return false;
  if (cudaEventRecord (choices->end, stream) != cudaSuccess
      || cudaEventSynchronize (choices->end) != cudaSuccess
      || cudaEventElapsedTime (&elapsed, choices->begin, choices->end)
             != cudaSuccess)
    return false;
  elapsed /= (float) way->repeats;
  if (way->milliseconds < 0 || elapsed < way->milliseconds)
    way->milliseconds = elapsed;
  way->repeats = elapsed * MAX_REPEATS > MILLISECONDS
                     ? (int) (MILLISECONDS / elapsed) + 1
                     : MAX_REPEATS;
  return true;
}

/* The first time of each is not counted: what it learns or loads takes long. */
static bool
learn (QmCudaContext *context, cudaStream_t stream, Way *own, Way *library)
{
  for (int round = 0; round <= ROUNDS; round++)
    {
      if (!time_way (context, stream, own))
        return false;
      if (!time_way (context, stream, library))
        return true;
      if (round == 0)
        own->milliseconds = library->milliseconds = -1;
    }
  return own->milliseconds < MARGIN * library->milliseconds;
}

bool
qm_cuda_choose_own (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmHopperProduct *own,
                    QmCudaOperator library,
                    const QmOpCall *call)
{
  QmCudaChoices *choices = context->choices;
  QmHopperProduct shape = shape_of (own);
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  Way ways[] = {
    { .own = own, .call = call, .repeats = 1, .milliseconds = -1 },
    { .library = library, .call = call, .repeats = 1, .milliseconds = -1 },
  };

  if (context->preference != QM_CUDA_PREFER_FASTEST)
    return context->preference == QM_CUDA_PREFER_OWN;
  if (call->attributes.deterministic)
    return true;
  for (size_t i = 0; i < choices->n; i++)
    if (memcmp (&choices->choices[i].shape, &shape, sizeof shape) == 0)
      return choices->choices[i].own;
  if (cudaStreamIsCapturing (stream, &capture) != cudaSuccess
      || capture != cudaStreamCaptureStatusNone)
    return false;
  if (choices->n == choices->capacity)
    {
      size_t capacity = choices->capacity * 2 + 32;
      Choice *more = realloc (choices->choices, capacity * sizeof *more);

      if (more == NULL)
        return false;
      choices->choices = more;
      choices->capacity = capacity;
    }
  memset (&choices->choices[choices->n], 0, sizeof (Choice));
  choices->choices[choices->n].shape = shape;
  choices->choices[choices->n].own =
      learn (context, stream, &ways[0], &ways[1]);
  cudaGetLastError ();
  return choices->choices[choices->n++].own;
}
