/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-choice.h"

#include "kernels/cuda/cuda-products.h"

#include <stdlib.h>
#include <string.h>

/* Both ways are timed so often, in turns, each time for about so many
 * milliseconds; ours has to be faster by more than what timings scatter, so
 * that runs rarely differ in their choice. */
#define ROUNDS       3
#define MILLISECONDS 1.0f
#define MAX_REPEATS  8
#define MARGIN       0.98f

/* Where one way takes so many times as long as the other, once is enough. */
#define CLEAR 1.1f

/* Which way is faster does not depend on how often a long call repeats the
 * same: it holds for calls up to so many times as long, or as short, in the one
 * dimension that differs, if that is so long in both. */
#define STRETCH     16
#define LONG_ENOUGH 16384

typedef struct Choice
{
  QmCudaFacts facts;
  bool own;
} Choice;

struct QmCudaChoices
{
  cudaEvent_t begin, end;
  Choice *choices;
  size_t n, capacity;
};

typedef struct Timed
{
  const QmCudaWay *way;
  int repeats;
  float milliseconds; /* the least so far; negative before the first */
} Timed;

QmStatus
qm_cuda_choices_new (QmCudaChoices **result, QmError *error)
{
  QmCudaChoices *choices = calloc (1, sizeof *choices);
  cudaError_t code;

  *result = NULL;
  if (choices == NULL)
    return qm_error_no_memory (error);
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

static bool
time_way (QmCudaContext *context, cudaStream_t stream, Timed *timed)
{
  const QmCudaWay *way = timed->way;
  QmCudaChoices *choices = context->choices;
  float elapsed;

  if (cudaEventRecord (choices->begin, stream) != cudaSuccess)
    return false;
  for (int i = 0; i < timed->repeats; i++)
    if (way->run (context, stream, way->what, NULL) != QM_OK)
      return false;
  if (cudaEventRecord (choices->end, stream) != cudaSuccess
      || cudaEventSynchronize (choices->end) != cudaSuccess
      || cudaEventElapsedTime (&elapsed, choices->begin, choices->end)
             != cudaSuccess)
    return false;
  elapsed /= (float) timed->repeats;
  if (timed->milliseconds < 0 || elapsed < timed->milliseconds)
    timed->milliseconds = elapsed;
  timed->repeats = elapsed * MAX_REPEATS > MILLISECONDS
                       ? (int) (MILLISECONDS / elapsed) + 1
                       : MAX_REPEATS;
  return true;
}

/* The first time of each is not counted: what it learns or loads takes long. */
static bool
learn (QmCudaContext *context, cudaStream_t stream, Timed *own, Timed *library)
{
  for (int round = 0; round <= ROUNDS; round++)
    {
      if (!time_way (context, stream, own))
        return false;
      if (!time_way (context, stream, library))
        return true;
      if (round == 0)
        own->milliseconds = library->milliseconds = -1;
      else if (own->milliseconds * CLEAR < library->milliseconds
               || library->milliseconds * CLEAR < own->milliseconds)
        break;
    }
  return own->milliseconds < MARGIN * library->milliseconds;
}

bool
qm_cuda_stretched (int64_t a, int64_t b)
{
  return a >= LONG_ENOUGH && b >= LONG_ENOUGH && a / STRETCH <= b
         && b / STRETCH <= a;
}

/* Whether what is known of one call holds for another. */
static bool
holds_for (const QmCudaFacts *known, const QmCudaFacts *facts)
{
  int differ = 0;

  for (size_t i = 0; i < sizeof facts->fact / sizeof facts->fact[0]; i++)
    if (known->fact[i] != facts->fact[i]
        && (differ++ > 0
            || !qm_cuda_stretched (known->fact[i], facts->fact[i])))
      return false;
  return true;
}

int
qm_cuda_choice (const QmCudaContext *context, const QmCudaFacts *facts)
{
  const QmCudaChoices *choices = context->choices;
  int near = -1;

  if (context->preference != QM_CUDA_PREFER_FASTEST)
    return context->preference == QM_CUDA_PREFER_OWN;
  if (!qm_cuda_products_have_library (context->products))
    return 1;
  for (size_t i = 0; i < choices->n; i++)
    if (memcmp (&choices->choices[i].facts, facts, sizeof *facts) == 0)
      return choices->choices[i].own;
    else if (near < 0 && holds_for (&choices->choices[i].facts, facts))
      near = choices->choices[i].own;
  return near;
}

size_t
qm_cuda_choices_count (const QmCudaChoices *choices)
{
  return choices->n;
}

bool
qm_cuda_choose_own (QmCudaContext *context,
                    cudaStream_t stream,
                    const QmCudaFacts *facts,
                    const QmCudaWay *own,
                    const QmCudaWay *library)
{
  QmCudaChoices *choices = context->choices;
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  Timed ours = { .way = own, .repeats = 1, .milliseconds = -1 };
  Timed theirs = { .way = library, .repeats = 1, .milliseconds = -1 };
  int known = qm_cuda_choice (context, facts);
  Choice choice = { .facts = *facts };

  if (known >= 0)
    return known != 0;
  if (cudaStreamIsCapturing (stream, &capture) != cudaSuccess
      || capture != cudaStreamCaptureStatusNone)
    return false;
  choice.own = learn (context, stream, &ours, &theirs);
  cudaGetLastError ();
  /* A way may have chosen others, for what it is made of. */
  if (choices->n == choices->capacity)
    {
      size_t capacity = choices->capacity * 2 + 32;
      Choice *more = realloc (choices->choices, capacity * sizeof *more);

      if (more == NULL)
        return choice.own;
      choices->choices = more;
      choices->capacity = capacity;
    }
  choices->choices[choices->n++] = choice;
  return choice.own;
}
