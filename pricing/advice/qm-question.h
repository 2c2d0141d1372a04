/* SPDX-License-Identifier: Apache-2.0 */

/* What the user asks: for which training, within which limits, on which
 * terms. */

#pragma once

#include "pricing/advice/qm-host-times.h"
#include "pricing/advice/qm-memory-fit.h"
#include "pricing/advice/qm-offers.h"

G_BEGIN_DECLS

/* Which published times count. */
typedef enum
{
  QM_TIMES_AUDITED,  /* impossible ones do not take part in advice */
  QM_TIMES_PUBLISHED /* as published, whatever they imply */
} QmTimes;

/* Whose times are asked for; pricing/advice/qm-selection.h says which ones that
 * are.
 *
 * PyTorch is the default: it is what most models are trained with, and what the
 * published times were taken with, so that only with it all GPUs are compared
 * on the same software. */
typedef enum
{
  QM_TIMES_OF_PYTORCH,
  QM_TIMES_OF_QUARTERMASTER, /* the project's engine */
  QM_TIMES_OF_PUBLICATION,   /* the published ones alone */
  QM_N_TIMES_OF
} QmTimesOf;

/* "pytorch", "quartermaster" or "published", as files and options have it;
 * static. */
const char *qm_times_of_name (QmTimesOf times_of);

/* Which times are predicted where nobody has measured them
 * (pricing/advice/qm-forecast.h). */
typedef enum
{
  QM_PREDICTIONS_NEEDED, /* of models that no time at all is known of, since
                            there would be no answer without */
  QM_PREDICTIONS_ALL,    /* of every model, wherever no time is known */
  QM_PREDICTIONS_NONE,
  QM_N_PREDICTIONS
} QmPredictions;

/* "needed", "all" or "none", as files and options have it; static. */
const char *qm_predictions_name (QmPredictions predictions);

/* Which prices count. */
typedef enum
{
  QM_PRICES_PUBLISHED, /* those of the published analysis, or the user's own */
  QM_PRICES_CURRENT    /* the newest dated price of each item */
} QmPriceBasis;

/* One line of a portfolio. */
typedef struct
{
  char *model; /* id in the catalog */
  double runs_per_year;
} QmRun;

typedef enum
{
  QM_KINDS_DESKTOP = 1 << 0,
  QM_KINDS_SERVER = 1 << 1,
  QM_KINDS_ALL = QM_KINDS_DESKTOP | QM_KINDS_SERVER
} QmMachineKinds;

/* What owning is assumed to cost: pricing/advice/qm-ownership.h. */
typedef struct _QmOwnershipSettings QmOwnershipSettings;

#define QM_LIFETIME_DEFAULT 5.0
#define QM_DAYS_PER_YEAR    365.0

/* A question.  Without `runs` it is about one training of `model`; with runs
 * it is about a year's portfolio on as many machines as that takes, of which
 * at least `at_once` stand side by side.  Empty filters let everything
 * through.  Offers go before the catalog's prices. */
typedef struct
{
  char *model;
  gint64 budget_minor;  /* USD cents; -1: no limit */
  double deadline_days; /* NaN: none */
  GStrv gpus;           /* GPU ids; NULL: all */
  GArray *counts;       /* of int, GPUs in a machine; NULL: all */
  QmMachineKinds kinds;
  QmTimes times;
  QmTimesOf times_of;
  QmPredictions predictions;
  QmPriceBasis prices;
  QmSettings settings;
  double lifetime_years;
  GArray *runs; /* of QmRun; NULL: one training of `model` */
  int at_once;
  QmOffers *offers;               /* of the user's quotes; NULL: none */
  gboolean expired_offers;        /* those that do not hold today count too */
  QmOwnershipSettings *ownership; /* costs, the budget with them, are totals of
                                     owning, over `lifetime_years` whatever
                                     stands in here; NULL: prices alone */
  QmHostTimes *host;              /* of this machine; NULL: leave it out */
  QmMemoryFit *memory;            /* what predicted trainings take; NULL: was
                                     not looked at */
} QmQuestion;

/* A question with every default and no model. */
QmQuestion *qm_question_new (void);

/* Sets what costs are made of; NULL: prices alone.  The settings are copied. */
void qm_question_set_ownership (QmQuestion *question,
                                const QmOwnershipSettings *ownership);

/* Deep copy. */
QmQuestion *qm_question_copy (const QmQuestion *question);

void qm_question_free (QmQuestion *question);

/* Whether times of that model are predicted. */
gboolean qm_question_predicts (const QmQuestion *question,
                               const QmCatalog *catalog,
                               const QmModel *model);

/* Appends a line to the portfolio. */
void qm_question_add_run (QmQuestion *question,
                          const char *model,
                          double runs_per_year);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuestion, qm_question_free)

G_END_DECLS
