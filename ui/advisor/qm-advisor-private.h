/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the advisor share. */

#pragma once

#include "pricing/advice/qm-predictions.h"
#include "ui/advisor/qm-advisor.h"
#include "ui/machine/qm-forecaster.h"

G_BEGIN_DECLS

struct _QmAdvisor
{
  GObject parent_instance;

  QmCatalog *catalog;
  QmOffers *offers;  /* NULL: none */
  QmHostTimes *host; /* of this machine; NULL: none */
  QmForecaster *forecaster;
  gboolean reading_host;
  gboolean read_host_again;
  GPtrArray *gpus; /* const char*, NULL-terminated: those with times first */
  GArray *counts;  /* int, ascending: those with times */

  GStrv models;
  double budget;
  double deadline;
  double run_deadline;
  char *currency;
  double tax;
  double machine_least, machine_most;
  gboolean gross;
  QmPurse purse; /* of these, but for the budget */
  double lifetime;
  double time_factor;
  double slack;
  gboolean as_in_paper;
  gboolean any_price;
  gboolean expired_quotes;
  gboolean total_cost;
  gboolean measured_only;
  QmOwnershipSettings ownership;
  gboolean desktops;
  gboolean servers;
  gboolean log_axes;
  gboolean all_gpus;
  gboolean portfolio;
  int at_once;
  int times_of;           /* QmTimesOf */
  int settings;           /* QmSettings */
  int room;               /* QmRoom */
  QmRates *rates;         /* NULL: none */
  GHashTable *gpus_off;   /* char* */
  GHashTable *counts_off; /* GINT_TO_POINTER */
  GArray *runs;           /* QmRun */
  GArray *uses;           /* QmUse */

  GPtrArray *topics; /* QmTopic */
  gboolean stale;    /* topics must be built anew */
  guint rebuild_source;

  gboolean has_selection;
  guint selected_topic;
  guint selected_candidate;
};

/* What a selection is of, whatever its index. */
typedef struct
{
  char *topic;           /* NULL: nothing is selected */
  QmCandidate candidate; /* the catalog it is of must be there */
  gboolean whole;
  QmUse use; /* that it is, of the catalog's GPU */
} QmSelectedCandidate;

/* What is selected. */
void qm_selected_candidate_init (QmSelectedCandidate *selected,
                                 const QmAdvisor *advisor);
void qm_selected_candidate_clear (QmSelectedCandidate *selected);

/* Selects the same machine with the same time, where it is one of the topics as
 * they are, without telling so. */
void qm_selected_candidate_select (const QmSelectedCandidate *selected,
                                   QmAdvisor *advisor);

/* Tells that another candidate, or none, is selected. */
void qm_advisor_tell_selection (QmAdvisor *self);

/* Brings the topics up to date and tells so. */
void qm_advisor_ensure_topics (QmAdvisor *self);

/* Selects what the other one has selected, where this one has it, too; the
 * catalog of the other one must still be there. */
void qm_advisor_select_like (QmAdvisor *self, QmAdvisor *other);

/* What all topics ask in common.  (transfer full) */
QmQuestion *qm_advisor_base_question (QmAdvisor *self);

/* Takes up what changed of the money: currency, rates, tax or limits of one
 * machine. */
void qm_advisor_renew_purse (QmAdvisor *self);

/* Puts those of the advisor into a question. */
void qm_advisor_ask_of_uses (QmAdvisor *self, QmQuestion *question);

/* Builds the topics anew, later in this turn of the main loop. */
void qm_advisor_queue_rebuild (QmAdvisor *self);

G_END_DECLS
