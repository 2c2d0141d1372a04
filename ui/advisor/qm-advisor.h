/* SPDX-License-Identifier: Apache-2.0 */

/* The state behind the advisor page: the question as properties, the answers
 * as advice, the selection.  Widgets set properties and watch signals; none of
 * them knows another.
 *
 * A topic is one thing to give advice on: one for each chosen model, or a
 * single one for the portfolio while that is in use.  Topics are numbered from
 * 0, candidates within a topic as in its advice.
 */

#pragma once

#include "pricing/advice/qm-asked.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define QM_BUDGET_MIN        1000.0
#define QM_BUDGET_MAX        1000000.0
#define QM_DEADLINE_MIN      1.0
#define QM_DEADLINE_MAX      10000.0
#define QM_RUNS_PER_YEAR_MAX 1000000.0

/* A budget in a currency of small units may be so large. */
#define QM_BUDGET_LEAST 1.0
#define QM_BUDGET_MOST  1e12

/* GPUs to use: lines, GPUs in one, USD that an hour of each costs, hours that a
 * job may run. */
#define QM_USES_MAX         32
#define QM_USE_GPUS_MAX     1024
#define QM_USE_HOUR_MAX     10000
#define QM_USE_WALLTIME_MIN 0.01
#define QM_USE_WALLTIME_MAX 1e6

#define QM_TYPE_ADVISOR (qm_advisor_get_type ())
G_DECLARE_FINAL_TYPE (QmAdvisor, qm_advisor, QM, ADVISOR, GObject)

/* Properties, all readable and writable, all with a default that
 * qm_advisor_reset() restores:
 *
 *   "models"     GStrv    chosen model ids, at least one
 *   "budget"     double   of the currency, QM_BUDGET_LEAST to QM_BUDGET_MOST
 *   "currency"   string   ISO 4217, of which a rate is known; without rates
 *                         it counts as USD
 *   "tax"        double   percent, 0 to 100; 0: nobody asks about it
 *   "gross"      boolean  the budget contains the tax
 *   "machine-least"  double  of the currency, what one machine must cost so
 * that a funder pays it; 0: anything "machine-most"   double  what it may cost;
 * 0: anything "deadline"   double   days, of all runs of a year; 0: none
 *   "run-deadline"   double  days, of a single run of a year's; 0: none
 *   "lifetime"   double   years, 1 to 20
 *   "time-factor"  double  how many times as long as its steps a training
 *                          takes, 1 to 10
 *   "slack"      double   percent above the shortest time within which times
 *                         count as equal, 0 to 100
 *   "times-of"   int      QmTimesOf: whose times
 *   "settings"   int      QmSettings: how well tuned
 *   "room"       int      QmRoom: what its circuits give
 *   "as-in-paper"      boolean  times, prices and machines of the paper; what
 *                               else is assumed does not count
 *   "any-price"        boolean  used, claimed and undated prices compete
 *   "total-cost"       boolean  costs are what owning costs: see
 *                               qm_advisor_get_ownership(); FALSE: the price
 *   "expired-quotes"   boolean  quotes that do not hold today count too
 *   "desktops"   boolean  desktop machines take part
 *   "servers"    boolean  server machines take part
 *   "log-axes"   boolean  both axes of the plots logarithmic
 *   "all-gpus"   boolean  the plots show all types of GPU, not a shortlist
 *   "portfolio"  boolean  advise on the runs of a year instead of one training
 *   "at-once"    int      machines that a portfolio needs at least, 1 to 64
 *
 * Signals:
 *
 *   "rebuilt"            topics or candidates changed; forget every index
 *   "limits-changed"     budget or a deadline moved: recommendations changed,
 *                        topics and candidates did not
 *   "selection-changed"  another candidate, or none, is selected
 *
 * A change of several properties in one main loop turn rebuilds once, at the
 * latest when an answer is asked for.
 */

/* Advises on `catalog`, which it keeps.  (transfer full) */
QmAdvisor *qm_advisor_new (const QmCatalog *catalog);

/* What the advice rests on.  (transfer none) */
const QmCatalog *qm_advisor_get_catalog (QmAdvisor *self);

/* The user's quotes, which go before the catalog's prices; NULL: none. */
void qm_advisor_set_offers (QmAdvisor *self, QmOffers *offers);

/* The exchange rates, without which prices of the catalog in other currencies
 * than USD do not count; NULL: none. */
void qm_advisor_set_rates (QmAdvisor *self, QmRates *rates);

/* The times of this machine, which is then a candidate; NULL: it is none. */
void qm_advisor_set_host (QmAdvisor *self, QmHostTimes *host);

/* Reads them from the results file of this host, without blocking; to be called
 * at the start and when a result has come. */
void qm_advisor_read_host (QmAdvisor *self);

/* How many results of this host do not say of which machine they are, and do
 * not count for that; known after "rebuilt". */
guint qm_advisor_get_n_unsaid (QmAdvisor *self);

/* What owning is assumed to cost, over the "lifetime"; no default is restored
 * by qm_advisor_reset().  Setting it rebuilds where "total-cost" is on.
 * (transfer none) */
const QmOwnershipSettings *qm_advisor_get_ownership (QmAdvisor *self);
void qm_advisor_set_ownership (QmAdvisor *self,
                               const QmOwnershipSettings *ownership);

/* The answers; valid until "rebuilt" ("limits-changed" for the
 * recommendation).  (transfer none) */
guint qm_advisor_get_n_topics (QmAdvisor *self);
const char *qm_advisor_get_title (QmAdvisor *self, guint topic);
const QmAdvice *qm_advisor_get_advice (QmAdvisor *self, guint topic);
const QmQuestion *qm_advisor_get_question (QmAdvisor *self, guint topic);
const QmRecommendation *qm_advisor_get_recommendation (QmAdvisor *self,
                                                       guint topic);

/* The limits as qm_advice_recommend() takes them. */
gint64 qm_advisor_get_budget_minor (QmAdvisor *self);
double qm_advisor_get_deadline_days (QmAdvisor *self);
double qm_advisor_get_run_deadline_days (QmAdvisor *self);

/* The money that is counted in.  Its budget is not set.  (transfer none) */
const QmPurse *qm_advisor_get_purse (QmAdvisor *self);

/* Whether the total cost contains a tax, so that "tax" is not added: "rebuilt"
 * tells when that changed. */
gboolean qm_advisor_owns_with_tax (QmAdvisor *self);

/* The exchange rates.  (transfer none) (nullable) */
QmRates *qm_advisor_get_rates (QmAdvisor *self);

/* The GPU types, those first that the catalog has times for, and the counts
 * with times; and whether they take part.  A type without times has candidates
 * only where times are predicted, which qm_advisor_has_gpu() tells. */
gboolean qm_advisor_has_gpu (QmAdvisor *self, const char *gpu);
const char *const *qm_advisor_get_gpus (QmAdvisor *self);
gboolean qm_advisor_get_gpu_enabled (QmAdvisor *self, const char *gpu);
void qm_advisor_set_gpu_enabled (QmAdvisor *self, const char *gpu, gboolean on);
const int *qm_advisor_get_counts (QmAdvisor *self, guint *n);
gboolean qm_advisor_get_count_enabled (QmAdvisor *self, int count);
void qm_advisor_set_count_enabled (QmAdvisor *self, int count, gboolean on);

/* The lines of the portfolio; they stay while "portfolio" is off. */
guint qm_advisor_get_n_runs (QmAdvisor *self);
const char *
qm_advisor_get_run (QmAdvisor *self, guint index, double *runs_per_year);
void
qm_advisor_add_run (QmAdvisor *self, const char *model, double runs_per_year);
void qm_advisor_set_run (QmAdvisor *self,
                         guint index,
                         const char *model,
                         double runs_per_year);
void qm_advisor_remove_run (QmAdvisor *self, guint index);

/* GPUs to use, which are compared with what could be bought, and never
 * recommended: QM_USES_MAX lines of them at most. */
guint qm_advisor_get_n_uses (QmAdvisor *self);

/* One of them, until they change.  (transfer none) */
const QmUse *qm_advisor_get_use (QmAdvisor *self, guint index);

/* Whether the catalog has the GPU and the numbers are within the limits above:
 * no other can be added or set. */
gboolean qm_advisor_is_use (QmAdvisor *self, const QmUse *use);
void qm_advisor_add_use (QmAdvisor *self, const QmUse *use);
void qm_advisor_set_use (QmAdvisor *self, guint index, const QmUse *use);
void qm_advisor_remove_use (QmAdvisor *self, guint index);

/* Whether a time on them is known or predicted for any topic: without, they are
 * compared with nothing. */
gboolean qm_advisor_use_has_time (QmAdvisor *self, guint index);

/* Whether both are as many of the same on the same terms. */
gboolean qm_use_equal (const QmUse *a, const QmUse *b);

/* The selected candidate.  Returns FALSE where none is. */
gboolean
qm_advisor_get_selected (QmAdvisor *self, guint *topic, guint *candidate);
void qm_advisor_select (QmAdvisor *self, guint topic, guint candidate);
void qm_advisor_unselect (QmAdvisor *self);

/* Everything back to its default. */
void qm_advisor_reset (QmAdvisor *self);

/* Keeps the question in, and takes it from, the schema of the application
 * (state of the advisor's keys).  Values that no longer make sense are left
 * out. */
void qm_advisor_save (QmAdvisor *self, GSettings *settings);
void qm_advisor_restore (QmAdvisor *self, GSettings *settings);

/* All that is asked, as one question, with its limits: where it is about
 * several models, a year with one training of each. (transfer full) (nullable):
 * NULL where nothing is asked. */
QmQuestion *qm_advisor_ask_whole (QmAdvisor *self);

/* What is asked, as a file has it.  (transfer full) */
QmAsked *qm_advisor_get_asked (QmAdvisor *self);

/* Asks what a file asks.  FALSE, and nothing is changed, with an error where
 * the catalog does not know something of it, or it cannot be shown here. */
gboolean
qm_advisor_take_asked (QmAdvisor *self, const QmAsked *asked, GError **error);

/* Asks what another advisor asks and selects what it has selected, over a
 * catalog of another time perhaps: what this one's catalog does not know is
 * left out. */
void qm_advisor_ask_like (QmAdvisor *self, QmAdvisor *other);

G_END_DECLS
