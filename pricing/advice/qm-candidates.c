/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-candidates.h"

#include "pricing/advice/qm-carrier.h"
#include "pricing/advice/qm-ownership.h"
#include "pricing/advice/qm-selection.h"
#include "pricing/advice/qm-year.h"

#include <string.h>

#define MAX_MICROS 9e18
#define OLD_DAYS   (5 * 365.25)

/* What building needs at hand. */
typedef struct
{
  const QmCatalog *catalog;
  const QmQuestion *question;
  QmCarriers *carriers;
  GPtrArray *predictions; /* QmPredicted and QmUse */
  GArray *run_times;      /* QmRunTime */
  GPtrArray *left_out;    /* const QmMeasurement* */
} Builder;

/* One place of the table: a GPU type and how many. */
typedef struct
{
  const QmGpu *gpu;
  int gpus;
} Place;

static guint
place_hash (gconstpointer key)
{
  const Place *place = key;

  return g_direct_hash (place->gpu) ^ ((guint) place->gpus * 2654435761u);
}

static gboolean
place_equal (gconstpointer a, gconstpointer b)
{
  const Place *p = a;
  const Place *q = b;

  return p->gpu == q->gpu && p->gpus == q->gpus;
}

static gint64
micros_minor (gint64 micros)
{
  return qm_money_from_micros (micros, "USD").minor;
}

/* A price of one machine for all of them; -1 where that is absurd. */
static gint64
of_all (const QmCandidate *candidate, gint64 one)
{
  gint64 all;

  if (one < 0
      || __builtin_mul_overflow (one, (gint64) candidate->machines, &all))
    return -1;
  return all;
}

/* What a candidate costs overall at a price; -1 where a part of it is unknown.
 */
static gint64
cost_at (const QmQuestion *question, const QmCandidate *candidate, gint64 price)
{
  QmCandidate at = *candidate;
  QmOwnershipSettings settings;
  QmOwnership sum;
  QmOwned owned;

  at.price_minor = price;
  if (question->ownership == NULL || !qm_owned_of_candidate (&at, &owned))
    return price;
  settings = *question->ownership;
  settings.lifetime_years = question->lifetime_years;
  /* A residual value above the price leaves nothing to be paid. */
  return qm_ownership_compute (&settings, &owned, &sum, NULL)
             ? MAX (sum.total, 0)
             : -1;
}

/* Sets prices and costs of all machines, of which one costs `one`, in the
 * interval of `low` and `high`; all of them -1 where the sum is absurd. */
static void
set_cost (const QmQuestion *question,
          QmCandidate *candidate,
          gint64 one,
          gint64 low,
          gint64 high)
{
  candidate->price_minor = of_all (candidate, one);
  candidate->price_low_minor = of_all (candidate, low);
  candidate->price_high_minor = of_all (candidate, high);
  if (candidate->price_low_minor < 0 || candidate->price_high_minor < 0)
    candidate->price_minor = -1;
  candidate->cost_minor = cost_at (question, candidate, candidate->price_minor);
  candidate->cost_low_minor =
      cost_at (question, candidate, candidate->price_low_minor);
  candidate->cost_high_minor =
      cost_at (question, candidate, candidate->price_high_minor);
}

/* Sets machine, prices and costs of GPUs; -1 where nothing carries them or a
 * price is missing. */
static void
set_prices (Builder *builder, QmCandidate *candidate)
{
  gint64 low, high;
  gint64 one = qm_carriers_find (builder->carriers, candidate, &low, &high);

  set_cost (builder->question, candidate, one, low, high);
}

/* Sets what follows from the cost and from the days that machines are busy. */
static void
finish (const QmQuestion *question, QmCandidate *candidate, double machine_days)
{
  gboolean passes;

  candidate->experiment_cost = NAN;
  if (candidate->cost_minor >= 0)
    candidate->experiment_cost =
        candidate->cost_minor / 100.0 / candidate->machines * machine_days
        / (question->lifetime_years * QM_DAYS_PER_YEAR);
  passes =
      candidate->verdict == QM_VERDICT_OK
      || candidate->verdict == QM_VERDICT_POSSIBLE
      || candidate->verdict == QM_VERDICT_DOUBTFUL
      || candidate->verdict == QM_VERDICT_UNKNOWN
      || (candidate->verdict == QM_VERDICT_IMPOSSIBLE && question->as_in_paper);
  candidate->unfunded =
      candidate->price_minor >= 0 && !candidate->here
      && !qm_purse_funds (&question->purse,
                          candidate->price_minor / candidate->machines);
  candidate->eligible = passes && !candidate->superseded && !candidate->unfunded
                        && candidate->carry.problem == QM_CARRY_NONE
                        && candidate->cost_minor >= 0
                        && qm_known (candidate->days);
}

/* The offer of such a whole machine, of a kind that is asked for, or NULL. */
static const QmOffer *
whole_offer (const QmQuestion *question, const QmCandidate *candidate)
{
  guint kinds = 0;

  if (question->offers == NULL)
    return NULL;
  for (int kind = QM_MACHINE_DESKTOP; kind <= QM_MACHINE_SERVER; kind++)
    if (qm_carriers_allow_kind (question, (QmMachineKind) kind))
      kinds |= 1u << kind;
  return qm_offers_find_whole (question->offers, candidate->gpu->id,
                               candidate->gpus, kinds,
                               question->expired_offers);
}

/* The same as a whole machine that is offered. */
static void
append_whole (Builder *builder,
              QmCandidate candidate,
              const QmOffer *offer,
              double machine_days,
              GArray *candidates)
{
  const QmQuestion *question = builder->question;
  gint64 low, high;

  candidate.platform = NULL;
  candidate.carry = qm_carriers_quoted (question, &candidate);
  candidate.machine = NULL;
  candidate.gpu_price = NULL;
  candidate.gpu_offer = NULL;
  candidate.memory_price = NULL;
  candidate.extra_gib = 0;
  candidate.machine_price = &offer->price;
  candidate.machine_offer = offer;
  candidate.weak = FALSE;
  qm_carriers_interval (builder->carriers, &offer->price, offer, &low, &high);
  set_cost (question, &candidate,
            micros_minor (
                qm_price_counted_micros (&offer->price, question->rates)),
            micros_minor (low), micros_minor (high));
  finish (question, &candidate, machine_days);
  g_array_append_vals (candidates, &candidate, 1);
}

/* Whether no dealer sells it any more, and nobody here measured it: such takes
 * part where any price does. */
static gboolean
is_old (const QmQuestion *question, const QmCandidate *candidate)
{
  const QmDate *released = &candidate->gpu->released_on;

  return candidate->prediction != NULL && candidate->weak
         && !question->any_price && question->today.year > 0
         && released->year > 0
         && qm_date_days_between (*released, question->today) >= OLD_DAYS;
}

/* Appends it, and what is offered of it as a whole, which goes before what its
 * parts cost in the catalog, as a quote goes before any other price.  Where the
 * kinds of machines are filtered, what none of them carries is filtered out
 * too; what nobody measured would only be in the way where nobody sells it.
 * `elsewhere` is it in a machine whose places for cards nobody knows. */
static void
append_candidate (Builder *builder,
                  const QmCandidate *candidate,
                  double machine_days,
                  const QmCandidate *elsewhere,
                  double elsewhere_days,
                  GArray *candidates)
{
  const QmOffer *whole = whole_offer (builder->question, candidate);
  gboolean quoted =
      candidate->gpu_offer != NULL || candidate->machine_offer != NULL;

  if ((qm_candidate_machine_name (candidate) != NULL
       || builder->question->kinds == QM_KINDS_ALL)
      && (candidate->prediction == NULL || candidate->price_minor >= 0
          || (candidate->carry.problem != QM_CARRY_NONE
              && candidate->gpu_price != NULL))
      && !is_old (builder->question, candidate) && (whole == NULL || quoted))
    g_array_append_vals (candidates, candidate, 1);
  if (whole != NULL)
    append_whole (builder, *elsewhere, whole, elsewhere_days, candidates);
}

/* A candidate with its time and audit, but no costs yet. */
static QmCandidate
timed (const QmQuestion *question, const QmSelected *selected)
{
  const QmMeasurement *measurement = selected->measurement;
  QmCandidate candidate = { 0 };
  QmAudit audit;

  candidate.gpu = measurement->gpu;
  candidate.gpus = measurement->gpus;
  candidate.machines = 1;
  candidate.host_gib = qm_year_host_gib (selected);
  candidate.measurement = measurement;
  candidate.superseded = !!selected->superseded;
  candidate.prediction = selected->prediction;
  qm_year_set_days (question, &candidate, measurement);
  candidate.longest_days = candidate.days;
  candidate.machine_days = candidate.days;
  candidate.busy = NAN;
  candidate.verdict =
      qm_audit_measurement (measurement, question->forecasts, &audit);
  candidate.implied_utilization = audit.utilization;
  candidate.reachable_days = audit.reachable_days;
  if (qm_known (candidate.implied_utilization))
    candidate.audited = measurement;
  return candidate;
}

/* Whether the machine's places for cards are half as fast as its cards, of
 * which it is known what a prediction becomes there. */
static gboolean
is_slowed (const QmCandidate *candidate, const QmSelected *selected)
{
  return candidate->platform != NULL && selected != NULL
         && selected->prediction != NULL
         && selected->prediction->forecast.half_lanes
                > selected->prediction->forecast.days
         && qm_carry_share_of_lanes (candidate->platform, candidate->gpu)
                <= 0.5;
}

/* The same as it is predicted with half of the lanes, unless it is held to a
 * time that is longer. */
static QmSelected
slow_down (Builder *builder, const QmSelected *selected)
{
  QmPredicted *made = g_memdup2 (selected->prediction, sizeof *made);
  double longer = made->forecast.half_lanes / made->time.days;
  QmSelected slower = *selected;

  made->slowed = TRUE;
  if (longer > 1)
    {
      made->time.days *= longer;
      made->time.days_low *= longer;
      made->time.days_high *= longer;
      made->held_by = NULL;
    }
  g_ptr_array_add (builder->predictions, made);
  slower.measurement = &made->time;
  slower.prediction = made;
  return slower;
}

/* What answers the question for one model. */
static GArray *
select_times (Builder *builder, const char *model)
{
  const QmQuestion *question = builder->question;
  const QmModel *trained = qm_catalog_model (builder->catalog, model);
  GArray *selection = qm_selection_new (builder->catalog, question, trained);

  qm_predictions_add (builder->catalog, question, trained, selection,
                      builder->predictions);
  qm_selection_leave_out (builder->catalog, question, trained, selection,
                          builder->left_out);
  return selection;
}

static void
build_single (Builder *builder, const char *model, GArray *candidates)
{
  g_autoptr (GArray) selection = select_times (builder, model);

  for (guint i = 0; i < selection->len; i++)
    {
      const QmSelected *selected = &g_array_index (selection, QmSelected, i);
      QmCandidate candidate = timed (builder->question, selected);
      const QmCandidate elsewhere = candidate;

      set_prices (builder, &candidate);
      if (is_slowed (&candidate, selected))
        {
          QmSelected slower = slow_down (builder, selected);

          candidate = timed (builder->question, &slower);
          set_prices (builder, &candidate);
        }
      finish (builder->question, &candidate, candidate.days);
      append_candidate (builder, &candidate, candidate.days, &elsewhere,
                        elsewhere.days, candidates);
    }
}

/* Whether this machine was measured there with what was asked for. */
static gboolean
is_measured_here (Builder *builder, const QmMeasurement *time)
{
  guint n;
  const QmMeasurement *times = qm_host_times_list (builder->question->host, &n);

  for (guint i = 0; i < n; i++)
    if (times[i].model == time->model && times[i].gpu == time->gpu
        && times[i].gpus == time->gpus && times[i].settings == time->settings
        && qm_selection_is_asked_for (builder->question, &times[i]))
      return TRUE;
  return FALSE;
}

/* What is predicted of this machine, that measured a training with other
 * software; FALSE where nothing is. */
static gboolean
predict_here (Builder *builder, const QmMeasurement *time, QmSelected *selected)
{
  QmPredicted *made = qm_predictions_make (builder->question, time->model,
                                           time->gpu, time->gpus);

  if (made == NULL)
    return FALSE;
  g_ptr_array_add (builder->predictions, made);
  selected->measurement = &made->time;
  selected->prediction = made;
  return TRUE;
}

/* The times of this machine that answer the question for one model, of the same
 * form as a selection: at most one at each place. */
static GArray *
select_here (Builder *builder, const char *model)
{
  GArray *selection = g_array_new (FALSE, FALSE, sizeof (QmSelected));
  const QmMeasurement *times;
  guint n;

  times = qm_host_times_list (builder->question->host, &n);
  for (guint i = 0; i < n; i++)
    {
      QmSelected selected = { .measurement = &times[i] };

      if (strcmp (times[i].model->id, model) != 0
          || times[i].settings != builder->question->settings
          || builder->question->times_of == QM_TIMES_OF_PUBLICATION)
        continue;
      if (!qm_selection_is_asked_for (builder->question, &times[i]))
        {
          if (is_measured_here (builder, &times[i]))
            continue;
          if (!predict_here (builder, &times[i], &selected))
            {
              if (!g_ptr_array_find (builder->left_out, &times[i], NULL))
                g_ptr_array_add (builder->left_out, (gpointer) &times[i]);
              continue;
            }
        }
      g_array_append_val (selection, selected);
    }
  return selection;
}

/* What GPUs to use cost in cents for so many days; -1 where there is no time,
 * or it is absurd. */
static gint64
cost_of_use (const QmCandidate *candidate, double days)
{
  double micros =
      (double) candidate->use->hour_micros * candidate->gpus * 24 * days;

  return qm_known (days) && micros < MAX_MICROS
             ? micros_minor (llround (micros))
             : -1;
}

/* Appends this machine, or GPUs to use, which no filter of what may be bought
 * leaves out. */
static void
append_here (const QmQuestion *question,
             QmCandidate candidate,
             double machine_days,
             GArray *candidates)
{
  gboolean portfolio = question->runs != NULL && question->runs->len > 0;
  gint64 cost;

  candidate.here = TRUE;
  set_cost (question, &candidate, 0, 0, 0);
  finish (question, &candidate, machine_days);
  if (candidate.use != NULL)
    {
      cost = cost_of_use (&candidate, machine_days);
      candidate.experiment_cost = cost >= 0 ? cost / 100.0 : NAN;
      if (portfolio)
        cost =
            cost_of_use (&candidate, machine_days * question->lifetime_years);
      candidate.cost_minor = cost;
      candidate.cost_low_minor = cost;
      candidate.cost_high_minor = cost;
    }
  candidate.eligible = FALSE;
  g_array_append_val (candidates, candidate);
}

static void
build_single_here (Builder *builder, const char *model, GArray *candidates)
{
  g_autoptr (GArray) selection = select_here (builder, model);

  for (guint i = 0; i < selection->len; i++)
    {
      QmCandidate candidate =
          timed (builder->question, &g_array_index (selection, QmSelected, i));

      append_here (builder->question, candidate, candidate.days, candidates);
    }
}

/* Place -> the selected time of a model there that counts, the first of those
 * that are as good. */
static GHashTable *
best_by_place (GArray *selection)
{
  GHashTable *table =
      g_hash_table_new_full (place_hash, place_equal, g_free, NULL);

  for (guint i = 0; i < selection->len; i++)
    {
      QmSelected *selected = &g_array_index (selection, QmSelected, i);
      Place place = { selected->measurement->gpu, selected->measurement->gpus };

      if (!selected->superseded && !g_hash_table_contains (table, &place))
        g_hash_table_insert (table, g_memdup2 (&place, sizeof place), selected);
    }
  return table;
}

/* A candidate with what all runs take there; in a machine that is known already
 * (`on`, else NULL), in its places for cards. */
static QmCandidate
add_runs (Builder *builder,
          const Place *place,
          GPtrArray *tables,
          QmCandidate candidate,
          const QmCandidate *on,
          QmYear *year)
{
  const QmQuestion *question = builder->question;

  candidate.gpu = place->gpu;
  candidate.gpus = place->gpus;
  candidate.implied_utilization = NAN;
  candidate.reachable_days = NAN;
  candidate.verdict = QM_VERDICT_OK;
  candidate.first_run = builder->run_times->len;
  for (guint i = 0; i < tables->len; i++)
    {
      const QmSelected *selected =
          g_hash_table_lookup (g_ptr_array_index (tables, i), place);
      QmSelected slower;
      QmRunTime run;

      if (on != NULL && is_slowed (on, selected))
        {
          slower = slow_down (builder, selected);
          selected = &slower;
        }
      run = qm_year_add_run (question, &candidate,
                             &g_array_index (question->runs, QmRun, i),
                             selected, year);
      g_array_append_val (builder->run_times, run);
    }
  qm_year_finish (question, &candidate, year);
  return candidate;
}

/* Whether one of the runs takes longer on the candidate's machine. */
static gboolean
is_any_slowed (const QmCandidate *candidate,
               const Place *place,
               GPtrArray *tables)
{
  for (guint i = 0; i < tables->len; i++)
    if (is_slowed (candidate,
                   g_hash_table_lookup (g_ptr_array_index (tables, i), place)))
      return TRUE;
  return FALSE;
}

static void
build_place (Builder *builder,
             Place place,
             const QmUse *use,
             gboolean here,
             GPtrArray *tables,
             GArray *candidates)
{
  const QmQuestion *question = builder->question;
  const QmCandidate empty = { .here = !!here, .use = use };
  QmYear elsewhere_year = { 0 }, year;
  const QmCandidate elsewhere =
      add_runs (builder, &place, tables, empty, NULL, &elsewhere_year);
  QmCandidate candidate = elsewhere;

  year = elsewhere_year;
  if (here)
    {
      append_here (question, candidate, year.stated.machine_days, candidates);
      return;
    }
  set_prices (builder, &candidate);
  if (is_any_slowed (&candidate, &place, tables))
    {
      year = (QmYear){ 0 };
      candidate = add_runs (builder, &place, tables, empty, &candidate, &year);
      set_prices (builder, &candidate);
    }
  finish (question, &candidate, year.stated.machine_days);
  append_candidate (builder, &candidate, year.stated.machine_days, &elsewhere,
                    elsewhere_year.stated.machine_days, candidates);
}

/* The places of a selection that no measurement is of. */
static void
build_predicted_places (Builder *builder,
                        GArray *selection,
                        GPtrArray *tables,
                        GHashTable *seen,
                        GArray *candidates)
{
  for (guint i = 0; i < selection->len; i++)
    {
      const QmSelected *selected = &g_array_index (selection, QmSelected, i);
      Place place = { selected->measurement->gpu, selected->measurement->gpus };

      if (selected->prediction != NULL
          && g_hash_table_add (seen, g_memdup2 (&place, sizeof place)))
        build_place (builder, place, NULL, FALSE, tables, candidates);
    }
}

/* Appends every place that has a time of any run, in the order of the `n` times
 * that are known: those of what may be bought, or of this machine. */
static void
build_portfolio (Builder *builder,
                 gboolean here,
                 const QmMeasurement *times,
                 size_t n,
                 GArray *candidates)
{
  const GArray *runs = builder->question->runs;
  g_autoptr (GPtrArray) selections =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  g_autoptr (GPtrArray) tables =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (place_hash, place_equal, g_free, NULL);

  for (guint i = 0; i < runs->len; i++)
    {
      const char *model = g_array_index (runs, QmRun, i).model;
      GArray *selection =
          here ? select_here (builder, model) : select_times (builder, model);

      g_ptr_array_add (selections, selection);
      g_ptr_array_add (tables, best_by_place (selection));
    }

  for (size_t i = 0; i < n; i++)
    {
      Place place = { times[i].gpu, times[i].gpus };
      gboolean used = FALSE;

      for (guint t = 0; t < tables->len && !used; t++)
        used = g_hash_table_contains (g_ptr_array_index (tables, t), &place);
      if (used && g_hash_table_add (seen, g_memdup2 (&place, sizeof place)))
        build_place (builder, place, NULL, here, tables, candidates);
    }
  for (guint i = 0; i < selections->len; i++)
    build_predicted_places (builder, g_ptr_array_index (selections, i), tables,
                            seen, candidates);
}

/* GPUs to use, as the only ones that may be: whatever is filtered, and
 * predicted where nobody measured so many. */
static void
build_use (Builder *builder, const QmUse *use, GArray *candidates)
{
  const QmGpu *gpu = qm_catalog_gpu (builder->catalog, use->gpu);
  char *only[] = { use->gpu, NULL };
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (int));
  g_autoptr (GPtrArray) tables =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  g_autoptr (GPtrArray) selections =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  QmQuestion question = *builder->question;
  const QmQuestion *asked = builder->question;
  gboolean portfolio = question.runs != NULL && question.runs->len > 0;
  Place place = { gpu, use->gpus };
  QmUse *own = g_memdup2 (use, sizeof *use);

  own->gpu = (char *) gpu->id;
  g_ptr_array_add (builder->predictions, own);
  g_array_append_val (counts, use->gpus);
  question.gpus = only;
  question.counts = counts;
  builder->question = &question;
  for (guint i = 0; i < (portfolio ? question.runs->len : 1); i++)
    {
      const char *model = portfolio
                              ? g_array_index (question.runs, QmRun, i).model
                              : question.model;
      GArray *selection = select_times (builder, model);

      g_ptr_array_add (selections, selection);
      g_ptr_array_add (tables, best_by_place (selection));
    }
  if (portfolio)
    build_place (builder, place, own, TRUE, tables, candidates);
  else
    {
      const QmSelected *selected =
          g_hash_table_lookup (g_ptr_array_index (tables, 0), &place);

      if (selected != NULL)
        {
          QmCandidate candidate = timed (&question, selected);

          candidate.use = own;
          append_here (&question, candidate, candidate.days, candidates);
        }
    }
  builder->question = asked;
}

/* What may be bought, then GPUs to use and this machine. */
static void
build (Builder *builder, GArray *candidates)
{
  const QmQuestion *question = builder->question;
  gboolean portfolio = question->runs != NULL && question->runs->len > 0;
  const QmMeasurement *times;
  guint n_here;
  size_t n;

  times = qm_catalog_measurements (builder->catalog, &n);
  if (portfolio)
    build_portfolio (builder, FALSE, times, n, candidates);
  else
    build_single (builder, question->model, candidates);
  for (guint i = 0; question->uses != NULL && i < question->uses->len; i++)
    build_use (builder, &g_array_index (question->uses, QmUse, i), candidates);
  if (question->host == NULL)
    return;
  times = qm_host_times_list (question->host, &n_here);
  if (n_here == 0)
    return;
  if (portfolio)
    build_portfolio (builder, TRUE, times, n_here, candidates);
  else
    build_single_here (builder, question->model, candidates);
}

GArray *
qm_candidates_build (const QmCatalog *catalog,
                     const QmQuestion *question,
                     GPtrArray *predictions,
                     GArray *run_times,
                     GPtrArray *left_out)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (QmCandidate));
  g_autoptr (QmCarriers) carriers = qm_carriers_new (catalog, question);
  Builder builder = { .catalog = catalog,
                      .question = question,
                      .carriers = carriers,
                      .predictions = predictions,
                      .run_times = run_times,
                      .left_out = left_out };

  build (&builder, candidates);
  return candidates;
}
