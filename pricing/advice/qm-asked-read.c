/* SPDX-License-Identifier: Apache-2.0 */

/* From the text of a file to a question.  What data/json-source.h says of a
 * field that is wrong is the error. */

#include "config.h"

#include "pricing/advice/qm-asked-private.h"

#include "data/json-source.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define NAME_MAX_BYTES 200
#define MONEY_MAX      1e12
#define LEAST          1e-6 /* of what must be above zero */
#define HOUR_MAX       1e6
#define VALUE_MAX      1e9

static void
wrong (QmJsonObject *object, const char *name, const char *what)
{
  qm_json_fail (object, name, QM_STATUS_INVALID, "%s", what);
}

/* A list of at most QM_ASKED_MAX_LINES, or NULL. */
static json_t *
take_list (QmJsonObject *object, const char *name)
{
  json_t *list = qm_json_take (object, name);

  if (list == NULL)
    return NULL;
  if (!json_is_array (list))
    wrong (object, name, "is not a list");
  else if (json_array_size (list) > QM_ASKED_MAX_LINES)
    wrong (object, name, "has too many entries");
  else
    return list;
  return NULL;
}

/* Whether a text may be an id. */
static gboolean
is_name (const char *text)
{
  gsize length = text != NULL ? strlen (text) : 0;

  if (length == 0 || length > NAME_MAX_BYTES)
    return FALSE;
  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p))
      return FALSE;
  return TRUE;
}

/* Each name once; NULL where the list is not there.  (transfer full) */
static GStrv
take_names (QmJsonObject *object, const char *name)
{
  json_t *list = take_list (object, name);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (list == NULL)
    return NULL;
  for (size_t i = 0; i < json_array_size (list); i++)
    {
      const char *text = json_string_value (json_array_get (list, i));

      if (!is_name (text))
        wrong (object, name, "is not a list of names");
      else if (g_ptr_array_find_with_equal_func (names, text, g_str_equal,
                                                 NULL))
        wrong (object, name, "has a name twice");
      else
        g_ptr_array_add (names, g_strdup (text));
    }
  g_ptr_array_add (names, NULL);
  return (GStrv) g_ptr_array_steal (names, NULL);
}

static const char *
take_name (QmJsonObject *object, const char *name)
{
  const char *text = qm_json_string (object, name, true);

  if (object->status == QM_OK && !is_name (text))
    wrong (object, name, "is not a name");
  return text;
}

/* A number above zero; NaN where it is absent. */
static double
take_positive (QmJsonObject *object, const char *name, double most)
{
  return qm_json_number_or (object, name, LEAST, most, NAN);
}

/* The i-th object of a list; FALSE: it is none. */
static gboolean
enter_item (QmJsonObject *parent,
            const char *section,
            json_t *list,
            size_t i,
            QmJsonObject *item)
{
  json_t *json = json_array_get (list, i);

  if (parent->status != QM_OK)
    return FALSE;
  if (!json_is_object (json))
    {
      wrong (parent, section, "is not a list of objects");
      return FALSE;
    }
  *item = (QmJsonObject){ .source = parent->source,
                          .json = json,
                          .parent = parent,
                          .section = section,
                          .error = parent->error };
  return TRUE;
}

static void
read_runs (QmJsonObject *object, QmQuestion *question)
{
  json_t *list = take_list (object, "runs");
  QmJsonObject run;

  if (list != NULL && json_array_size (list) == 0)
    wrong (object, "runs", "is empty");
  for (size_t i = 0; i < json_array_size (list); i++)
    {
      const char *model;
      double runs;

      if (!enter_item (object, "runs", list, i, &run))
        return;
      model = take_name (&run, "model");
      runs = qm_json_number (&run, "runs_per_year", LEAST, QM_ASKED_RUNS_MAX);
      object->status = qm_json_finish (&run, NULL);
      if (object->status == QM_OK)
        qm_question_add_run (question, model, runs);
    }
}

static void
read_uses (QmJsonObject *object, QmQuestion *question)
{
  json_t *list = take_list (object, "use");
  QmJsonObject use;

  for (size_t i = 0; i < json_array_size (list); i++)
    {
      const char *gpu;
      int gpus;
      double hour, walltime;

      if (!enter_item (object, "use", list, i, &use))
        return;
      gpu = take_name (&use, "gpu");
      gpus = (int) qm_json_integer (&use, "gpus", 1, QM_ASKED_GPUS_MAX);
      hour = qm_json_number_or (&use, "hour_usd", 0, HOUR_MAX, 0);
      walltime = take_positive (&use, "walltime_hours", QM_ASKED_WALLTIME_MAX);
      object->status = qm_json_finish (&use, NULL);
      if (object->status == QM_OK)
        qm_question_add_use (question, gpu, gpus,
                             llround (hour * QM_MICROS_PER_UNIT), walltime);
    }
}

/* An amount above zero in minor units; -1 where it is absent. */
static gint64
take_amount (QmJsonObject *object, const char *name, const char *currency)
{
  double major = take_positive (object, name, MONEY_MAX);
  gint64 minor;

  if (!qm_known (major))
    return -1;
  minor = qm_money_from_double (major, currency).minor;
  if (minor < 1)
    wrong (object, name, "is less than the smallest coin");
  return minor;
}

static void
read_money (QmJsonObject *object, QmPurse *purse)
{
  QmJsonObject money;
  const char *currency;

  if (!qm_json_has (object, "money"))
    return;
  qm_json_enter (object, "money", &money);
  currency = qm_json_string (&money, "currency", true);
  if (currency != NULL && !qm_currency_valid (currency))
    wrong (&money, "currency", "is no code such as EUR");
  if (money.status == QM_OK && currency != NULL)
    g_strlcpy (purse->currency, currency, sizeof purse->currency);
  purse->tax_percent =
      qm_json_number_or (&money, "tax_percent", 0, QM_PURSE_TAX_MAX, 0);
  purse->gross = qm_json_boolean_or (&money, "gross", false);
  purse->budget_minor = take_amount (&money, "budget", purse->currency);
  purse->machine_least = take_amount (&money, "machine_least", purse->currency);
  purse->machine_most = take_amount (&money, "machine_most", purse->currency);
  purse->tax_free =
      purse->tax_percent == 0 && qm_json_has (&money, "tax_percent");
  if (purse->gross && purse->tax_percent == 0 && !purse->tax_free)
    wrong (&money, "gross", "needs a tax_percent");
  if (purse->machine_most >= 0 && purse->machine_least > purse->machine_most)
    wrong (&money, "machine_least", "is more than machine_most");
  object->status = qm_json_finish (&money, NULL);
}

static void
read_counts (QmJsonObject *object, QmQuestion *question)
{
  json_t *list = take_list (object, "gpus");

  if (list == NULL)
    return;
  question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  for (size_t i = 0; i < json_array_size (list); i++)
    {
      json_t *json = json_array_get (list, i);
      json_int_t value = json_integer_value (json);
      int count = (int) CLAMP (value, 0, QM_ASKED_GPUS_MAX);

      if (!json_is_integer (json) || value < 1 || value > QM_ASKED_GPUS_MAX)
        wrong (object, "gpus", "is not a list of numbers from 1 to 1024");
      g_array_append_val (question->counts, count);
    }
}

static void
read_kinds (QmJsonObject *object, QmQuestion *question)
{
  static const struct
  {
    const char *name;
    QmMachineKinds kinds;
  } all[] = { { "all", QM_KINDS_ALL },
              { "desktop", QM_KINDS_DESKTOP },
              { "server", QM_KINDS_SERVER },
              { "none", 0 } };
  const char *name = qm_json_string (object, "machine", false);

  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (all); i++)
    if (strcmp (all[i].name, name) == 0)
      {
        question->kinds = all[i].kinds;
        return;
      }
  if (name != NULL)
    wrong (object, "machine", "is none of all, desktop, server and none");
}

/* A name, or watts. */
static void
read_room (QmJsonObject *object, QmQuestion *question)
{
  json_t *json = json_object_get (object->json, "room");
  const char *name;

  if (!json_is_string (json))
    {
      question->room_watts =
          qm_json_number_or (object, "room", LEAST, QM_ASKED_ROOM_MAX,
                             question->room_watts);
      return;
    }
  name = qm_json_string (object, "room", true);
  for (int i = 0; name != NULL && i < QM_N_ROOMS; i++)
    if (strcmp (qm_room_name ((QmRoom) i), name) == 0)
      {
        question->room_watts = qm_room_watts ((QmRoom) i);
        return;
      }
  wrong (object, "room", "is no power of a room");
}

static void
read_choice (QmJsonObject *object, QmQuestion *question, int choice)
{
  const QmAskedChoice *about = &qm_asked_choices[choice];
  const char *name = qm_json_string (object, about->field, false);

  if (name == NULL)
    return;
  for (int i = 0; i < about->n; i++)
    if (strcmp (about->name (i), name) == 0)
      {
        qm_asked_set_choice (question, choice, i);
        return;
      }
  wrong (object, about->field, "is unknown");
}

static void
read_parts (QmJsonObject *object, QmOwnershipSettings *ownership)
{
  g_auto (GStrv) parts = take_names (object, "parts");

  for (guint i = 0; parts != NULL && parts[i] != NULL; i++)
    {
      QmOwnershipParts part = qm_ownership_part_of_name (parts[i]);

      if (part == 0)
        wrong (object, "parts", "names no part of a cost");
      ownership->parts |= part;
    }
}

/* Whether costs can be computed with it. */
static gboolean
is_sound (const QmOwnershipSettings *ownership)
{
  const QmOwned probe = { .price = { .minor = 100000, .currency = "USD" },
                          .machines = 1,
                          .gpus = 1,
                          .gpu_watts = 100 };
  QmOwnership sum;

  return qm_ownership_compute (ownership, &probe, &sum, NULL);
}

/* Each by its key, as on a command line. */
static void
read_values (QmJsonObject *object, QmOwnershipSettings *ownership)
{
  json_t *values = qm_json_take (object, "values");
  const char *key;
  json_t *json;

  if (values != NULL && !json_is_object (values))
    wrong (object, "values", "is not an object");
  json_object_foreach (values, key, json)
  {
    double value = json_number_value (json);
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    if (!json_is_number (json) || !(fabs (value) <= VALUE_MAX)
        || strcmp (key, "lifetime") == 0)
      {
        wrong (object, "values", "has what is no assumption and its number");
        return;
      }
    g_ascii_formatd (text, sizeof text, "%.6f", value);
    if (!qm_ownership_settings_set (ownership, key, text, NULL)
        || !is_sound (ownership))
      {
        wrong (object, "values", "has what is no assumption and its number");
        return;
      }
  }
}

static void
read_ownership (QmJsonObject *object, QmQuestion *question)
{
  QmOwnershipSettings ownership = qm_ownership_settings_default ();
  QmJsonObject owned;

  if (!qm_json_has (object, "ownership"))
    return;
  qm_json_enter (object, "ownership", &owned);
  read_parts (&owned, &ownership);
  read_values (&owned, &ownership);
  object->status = qm_json_finish (&owned, NULL);
  if (object->status != QM_OK)
    return;
  if (question->purse.tax_percent > 0
      && (ownership.parts & QM_OWNERSHIP_TAX) != 0)
    wrong (object, "ownership", "counts tax, which money has already");
  ownership.lifetime_years = question->lifetime_years;
  qm_question_set_ownership (question, &ownership);
}

/* On which terms. */
static void
read_terms (QmJsonObject *object, QmQuestion *question)
{
  for (int i = 0; i < QM_ASKED_N_CHOICES; i++)
    read_choice (object, question, i);
  question->any_price = qm_json_boolean_or (object, "any_price", false);
  question->expired_offers =
      qm_json_boolean_or (object, "expired_quotes", false);
  question->lifetime_years =
      qm_json_number_or (object, "lifetime_years", LEAST, QM_ASKED_YEARS_MAX,
                         QM_LIFETIME_DEFAULT);
  question->time_factor =
      qm_json_number_or (object, "time_factor", QM_TIME_FACTOR_MIN,
                         QM_TIME_FACTOR_MAX, QM_TIME_FACTOR_DEFAULT);
  question->slack_percent = qm_json_number_or (object, "slack_percent", 0,
                                               QM_SLACK_MAX, QM_SLACK_DEFAULT);
  read_room (object, question);
  read_ownership (object, question);
  if (qm_json_boolean_or (object, "as_in_the_paper", false))
    {
      for (guint i = 0; i < object->n_read; i++)
        if (g_strv_contains (
                (const char *const[]){ "times_of", "predictions", "link",
                                       "any_price", "room", "lifetime_years",
                                       "time_factor", "slack_percent",
                                       "ownership", "expired_quotes", NULL },
                object->read[i])
            && qm_json_has (object, object->read[i]))
          wrong (object, object->read[i], "does not go with as_in_the_paper");
      if (!qm_purse_is_plain (&question->purse)
          || question->purse.machine_least >= 0
          || question->purse.machine_most >= 0)
        wrong (object, "money", "has more than USD, as_in_the_paper does not");
      qm_question_set_as_in_paper (question);
    }
}

static void
read_head (QmJsonObject *object)
{
  const char *format = qm_json_string (object, "format", true);
  gint64 version;

  if (object->status == QM_OK && strcmp (format, QM_ASKED_FORMAT) != 0)
    wrong (object, "format", "is not quartermaster-question");
  version = qm_json_integer (object, "version", 1, G_MAXINT);
  if (object->status == QM_OK && version > QM_ASKED_VERSION)
    wrong (object, "version", "is of a newer version of the program");
}

static void
read_all (QmJsonObject *object, QmAsked *asked)
{
  QmQuestion *question = asked->question;

  read_head (object);
  g_strfreev (asked->models);
  asked->models = take_names (object, "models");
  read_runs (object, question);
  if (asked->models == NULL)
    asked->models = g_new0 (char *, 1);
  if (object->status == QM_OK
      && (asked->models[0] != NULL) == qm_question_is_portfolio (question))
    wrong (object, "models", "or runs is needed, one of them");
  question->at_once =
      (int) qm_json_integer_or (object, "at_once", 1, QM_ASKED_AT_ONCE_MAX, 1);
  question->deadline_days =
      take_positive (object, "deadline_days", QM_ASKED_DAYS_MAX);
  question->run_deadline_days =
      take_positive (object, "run_deadline_days", QM_ASKED_DAYS_MAX);
  read_money (object, &question->purse);
  question->gpus = take_names (object, "gpu");
  read_counts (object, question);
  read_kinds (object, question);
  read_uses (object, question);
  read_terms (object, question);
}

static void
set_error (GError **error, const QmError *problem)
{
  if (problem->line > 0)
    g_set_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_FORMAT, "%s:%d:%d: %s",
                 problem->file, problem->line, problem->column,
                 problem->message);
  else
    g_set_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_FORMAT, "%s: %s",
                 problem->file, problem->message);
}

QmAsked *
qm_asked_read (const char *text, gsize length, const char *name, GError **error)
{
  g_autoptr (QmAsked) asked = NULL;
  QmJsonText source = { text, length, name };
  QmError problem = { 0 };
  QmJsonObject object;
  json_t *root;

  g_return_val_if_fail (text != NULL && name != NULL, NULL);

  if (length > QM_ASKED_MAX_BYTES)
    {
      g_set_error (error, QM_ASKED_ERROR, QM_ASKED_ERROR_FORMAT,
                   _ ("%s: is too large for a question"), name);
      return NULL;
    }
  if (qm_json_parse (&source, &root, &problem) != QM_OK)
    {
      set_error (error, &problem);
      return NULL;
    }
  asked = qm_asked_new (NULL, NULL);
  qm_json_begin (&object, &source, root, &problem);
  read_all (&object, asked);
  if (qm_json_finish (&object, NULL) != QM_OK)
    {
      set_error (error, &problem);
      g_clear_pointer (&asked, qm_asked_free);
    }
  json_decref (root);
  return g_steal_pointer (&asked);
}
