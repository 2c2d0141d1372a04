/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/samples.h"

#include "data/family.h"
#include "data/file.h"
#include "kernels/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 4 GiB of text are more than anybody watches. */
#define MAX_BYTES (UINT64_C (1) << 32)

#define MASKED_SHARE 0.15

static QmStatus
check_tokens (const char *path,
              int64_t vocab,
              const QmSamples *samples,
              QmError *error)
{
  for (size_t i = 0; i < samples->n; i++)
    if (samples->ids[i] >= vocab)
      return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                           "token %zu is %d, and the vocabulary has %lld", i,
                           (int) samples->ids[i], (long long) vocab);
  return QM_OK;
}

static QmStatus
read_tokens (FILE *stream,
             const char *path,
             bool wide,
             int64_t vocab,
             QmSamples *samples,
             QmError *error)
{
  unsigned char block[8192];
  const size_t width = wide ? 2 : 1, most = sizeof block / width;

  for (size_t done = 0; done < samples->n;)
    {
      size_t left = samples->n - done, n = left < most ? left : most;
      int32_t *ids = samples->ids + done;

      if (fread (block, width, n, stream) != n)
        return qm_error_set (error, QM_STATUS_IO, path, 0, 0, "cannot be read");
      for (size_t i = 0; i < n; i++)
        ids[i] = wide ? block[2 * i] | block[2 * i + 1] << 8 : block[i];
      done += n;
    }
  return check_tokens (path, vocab, samples, error);
}

QmStatus
qm_samples_read_tokens (const char *path,
                        bool wide,
                        int64_t vocab,
                        int64_t least,
                        QmSamples *samples,
                        QmError *error)
{
  FILE *stream;
  uint64_t size = 0;
  QmStatus status = qm_file_open (path, &stream, &size, error);

  *samples = (QmSamples){ NULL };
  if (status == QM_OK && size > MAX_BYTES)
    status =
        qm_error_set (error, QM_STATUS_IO, path, 0, 0, "is larger than 4 GiB");
  samples->n = (size_t) size / (wide ? 2 : 1);
  if (status == QM_OK && (int64_t) samples->n < least)
    status = qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                           "has %zu tokens; a sample needs %lld", samples->n,
                           (long long) least);
  if (status == QM_OK)
    {
      samples->ids = malloc ((samples->n + 1) * sizeof *samples->ids);
      status = samples->ids != NULL
                   ? read_tokens (stream, path, wide, vocab, samples, error)
                   : qm_error_no_memory (error);
    }
  if (stream != NULL)
    fclose (stream);
  if (status != QM_OK)
    qm_samples_clear (samples);
  return status;
}

/* The tensor of images that are what `value` is, as many of each sample as
 * that has. */
static QmStatus
find_pixels (const char *path,
             const QmPlan *plan,
             QmSamples *samples,
             QmValueId value,
             const QmStoredTensor **pixels,
             QmError *error)
{
  const char *name = qm_graph_get (plan->graph, value)->name;
  const int64_t *size = qm_graph_tensor (plan->graph, value)->shape;
  int64_t each = size[0] / plan->options.micro_batch;

  *pixels = qm_safetensors_find (samples->file, name);
  if (*pixels == NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, path, 0, 0,
                         "there is no tensor '%s'", name);
  if ((*pixels)->rank != 4 || (*pixels)->shape[0] < 1
      || (*pixels)->shape[0] % each != 0
      || memcmp ((*pixels)->shape + 1, size + 1, 3 * sizeof *size) != 0)
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "tensor '%s' does not have the shape "
                         "[%s, %lld, %lld, %lld]%s",
                         name, each > 1 ? "crops" : "images",
                         (long long) size[1], (long long) size[2],
                         (long long) size[3],
                         each > 1 ? ", with all crops of each image" : "");
  if (samples->n > 0 && (int64_t) samples->n != (*pixels)->shape[0] / each)
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "tensor '%s' is not of as many images as "
                         "'pixel_values'",
                         name);
  samples->n = (size_t) ((*pixels)->shape[0] / each);
  return QM_OK;
}

static QmStatus
find_images (const char *path,
             const QmPlan *plan,
             QmSamples *samples,
             const QmStoredTensor **labels,
             QmError *error)
{
  const QmGraph *graph = plan->graph;
  QmStatus status =
      find_pixels (path, plan, samples, graph->pixels, &samples->pixels, error);

  if (status == QM_OK && graph->local_pixels != QM_NO_VALUE)
    status = find_pixels (path, plan, samples, graph->local_pixels,
                          &samples->local_pixels, error);
  if (status != QM_OK || graph->labels == QM_NO_VALUE)
    return status;
  *labels = qm_safetensors_find (samples->file, "labels");
  if (*labels == NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, path, 0, 0,
                         "there is no tensor 'labels'");
  if ((*labels)->rank != 1 || (*labels)->shape[0] != samples->pixels->shape[0])
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "tensor 'labels' does not have the shape [%lld]",
                         (long long) samples->pixels->shape[0]);
  return QM_OK;
}

/* Texts that go with the images. */
static QmStatus
read_texts (const char *path,
            const QmGraph *graph,
            QmSamples *samples,
            QmError *error)
{
  const QmTensor *ids = qm_graph_tensor (graph, graph->ids);
  const QmStoredTensor *stored =
      qm_safetensors_find (samples->file, "input_ids");
  int64_t shape[2] = { (int64_t) samples->n, ids->shape[1] };

  if (stored == NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, path, 0, 0,
                         "there is no tensor 'input_ids'");
  if (!qm_stored_has_shape (stored, 2, shape))
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "tensor 'input_ids' does not have the shape "
                         "[%lld, %lld]",
                         (long long) shape[0], (long long) shape[1]);
  samples->texts =
      malloc ((size_t) (stored->elements + 1) * sizeof *samples->texts);
  return samples->texts != NULL
             ? qm_safetensors_read_ints (samples->file, stored, 0,
                                         (int32_t) qm_graph_classes (graph) - 1,
                                         samples->texts, error)
             : qm_error_no_memory (error);
}

QmStatus
qm_samples_open_images (const char *path,
                        const QmPlan *plan,
                        QmSamples *samples,
                        QmError *error)
{
  const QmGraph *graph = plan->graph;
  int64_t classes = qm_graph_classes (graph);
  const QmStoredTensor *labels = NULL;
  QmStatus status;

  *samples = (QmSamples){ NULL };
  status = qm_safetensors_open (path, &samples->file, error);
  if (status == QM_OK)
    status = find_images (path, plan, samples, &labels, error);
  if (status == QM_OK && labels != NULL)
    {
      samples->labels = malloc ((samples->n + 1) * sizeof *samples->labels);
      status = samples->labels != NULL
                   ? qm_safetensors_read_ints (samples->file, labels, 0,
                                               (int32_t) classes - 1,
                                               samples->labels, error)
                   : qm_error_no_memory (error);
    }
  if (status == QM_OK && graph->ids != QM_NO_VALUE)
    status = read_texts (path, graph, samples, error);
  if (status != QM_OK)
    qm_samples_clear (samples);
  return status;
}

void
qm_samples_clear (QmSamples *samples)
{
  free (samples->ids);
  free (samples->labels);
  free (samples->texts);
  qm_safetensors_close (samples->file);
  *samples = (QmSamples){ NULL };
}

/* A position of a sample, to be sorted. */
typedef struct Draw
{
  QmRandomBits bits;
  int64_t position;
} Draw;

static int
compare_draws (const void *a, const void *b)
{
  const Draw *x = a, *y = b;

  if (x->bits.word[0] != y->bits.word[0])
    return x->bits.word[0] < y->bits.word[0] ? -1 : 1;
  return x->position < y->position ? -1 : x->position > y->position;
}

/* A whole number below `n`. */
static int64_t
below (uint32_t word, int64_t n)
{
  return (int64_t) ((uint64_t) word * (uint64_t) n >> 32);
}

QmStatus
qm_samples_mask (const QmSamples *samples,
                 int64_t sample,
                 int64_t length,
                 int64_t vocab,
                 int32_t *ids,
                 int32_t *labels,
                 QmError *error)
{
  int64_t chosen = (int64_t) (MASKED_SHARE * (double) length + 0.5);
  Draw *draws = malloc ((size_t) (length + 1) * sizeof *draws);

  if (draws == NULL)
    return qm_error_no_memory (error);
  for (int64_t i = 0; i < length; i++)
    {
      draws[i].position = i;
      draws[i].bits =
          qm_philox ((uint32_t) samples->seed, (uint32_t) (samples->seed >> 32),
                     (uint32_t) i, (uint32_t) sample, QM_SITE_MASKS,
                     (uint32_t) ((uint64_t) sample >> 32));
      labels[i] = QM_IGNORE_LABEL;
    }
  qsort (draws, (size_t) length, sizeof *draws, compare_draws);
  for (int64_t i = 0; i < (chosen > 1 ? chosen : 1); i++)
    {
      int64_t position = draws[i].position;
      int64_t kind = below (draws[i].bits.word[1], 10);

      labels[position] = ids[position];
      if (kind < 8)
        ids[position] = samples->mask_token;
      else if (kind == 8)
        ids[position] = (int32_t) below (draws[i].bits.word[2], vocab);
    }
  free (draws);
  return QM_OK;
}

static QmStatus
load_tokens (const QmSamples *samples,
             const QmPlan *plan,
             QmExecutor *executor,
             int64_t first,
             QmError *error)
{
  const QmGraph *graph = plan->graph;
  int64_t length = plan->recipe.sequence_length, n = plan->options.micro_batch;
  int64_t vocab = qm_graph_tensor (graph, graph->logits)->shape[1];
  bool masked = qm_family_info (plan->config.family)->objective
                == QM_OBJECTIVE_MASKED_TOKENS;
  int32_t *ids = malloc ((size_t) (2 * n * length) * sizeof *ids);
  int32_t *labels = ids != NULL && masked ? ids + n * length : ids;
  QmStatus status = ids != NULL ? QM_OK : qm_error_no_memory (error);

  for (int64_t i = 0; i < n && status == QM_OK; i++)
    {
      for (int64_t j = 0; j < length; j++)
        ids[i * length + j] =
            samples->ids[(size_t) ((first + i) * length + j) % samples->n];
      if (masked)
        status = qm_samples_mask (samples, first + i, length, vocab,
                                  ids + i * length, labels + i * length, error);
    }
  if (status == QM_OK)
    status = qm_executor_write_ints (executor, graph->ids, ids, error);
  if (status == QM_OK)
    status = qm_executor_write_ints (executor, graph->labels, labels, error);
  free (ids);
  return status;
}

/* Of the samples of a micro-batch from `first` on. */
static QmStatus
load_pixels (const QmSamples *samples,
             const QmStoredTensor *stored,
             const QmPlan *plan,
             QmExecutor *executor,
             QmValueId value,
             int64_t first,
             QmError *error)
{
  int64_t n = plan->options.micro_batch;
  int64_t size = stored->elements / (int64_t) samples->n;
  QmStoredTensor image = *stored;
  float *pixels = malloc ((size_t) (n * size) * sizeof *pixels);
  QmStatus status = pixels != NULL ? QM_OK : qm_error_no_memory (error);

  image.elements = size;
  image.bytes /= samples->n;
  for (int64_t i = 0; i < n && status == QM_OK; i++)
    {
      size_t index = (size_t) (first + i) % samples->n;

      image.begin = stored->begin + index * image.bytes;
      status = qm_safetensors_read_floats (samples->file, &image,
                                           pixels + i * size, error);
      for (int64_t j = 0; j < size && status == QM_OK; j++)
        if (!isfinite (pixels[i * size + j]))
          status =
              qm_error_set (error, QM_STATUS_INVALID, "", 0, 0,
                            "image %zu has a pixel that is not finite", index);
    }
  if (status == QM_OK)
    status = qm_executor_write_floats (executor, value, pixels, error);
  free (pixels);
  return status;
}

/* Labels, or texts: a row a sample. */
static QmStatus
load_rows (const QmSamples *samples,
           const int32_t *rows,
           const QmPlan *plan,
           QmExecutor *executor,
           QmValueId value,
           int64_t first,
           QmError *error)
{
  const int64_t *shape = qm_graph_tensor (plan->graph, value)->shape;
  size_t each = (size_t) shape[1];
  int32_t *chosen = malloc ((size_t) shape[0] * each * sizeof *chosen);
  QmStatus status;

  if (chosen == NULL)
    return qm_error_no_memory (error);
  for (int64_t i = 0; i < shape[0]; i++)
    memcpy (chosen + (size_t) i * each,
            rows + (size_t) (first + i) % samples->n * each,
            each * sizeof *chosen);
  status = qm_executor_write_ints (executor, value, chosen, error);
  free (chosen);
  return status;
}

static QmStatus
load_images (const QmSamples *samples,
             const QmPlan *plan,
             QmExecutor *executor,
             int64_t first,
             QmError *error)
{
  const QmGraph *graph = plan->graph;
  QmStatus status = load_pixels (samples, samples->pixels, plan, executor,
                                 graph->pixels, first, error);

  if (status == QM_OK && samples->local_pixels != NULL)
    status = load_pixels (samples, samples->local_pixels, plan, executor,
                          graph->local_pixels, first, error);
  if (status == QM_OK && graph->ids != QM_NO_VALUE)
    status = load_rows (samples, samples->texts, plan, executor, graph->ids,
                        first, error);
  if (status == QM_OK && graph->labels != QM_NO_VALUE)
    status = load_rows (samples, samples->labels, plan, executor, graph->labels,
                        first, error);
  return status;
}

QmStatus
qm_samples_load (const QmSamples *samples,
                 const QmPlan *plan,
                 QmExecutor *executor,
                 int64_t first,
                 QmError *error)
{
  if (samples->ids != NULL)
    return load_tokens (samples, plan, executor, first, error);
  return load_images (samples, plan, executor, first, error);
}
