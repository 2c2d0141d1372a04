/* SPDX-License-Identifier: Apache-2.0 */

#include "data/results.h"

#include "data/identity.h"
#include "data/json-skim.h"
#include "data/json-source.h"
#include "data/pool.h"
#include "data/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STRING 255
#define MAX_REASON 1023
#define MAX_GPUS   1000000
#define MOST_BYTES (INT64_C (1) << 60)
#define MOST_BATCH (INT64_C (1) << 40)
#define LEAST_TIME 1e-12
#define MOST_TIME  1e15

struct QmResults
{
  QmPool pool;
  QmList list; /* QmResult, by key */
};

/* One line while it is read. */
typedef struct Line
{
  QmPool *pool;
  QmJsonObject object;
  QmResult *result;
} Line;

static const char *const status_words[] = { "measured", "infeasible", "failed",
                                            "cut" };
static const char *const transport_words[] = { "nccl", "host", "sockets" };
static const char *const sharding_words[] = { "none",   "zero_1", "zero_2",
                                              "zero_3", "fsdp_2", "fsdp_3" };
static const char *const precision_words[] = { "fp32", "fp16", "bf16", "fp8" };
static const char *const memory_words[] = { "device", "host" };

#define N_WORDS(words) (sizeof (words) / sizeof (words)[0])

QmResults *
qm_results_new (void)
{
  QmResults *results = calloc (1, sizeof *results);

  if (results != NULL)
    qm_list_init (&results->list, sizeof (QmResult));
  return results;
}

void
qm_results_free (QmResults *results)
{
  if (results == NULL)
    return;
  qm_list_clear (&results->list);
  qm_pool_clear (&results->pool);
  free (results);
}

/* A string of the pool; empty where the field is absent. */
static const char *
read_string (Line *line,
             QmJsonObject *object,
             const char *name,
             bool required,
             size_t most)
{
  const char *text = qm_json_string (object, name, required);
  const char *copy;

  if (text == NULL)
    return "";
  if (strlen (text) > most)
    {
      qm_json_fail (object, name, QM_STATUS_INVALID,
                    "is longer than %zu characters", most);
      return "";
    }
  if (!qm_text_is_line (text))
    {
      qm_json_fail (object, name, QM_STATUS_INVALID,
                    "has a control character in it");
      return "";
    }
  copy = qm_pool_string (line->pool, text);
  if (copy != NULL)
    return copy;
  qm_json_fail (object, name, QM_STATUS_NO_MEMORY, "out of memory");
  return "";
}

/* Some text, required. */
static const char *
read_name (Line *line, QmJsonObject *object, const char *name)
{
  const char *text = read_string (line, object, name, true, MAX_STRING);

  if (text[0] == '\0')
    qm_json_fail (object, name, QM_STATUS_INVALID, "is empty");
  return text;
}

/* The index of one of some words, required. */
static size_t
read_required_word (QmJsonObject *object,
                    const char *name,
                    const char *const *words,
                    size_t n)
{
  const char *text = qm_json_string (object, name, true);
  char quoted[QM_QUOTE_BYTES];

  if (text == NULL)
    return 0;
  for (size_t i = 0; i < n; i++)
    if (strcmp (text, words[i]) == 0)
      return i;
  qm_json_fail (object, name, QM_STATUS_INVALID, "%s is not known",
                qm_text_quote (text, quoted));
  return 0;
}

static bool
read_switch (QmJsonObject *object, const char *name)
{
  if (!qm_json_has (object, name))
    qm_json_fail (object, name, QM_STATUS_INVALID, "is missing");
  return qm_json_boolean_or (object, name, false);
}

static int64_t
read_bytes (QmJsonObject *object, const char *name)
{
  return qm_json_integer_or (object, name, 0, MOST_BYTES, -1);
}

/* Whether a field is an object that can be entered; if not, nothing is said. */
static bool
has_object (const QmJsonObject *object, const char *name)
{
  return json_is_object (json_object_get (object->json, name));
}

/* A number in a section, both of which may be absent. */
static double
read_within (QmJsonObject *parent, const char *section, const char *name)
{
  QmJsonObject object;
  double value;

  if (!has_object (parent, section))
    return NAN;
  qm_json_enter (parent, section, &object);
  value = qm_json_number_or (&object, name, 0, MOST_TIME, NAN);
  parent->status = object.status;
  return value;
}

static int64_t
read_bytes_within (QmJsonObject *parent, const char *section, const char *name)
{
  QmJsonObject object;
  int64_t value;

  if (!has_object (parent, section))
    return -1;
  qm_json_enter (parent, section, &object);
  value = read_bytes (&object, name);
  parent->status = object.status;
  return value;
}

/* Digits where `form` has them, else what it has. */
static bool
has_form (const char *text, const char *form)
{
  for (; *form != '\0'; text++, form++)
    if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
      return false;
  return *text == '\0';
}

static void
read_time (Line *line)
{
  QmResult *r = line->result;
  char day[11] = "";

  r->time = read_name (line, &line->object, "time");
  if (line->object.status != QM_OK)
    return;
  memcpy (day, r->time, strnlen (r->time, sizeof day - 1));
  if (!has_form (r->time, "0000-00-00T00:00:00Z")
      || !qm_date_parse (day, &r->measured_on)
      || strncmp (r->time + 11, "24", 2) >= 0 || r->time[14] > '5'
      || r->time[17] > '6')
    qm_json_fail (&line->object, "time", QM_STATUS_INVALID,
                  "is not a time as 2026-11-21T06:40:00Z");
}

static void
read_model_of_line (Line *line)
{
  QmResult *r = line->result;

  r->model = read_name (line, &line->object, "model");
  r->model_key = read_name (line, &line->object, "model_key");
  if (line->object.status == QM_OK
      && (strlen (r->model_key) != 16
          || strspn (r->model_key, "0123456789abcdef") != 16))
    qm_json_fail (&line->object, "model_key", QM_STATUS_INVALID,
                  "is not 16 hexadecimal digits");
}

static void
read_device_of_line (Line *line)
{
  QmResult *r = line->result;
  QmJsonObject device;

  qm_json_enter (&line->object, "device", &device);
  r->device = read_name (line, &device, "name");
  r->driver = read_string (line, &device, "driver", false, MAX_STRING);
  r->architecture =
      (int) qm_json_integer_or (&device, "architecture", 0, 9999, 0);
  r->memory_bytes = read_bytes (&device, "memory_bytes");
  line->object.status = device.status;
  r->gpu = read_string (line, &line->object, "gpu", false, MAX_STRING);
}

/* Adds one of the GPUs of a machine to those before it. */
static void
add_gpu (Line *line, QmJsonObject *machine, const json_t *gpu)
{
  const char *text = json_string_value (gpu);
  const char *before = line->result->machine_gpus;

  if (text == NULL || !qm_identity_is_valid (text))
    {
      qm_json_fail (machine, "gpus", QM_STATUS_INVALID,
                    "has something that is not 32 hexadecimal digits");
      return;
    }
  text = qm_pool_format (line->pool, "%s%s%s", before,
                         before[0] != '\0' ? " " : "", text);
  if (text != NULL)
    line->result->machine_gpus = text;
  else
    qm_json_fail (machine, "gpus", QM_STATUS_NO_MEMORY, "out of memory");
}

/* Which machine it is of; lines of before have none. */
static void
read_machine (Line *line)
{
  QmResult *r = line->result;
  QmJsonObject machine;
  json_t *gpus;

  if (!qm_json_has (&line->object, "machine"))
    return;
  qm_json_enter (&line->object, "machine", &machine);
  r->machine = read_string (line, &machine, "id", false, MAX_STRING);
  if (r->machine[0] != '\0' && !qm_identity_is_valid (r->machine))
    qm_json_fail (&machine, "id", QM_STATUS_INVALID,
                  "is not 32 hexadecimal digits");
  gpus = qm_json_take (&machine, "gpus");
  if (gpus != NULL
      && (!json_is_array (gpus) || json_array_size (gpus) > QM_IDENTITY_GPUS))
    qm_json_fail (&machine, "gpus", QM_STATUS_INVALID,
                  "is not a list of up to %d GPUs", QM_IDENTITY_GPUS);
  for (size_t i = 0; machine.status == QM_OK && i < json_array_size (gpus); i++)
    add_gpu (line, &machine, json_array_get (gpus, i));
  line->object.status = machine.status;
}

/* The versions of what a framework is made of, as one text. */
static const char *
read_framework (Line *line)
{
  QmJsonObject f;
  const char *torch, *transformers, *cuda, *text;

  qm_json_enter (&line->object, "framework", &f);
  torch = read_name (line, &f, "torch");
  transformers = read_string (line, &f, "transformers", false, MAX_STRING);
  cuda = read_string (line, &f, "cuda", false, MAX_STRING);
  line->object.status = f.status;
  text = qm_pool_format (line->pool, "torch %s%s%s%s%s", torch,
                         transformers[0] != '\0' ? ", transformers " : "",
                         transformers, cuda[0] != '\0' ? ", cuda " : "", cuda);
  if (text != NULL)
    return text;
  qm_json_fail (&line->object, "framework", QM_STATUS_NO_MEMORY,
                "out of memory");
  return "";
}

/* The version of our own engine. */
static const char *
read_version (Line *line)
{
  const char *version = read_name (line, &line->object, "version");
  const char *products, *text;
  QmJsonObject device;

  qm_json_enter (&line->object, "device", &device);
  products = read_string (line, &device, "products", false, MAX_STRING);
  if (line->object.status == QM_OK)
    line->object.status = device.status;
  if (strcmp (products, "own") != 0)
    return version;
  text = qm_pool_format (line->pool, "%s" QM_RESULT_OWN_PRODUCTS, version);
  if (text != NULL)
    return text;
  qm_json_fail (&line->object, "version", QM_STATUS_NO_MEMORY, "out of memory");
  return "";
}

static void
read_engine (Line *line)
{
  QmResult *r = line->result;

  r->engine = read_name (line, &line->object, "engine");
  r->version = qm_json_has (&line->object, "framework") ? read_framework (line)
                                                        : read_version (line);
}

/* How a training in FP8 was one. */
static void
read_fp8 (Line *line)
{
  static const char *const scales[] = { "tensor", "row" };
  static const char *const amax[] = { "current", "delayed" };
  static const char *const gradients[] = { "e5m2", "e4m3" };
  QmJsonObject *object = &line->object;
  QmResult *r = line->result;

  if (strcmp (r->precision, "fp8") != 0)
    return;
  r->fp8_scales = scales[read_required_word (object, "fp8_scales", scales, 2)];
  r->fp8_amax = amax[read_required_word (object, "fp8_amax", amax, 2)];
  r->fp8_gradients =
      gradients[read_required_word (object, "fp8_gradients", gradients, 2)];
  if (strcmp (r->fp8_scales, "row") == 0
      && strcmp (r->fp8_amax, "delayed") == 0)
    qm_json_fail (object, "fp8_amax", QM_STATUS_INVALID,
                  "is not delayed where each row has a scale");
}

/* Older lines are without. */
static void
read_sums (Line *line)
{
  QmJsonObject *object = &line->object;
  QmResult *r = line->result;

  if (!qm_json_has (object, "sums"))
    return;
  r->sums = precision_words[read_required_word (object, "sums", precision_words,
                                                N_WORDS (precision_words))];
  if (object->status == QM_OK && strcmp (r->sums, "fp32") != 0
      && strcmp (r->sums,
                 strcmp (r->precision, "fp8") == 0 ? "bf16" : r->precision)
             != 0)
    qm_json_fail (object, "sums", QM_STATUS_INVALID,
                  "is neither fp32 nor the precision");
}

/* How GPUs exchanged, by what was asked for and what NCCL was told. */
static QmResultPath
read_path (QmJsonObject *object, const QmResult *r)
{
  bool forced = qm_json_boolean_or (object, "no_peer", false);
  QmResultPath path =
      strcmp (r->transport, "host") == 0 ? QM_PATH_HOST : QM_PATH_OWN;
  json_t *variables = json_object_get (object->json, "nccl"), *value;
  const char *name;

  if (r->gpus == 1 || r->architecture == 0)
    return QM_PATH_OWN;
  json_object_foreach (variables, name, value)
  {
    const char *text = json_string_value (value);
    QmResultPath one =
        text != NULL ? qm_result_variable_path (name, text) : QM_PATH_OWN;

    path = one > path ? one : path;
  }
  return forced ? QM_PATH_FORCED : path;
}

static void
read_method (Line *line)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789+-_";
  QmJsonObject *object = &line->object;
  QmResult *r = line->result;

  r->gpus = (int) qm_json_integer (object, "gpus", 1, MAX_GPUS);
  r->nodes = (int) qm_json_integer_or (object, "nodes", 1, MAX_GPUS, 1);
  if (r->gpus % r->nodes != 0)
    qm_json_fail (object, "nodes", QM_STATUS_INVALID,
                  "cannot have equally many of %d GPUs", r->gpus);
  if (qm_json_has (object, "transport"))
    r->transport = transport_words[read_required_word (
        object, "transport", transport_words, N_WORDS (transport_words))];
  r->path = read_path (object, r);
  r->tried = has_object (object, "transport_trial");
  r->settings = read_name (line, object, "settings");
  if (r->settings[strspn (r->settings, letters)] != '\0')
    qm_json_fail (object, "settings", QM_STATUS_INVALID,
                  "is no name of settings");
  r->checkpointing = read_switch (object, "checkpointing");
  r->offloading = read_switch (object, "offloading");
  r->sharding =
      sharding_words[read_required_word (object, "sharding", sharding_words,
                                         N_WORDS (sharding_words))];
  if (r->offloading && strcmp (r->sharding, "none") == 0)
    qm_json_fail (object, "offloading", QM_STATUS_INVALID,
                  "needs a sharding that says how");
  r->micro_batch = qm_json_integer (object, "micro_batch", 1, MOST_BATCH);
  r->accumulation =
      qm_json_integer_or (object, "accumulation", 1, MOST_BATCH, 1);
  r->deterministic = qm_json_boolean_or (object, "deterministic", false);
  r->precision =
      precision_words[read_required_word (object, "precision", precision_words,
                                          N_WORDS (precision_words))];
  read_fp8 (line);
  read_sums (line);
}

static void
read_times (Line *line)
{
  QmJsonObject *object = &line->object;
  QmResult *r = line->result;
  QmJsonObject step;

  r->days = qm_json_number (object, "days", LEAST_TIME, MOST_TIME);
  qm_json_enter (object, "step", &step);
  r->step = qm_json_number (&step, "mean_s", LEAST_TIME, MOST_TIME);
  object->status = step.status;
  r->pass = read_within (object, "pass", "mean_s");
  r->update = read_within (object, "update", "mean_s");
  r->tflops = qm_json_number_or (object, "model_tflops", 0, MOST_TIME, NAN);
  r->mfu = qm_json_number_or (object, "mfu", 0, MOST_TIME, NAN);
  r->watts = read_within (object, "energy", "watts");
  r->training_kwh = read_within (object, "energy", "training_kwh");
}

static void
read_memory (Line *line)
{
  QmJsonObject *object = &line->object;
  QmResult *r = line->result;

  r->planned_bytes = read_bytes_within (object, "memory_bytes", "total");
  r->host_bytes = read_bytes_within (object, "memory_bytes", "host");
  r->used_bytes = read_bytes_within (object, "memory_use", "used_bytes");
  r->cost = read_within (object, "phases_s", "total");
}

static void
read_shortage (Line *line)
{
  QmJsonObject *object = &line->object;
  QmResult *r = line->result;

  r->host_is_short = read_required_word (object, "memory", memory_words,
                                         N_WORDS (memory_words))
                     == 1;
  r->needs_bytes = qm_json_integer (object, "needs_bytes", 0, MOST_BYTES);
  r->available_bytes =
      qm_json_integer (object, "available_bytes", 0, MOST_BYTES);
  r->memory_limit = read_bytes (object, "memory_limit_bytes");
  r->host_limit = read_bytes (object, "host_limit_bytes");
}

static void
read_fields (Line *line)
{
  QmJsonObject *object = &line->object;
  QmResult *r = line->result;
  int64_t schema = qm_json_integer (object, "schema", 0, INT64_MAX);

  if (object->status == QM_OK && schema != QM_RESULTS_SCHEMA)
    qm_json_fail (object, "schema", QM_STATUS_UNSUPPORTED,
                  "%lld is not known, only %d; it may be of a newer version",
                  (long long) schema, QM_RESULTS_SCHEMA);
  r->status =
      (QmResultStatus) read_required_word (object, "status", status_words,
                                           N_WORDS (status_words));
  read_time (line);
  read_model_of_line (line);
  read_device_of_line (line);
  read_machine (line);
  read_engine (line);
  read_method (line);
  read_memory (line);
  if (r->status == QM_RESULT_MEASURED)
    read_times (line);
  else
    {
      r->reason = read_string (line, object, "reason", true, MAX_REASON);
      if (r->status == QM_RESULT_INFEASIBLE)
        read_shortage (line);
    }
}

/* What of a line's larger parts the functions above read.  Most of a line is
 * for who studies that measurement, and stays in its text. */
static const QmJsonPart parts[] = {
  { "device",
    { "name", "driver", "architecture", "memory_bytes", "products" } },
  { "memory_bytes", { "total", "host" } },
  { "memory_use", { "used_bytes" } },
  { "phases_s", { "total" } },
  { "energy", { "watts", "training_kwh" } },
  { "pass", { "mean_s" } },
  { "update", { "mean_s" } },
  { "step", { "mean_s" } },
  { "allocated_bytes", { NULL } },
  { "last_pass", { NULL } },
  { "provenance", { NULL } },
  { "ranks", { NULL } },
  { "repeat", { NULL } },
  { "seed", { NULL } },
  { "steps", { NULL } },
  { "watch", { NULL } },
};

/* The object of a line, at least with what is read of it. */
static QmStatus
parse_read_parts (const QmJsonText *source, json_t **root, QmError *error)
{
  char *copy = malloc (source->length + 1);
  QmJsonText read = { copy, 0, source->file };
  QmStatus status = QM_STATUS_PARSE;

  if (copy == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, source->file, 0, 0,
                         "out of memory");
  read.length = qm_json_skim (source->text, source->length, parts,
                              sizeof parts / sizeof parts[0], copy);
  if (read.length > 0)
    status = qm_json_parse (&read, root, error);
  free (copy);
  /* What is wrong is told by its place in the line. */
  return status == QM_STATUS_PARSE ? qm_json_parse (source, root, error)
                                   : status;
}

/* Reads one line, which is not terminated. */
static QmStatus
read_line (QmPool *pool,
           const char *text,
           size_t length,
           const char *file,
           QmResult *result,
           QmError *error)
{
  QmJsonText source = { text, length, file };
  Line line = { .pool = pool, .result = result };
  char key[QM_RESULT_KEY_BYTES];
  char *copy;
  json_t *root;
  QmStatus status;

  *result = qm_result_nothing ();
  if (length > QM_RESULTS_MAX_LINE)
    return qm_error_set (error, QM_STATUS_PARSE, file, 0, 0,
                         "the line is longer than %zu KiB",
                         QM_RESULTS_MAX_LINE / 1024);
  status = qm_text_check (text, length, file, error);
  if (status == QM_OK)
    status = parse_read_parts (&source, &root, error);
  if (status != QM_OK)
    return status;
  qm_json_begin (&line.object, &source, root, error);
  read_fields (&line);
  status = line.object.status;
  json_decref (root);
  if (status != QM_OK)
    return status;
  copy = qm_pool_alloc (pool, length + 1);
  result->file = qm_pool_string (pool, file);
  result->key = qm_result_key (result, key) ? qm_pool_string (pool, key) : NULL;
  if (copy == NULL || result->file == NULL || result->key == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, file, 0, 0,
                         "out of memory");
  memcpy (copy, text, length);
  result->text = copy;
  return QM_OK;
}

/* What tells nothing about a training that a measurement does not. */
static bool
says_less (const QmResult *result)
{
  return result->status == QM_RESULT_FAILED || result->status == QM_RESULT_CUT;
}

bool
qm_result_replaces (const QmResult *result, const QmResult *known)
{
  if (says_less (result) && known->status == QM_RESULT_MEASURED)
    return false;
  if (says_less (known) && result->status == QM_RESULT_MEASURED)
    return true;
  /* A file is written from its beginning to its end, whatever clocks say. */
  if (strcmp (result->file, known->file) == 0)
    return true;
  return strcmp (result->time, known->time) >= 0;
}

static QmStatus
add_result (QmList *list, const QmResult *result, QmError *error)
{
  size_t at = qm_list_find (list, result->key);
  QmResult *item;

  if (at != QM_LIST_NONE)
    {
      item = qm_list_item (list, at);
      if (qm_result_replaces (result, item))
        *item = *result;
      return QM_OK;
    }
  item = qm_list_add (list, result->key);
  if (item == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, result->file, 0, 0,
                         "out of memory");
  *item = *result;
  return QM_OK;
}

static bool
is_blank (const char *text, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
      return false;
  return true;
}

/* Whether what does not end may be a line that a program was killed in. */
static bool
is_broken_off (const char *text)
{
  return text[0] == '{';
}

static size_t
skip_mark (const char *text, size_t length)
{
  return length >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Reads all lines into an empty set. */
static QmStatus
parse_lines (QmResults *results,
             const char *text,
             size_t length,
             const char *file,
             size_t *whole,
             QmError *error)
{
  size_t at = skip_mark (text, length);

  *whole = at;
  for (int number = 1; at < length; number++)
    {
      const char *end = memchr (text + at, '\n', length - at);
      size_t n = end != NULL ? (size_t) (end - (text + at)) : length - at;
      QmError problem = { 0 };
      QmResult result;
      QmStatus status = QM_OK;

      if (!is_blank (text + at, n))
        {
          status =
              read_line (&results->pool, text + at, n, file, &result, &problem);
          if (status == QM_STATUS_PARSE && end == NULL
              && is_broken_off (text + at))
            return QM_OK;
          result.line = number;
          if (status == QM_OK)
            status = add_result (&results->list, &result, &problem);
        }
      if (status != QM_OK)
        return qm_error_set (error, status, file, number,
                             problem.line == 1 ? problem.column : 1, "%s",
                             problem.message);
      at += n + (end != NULL);
      *whole = at;
    }
  return QM_OK;
}

QmStatus
qm_results_parse (QmResults *results,
                  const char *text,
                  size_t length,
                  const char *file,
                  size_t *whole,
                  QmError *error)
{
  QmResults fresh = { 0 };
  QmStatus status;

  qm_list_init (&fresh.list, sizeof (QmResult));
  status = parse_lines (&fresh, text, length, file, whole, error);
  if (status == QM_OK)
    qm_pool_take (&results->pool, &fresh.pool);
  for (size_t i = 0; i < fresh.list.n && status == QM_OK; i++)
    status = add_result (&results->list, qm_list_item (&fresh.list, i), error);
  qm_list_clear (&fresh.list);
  qm_pool_clear (&fresh.pool);
  return status;
}

QmStatus
qm_results_read (QmResults *results,
                 const char *path,
                 size_t *whole,
                 size_t *length,
                 QmError *error)
{
  char *text;
  size_t size, used;
  QmStatus status =
      qm_text_read_bytes (path, QM_RESULTS_MAX_BYTES, &text, &size, error);

  if (status != QM_OK)
    return status;
  status = qm_results_parse (results, text, size, path, &used, error);
  free (text);
  if (whole != NULL)
    *whole = used;
  if (length != NULL)
    *length = size;
  return status;
}

const QmResult *
qm_results_list (const QmResults *results, size_t *n)
{
  *n = results->list.n;
  return *n > 0 ? qm_list_item (&results->list, 0) : NULL;
}

const QmResult *
qm_results_find (const QmResults *results, const char *key)
{
  size_t at = qm_list_find (&results->list, key);

  return at != QM_LIST_NONE ? qm_list_item (&results->list, at) : NULL;
}
