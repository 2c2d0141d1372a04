/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-question.h"

const char *
qm_times_of_name (QmTimesOf times_of)
{
  static const char *const names[QM_N_TIMES_OF] = { "pytorch", "quartermaster",
                                                    "published" };

  g_return_val_if_fail (times_of < QM_N_TIMES_OF, NULL);

  return names[times_of];
}

const char *
qm_predictions_name (QmPredictions predictions)
{
  static const char *const names[QM_N_PREDICTIONS] = { "all", "none" };

  g_return_val_if_fail (predictions < QM_N_PREDICTIONS, NULL);

  return names[predictions];
}

const char *
qm_gpu_link_name (QmGpuLink link)
{
  static const char *const names[QM_N_GPU_LINKS] = { "auto", "nvlink", "pcie" };

  g_return_val_if_fail (link < QM_N_GPU_LINKS, NULL);

  return names[link];
}

const char *
qm_room_name (QmRoom room)
{
  static const char *const names[QM_N_ROOMS] = { "one-circuit", "two-circuits",
                                                 "three-phases", "any" };

  g_return_val_if_fail (room < QM_N_ROOMS, NULL);

  return names[room];
}

double
qm_room_watts (QmRoom room)
{
  switch (room)
    {
    case QM_ROOM_ONE_CIRCUIT:
      return 0.8 * 16 * 230;
    case QM_ROOM_TWO_CIRCUITS:
      return 0.8 * 2 * 16 * 230;
    case QM_ROOM_THREE_PHASES:
      return 0.8 * 3 * 32 * 230;
    case QM_ROOM_ANY:
    case QM_N_ROOMS:
    default:
      return INFINITY;
    }
}

const char *
qm_question_level (const QmQuestion *question)
{
  static const char *const of_pytorch[QM_N_SETTINGS] = {
    [QM_SETTINGS_OPTIMAL] = "tuned",
    [QM_SETTINGS_NAIVE] = "naive",
    [QM_SETTINGS_EAGER] = "eager",
  };

  g_return_val_if_fail (question != NULL, NULL);

  if (question->predictions != QM_PREDICTIONS_ALL)
    return NULL;
  switch (question->times_of)
    {
    case QM_TIMES_OF_PYTORCH:
      return of_pytorch[question->settings];
    case QM_TIMES_OF_QUARTERMASTER:
      return question->settings == QM_SETTINGS_OPTIMAL ? "engine" : NULL;
    case QM_TIMES_OF_PUBLICATION:
    case QM_N_TIMES_OF:
    default:
      return NULL;
    }
}

static void
run_clear (gpointer data)
{
  QmRun *run = data;

  g_free (run->model);
}

static void
use_clear (gpointer data)
{
  QmUse *use = data;

  g_free (use->gpu);
}

GArray *
qm_runs_new (void)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (QmRun));

  g_array_set_clear_func (runs, run_clear);
  return runs;
}

GArray *
qm_uses_new (void)
{
  GArray *uses = g_array_new (FALSE, FALSE, sizeof (QmUse));

  g_array_set_clear_func (uses, use_clear);
  return uses;
}

void
qm_question_add_use (QmQuestion *question,
                     const char *gpu,
                     int gpus,
                     gint64 hour_micros,
                     double walltime_hours)
{
  QmUse use = { g_strdup (gpu), gpus, hour_micros, walltime_hours };

  g_return_if_fail (question != NULL && gpu != NULL);

  if (question->uses == NULL)
    question->uses = qm_uses_new ();
  g_array_append_val (question->uses, use);
}

GStrv
qm_catalog_list_models (const QmCatalog *catalog)
{
  g_autoptr (GStrvBuilder) ids = g_strv_builder_new ();
  size_t n;
  const QmModel *models = qm_catalog_models (catalog, &n);

  for (size_t i = 0; i < n; i++)
    g_strv_builder_add (ids, models[i].id);
  return g_strv_builder_end (ids);
}

QmQuestion *
qm_question_new (void)
{
  QmQuestion *question = g_new0 (QmQuestion, 1);

  question->budget_minor = -1;
  question->deadline_days = NAN;
  question->run_deadline_days = NAN;
  question->purse = qm_purse_default ();
  question->kinds = QM_KINDS_ALL;
  question->lifetime_years = QM_LIFETIME_DEFAULT;
  question->time_factor = QM_TIME_FACTOR_DEFAULT;
  question->slack_percent = QM_SLACK_DEFAULT;
  question->room_watts = qm_room_watts (QM_ROOM_THREE_PHASES);
  question->today = qm_date_today ();
  question->at_once = 1;
  return question;
}

void
qm_question_set_as_in_paper (QmQuestion *question)
{
  g_return_if_fail (question != NULL);

  question->as_in_paper = TRUE;
  question->times_of = QM_TIMES_OF_PUBLICATION;
  question->predictions = QM_PREDICTIONS_NONE;
  question->link = QM_GPU_LINK_AUTO;
  question->any_price = FALSE;
  question->room_watts = INFINITY;
  question->today = (QmDate){ 0 };
  question->lifetime_years = QM_LIFETIME_DEFAULT;
  question->time_factor = QM_TIME_FACTOR_MIN;
  question->slack_percent = 0;
  qm_question_set_ownership (question, NULL);
  g_clear_pointer (&question->offers, qm_offers_unref);
  g_clear_pointer (&question->host, qm_host_times_unref);
}

void
qm_question_take_purse (QmQuestion *question, const QmPurse *purse)
{
  g_return_if_fail (question != NULL && purse != NULL);

  question->purse = *purse;
  question->budget_minor = qm_purse_to_usd (purse, purse->budget_minor);
  if (question->offers != NULL)
    qm_question_set_offers (question, question->offers);
}

void
qm_question_set_offers (QmQuestion *question, QmOffers *offers)
{
  QmOffers *taxed = NULL;

  g_return_if_fail (question != NULL);

  if (offers != NULL)
    taxed = qm_offers_with_tax (offers, question->purse.tax_percent);
  g_clear_pointer (&question->offers, qm_offers_unref);
  question->offers = taxed;
}

gboolean
qm_question_is_portfolio (const QmQuestion *question)
{
  g_return_val_if_fail (question != NULL, FALSE);

  return question->runs != NULL && question->runs->len > 0;
}

QmPriceBasis
qm_question_price_basis (const QmQuestion *question)
{
  g_return_val_if_fail (question != NULL, QM_PRICES_CURRENT);

  if (question->as_in_paper)
    return QM_PRICES_PUBLISHED;
  return question->any_price ? QM_PRICES_ANY : QM_PRICES_CURRENT;
}

QmQuestion *
qm_question_copy (const QmQuestion *question)
{
  QmQuestion *copy;

  g_return_val_if_fail (question != NULL, NULL);

  copy = g_memdup2 (question, sizeof *question);
  copy->model = g_strdup (question->model);
  copy->gpus = g_strdupv (question->gpus);
  if (question->counts != NULL)
    copy->counts = g_array_copy (question->counts);
  if (question->offers != NULL)
    copy->offers = qm_offers_ref (question->offers);
  if (question->host != NULL)
    copy->host = qm_host_times_ref (question->host);
  if (question->forecasts != NULL)
    copy->forecasts = qm_forecasts_ref (question->forecasts);
  if (question->rates != NULL)
    copy->rates = qm_rates_ref (question->rates);
  copy->ownership = g_memdup2 (question->ownership, sizeof *copy->ownership);
  copy->runs = NULL;
  for (guint i = 0; question->runs != NULL && i < question->runs->len; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);

      qm_question_add_run (copy, run->model, run->runs_per_year);
    }
  copy->uses = NULL;
  for (guint i = 0; question->uses != NULL && i < question->uses->len; i++)
    {
      const QmUse *use = &g_array_index (question->uses, QmUse, i);

      qm_question_add_use (copy, use->gpu, use->gpus, use->hour_micros,
                           use->walltime_hours);
    }
  return copy;
}

void
qm_question_free (QmQuestion *question)
{
  if (question == NULL)
    return;
  g_free (question->model);
  g_strfreev (question->gpus);
  g_clear_pointer (&question->counts, g_array_unref);
  g_clear_pointer (&question->runs, g_array_unref);
  g_clear_pointer (&question->uses, g_array_unref);
  g_clear_pointer (&question->offers, qm_offers_unref);
  g_clear_pointer (&question->host, qm_host_times_unref);
  g_clear_pointer (&question->forecasts, qm_forecasts_unref);
  g_clear_pointer (&question->rates, qm_rates_unref);
  g_free (question->ownership);
  g_free (question);
}

void
qm_question_set_ownership (QmQuestion *question,
                           const QmOwnershipSettings *ownership)
{
  g_return_if_fail (question != NULL);

  g_free (question->ownership);
  question->ownership = g_memdup2 (ownership, sizeof *ownership);
}

void
qm_question_add_run (QmQuestion *question,
                     const char *model,
                     double runs_per_year)
{
  QmRun run = { g_strdup (model), runs_per_year };

  g_return_if_fail (question != NULL);
  g_return_if_fail (model != NULL);

  if (question->runs == NULL)
    question->runs = qm_runs_new ();
  g_array_append_val (question->runs, run);
}
