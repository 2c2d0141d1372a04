/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-bench-framework.h"

#include "data/json-source.h"
#include "data/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_TIME 1e-9
#define MOST_TIME  1e7
#define MOST_BYTES (INT64_C (1) << 60)

/* Copies text of one line; what is longer is refused. */
static void
read_text (QmJsonObject *object,
           const char *name,
           bool required,
           char *text,
           size_t size)
{
  const char *value = qm_json_string (object, name, required);

  text[0] = '\0';
  if (value == NULL)
    return;
  if (strlen (value) >= size || !qm_text_is_line (value))
    qm_json_fail (object, name, QM_STATUS_INVALID,
                  "is not a line of less than %zu characters", size);
  else
    strcpy (text, value);
}

static void
read_error (QmJsonObject *parent, QmAnswer *answer)
{
  static const struct
  {
    const char *name;
    QmStatus status;
  } kinds[] = { { "missing", QM_STATUS_NOT_FOUND },
                { "unsupported", QM_STATUS_UNSUPPORTED },
                { "device", QM_STATUS_DEVICE },
                { "failed", QM_STATUS_IO } };
  QmJsonObject object;
  char kind[32];

  qm_json_enter (parent, "error", &object);
  read_text (&object, "kind", true, kind, sizeof kind);
  read_text (&object, "message", true, answer->message, sizeof answer->message);
  answer->kind = QM_ANSWER_ERROR;
  answer->trouble = QM_OK;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp (kinds[i].name, kind) == 0)
      answer->trouble = kinds[i].status;
  if (answer->trouble == QM_OK)
    qm_json_fail (&object, "kind", QM_STATUS_INVALID, "is not known");
  parent->status = object.status;
}

static void
read_device (QmJsonObject *parent, const QmQuestion *question, QmAnswer *answer)
{
  QmDeviceInfo *info = &answer->device;
  QmJsonObject object;

  memset (info, 0, sizeof *info);
  qm_json_enter (parent, "device", &object);
  read_text (&object, "id", true, info->id, sizeof info->id);
  read_text (&object, "name", true, info->name, sizeof info->name);
  read_text (&object, "driver", false, info->driver, sizeof info->driver);
  info->processors = (int) qm_json_integer (&object, "processors", 1, 1000000);
  info->capability = info->target.architecture =
      (int) qm_json_integer (&object, "architecture", 0, 9999);
  info->memory_bytes =
      (uint64_t) qm_json_integer (&object, "memory_bytes", 1, MOST_BYTES);
  info->target.kind =
      strcmp (info->id, "cpu") == 0 ? QM_DEVICE_CPU : QM_DEVICE_CUDA;
  if (object.status == QM_OK && info->name[0] == '\0')
    qm_json_fail (&object, "name", QM_STATUS_INVALID, "is empty");
  if (object.status == QM_OK
      && (question->device != NULL ? strcmp (info->id, question->device) != 0
                                   : qm_target_is_gpu (&info->target)
                                         && strcmp (info->id, "cuda:0") != 0))
    qm_json_fail (&object, "id", QM_STATUS_INVALID,
                  "is not the device that was asked for");
  parent->status = object.status;
}

static void
read_framework (QmJsonObject *parent, QmAnswer *answer)
{
  QmJsonObject object;

  qm_json_enter (parent, "framework", &object);
  read_text (&object, "torch", true, answer->torch, sizeof answer->torch);
  read_text (&object, "transformers", true, answer->transformers,
             sizeof answer->transformers);
  read_text (&object, "cuda", false, answer->cuda, sizeof answer->cuda);
  read_text (&object, "python", false, answer->python, sizeof answer->python);
  read_text (&object, "deepspeed", false, answer->deepspeed,
             sizeof answer->deepspeed);
  if (object.status == QM_OK && answer->torch[0] == '\0')
    qm_json_fail (&object, "torch", QM_STATUS_INVALID, "is empty");
  parent->status = object.status;
}

/* In which type several devices sum gradients up: one that a results file may
 * have, or it could not be read again. */
static void
read_sums (QmJsonObject *object, const QmQuestion *question, QmAnswer *answer)
{
  const char *const words[] = { "", "fp32",
                                qm_precision_name (question->precision) };
  size_t i = 0;

  read_text (object, "sums", false, answer->sums, sizeof answer->sums);
  while (i < sizeof words / sizeof words[0]
         && strcmp (answer->sums, words[i]) != 0)
    i++;
  if (object->status == QM_OK && i == sizeof words / sizeof words[0])
    qm_json_fail (object, "sums", QM_STATUS_INVALID,
                  "is neither fp32 nor the precision");
}

static void
read_notes (QmJsonObject *object, QmAnswer *answer)
{
  json_t *array = qm_json_take (object, "notes");
  size_t n = json_array_size (array);

  answer->n_notes = 0;
  if (n > QM_ANSWER_NOTES)
    n = QM_ANSWER_NOTES;
  for (size_t i = 0; i < n; i++)
    {
      const char *text = json_string_value (json_array_get (array, i));

      if (text == NULL || strlen (text) >= sizeof answer->notes[0]
          || !qm_text_is_line (text))
        qm_json_fail (object, "notes", QM_STATUS_INVALID,
                      "are not short lines of text");
      else
        strcpy (answer->notes[answer->n_notes++], text);
    }
}

/* As many seconds as samples were asked for. */
static void
read_times (QmJsonObject *object,
            const char *name,
            double times[QM_ANSWER_SAMPLES])
{
  json_t *array = qm_json_take (object, name);

  if (json_array_size (array) != QM_ANSWER_SAMPLES)
    {
      qm_json_fail (object, name, QM_STATUS_INVALID, "are not %d times",
                    QM_ANSWER_SAMPLES);
      return;
    }
  for (size_t i = 0; i < QM_ANSWER_SAMPLES; i++)
    {
      json_t *item = json_array_get (array, i);

      times[i] = json_number_value (item);
      if (!json_is_number (item)
          || !(times[i] >= LEAST_TIME && times[i] <= MOST_TIME))
        qm_json_fail (object, name, QM_STATUS_INVALID,
                      "are not times of a pass or an update");
    }
}

static void
read_phases (QmJsonObject *parent, QmAnswer *answer)
{
  QmJsonObject object;

  qm_json_enter (parent, "phases_s", &object);
  answer->load = qm_json_number (&object, "load", 0, MOST_TIME);
  answer->search = qm_json_number (&object, "search", 0, MOST_TIME);
  answer->measure = qm_json_number (&object, "measure", 0, MOST_TIME);
  answer->total = qm_json_number (&object, "total", 0, MOST_TIME);
  parent->status = object.status;
}

/* A micro-batch that is the one that was asked for, or a power of two. */
static void
read_micro_batch (QmJsonObject *object,
                  const QmQuestion *question,
                  QmAnswer *answer)
{
  int64_t n = qm_json_integer (object, "micro_batch", 1,
                               question->batch_size / question->gpus);

  answer->micro_batch = n;
  if (object->status == QM_OK
      && (question->micro_batch > 0 ? n != question->micro_batch
                                    : (n & (n - 1)) != 0))
    qm_json_fail (object, "micro_batch", QM_STATUS_INVALID,
                  "is not what was asked for");
}

static void
read_shortage (QmJsonObject *object, QmAnswer *answer)
{
  char memory[16];

  read_text (object, "memory", true, memory, sizeof memory);
  answer->host_is_short = strcmp (memory, "host") == 0;
  if (!answer->host_is_short && strcmp (memory, "device") != 0)
    qm_json_fail (object, "memory", QM_STATUS_INVALID, "is not known");
  answer->needs_bytes = qm_json_integer (object, "needs_bytes", 0, MOST_BYTES);
  answer->available_bytes =
      qm_json_integer (object, "available_bytes", 0, MOST_BYTES);
}

static void
read_result (QmJsonObject *parent, const QmQuestion *question, QmAnswer *answer)
{
  QmJsonObject object;
  char status[16];

  qm_json_enter (parent, "result", &object);
  read_text (&object, "status", true, status, sizeof status);
  read_device (&object, question, answer);
  read_framework (&object, answer);
  read_micro_batch (&object, question, answer);
  read_text (&object, "attention", false, answer->attention,
             sizeof answer->attention);
  read_sums (&object, question, answer);
  read_notes (&object, answer);
  read_phases (&object, answer);
  if (strcmp (status, "measured") == 0)
    {
      answer->kind = QM_ANSWER_MEASURED;
      read_times (&object, "pass_s", answer->pass);
      read_times (&object, "update_s", answer->update);
      answer->used_bytes =
          qm_json_integer_or (&object, "used_bytes", 0, MOST_BYTES, -1);
    }
  else if (strcmp (status, "infeasible") == 0)
    {
      answer->kind = QM_ANSWER_INFEASIBLE;
      read_shortage (&object, answer);
    }
  else
    qm_json_fail (&object, "status", QM_STATUS_INVALID, "is not known");
  parent->status = object.status;
}

QmStatus
qm_bench_read_answer (const char *line,
                      const char *name,
                      const QmQuestion *question,
                      QmAnswer *answer,
                      QmError *error)
{
  QmJsonText source = { line, strlen (line), "" };
  QmError ours = { 0 };
  QmJsonObject object;
  json_t *root;
  QmStatus status = qm_json_parse (&source, &root, &ours);

  if (status == QM_OK)
    {
      qm_json_begin (&object, &source, root, &ours);
      if (qm_json_has (&object, "result"))
        read_result (&object, question, answer);
      else if (qm_json_has (&object, "error"))
        read_error (&object, answer);
      else
        {
          answer->kind = QM_ANSWER_PROGRESS;
          answer->progress = qm_json_number (&object, "progress", 0, 1);
          read_text (&object, "note", false, answer->note, sizeof answer->note);
        }
      status = object.status;
      json_decref (root);
    }
  if (status == QM_OK)
    return QM_OK;
  return qm_error_set (error, status, name, 0, 0,
                       "gave an answer that is none: %s", ours.message);
}
