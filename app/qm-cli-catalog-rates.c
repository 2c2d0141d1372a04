/* SPDX-License-Identifier: Apache-2.0 */

/* "quartermaster catalog rates": what predictions are fitted to, and how each
 * stands beside them. */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli.h"
#include "data/datadir.h"
#include "data/training-rates.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <limits.h>

struct _QmCliTrained
{
  QmTrainingRates *rates;
  GPtrArray *lines;   /* of qm-bench; NULL: it says nothing */
  GHashTable *audits; /* which of them is of which id */
};

static gboolean
load (QmCliTrained *trained, GError **error)
{
  char folder[PATH_MAX];
  QmError trouble = { 0 };

  if (!qm_data_dir (folder, sizeof folder))
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_CATALOG,
                           _ ("the path of the catalog is too long"));
      return FALSE;
    }
  if (qm_training_rates_load (folder, &trained->rates, &trouble) == QM_OK)
    return TRUE;
  if (trouble.line > 0)
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_CATALOG, "%s:%d:%d: %s",
                 trouble.file, trouble.line, trouble.column, trouble.message);
  else
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_CATALOG, "%s: %s",
                 trouble.file, trouble.message);
  return FALSE;
}

static void
ask_for_audits (QmCliTrained *trained)
{
  g_autoptr (GError) error = NULL;
  size_t n;

  qm_training_rates_list (trained->rates, &n);
  if (n == 0)
    return;
  trained->lines = qm_cli_forecast_ask (
      (const char *[]){ "predict", "--rates", "--json", NULL }, &error);
  if (trained->lines == NULL)
    {
      QmError trouble;

      qm_error_set (&trouble, QM_STATUS_UNSUPPORTED, "", 0, 0,
                    /* Translators: why, a sentence. */
                    _ ("nothing is predicted of these rates: %s"),
                    error->message);
      qm_cli_warn (&trouble);
    }
  for (guint i = 0; trained->lines != NULL && i < trained->lines->len; i++)
    {
      json_t *line = g_ptr_array_index (trained->lines, i);
      const char *id = json_string_value (json_object_get (line, "id"));

      if (id != NULL)
        g_hash_table_insert (trained->audits, (gpointer) id, line);
    }
}

QmCliTrained *
qm_cli_trained_new (GError **error)
{
  g_autoptr (QmCliTrained) trained = g_new0 (QmCliTrained, 1);

  trained->audits = g_hash_table_new (g_str_hash, g_str_equal);
  if (!load (trained, error))
    return NULL;
  ask_for_audits (trained);
  return g_steal_pointer (&trained);
}

void
qm_cli_trained_free (QmCliTrained *trained)
{
  g_hash_table_unref (trained->audits);
  g_clear_pointer (&trained->lines, g_ptr_array_unref);
  qm_training_rates_free (trained->rates);
  g_free (trained);
}

/* What was said of a rate; NULL: nothing. */
static json_t *
audit_of (const QmCliTrained *trained,
          const QmTrainingRate *rate,
          const char *name)
{
  return json_object_get (g_hash_table_lookup (trained->audits, rate->id),
                          name);
}

static double
audit_number (const QmCliTrained *trained,
              const QmTrainingRate *rate,
              const char *name)
{
  json_t *number = audit_of (trained, rate, name);

  return json_is_number (number) ? json_number_value (number) : NAN;
}

/* In the user's language; NULL: nobody said any. */
static const char *
verdict_of (const QmCliTrained *trained, const QmTrainingRate *rate)
{
  const char *word = json_string_value (audit_of (trained, rate, "verdict"));

  if (*rate->defect != '\0')
    return rate->defect;
  for (int i = 0; word != NULL && i <= QM_VERDICT_UNKNOWN; i++)
    if (g_str_equal (word, qm_verdict_name ((QmVerdict) i)))
      return qm_prose_verdict_name ((QmVerdict) i);
  return NULL;
}

static char *
rate_text (double samples_per_s)
{
  return qm_known (samples_per_s)
             ? qm_format_number (samples_per_s, samples_per_s < 100 ? 2 : 0)
             : NULL;
}

static void
add_rate_row (QmCliTable *table,
              const QmCliTrained *trained,
              const QmTrainingRate *rate)
{
  double share = audit_number (trained, rate, "utilization");
  g_autofree char *gpus = g_strdup_printf ("%d", rate->gpus);
  g_autofree char *number = rate_text (rate->samples_per_s);
  g_autofree char *predicted =
      rate_text (audit_number (trained, rate, "predicted"));
  g_autofree char *utilization =
      qm_known (share) ? qm_format_percent (share) : NULL;

  qm_cli_table_add_row (table,
                        *rate->defect != '\0'               ? QM_CLI_FAINT
                        : share > QM_IMPOSSIBLE_UTILIZATION ? QM_CLI_BAD
                                                            : QM_CLI_PLAIN,
                        (const char *[]){
                            rate->id, rate->level, rate->model, rate->gpu, gpus,
                            number, predicted, utilization,
                            verdict_of (trained, rate),
                            rate->reported ? C_ ("provenance", "reported")
                                           : C_ ("provenance", "measured"),
                            rate->software, rate->source });
}

QmCliTable *
qm_cli_trained_table (const QmCliTrained *trained, gboolean sources)
{
  const QmCliColumn columns[] = {
    { _ ("Rate"), .drop = 2 },
    { _ ("Level") },
    { _ ("Model"), .shrink = 12 },
    { _ ("GPU") },
    { _ ("GPUs"), QM_CLI_RIGHT },
    { _ ("Samples/s"), QM_CLI_RIGHT },
    { _ ("Predicted"), QM_CLI_RIGHT },
    /* Translators: model FLOPs utilisation. */
    { _ ("MFU"), QM_CLI_RIGHT, .drop = 1 },
    { _ ("Verdict"), .shrink = 12 },
    { _ ("Provenance"), .drop = 3 },
    { _ ("Software"), .drop = 4, .shrink = 12 },
    { _ ("Source"), .shrink = 24 },
  };
  QmCliTable *table =
      qm_cli_table_new (columns, G_N_ELEMENTS (columns) - !sources);
  size_t n;
  const QmTrainingRate *list = qm_training_rates_list (trained->rates, &n);

  for (size_t i = 0; i < n; i++)
    add_rate_row (table, trained, &list[i]);
  return table;
}

/* Null where it is not known. */
static json_t *
whole (gint64 value)
{
  return value > 0 ? json_integer (value) : json_null ();
}

static void
add_training_rate (json_t *object, const QmTrainingRate *rate)
{
  const char *provenance = rate->reported ? "reported" : "measured";

  json_object_set_new (object, "id", json_string (rate->id));
  json_object_set_new (object, "provenance", json_string (provenance));
  json_object_set_new (object, "model", json_string (rate->model));
  json_object_set_new (object, "config", qm_cli_json_text (rate->config));
  json_object_set_new (object, "sequence", whole (rate->sequence));
  json_object_set_new (object, "image", whole (rate->image));
  json_object_set_new (object, "batch_size", whole (rate->batch));
  json_object_set_new (object, "precision",
                       json_string (qm_precision_name (rate->precision)));
  json_object_set_new (object, "gpu", json_string (rate->gpu));
  json_object_set_new (object, "gpus", json_integer (rate->gpus));
  json_object_set_new (object, "link", qm_cli_json_text (rate->link));
  json_object_set_new (object, "software", qm_cli_json_text (rate->software));
  json_object_set_new (object, "level", json_string (rate->level));
  json_object_set_new (object, "settings", qm_cli_json_text (rate->settings));
  json_object_set_new (object, "micro_batch", whole (rate->micro_batch));
  json_object_set_new (object, "checkpointing",
                       json_boolean (rate->checkpointing));
  json_object_set_new (object, "samples_per_s",
                       qm_cli_json_number (rate->samples_per_s, 6));
  json_object_set_new (object, "sm_mhz", qm_cli_json_number (rate->sm_mhz, 0));
  json_object_set_new (object, "measured_on",
                       qm_cli_json_date (rate->measured_on));
  json_object_set_new (object, "source", json_string (rate->source));
  json_object_set_new (object, "defect", qm_cli_json_text (rate->defect));
  json_object_set_new (object, "notes", qm_cli_json_text (rate->notes));
}

static json_t *
rate_json (const QmCliTrained *trained, const QmTrainingRate *rate)
{
  static const char *const numbers[] = { "predicted", "predicted_low",
                                         "predicted_high", "utilization" };
  static const char *const words[] = { "verdict", "problem" };
  json_t *object = json_object ();

  add_training_rate (object, rate);
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    json_object_set_new (
        object, numbers[i],
        qm_cli_json_number (audit_number (trained, rate, numbers[i]), 6));
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    json_object_set_new (object, words[i],
                         qm_cli_json_text (json_string_value (
                             audit_of (trained, rate, words[i]))));
  return object;
}

json_t *
qm_cli_trained_json (const QmCliTrained *trained)
{
  json_t *array = json_array ();
  size_t n;
  const QmTrainingRate *list = qm_training_rates_list (trained->rates, &n);

  for (size_t i = 0; i < n; i++)
    json_array_append_new (array, rate_json (trained, &list[i]));
  return array;
}
