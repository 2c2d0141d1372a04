/* SPDX-License-Identifier: Apache-2.0 */

/* What a model learns from: a text as tokens, or images with their labels.
 * Sample i of step k is number k batch + i, counted around the file.
 *
 * Text.  Sample j is the tokens from j length on.  Decoders predict each
 * token's successor.  For bert and roberta, 15 % of the positions of a
 * sample (rounded, at least one) are to be told: 80 % of these show the mask
 * token, 10 % a random one, 10 % what was there (Devlin et al., 2018).  All
 * samples have equally many, so that micro-batches count alike.  Which, is a
 * function of the seed: position p of sample j has the bits
 *
 *   qm_philox (seed, seed >> 32, p, j, QM_SITE_MASKS, j >> 32)
 *
 * the positions with the least words 0 are told (the first of equals), word 1
 * times 10 / 2^32 is 0 to 7 for the mask, 8 for token (word 2 times vocabulary
 * size / 2^32), 9 for the token itself.
 *
 * Images.  A safetensors file with `pixel_values` [n, channels, height, width],
 * F32, F16, BF16 or F64, normalised as the model wants them, and `labels` [n],
 * I64, I32 or U8.  Pixels stay in the file until they are needed.  Of a student
 * with a teacher they are crops, all of an image after each other:
 * `pixel_values` those that both see, `local_pixel_values` those that the
 * student alone sees.  Pairs have no labels, but `input_ids` [n, tokens], as
 * the model wants them, with all padding. */

#ifndef QM_ENGINE_SAMPLES_H
#define QM_ENGINE_SAMPLES_H

#include "engine/executor.h"
#include "engine/safetensors.h"

/* Site of the random numbers that mask tokens; no graph hands it out. */
#define QM_SITE_MASKS UINT32_C (0x20000000)

typedef struct QmSamples
{
  int32_t *ids; /* tokens; NULL: images */
  size_t n;     /* tokens or images */
  /* For masked language models. */
  int32_t mask_token;
  uint64_t seed;
  /* Images. */
  QmSafetensors *file;
  const QmStoredTensor *pixels;
  const QmStoredTensor *local_pixels; /* NULL: there are none */
  int32_t *labels;
  int32_t *texts; /* of pairs, one behind the other; NULL: there are none */
} QmSamples;

/* Reads a file of bytes, each of which is a token, or with `wide` of tokens in
 * little-endian 16 bits each.  Every token has to be below `vocab`, and there
 * have to be `least` of them. */
QmStatus qm_samples_read_tokens (const char *path,
                                 bool wide,
                                 int64_t vocab,
                                 int64_t least,
                                 QmSamples *samples,
                                 QmError *error);

/* Opens a file of images of the size that a plan's model takes; every label has
 * to be one of its classes. */
QmStatus qm_samples_open_images (const char *path,
                                 const QmPlan *plan,
                                 QmSamples *samples,
                                 QmError *error);

/* Frees what the two functions above made. */
void qm_samples_clear (QmSamples *samples);

/* Sets the inputs of an executor to the micro-batch that begins with sample
 * number `first`. */
QmStatus qm_samples_load (const QmSamples *samples,
                          const QmPlan *plan,
                          QmExecutor *executor,
                          int64_t first,
                          QmError *error);

/* Turns the `length` tokens of sample number `sample` into what a masked
 * language model sees, in place, and fills in what it has to tell:
 * QM_IGNORE_LABEL elsewhere. */
QmStatus qm_samples_mask (const QmSamples *samples,
                          int64_t sample,
                          int64_t length,
                          int64_t vocab,
                          int32_t *ids,
                          int32_t *labels,
                          QmError *error);

#endif
