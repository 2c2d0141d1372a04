/* SPDX-License-Identifier: Apache-2.0 */

/* From a question to an answer: candidates, their audit, the Pareto frontier
 * and the recommendation.
 *
 * A candidate is a GPU type x a count x the cheapest machine that carries that
 * many (pricing/advice/qm-carrier.h), or a whole machine with its GPUs that the
 * user has a quote of.  What no machine carries stays in view with the reason
 * and without a price, and is neither drawn nor recommended.  The overall cost
 * is machine + memory that it has to be given + count x GPU, or the machine's
 * with its GPUs; the cost of one experiment is overall cost x days / (lifetime
 * x 365), the machine's price spread evenly over its life ("$100K or 100 Days",
 * arXiv 2410.23261, section 4.1); of a year's runs it is that of one machine
 * with the days that all of them take on it.  Where a question counts what
 * owning costs, both are made of that total (pricing/advice/qm-ownership.h)
 * instead of the price.
 *
 * Audit: the utilisation that a time implies is
 *
 *   model FLOPs / (days x 86400 x GPUs x peak rate of the GPU)
 *
 * with the days that the steps alone take, and the peak in the recipe's
 * precision with fp32 accumulation (TF32 for fp32 recipes at optimal settings,
 * fp32 at naive ones).  Above the peak a time is impossible.  It is doubtful
 * where it is shorter than what is predicted to be reachable there: than the
 * low end of the interval of the software that is predicted to be the fastest
 * on these GPUs (qm_forecasts_fastest()), whatever software the time is of.
 * Where nothing is predicted there is no such line.  The verdict takes the
 * benefit of the doubt: it judges at days + the rounding of the source.
 * Predicted times are not judged by predictions.
 *
 * What nobody measured takes part where the question wants it, with a predicted
 * time and its interval (pricing/advice/qm-predictions.h), as far as a price is
 * known.
 *
 * GPUs that one has or is allocated are candidates, too (QmUse), in any number:
 * where nobody measured so many, the time is predicted.  They cost what an hour
 * of them costs for as long as the training takes, of a year's runs for as many
 * years as a machine would live.  They are never recommended to be bought, and
 * are on no frontier.
 *
 * This machine is a candidate, too, where it was measured and the question has
 * its times, whatever the filters: it is there already, so that its price is 0
 * and its cost what it takes to run, where costs are totals.  It is never
 * recommended, since nobody can buy it, and is on no frontier.  There is one of
 * it: to a portfolio that takes more it is insufficient.
 *
 * Building an advice looks at everything but the budget and the deadline;
 * qm_advice_recommend() then costs one pass, so that a slider can call it for
 * every pixel that it moves.
 */

#pragma once

#include "data/carry.h"
#include "pricing/advice/qm-predictions.h"
#include "pricing/advice/qm-price.h"
#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

typedef enum
{
  QM_VERDICT_OK,
  QM_VERDICT_POSSIBLE,   /* implies no more than the peak, and nothing is
                            predicted there that it could be held against */
  QM_VERDICT_DOUBTFUL,   /* shorter than what is predicted to be reachable */
  QM_VERDICT_IMPOSSIBLE, /* implies more than the peak */
  QM_VERDICT_INFEASIBLE, /* does not fit, as the source says */
  QM_VERDICT_UNKNOWN     /* the source has no time, or the peak is unknown */
} QmVerdict;

#define QM_IMPOSSIBLE_UTILIZATION 1.0

/* One way to buy.  Pointers are the catalog's, which must outlive the advice,
 * or the advice's own where a time was predicted.
 * For a portfolio `measurement` is the one of its slowest run (the one whose
 * single training takes longest), the verdict is the worst among its runs, and
 * `audited` is the measurement that has it, of several the one of the highest
 * utilisation; whose that and the reachable days are. */
typedef struct
{
  const QmGpu *gpu;
  int gpus;                   /* in one machine */
  const QmPlatform *platform; /* that carries them, or where `carry` has a
                                 problem the one that is nearest to it; NULL:
                                 there is none, or another kind of machine */
  QmCarry carry;            /* how the platform does, with the room's power for
                               all machines */
  double host_gib;          /* of host memory, that training takes; 0: not known
                               to take any */
  double extra_gib;         /* of it, what is to be bought with the platform */
  const QmMachine *machine; /* of the publication, or one without GPUs that the
                               user has a quote of; else NULL */
  int machines;             /* 1 but for portfolios */
  gint64 price_minor;       /* of all machines, in USD cents; -1: unpriced */
  gint64 price_low_minor; /* its interval, qm_price_interval(); -1: unpriced */
  gint64 price_high_minor;
  gint64 cost_minor;     /* overall: the price, or what owning costs where the
                            question counts that; -1: unpriced, or unknown */
  gint64 cost_low_minor; /* its interval, at those of the price */
  gint64 cost_high_minor;
  double days;                /* of the run: the steps' own times the question's
                                 factor; NaN where there is no time; a
                                 portfolio's: see qm_advice_new() */
  double days_low, days_high; /* the interval, where days rest on a predicted
                                 time; else NaN */
  double longest_days;    /* of the single run that takes longest; NaN where a
                             time is missing */
  double machine_days;    /* of all runs of a year on one machine; of a single
                             training its days */
  double busy;            /* the share of the year that the machines of a
                             portfolio train; NaN: not known, or no portfolio */
  guint first_run;        /* of a portfolio: see qm_advice_runs() */
  double experiment_cost; /* major units; a portfolio's: of a year's runs */
  double implied_utilization; /* by the steps alone, as stated; NaN where
                                 unknown */
  double reachable_days;      /* of the steps of what was audited, that are
                                 predicted to be reachable there; NaN where nothing
                                 is predicted, or needs to be */
  QmVerdict verdict;
  const QmMeasurement *measurement;
  const QmMeasurement *audited;  /* NULL: no utilisation is known */
  const QmPredicted *prediction; /* that the measurement is of, where nobody
                                     measured; else NULL */
  const QmPrice *gpu_price; /* NULL: unpriced, or contained in the machine's */
  const QmPrice *machine_price; /* or the platform's */
  const QmPrice *memory_price;  /* of a GiB, where there is `extra_gib` */
  const QmOffer *gpu_offer;     /* the quotes that the prices are of, or NULL */
  const QmOffer *machine_offer;
  const QmUse *use;       /* that it is; NULL: to be bought, or this machine */
  guint here : 1;         /* this machine, or GPUs to use: not to be bought */
  guint insufficient : 1; /* this machine: a portfolio takes more than the one
                             that there is */
  guint superseded : 1;   /* the place has a time that is better known */
  guint predicted : 1;    /* days rest on a predicted time */
  guint weak : 1;         /* a price is one that nobody sells at: see
                             qm_price_is_weak() */
  guint unfunded : 1;     /* one machine costs less or more than the funder of
                             the question's purse pays */
  guint late : 1;         /* a run takes longer than a single one may: see
                             qm_advice_get_run_limit() */
  guint outlived : 1;     /* late, and longer than the machine is to serve */
  guint eligible : 1;     /* may be recommended: passes the audit, has a price
                             and a time, and is none of the above but late */
  guint on_frontier : 1;  /* no eligible candidate is both cheaper and faster */
} QmCandidate;

/* What one run of a portfolio takes on a candidate. */
typedef struct
{
  const QmMeasurement *measurement; /* NULL: no time is known there */
  const QmPredicted *prediction;    /* that the measurement is of, or NULL */
  double days;                      /* the question's factor included; NaN:
                                       not known, or it does not fit */
  double days_low, days_high;       /* the interval where days are predicted,
                                       else NaN */
  QmVerdict verdict;                /* QM_VERDICT_INFEASIBLE: does not fit */
  guint predicted : 1;
} QmRunTime;

typedef struct _QmAdvice QmAdvice;

typedef enum
{
  QM_OUTCOME_FOUND,
  QM_OUTCOME_OVER_BUDGET, /* something is in time, nothing affordable is */
  QM_OUTCOME_TOO_LATE,    /* nothing at any price is in time */
  QM_OUTCOME_NOTHING      /* no candidate may be recommended at all */
} QmOutcome;

/* Indices into the candidates; -1: there is none. */
typedef struct
{
  QmOutcome outcome;
  int best;      /* shortest time within the limits: of those that take no more
                    than the slack longer, and of which no cost is a weak
                    price where that of the fastest is not, the one of the
                    least cost x days that is on the frontier;
                    ties by shorter time, lower cost, fewer GPUs, then the
                    catalog's order */
  int sooner;    /* the one of the shortest time, where that is another */
  int runner_up; /* what would be the best without it */
  int faster;    /* the cheapest one that is faster than the best by more than
                    the slack */
  int cheaper;   /* the fastest one that costs less than the best */
  int would_do;  /* nothing found: the cheapest that is in time, or where
                    nothing is, the fastest */
  int outlived;  /* nothing found, though the budget and the deadlines have
                    machines that a run would outlive: of these the one that
                    is soonest back with it */
  int denied;    /* the one that would be best with the times as published, but
                    is left out as impossible */
} QmRecommendation;

/* Answers a question.
 *
 * For a portfolio of N_i runs a year that take d_i days each on a candidate,
 * the factor of the question included,
 *
 *   machines = max (at_once, ceil (sum N_i d_i / D))
 *   days     = max (longest d_i, sum N_i d_i / machines)
 *
 * the time that a year's runs take on those machines, shared out evenly.  D is
 * the deadline of a year's work, or the year's 365 days where that is longer,
 * or shorter than a single run, so that no number of machines meets it.  This
 * machine is one whatever that says, so that a year's runs may take it more
 * than a year.  The deadline of a single run is that of the question until
 * qm_advice_set_run_deadline() sets another.
 *
 * Returns: (transfer full): the advice, or NULL with an error where a model or
 *   GPU of the question is not in the catalog. */
QmAdvice *qm_advice_new (const QmCatalog *catalog,
                         const QmQuestion *question,
                         GError **error);

/* An advice over candidates that the caller made up, for measuring and tests.
 * Takes the audit and eligibility as they are and computes the frontier.
 * Returns: (transfer full). */
QmAdvice *qm_advice_new_for_candidates (const QmCandidate *candidates,
                                        guint n_candidates);

void qm_advice_free (QmAdvice *advice);

/* How long a single run may take (NaN: any time), from now on: which candidates
 * are late.  Asks for a new recommendation. */
void qm_advice_set_run_deadline (QmAdvice *advice, double days);
double qm_advice_get_run_deadline (const QmAdvice *advice);

/* How long a single run may take at most, NaN: any time.  That is the deadline,
 * or the lifetime of the question where that is shorter: nobody is advised to
 * buy a machine that a run would outlive.  The paper knew no such limit, and
 * neither has a question as in it, nor have candidates that were made up. */
double qm_advice_get_run_limit (const QmAdvice *advice);

/* By how much longer a time may be to count as being as short as the shortest,
 * as a share of it; that of the question, and 0 of candidates that were made
 * up.
 *
 * The shortest time within a budget spends the last dollar on the last hour.
 * Times that close together are none that anybody could tell apart: half of
 * what is predicted is off by more (pricing/PREDICTION.md).  So what counts
 * between them is the cost of a training, cost x days: one takes the longer
 * time where it saves a larger share of the money.  A price that nobody sells
 * at saves nothing that is known. */
void qm_advice_set_slack (QmAdvice *advice, double slack);
double qm_advice_get_slack (const QmAdvice *advice);

/* What each run of a portfolio takes on a candidate, in the order of the
 * question's runs; none where it is no portfolio.  (transfer none) */
const QmRunTime *
qm_advice_runs (const QmAdvice *advice, const QmCandidate *candidate, guint *n);

/* The money that the question counts in. */
const QmPurse *qm_advice_purse (const QmAdvice *advice);

/* Whether it is about a year's portfolio: days and experiment cost of its
 * candidates are then those of all runs. */
gboolean qm_advice_is_portfolio (const QmAdvice *advice);

/* Whether costs are what owning costs, not prices alone. */
gboolean qm_advice_counts_ownership (const QmAdvice *advice);

/* The user's own prices (const QmPrice*) that count nowhere, since no exchange
 * rate is known.  (transfer none) */
GPtrArray *qm_advice_prices_without_rate (const QmAdvice *advice);

/* GPU types (const QmGpu*) that the question names, or that somebody sells, and
 * that take no part since nothing is known to predict them from.
 * (transfer none) */
GPtrArray *qm_advice_unpredicted (const QmAdvice *advice);

/* Whether some take no part since what is asked about is in FP8, of which
 * nothing is predicted. */
gboolean qm_advice_lacks_fp8 (const QmAdvice *advice);

/* Training times (const QmMeasurement*) that would be candidates but for the
 * software that they were taken with: pricing/advice/qm-selection.h.  Of this
 * machine they are among those of the question's host times.  (transfer none)
 */
GPtrArray *qm_advice_left_out (const QmAdvice *advice);

/* The candidates that pass the question's filters, also those that may not be
 * recommended, in the order of the catalog's measurements.  A place that was
 * measured twice (published and on the user's machine) is there twice;
 * pricing/advice/qm-selection.h says which one counts. */
const QmCandidate *qm_advice_candidates (const QmAdvice *advice, guint *n);

/* The candidate of an index; NULL where there is none, as of -1. */
const QmCandidate *qm_advice_candidate (const QmAdvice *advice, int index);

/* Indices of the Pareto frontier over (overall cost, days), from cheap to
 * fast. */
const int *qm_advice_frontier (const QmAdvice *advice, guint *n);

/* Indices of the Pareto frontier over (experiment cost, days). */
const int *qm_advice_experiment_frontier (const QmAdvice *advice, guint *n);

/* Recommends within a budget (USD cents, -1: none), the deadline of all its
 * runs (days, NaN: none), and that of a single run. */
QmRecommendation qm_advice_recommend (const QmAdvice *advice,
                                      gint64 budget_minor,
                                      double deadline_days);

/* Whether it is a machine with its GPUs, as offered. */
gboolean qm_candidate_is_whole (const QmCandidate *candidate);

/* What its machine is called: the platform that carries it, the publication's
 * or a quoted one; NULL where there is none.  The catalog's or the offer's. */
const char *qm_candidate_machine_name (const QmCandidate *candidate);

/* Whether it has a time, but no machine carries its GPUs. */
gboolean qm_candidate_is_not_carried (const QmCandidate *candidate);

/* In how many jobs a training runs on GPUs to use; 1 where a job may take as
 * long as it wants, 0 where there is no time. */
int qm_candidate_jobs (const QmCandidate *candidate);

/* Whether a candidate would do within the limits, which it is not where a
 * single run is late or no funder pays it: may be bought or, as this machine,
 * be used. */
gboolean qm_candidate_within (const QmCandidate *candidate,
                              gint64 budget_minor,
                              double deadline_days);

/* The utilisation that training in `days` implies; NaN where the peak is
 * unknown. */
double qm_audit_utilization (const QmModel *model,
                             const QmGpu *gpu,
                             int gpus,
                             QmSettings settings,
                             double days);

/* What an audit found. */
typedef struct
{
  double utilization;    /* at the days as stated; NaN where unknown */
  double reachable_days; /* as in QmCandidate */
} QmAudit;

/* The verdict on a measurement, by what is predicted (may be NULL: nothing);
 * `audit` may be NULL. */
QmVerdict qm_audit_measurement (const QmMeasurement *measurement,
                                const QmForecasts *forecasts,
                                QmAudit *audit);

/* "ok", "possible", "doubtful", "impossible", "infeasible", "unknown"; for
 * files. */
const char *qm_verdict_name (QmVerdict verdict);

#define QM_ADVICE_ERROR (qm_advice_error_quark ())
GQuark qm_advice_error_quark (void);

typedef enum
{
  QM_ADVICE_ERROR_UNKNOWN_MODEL,
  QM_ADVICE_ERROR_UNKNOWN_GPU,
  QM_ADVICE_ERROR_INVALID
} QmAdviceError;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmAdvice, qm_advice_free)

G_END_DECLS
