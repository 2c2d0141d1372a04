/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-quote-times.h"

#include "pricing/advice/qm-advice.h"
#include "pricing/advice/qm-asked.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/quotes/qm-quote-offer.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define MICROS_PER_CENT (QM_MICROS_PER_UNIT / 100)

/* What one machine of a quote trains on. */
typedef struct
{
  const char *gpu; /* NULL: none, or several types */
  int gpus;
  gboolean several; /* types of GPUs */
} Offered;

static Offered
find_offered (const QmCatalog *catalog, const QmQuote *quote)
{
  g_autoptr (GArray) offers = qm_quote_offers (catalog, quote, NULL);
  Offered offered = { 0 };
  gint64 loose = 0;

  for (guint i = 0; i < offers->len; i++)
    {
      const QmQuoteOffer *offer = &g_array_index (offers, QmQuoteOffer, i);
      const QmGpu *gpu = qm_catalog_gpu (catalog, offer->item);

      if (offer->variant || gpu == NULL)
        continue;
      if (offered.gpu != NULL
          && (strcmp (offered.gpu, gpu->id) != 0
              || (offer->gpus > 0) != (loose == 0)
              || (offer->gpus > 0 && offer->gpus != offered.gpus)))
        return (Offered){ .several = TRUE };
      offered.gpu = gpu->id;
      if (offer->gpus == 0)
        loose += offer->pieces;
      offered.gpus =
          offer->gpus > 0 ? offer->gpus : (int) MIN (loose, QM_ASKED_GPUS_MAX);
    }
  return offered;
}

void
qm_quote_times_ask (QmQuestion *question,
                    const QmCatalog *catalog,
                    GPtrArray *quotes)
{
  g_return_if_fail (question != NULL && catalog != NULL && quotes != NULL);

  if (question->counts == NULL)
    question->counts = g_array_new (FALSE, FALSE, sizeof (int));
  for (guint i = 0; i < quotes->len; i++)
    {
      Offered offered = find_offered (catalog, g_ptr_array_index (quotes, i));

      if (offered.gpu != NULL)
        g_array_append_val (question->counts, offered.gpus);
    }
}

/* The question about one model on what one quote offers, whatever it costs.
 * (transfer full) */
static QmQuestion *
ask_about (const QmCatalog *catalog,
           const QmQuestion *question,
           const char *model,
           const QmQuote *quote,
           const Offered *offered)
{
  QmQuestion *one = qm_question_copy (question);
  g_autoptr (GPtrArray) quotes = g_ptr_array_new ();

  g_ptr_array_add (quotes, (gpointer) quote);
  g_free (one->model);
  one->model = g_strdup (model);
  g_clear_pointer (&one->runs, g_array_unref);
  g_clear_pointer (&one->uses, g_array_unref);
  g_clear_pointer (&one->host, qm_host_times_unref);
  g_clear_pointer (&one->offers, qm_offers_unref);
  g_clear_pointer (&one->counts, g_array_unref);
  g_strfreev (one->gpus);
  one->gpus = g_strdupv ((char *[]){ (char *) offered->gpu, NULL });
  one->counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_array_append_val (one->counts, offered->gpus);
  one->offers = qm_offers_new (catalog, quotes, one->rates, one->today);
  one->expired_offers = TRUE;
  one->kinds = QM_KINDS_ALL;
  one->room_watts = INFINITY;
  one->budget_minor = -1;
  one->deadline_days = one->run_deadline_days = (double) NAN;
  one->purse = qm_purse_default ();
  qm_question_set_ownership (one, NULL);
  return one;
}

/* The candidate that the quote is: of its price, and with the best known
 * time. */
static const QmCandidate *
find_candidate (const QmAdvice *advice)
{
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);
  const QmCandidate *found = NULL;

  for (guint i = 0; i < n; i++)
    {
      const QmCandidate *one = &candidates[i];

      if (one->here || one->superseded
          || (one->gpu_offer == NULL && one->machine_offer == NULL))
        continue;
      if (found == NULL || (!qm_known (found->days) && qm_known (one->days)))
        found = one;
    }
  return found;
}

/* What has to be bought besides the quote, and what that costs. */
static void
set_added (QmTrainingTime *time, const QmCandidate *candidate)
{
  gint64 own = 0;

  if (candidate->price_minor < 0)
    {
      time->added_usd_minor = -1;
      time->added = qm_prose_machine (candidate);
      return;
    }
  if (candidate->gpu_offer != NULL)
    own +=
        candidate->gpu_offer->price.micros / MICROS_PER_CENT * candidate->gpus;
  if (candidate->machine_offer != NULL)
    own += candidate->machine_offer->price.micros / MICROS_PER_CENT;
  /* Less than a dollar is what rounding leaves. */
  if (candidate->price_minor - own < 100)
    return;
  time->added_usd_minor = candidate->price_minor - own;
  time->added = candidate->machine_offer == NULL ? qm_prose_machine (candidate)
                                                 : g_strdup (_ ("host memory"));
}

static void
set_time (QmTrainingTime *time, const QmAdvice *advice)
{
  const QmCandidate *candidate = find_candidate (advice);

  if (candidate == NULL)
    {
      time->reason = g_strdup (_ ("no training time of that GPU is known"));
      return;
    }
  if (!qm_known (candidate->days))
    {
      time->reason =
          g_strdup (candidate->verdict == QM_VERDICT_INFEASIBLE
                        ? _ ("the model does not fit into the memory")
                        : _ ("no training time of that GPU is known"));
      return;
    }
  time->days = candidate->days;
  time->low = candidate->days_low;
  time->high = candidate->days_high;
  set_added (time, candidate);
}

static gboolean
add_training (QmQuoteComparison *comparison,
              const QmCatalog *catalog,
              const QmQuestion *question,
              GPtrArray *quotes,
              const char *model,
              double runs_per_year,
              GError **error)
{
  const QmModel *known = qm_catalog_model (catalog, model);
  QmTrainingTime times[QM_COMPARED_MOST] = { 0 };

  for (guint i = 0; i < quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (quotes, i);
      Offered offered = find_offered (catalog, quote);
      g_autoptr (QmQuestion) one = NULL;
      g_autoptr (QmAdvice) advice = NULL;

      times[i].days = times[i].low = times[i].high = (double) NAN;
      if (offered.gpu == NULL)
        {
          times[i].reason =
              g_strdup (offered.several ? _ ("it offers GPUs of several types")
                                        : _ ("it offers no GPU that is known"));
          continue;
        }
      one = ask_about (catalog, question, model, quote, &offered);
      advice = qm_advice_new (catalog, one, error);
      if (advice == NULL)
        {
          for (guint j = 0; j < i; j++)
            {
              g_free (times[j].added);
              g_free (times[j].reason);
            }
          return FALSE;
        }
      set_time (&times[i], advice);
    }
  qm_quote_comparison_add_training (comparison,
                                    known != NULL ? known->name : model,
                                    runs_per_year, times, question->rates);
  return TRUE;
}

gboolean
qm_quote_times_add (QmQuoteComparison *comparison,
                    const QmCatalog *catalog,
                    const QmQuestion *question,
                    GPtrArray *quotes,
                    GError **error)
{
  g_return_val_if_fail (comparison != NULL && catalog != NULL, FALSE);
  g_return_val_if_fail (question != NULL && quotes != NULL, FALSE);
  g_return_val_if_fail (quotes->len == comparison->n_quotes, FALSE);

  comparison->time_factor = question->time_factor;
  if (question->runs == NULL)
    return add_training (comparison, catalog, question, quotes, question->model,
                         (double) NAN, error);
  for (guint i = 0; i < question->runs->len; i++)
    {
      const QmRun *run = &g_array_index (question->runs, QmRun, i);

      if (!add_training (comparison, catalog, question, quotes, run->model,
                         run->runs_per_year, error))
        return FALSE;
    }
  return TRUE;
}
