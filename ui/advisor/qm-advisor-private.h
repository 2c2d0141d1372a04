/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the advisor share. */

#pragma once

#include "ui/advisor/qm-advisor.h"

G_BEGIN_DECLS

struct _QmAdvisor
{
  GObject parent_instance;

  const QmCatalog *catalog;
  QmOffers *offers;      /* NULL: none */
  QmHostTimes *host;     /* of this machine; NULL: none */
  QmMemoryFit *memory;   /* of predicted trainings */
  GHashTable *looked_at; /* char*: models that were, or will be */
  GQueue to_look_at;     /* char*: models that will be */
  GCancellable *looking; /* at the memory of one; NULL: at none */
  gboolean reading_host;
  gboolean read_host_again;
  GPtrArray *gpus; /* const char*, NULL-terminated: those with times first */
  GArray *counts;  /* int, ascending: those with times */

  GStrv models;
  double budget;
  double deadline;
  double lifetime;
  gboolean published_times;
  gboolean current_prices;
  gboolean expired_quotes;
  gboolean total_cost;
  gboolean predict_all;
  QmOwnershipSettings ownership;
  gboolean naive_settings;
  gboolean desktops;
  gboolean servers;
  gboolean log_axes;
  gboolean portfolio;
  int at_once;
  int times_of;           /* QmTimesOf */
  GHashTable *gpus_off;   /* char* */
  GHashTable *counts_off; /* GINT_TO_POINTER */
  GArray *runs;           /* QmRun */

  GPtrArray *topics; /* QmTopic */
  gboolean stale;    /* topics must be built anew */
  guint rebuild_source;

  gboolean has_selection;
  guint selected_topic;
  guint selected_candidate;
};

/* Builds the topics anew, later in this turn of the main loop. */
void qm_advisor_queue_rebuild (QmAdvisor *self);

/* Has it planned, once, whether a model fits where the question predicts it;
 * rebuilds when the answer is there. */
void qm_advisor_look_at_memory (QmAdvisor *self,
                                const QmQuestion *question,
                                const char *id);

/* Ends what is under way of that. */
void qm_advisor_forget_memory (QmAdvisor *self);

G_END_DECLS
