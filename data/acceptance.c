/* SPDX-License-Identifier: Apache-2.0 */

#include "data/acceptance.h"

#include "data/csv-table.h"
#include "data/json-source.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "quartermaster-acceptance-1"

/* No machine trains faster, in tokens a second. */
#define MOST_RATE 1e15

/* Copies a word that is not too long; "" where it is absent. */
static void
take_word (QmJsonObject *object,
           const char *name,
           bool required,
           char *to,
           size_t size)
{
  const char *text = qm_json_string (object, name, required);

  to[0] = '\0';
  if (text == NULL)
    return;
  if (text[0] == '\0' || strlen (text) >= size || !qm_text_is_line (text))
    qm_json_fail (object, name, QM_STATUS_INVALID,
                  "has to be a line of 1 to %zu bytes", size - 1);
  else
    strcpy (to, text);
}

static void
take_id (QmJsonObject *object, const char *name, char *to, size_t size)
{
  take_word (object, name, false, to, size);
  if (to[0] != '\0' && qm_id_problem (to) != NULL)
    qm_json_fail (object, name, QM_STATUS_INVALID, "%s", qm_id_problem (to));
}

/* A rate above 0. */
static double
take_rate (QmJsonObject *object, const char *name)
{
  double rate = qm_json_number (object, name, 0, MOST_RATE);

  if (!(rate > 0))
    qm_json_fail (object, name, QM_STATUS_INVALID, "has to be above 0");
  return rate;
}

/* How it is trained. */
static void
take_way (QmJsonObject *parent, QmAcceptanceTraining *training)
{
  QmJsonObject object;

  training->has_way = qm_json_has (parent, "method");
  if (!training->has_way)
    return;
  qm_json_enter (parent, "method", &object);
  take_word (&object, "settings", true, training->settings,
             sizeof training->settings);
  training->checkpointing =
      qm_json_boolean_or (&object, "checkpointing", false);
  training->offloading = qm_json_boolean_or (&object, "offloading", false);
  take_word (&object, "sharding", false, training->sharding,
             sizeof training->sharding);
  if (training->sharding[0] == '\0')
    strcpy (training->sharding, "none");
  if (training->offloading && strcmp (training->sharding, "none") == 0)
    qm_json_fail (&object, "offloading", QM_STATUS_INVALID,
                  "needs a sharding that says what is offloaded");
  parent->status = qm_json_finish (&object, NULL);
}

static void
take_predicted (QmJsonObject *parent, QmAcceptanceTraining *training)
{
  QmJsonObject object;

  training->predicted = training->low = training->high = NAN;
  if (!qm_json_has (parent, "predicted"))
    return;
  qm_json_enter (parent, "predicted", &object);
  training->predicted = take_rate (&object, "per_second");
  training->low = take_rate (&object, "low");
  training->high = take_rate (&object, "high");
  if (object.status == QM_OK
      && !(training->low <= training->predicted
           && training->predicted <= training->high))
    qm_json_fail (&object, "per_second", QM_STATUS_INVALID,
                  "is not between low and high");
  parent->status = qm_json_finish (&object, NULL);
}

static void
take_unit (QmJsonObject *object, QmAcceptanceTraining *training)
{
  const char *unit = qm_json_string (object, "unit", true);

  training->tokens = unit != NULL && strcmp (unit, "tokens") == 0;
  if (unit != NULL && !training->tokens && strcmp (unit, "samples") != 0)
    qm_json_fail (object, "unit", QM_STATUS_INVALID,
                  "is neither tokens nor samples");
}

static void
take_training (QmJsonObject *all, const char *name, QmAcceptance *acceptance)
{
  QmAcceptanceTraining *training = &acceptance->trainings[acceptance->n];
  QmJsonObject object;

  if (acceptance->n == QM_ACCEPTANCE_MAX)
    {
      qm_json_fail (all, name, QM_STATUS_INVALID, "is one too many");
      return;
    }
  if (qm_id_problem (name) != NULL || strlen (name) >= sizeof training->model)
    {
      qm_json_fail (all, "experiments", QM_STATUS_INVALID,
                    "has a name that is no model's");
      return;
    }
  memset (training, 0, sizeof *training);
  strcpy (training->model, name);
  qm_json_enter (all, name, &object);
  take_word (&object, "key", true, training->key, sizeof training->key);
  take_id (&object, "gpu", training->gpu, sizeof training->gpu);
  training->gpus =
      (int) qm_json_integer_or (&object, "gpus", 1, QM_ACCEPTANCE_MOST_GPUS, 0);
  take_unit (&object, training);
  training->guaranteed = take_rate (&object, "guaranteed_per_second");
  if (object.status == QM_OK)
    take_way (&object, training);
  if (object.status == QM_OK)
    take_predicted (&object, training);
  all->status = qm_json_finish (&object, NULL);
  acceptance->n++;
}

static void
take_acceptance (QmJsonObject *top, QmAcceptance *acceptance)
{
  const char *format = qm_json_string (top, "format", true);
  QmJsonObject all;
  const char *name;
  json_t *value;

  if (format != NULL && strcmp (format, FORMAT) != 0)
    qm_json_fail (top, "format", QM_STATUS_INVALID, "is not %s", FORMAT);
  take_word (top, "made_on", false, acceptance->made_on,
             sizeof acceptance->made_on);
  acceptance->tolerance =
      qm_json_number_or (top, "tolerance_percent", 0,
                         QM_ACCEPTANCE_MOST_TOLERANCE, QM_ACCEPTANCE_TOLERANCE);
  if (top->status != QM_OK)
    return;
  qm_json_enter (top, "experiments", &all);
  if (all.status == QM_OK)
    json_object_foreach (all.json, name, value)
    {
      if (all.status == QM_OK)
        take_training (&all, name, acceptance);
    }
  top->status = qm_json_finish (&all, NULL);
  if (top->status == QM_OK && acceptance->n == 0)
    qm_json_fail (top, "experiments", QM_STATUS_INVALID, "has none");
}

QmStatus
qm_acceptance_parse (const char *text,
                     size_t length,
                     const char *file,
                     QmAcceptance *acceptance,
                     QmError *error)
{
  const QmJsonText source = { text, length, file };
  QmJsonObject top;
  json_t *root;
  QmStatus status;

  memset (acceptance, 0, sizeof *acceptance);
  status = qm_json_parse (&source, &root, error);
  if (status != QM_OK)
    return status;
  qm_json_begin (&top, &source, root, error);
  take_acceptance (&top, acceptance);
  status = qm_json_finish (&top, NULL);
  json_decref (root);
  return status;
}

/* A number of six digits. */
static json_t *
number (double value)
{
  char text[32];

  snprintf (text, sizeof text, "%.6g", value);
  qm_number_parse (text, &value);
  return json_real (value);
}

static json_t *
training_json (const QmAcceptanceTraining *training)
{
  json_t *object = json_object (), *inner;

  json_object_set_new (object, "key", json_string (training->key));
  if (training->gpu[0] != '\0')
    json_object_set_new (object, "gpu", json_string (training->gpu));
  if (training->gpus > 0)
    json_object_set_new (object, "gpus", json_integer (training->gpus));
  json_object_set_new (object, "unit",
                       json_string (training->tokens ? "tokens" : "samples"));
  json_object_set_new (object, "guaranteed_per_second",
                       number (training->guaranteed));
  if (training->has_way)
    {
      inner = json_object ();
      json_object_set_new (inner, "settings", json_string (training->settings));
      json_object_set_new (inner, "checkpointing",
                           json_boolean (training->checkpointing));
      json_object_set_new (inner, "sharding", json_string (training->sharding));
      json_object_set_new (inner, "offloading",
                           json_boolean (training->offloading));
      json_object_set_new (object, "method", inner);
    }
  if (isfinite (training->predicted))
    {
      inner = json_object ();
      json_object_set_new (inner, "per_second", number (training->predicted));
      json_object_set_new (inner, "low", number (training->low));
      json_object_set_new (inner, "high", number (training->high));
      json_object_set_new (object, "predicted", inner);
    }
  return object;
}

char *
qm_acceptance_format (const QmAcceptance *acceptance)
{
  json_t *top = json_object (), *all = json_object ();
  char *text;

  json_object_set_new (top, "format", json_string (FORMAT));
  if (acceptance->made_on[0] != '\0')
    json_object_set_new (top, "made_on", json_string (acceptance->made_on));
  json_object_set_new (top, "tolerance_percent",
                       number (acceptance->tolerance));
  for (size_t i = 0; i < acceptance->n; i++)
    json_object_set_new (all, acceptance->trainings[i].model,
                         training_json (&acceptance->trainings[i]));
  json_object_set_new (top, "experiments", all);
  text = json_dumps (top, JSON_INDENT (2) | JSON_REAL_PRECISION (6));
  json_decref (top);
  return qm_text_end_line (text);
}

double
qm_acceptance_least (const QmAcceptance *acceptance,
                     const QmAcceptanceTraining *training)
{
  return training->guaranteed * (1 - acceptance->tolerance / 100);
}
