/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-request.h"

#include "pricing/advice/qm-advice.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

G_DEFINE_QUARK (qm - request - error - quark, qm_request_error)

#define SECONDS_PER_DAY 86400.0

/* No newer PCIe is asked for: an offer with more GPUs behind a slower link may
 * reach the rates as well. */
#define LINK_MOST 4.0

static void
need_clear (gpointer data)
{
  QmNeed *need = data;

  g_free (need->name);
  g_free (need->amount);
}

QmRequestTerms
qm_request_terms_default (void)
{
  return (QmRequestTerms){ .warranty_years = 3,
                           .valid_days = 60,
                           .today = qm_date_today () };
}

void
qm_request_free (QmRequest *request)
{
  if (request == NULL)
    return;
  g_array_unref (request->trainings);
  g_array_unref (request->needs);
  g_free (request);
}

/* --- from the plan --- */

/* The number of days in which all runs of a year have to be done; infinite for
 * one training. */
static double
year_days (const QmQuestion *question, const QmCandidate *candidate)
{
  if (!qm_question_is_portfolio (question))
    return INFINITY;
  if (qm_known (question->deadline_days)
      && question->deadline_days >= candidate->longest_days)
    return MIN (question->deadline_days, QM_DAYS_PER_YEAR);
  return QM_DAYS_PER_YEAR;
}

/* How long a training may take that takes so long on the candidate. */
static double
allowed_days (const QmQuestion *question,
              const QmCandidate *candidate,
              double days)
{
  double allowed = INFINITY;

  if (qm_question_is_portfolio (question))
    allowed = days
              * MAX (year_days (question, candidate) * candidate->machines
                         / candidate->machine_days,
                     1);
  else if (qm_known (question->deadline_days))
    allowed = question->deadline_days;
  if (qm_known (question->run_deadline_days))
    allowed = MIN (allowed, question->run_deadline_days);
  return isfinite (allowed) ? allowed : days;
}

/* To three significant digits, so that nobody takes it for better known; up, so
 * that it suffices. */
static double
round_up (double value)
{
  const double unit = pow (10, floor (log10 (value)) - 2);

  return ceil (value / unit - 1e-9) * unit;
}

static void
add_training (QmRequest *request,
              const QmQuestion *question,
              const QmCandidate *candidate,
              const QmModel *model,
              double days,
              double runs_per_year)
{
  QmRequestedTraining training = { .model = model,
                                   .planned_days = days,
                                   .runs_per_year = runs_per_year };
  double samples =
      (double) model->recipe.batch_size * (double) model->recipe.steps;

  if (model->recipe.sequence_length > 0)
    {
      training.tokens = TRUE;
      samples *= (double) model->recipe.sequence_length;
    }
  training.days = allowed_days (question, candidate, days);
  training.per_second = round_up (samples * question->time_factor
                                  / (training.days * SECONDS_PER_DAY));
  g_array_append_val (request->trainings, training);
}

/* The memory of the smallest GPU that all trainings fit on; that of the
 * candidate where nothing is predicted. */
static double
least_memory (const QmCatalog *catalog,
              const QmQuestion *question,
              const QmRequest *request,
              const QmCandidate *candidate)
{
  const char *level = qm_question_level (question);
  double least = candidate->gpu->memory_gib;
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);

  for (size_t i = 0; level != NULL && i < n; i++)
    {
      gboolean fits = gpus[i].memory_gib < least;

      for (guint j = 0; fits && j < request->trainings->len; j++)
        {
          const QmRequestedTraining *training =
              &g_array_index (request->trainings, QmRequestedTraining, j);
          const QmForecast *forecast =
              qm_forecasts_look (question->forecasts, training->model->id,
                                 level, &gpus[i], candidate->gpus);

          fits = forecast != NULL && forecast->fit == QM_FIT_WELL;
        }
      if (fits)
        least = gpus[i].memory_gib;
    }
  return least;
}

static void
set_links (QmRequest *request, const QmCandidate *candidate)
{
  const QmGpu *gpu = candidate->gpu;
  const QmPlatform *platform = candidate->platform;
  const char *link = candidate->prediction != NULL
                         ? candidate->prediction->forecast.link
                         : NULL;

  request->pcie_generation = gpu->pcie_generation;
  request->pcie_lanes = gpu->pcie_lanes;
  if (platform != NULL && qm_known (platform->pcie_generation))
    {
      request->pcie_generation =
          fmin (gpu->pcie_generation, platform->pcie_generation);
      request->pcie_lanes = fmin (gpu->pcie_lanes, platform->pcie_lanes);
    }
  if (candidate->gpus > 1 && qm_known (gpu->nvlink_gbs)
      && (link == NULL || g_str_equal (link, "nvlink")))
    request->direct_gbs = gpu->nvlink_gbs;
}

/* --- requirements --- */

/* Both texts are taken over. */
static void
add_need (QmRequest *request,
          QmNeedKind kind,
          int training,
          double least,
          char *name,
          char *amount)
{
  QmNeed need = { .kind = kind,
                  .training = training,
                  .least = least,
                  .name = name,
                  .amount = amount };

  g_array_append_val (request->needs, need);
}

/* "at least 48 GiB", of a format with a number.  (transfer full) */
static char *
at_least (const char *format, double value)
{
  g_autofree char *number = qm_format_number (value, value < 100 ? 1 : 0);

  return g_strdup_printf (format, number);
}

static void
add_rates (QmRequest *request)
{
  for (guint i = 0; i < request->trainings->len; i++)
    {
      const QmRequestedTraining *training =
          &g_array_index (request->trainings, QmRequestedTraining, i);

      add_need (request, QM_NEED_RATE, (int) i, training->per_second,
                /* Translators: a model. */
                g_strdup_printf (_ ("Sustained rate: %s"),
                                 training->model->name),
                training->tokens ? at_least (_ ("at least %s tokens a second"),
                                             training->per_second)
                                 : at_least (_ ("at least %s samples a second"),
                                             training->per_second));
    }
}

static gboolean
is_mixed (const QmRequest *request, QmPrecision precision)
{
  for (guint i = 0; i < request->trainings->len; i++)
    if (g_array_index (request->trainings, QmRequestedTraining, i)
            .model->recipe.precision
        == precision)
      return TRUE;
  return FALSE;
}

/* Scales of rows are more than one of all: who has the former has both. */
static void
add_fp8 (QmRequest *request)
{
  gboolean rows = FALSE;

  for (guint i = 0; i < request->trainings->len; i++)
    {
      const QmRecipe *recipe =
          &g_array_index (request->trainings, QmRequestedTraining, i)
               .model->recipe;

      rows |= recipe->precision == QM_PRECISION_FP8
              && recipe->fp8.scales == QM_FP8_SCALES_ROW;
    }
  add_need (request, QM_NEED_PRECISION, -1, QM_PRECISION_FP8,
            g_strdup (_ ("Number formats")),
            g_strdup (rows ? _ ("FP8 products (E4M3 and E5M2) with a scale for "
                                "each row of both factors that are added up in "
                                "fp32")
                           : _ ("FP8 products (E4M3 and E5M2) that are added "
                                "up in fp32")));
  g_array_index (request->needs, QmNeed, request->needs->len - 1).rows = rows;
}

static void
add_precision (QmRequest *request)
{
  if (is_mixed (request, QM_PRECISION_FP8))
    add_fp8 (request);
  if (is_mixed (request, QM_PRECISION_BF16)
      && is_mixed (request, QM_PRECISION_FP16))
    add_need (request, QM_NEED_PRECISION, -1, QM_PRECISION_BF16,
              g_strdup (_ ("Number formats")),
              g_strdup (_ ("bf16 and fp16 products that are added up in "
                           "fp32")));
  else if (is_mixed (request, QM_PRECISION_BF16))
    add_need (request, QM_NEED_PRECISION, -1, QM_PRECISION_BF16,
              g_strdup (_ ("Number formats")),
              g_strdup (_ ("bf16 products that are added up in fp32")));
  else if (is_mixed (request, QM_PRECISION_FP16))
    add_need (request, QM_NEED_PRECISION, -1, QM_PRECISION_FP16,
              g_strdup (_ ("Number formats")),
              g_strdup (_ ("fp16 products that are added up in fp32")));
}

static void
add_machine (QmRequest *request)
{
  add_need (request, QM_NEED_MACHINES, -1, request->machines,
            g_strdup (_ ("Machines, ready to use")),
            g_strdup_printf (ngettext ("%d machine with its GPUs",
                                       "%d machines with their GPUs",
                                       request->machines),
                             request->machines));
  add_need (request, QM_NEED_GPU_MEMORY, -1, request->gpu_memory_gib,
            g_strdup (_ ("Memory of each GPU")),
            at_least (_ ("at least %s GiB"), request->gpu_memory_gib));
  add_precision (request);
  add_rates (request);
  /* The rates decide what more is needed. */
  request->pcie_generation = fmin (request->pcie_generation, LINK_MOST);
  if (qm_known (request->pcie_generation) && qm_known (request->pcie_lanes))
    {
      g_autofree char *lanes = qm_format_number (request->pcie_lanes, 0);
      g_autofree char *generation =
          qm_format_number (request->pcie_generation, 0);

      add_need (request, QM_NEED_LINK, -1, request->pcie_generation,
                g_strdup (_ ("Link of each GPU to the host")),
                /* Translators: generation of PCIe, number of lanes. */
                g_strdup_printf (_ ("PCIe %s\u00a0×%s or faster"), generation,
                                 lanes));
    }
  add_need (request, QM_NEED_HOST_MEMORY, -1, request->host_memory_gib,
            g_strdup (_ ("Host memory of each machine")),
            at_least (_ ("at least %s GiB"), request->host_memory_gib));
  if (isfinite (request->room_watts))
    {
      g_autofree char *each =
          qm_format_number (floor (request->room_watts / request->machines), 0);

      add_need (request, QM_NEED_POWER, -1, request->room_watts,
                g_strdup (_ ("Power of each machine at full load")),
                g_strdup_printf (_ ("at most %s W from the wall"), each));
    }
}

static void
add_commercial (QmRequest *request)
{
  if (request->terms.warranty_years > 0)
    add_need (request, QM_NEED_WARRANTY, -1, request->terms.warranty_years,
              g_strdup (_ ("Warranty on site")),
              at_least (request->terms.warranty_years == 1
                            ? _ ("at least %s year")
                            : _ ("at least %s years"),
                        request->terms.warranty_years));
  add_need (request, QM_NEED_SHIPPING, -1, (double) NAN,
            g_strdup (_ ("Shipping to the place of use")),
            g_strdup (_ ("with its price, or said to be included")));
  add_need (request, QM_NEED_NET, -1, (double) NAN,
            g_strdup (_ ("Price without tax")), g_strdup (_ ("stated")));
  add_need (request, QM_NEED_TAX, -1, (double) NAN, g_strdup (_ ("Tax")),
            g_strdup (_ ("its rate or amount stated")));
  add_need (request, QM_NEED_VALIDITY, -1, request->terms.valid_days,
            g_strdup (_ ("Validity of the offer")),
            g_strdup_printf (ngettext ("at least %d day", "at least %d days",
                                       request->terms.valid_days),
                             request->terms.valid_days));
}

/* --- the request --- */

static void
add_asked_trainings (QmRequest *request,
                     const QmCatalog *catalog,
                     const QmQuestion *question,
                     const QmAdvice *advice,
                     const QmCandidate *candidate)
{
  guint n;
  const QmRunTime *runs = qm_advice_runs (advice, candidate, &n);

  if (!qm_question_is_portfolio (question))
    add_training (request, question, candidate,
                  qm_catalog_model (catalog, question->model), candidate->days,
                  (double) NAN);
  for (guint i = 0; i < n; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);

      add_training (request, question, candidate,
                    qm_catalog_model (catalog, run->model), runs[i].days,
                    run->runs_per_year);
    }
}

/* What the plan would be carried out on; NULL: nothing is in time. */
static const QmCandidate *
choose_for_plan (const QmAdvice *advice, const QmQuestion *question)
{
  QmRecommendation found = qm_advice_recommend (advice, question->budget_minor,
                                                question->deadline_days);
  int index = found.best >= 0 ? found.best : found.would_do;
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);

  return index >= 0 && qm_known (candidates[index].days) ? &candidates[index]
                                                         : NULL;
}

QmRequest *
qm_request_new (const QmCatalog *catalog,
                const QmQuestion *question,
                const QmRequestTerms *terms,
                GError **error)
{
  g_autoptr (QmAdvice) advice = NULL;
  const QmCandidate *candidate;
  QmRequest *request;

  g_return_val_if_fail (catalog != NULL && question != NULL && terms != NULL,
                        NULL);

  advice = qm_advice_new (catalog, question, error);
  if (advice == NULL)
    return NULL;
  candidate = choose_for_plan (advice, question);
  if (candidate == NULL)
    {
      g_set_error_literal (error, QM_REQUEST_ERROR, QM_REQUEST_ERROR_NOTHING,
                           _ ("no machine is known that trains it in time, so "
                              "that there is nothing to ask for"));
      return NULL;
    }
  request = g_new0 (QmRequest, 1);
  request->terms = *terms;
  request->trainings = g_array_new (FALSE, FALSE, sizeof (QmRequestedTraining));
  request->needs = g_array_new (FALSE, FALSE, sizeof (QmNeed));
  g_array_set_clear_func (request->needs, need_clear);
  request->machines = MAX (candidate->machines, 1);
  request->gpus = candidate->gpus;
  request->gpu = candidate->gpu;
  request->room_watts = question->room_watts;
  request->lifetime_years = question->lifetime_years;
  request->time_factor = question->time_factor;
  request->predicted = candidate->predicted;
  g_strlcpy (request->currency, question->purse.currency,
             sizeof request->currency);
  add_asked_trainings (request, catalog, question, advice, candidate);
  request->gpu_memory_gib =
      least_memory (catalog, question, request, candidate);
  request->host_memory_gib =
      terms->host_memory_gib > 0
          ? terms->host_memory_gib
          : ceil (fmax (candidate->host_gib,
                        request->gpu_memory_gib * request->gpus));
  set_links (request, candidate);
  add_machine (request);
  add_commercial (request);
  return request;
}

const char *
qm_need_kind_name (QmNeedKind kind)
{
  static const char *const names[] = {
    "machines", "gpu_memory", "precision", "rate", "link",     "host_memory",
    "power",    "warranty",   "net",       "tax",  "shipping", "validity",
  };

  g_return_val_if_fail (kind < G_N_ELEMENTS (names), NULL);

  return names[kind];
}

const char *
qm_answer_state_name (QmAnswerState state)
{
  static const char *const names[QM_N_ANSWERS] = { "yes", "no", "untold" };

  g_return_val_if_fail (state < QM_N_ANSWERS, NULL);

  return names[state];
}
