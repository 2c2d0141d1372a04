/* SPDX-License-Identifier: Apache-2.0 */

/* From a question to the text of a file. */

#include "config.h"

#include "pricing/advice/qm-asked-private.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every decimal of so many digits survives the way into a double and back. */
#define DIGITS 15

static const char *
name_of_times (int value)
{
  return qm_times_of_name ((QmTimesOf) value);
}

static const char *
name_of_predictions (int value)
{
  return qm_predictions_name ((QmPredictions) value);
}

static const char *
name_of_link (int value)
{
  return qm_gpu_link_name ((QmGpuLink) value);
}

static const char *
name_of_settings (int value)
{
  return qm_settings_name ((QmSettings) value);
}

/* The publication's times are asked for by "as_in_the_paper". */
const QmAskedChoice qm_asked_choices[QM_ASKED_N_CHOICES] = {
  { "times_of", name_of_times, QM_TIMES_OF_PUBLICATION },
  { "predictions", name_of_predictions, QM_N_PREDICTIONS },
  { "link", name_of_link, QM_N_GPU_LINKS },
  { "settings", name_of_settings, QM_N_SETTINGS },
};

/* The value of a choice in a question. */
static int
get_choice (const QmQuestion *question, int choice)
{
  switch (choice)
    {
    case QM_ASKED_TIMES_OF:
      return (int) question->times_of;
    case QM_ASKED_PREDICTIONS:
      return (int) question->predictions;
    case QM_ASKED_LINK:
      return (int) question->link;
    case QM_ASKED_SETTINGS:
    default:
      return (int) question->settings;
    }
}

void
qm_asked_set_choice (QmQuestion *question, int choice, int value)
{
  switch (choice)
    {
    case QM_ASKED_TIMES_OF:
      question->times_of = (QmTimesOf) value;
      break;
    case QM_ASKED_PREDICTIONS:
      question->predictions = (QmPredictions) value;
      break;
    case QM_ASKED_LINK:
      question->link = (QmGpuLink) value;
      break;
    case QM_ASKED_SETTINGS:
    default:
      question->settings = (QmSettings) value;
      break;
    }
}

static void
add_member (json_t *object, const char *name, json_t *value)
{
  json_object_set_new (object, name, value);
}

/* A number, as a whole one where it is that. */
static json_t *
number (double value)
{
  return value == floor (value) && fabs (value) < 1e15
             ? json_integer ((json_int_t) value)
             : json_real (value);
}

static json_t *
strings (const char *const *texts)
{
  json_t *array = json_array ();

  for (guint i = 0; texts[i] != NULL; i++)
    json_array_append_new (array, json_string (texts[i]));
  return array;
}

static void
add_runs (json_t *root, const QmQuestion *question)
{
  json_t *array = json_array ();

  for (guint i = 0; i < question->runs->len; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);
      json_t *row = json_object ();

      add_member (row, "model", json_string (run->model));
      add_member (row, "runs_per_year", number (run->runs_per_year));
      json_array_append_new (array, row);
    }
  add_member (root, "runs", array);
}

static json_t *
amount (const QmPurse *purse, gint64 minor)
{
  QmMoney money = { .minor = minor };

  g_strlcpy (money.currency, purse->currency, sizeof money.currency);
  return number (qm_money_to_double (money));
}

static void
add_money (json_t *root, const QmPurse *purse)
{
  json_t *object = json_object ();

  add_member (object, "currency", json_string (purse->currency));
  if (purse->budget_minor >= 0)
    add_member (object, "budget", amount (purse, purse->budget_minor));
  if (purse->tax_percent > 0 || purse->tax_free)
    add_member (object, "tax_percent", number (purse->tax_percent));
  if (purse->gross)
    add_member (object, "gross", json_true ());
  if (purse->machine_least >= 0)
    add_member (object, "machine_least", amount (purse, purse->machine_least));
  if (purse->machine_most >= 0)
    add_member (object, "machine_most", amount (purse, purse->machine_most));
  add_member (root, "money", object);
}

static void
add_filters (json_t *root, const QmQuestion *question)
{
  json_t *array;

  if (question->gpus != NULL)
    add_member (root, "gpu", strings ((const char *const *) question->gpus));
  if (question->counts != NULL)
    {
      array = json_array ();
      for (guint i = 0; i < question->counts->len; i++)
        json_array_append_new (
            array, json_integer (g_array_index (question->counts, int, i)));
      add_member (root, "gpus", array);
    }
  if (question->kinds == QM_KINDS_DESKTOP)
    add_member (root, "machine", json_string ("desktop"));
  else if (question->kinds == QM_KINDS_SERVER)
    add_member (root, "machine", json_string ("server"));
}

static void
add_uses (json_t *root, const GArray *uses)
{
  json_t *array = json_array ();

  for (guint i = 0; i < uses->len; i++)
    {
      const QmUse *use = &g_array_index (uses, QmUse, i);
      json_t *row = json_object ();

      add_member (row, "gpu", json_string (use->gpu));
      add_member (row, "gpus", json_integer (use->gpus));
      if (use->hour_micros > 0)
        add_member (row, "hour_usd",
                    number ((double) use->hour_micros / QM_MICROS_PER_UNIT));
      if (qm_known (use->walltime_hours))
        add_member (row, "walltime_hours", number (use->walltime_hours));
      json_array_append_new (array, row);
    }
  add_member (root, "use", array);
}

static void
add_room (json_t *root, double watts)
{
  for (int i = 0; i < QM_N_ROOMS; i++)
    if (watts == qm_room_watts ((QmRoom) i))
      {
        if (i != QM_ROOM_THREE_PHASES)
          add_member (root, "room", json_string (qm_room_name ((QmRoom) i)));
        return;
      }
  add_member (root, "room", number (watts));
}

/* What differs from the defaults, and the parts that count. */
static void
add_ownership (json_t *root, const QmOwnershipSettings *ownership)
{
  g_autoptr (GPtrArray) assumptions = qm_ownership_assumptions (ownership);
  json_t *object = json_object ();
  json_t *parts = json_array ();
  json_t *values = json_object ();

  for (guint part = 1; part <= QM_OWNERSHIP_ALL; part <<= 1)
    if ((ownership->parts & part) != 0)
      json_array_append_new (parts, json_string (qm_ownership_part_name (
                                        (QmOwnershipParts) part)));
  for (guint i = 0; i < assumptions->len; i++)
    {
      const QmAssumption *assumption = g_ptr_array_index (assumptions, i);

      /* The lifetime is the question's. */
      if (assumption->changed && strcmp (assumption->key, "lifetime") != 0)
        add_member (values, assumption->key,
                    number (qm_ownership_get (ownership, assumption->key)));
    }
  add_member (object, "parts", parts);
  if (json_object_size (values) > 0)
    add_member (object, "values", values);
  else
    json_decref (values);
  add_member (root, "ownership", object);
}

static void
add_terms (json_t *root, const QmQuestion *question)
{
  for (int i = 0; i < QM_ASKED_N_CHOICES; i++)
    {
      int value = get_choice (question, i);

      if (value > 0 && value < qm_asked_choices[i].n)
        add_member (root, qm_asked_choices[i].field,
                    json_string (qm_asked_choices[i].name (value)));
    }
  if (question->any_price)
    add_member (root, "any_price", json_true ());
  if (question->expired_offers)
    add_member (root, "expired_quotes", json_true ());
  if (question->lifetime_years != QM_LIFETIME_DEFAULT)
    add_member (root, "lifetime_years", number (question->lifetime_years));
  if (question->time_factor != QM_TIME_FACTOR_DEFAULT)
    add_member (root, "time_factor", number (question->time_factor));
  if (question->slack_percent != QM_SLACK_DEFAULT)
    add_member (root, "slack_percent", number (question->slack_percent));
  add_room (root, question->room_watts);
  if (question->ownership != NULL)
    add_ownership (root, question->ownership);
}

char *
qm_asked_write (const QmAsked *asked)
{
  const QmQuestion *question;
  json_t *root = json_object ();
  g_autofree char *line = NULL;
  char *text;

  g_return_val_if_fail (asked != NULL, NULL);

  question = asked->question;
  add_member (root, "format", json_string (QM_ASKED_FORMAT));
  add_member (root, "version", json_integer (QM_ASKED_VERSION));
  if (qm_question_is_portfolio (question))
    add_runs (root, question);
  else
    add_member (root, "models", strings ((const char *const *) asked->models));
  if (question->at_once != 1)
    add_member (root, "at_once", json_integer (question->at_once));
  if (qm_known (question->deadline_days))
    add_member (root, "deadline_days", number (question->deadline_days));
  if (qm_known (question->run_deadline_days))
    add_member (root, "run_deadline_days",
                number (question->run_deadline_days));
  add_money (root, &question->purse);
  add_filters (root, question);
  if (question->uses != NULL && question->uses->len > 0)
    add_uses (root, question->uses);
  /* It has terms of its own. */
  if (question->as_in_paper)
    add_member (root, "as_in_the_paper", json_true ());
  else
    add_terms (root, question);
  text = json_dumps (root, JSON_INDENT (2) | JSON_PRESERVE_ORDER
                               | JSON_REAL_PRECISION (DIGITS));
  json_decref (root);
  line = text != NULL ? g_strconcat (text, "\n", NULL) : NULL;
  free (text);
  return g_steal_pointer (&line);
}
