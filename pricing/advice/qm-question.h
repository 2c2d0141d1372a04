/* SPDX-License-Identifier: Apache-2.0 */

/* What the user asks: for which training, within which limits, on which
 * terms. */

#pragma once

#include "pricing/advice/qm-forecast.h"
#include "pricing/advice/qm-host-times.h"
#include "pricing/advice/qm-offers.h"
#include "pricing/advice/qm-price.h"
#include "pricing/advice/qm-purse.h"

G_BEGIN_DECLS

/* Whose times are asked for; pricing/advice/qm-selection.h says which ones that
 * are.  PyTorch is the default: it is what most models are trained with. */
typedef enum
{
  QM_TIMES_OF_PYTORCH,
  QM_TIMES_OF_QUARTERMASTER, /* the project's engine */
  QM_TIMES_OF_PUBLICATION,   /* the published ones alone: see `as_in_paper` */
  QM_N_TIMES_OF
} QmTimesOf;

/* "pytorch", "quartermaster" or "published", as files and options have it;
 * static. */
const char *qm_times_of_name (QmTimesOf times_of);

/* Which times are predicted where nobody has measured them
 * (pricing/advice/qm-forecast.h). */
typedef enum
{
  QM_PREDICTIONS_ALL,
  QM_PREDICTIONS_NONE,
  QM_N_PREDICTIONS
} QmPredictions;

/* "all" or "none", as files and options have it; static. */
const char *qm_predictions_name (QmPredictions predictions);

/* How GPUs of one machine are taken to exchange where their times are
 * predicted, as `qm-bench predict --link` has it. */
typedef enum
{
  QM_GPU_LINK_AUTO, /* as they are sold: NVLink on boards, none between cards */
  QM_GPU_LINK_NVLINK, /* with bridges on cards, too, that can have them */
  QM_GPU_LINK_PCIE,   /* without NVLink */
  QM_N_GPU_LINKS
} QmGpuLink;

/* "auto", "nvlink" or "pcie", as files and options have it; static. */
const char *qm_gpu_link_name (QmGpuLink link);

/* One line of a portfolio. */
typedef struct
{
  char *model; /* id in the catalog */
  double runs_per_year;
} QmRun;

/* A list of them; it owns what is in it.  (transfer full) */
GArray *qm_runs_new (void);

/* GPUs that one has or is allocated, such as a part of a cluster. */
typedef struct
{
  char *gpu; /* id in the catalog */
  int gpus;
  gint64 hour_micros;    /* what an hour of each costs, millionths of a USD; 0:
                            nothing */
  double walltime_hours; /* the longest that a job may run; NaN: any */
} QmUse;

/* A list of them; it owns what is in it.  (transfer full) */
GArray *qm_uses_new (void);

typedef enum
{
  QM_KINDS_DESKTOP = 1 << 0,
  QM_KINDS_SERVER = 1 << 1,
  QM_KINDS_ALL = QM_KINDS_DESKTOP | QM_KINDS_SERVER
} QmMachineKinds;

/* What power the room has. */
typedef enum
{
  QM_ROOM_ONE_CIRCUIT,  /* one of 16 A at 230 V */
  QM_ROOM_TWO_CIRCUITS, /* two of them */
  QM_ROOM_THREE_PHASES, /* one of 32 A with three phases, a red plug, 400 V */
  QM_ROOM_ANY,          /* enough for anything */
  QM_N_ROOMS
} QmRoom;

/* "one-circuit", "two-circuits", "three-phases" or "any", as files and options
 * have it; static. */
const char *qm_room_name (QmRoom room);

/* What a room's circuits give day and night, in watts: 80 % of what they are
 * fused for, as the National Electrical Code of the US has it of loads of more
 * than three hours (NFPA 70, 210.20), which is usual elsewhere too; INFINITY
 * for QM_ROOM_ANY. */
double qm_room_watts (QmRoom room);

/* What owning is assumed to cost: pricing/advice/qm-ownership.h. */
typedef struct _QmOwnershipSettings QmOwnershipSettings;

#define QM_LIFETIME_DEFAULT 5.0
#define QM_DAYS_PER_YEAR    365.0

/* How many times as long as its steps a training takes: data that is waited
 * for, evaluation, checkpoints, restarts and the ends of jobs. */
#define QM_TIME_FACTOR_DEFAULT 1.1
#define QM_TIME_FACTOR_MIN     1.0
#define QM_TIME_FACTOR_MAX     10.0

/* By how many percent longer than the shortest time another is to count as
 * being as short (qm_advice_set_slack()). */
#define QM_SLACK_DEFAULT 5.0
#define QM_SLACK_MAX     100.0

/* A question.  Without `runs` it is about one training of `model`; with runs
 * it is about a year's portfolio on as many machines as that takes, of which
 * at least `at_once` stand side by side.  Empty filters let everything
 * through.  Offers go before the catalog's prices.
 *
 * There are two deadlines: of a single run, from its start to its end, and of
 * all runs of a year.  Without `runs` both are of the one training. */
typedef struct
{
  char *model;
  gint64 budget_minor;      /* USD cents; -1: no limit */
  double deadline_days;     /* of all runs of a year; NaN: none */
  double run_deadline_days; /* of a single run; NaN: none */
  QmPurse purse;            /* the money that the user counts in: see
                               qm_question_take_purse() */
  GStrv gpus;               /* GPU ids; NULL: all */
  GArray *counts;           /* of int, GPUs in a machine; NULL: all */
  QmMachineKinds kinds;
  gboolean as_in_paper; /* set by qm_question_set_as_in_paper() */
  QmTimesOf times_of;
  QmPredictions predictions;
  QmGpuLink link;     /* of predicted times; bridges are not in any price */
  gboolean any_price; /* used, claimed and undated prices compete, too */
  double room_watts;  /* for all machines; INFINITY: enough */
  QmDate today;       /* for the age of prices; year 0: it does not count */
  QmSettings settings;
  double lifetime_years;
  double time_factor; /* QM_TIME_FACTOR_MIN to QM_TIME_FACTOR_MAX: every time of
                         an answer is the steps' own times this, whether it was
                         measured, reported or predicted */
  double slack_percent; /* 0 to QM_SLACK_MAX */
  GArray *runs;         /* of QmRun; NULL: one training of `model` */
  GArray *uses; /* of QmUse, which are compared and never bought; NULL: none */
  int at_once;
  QmRates *rates;   /* for prices in other currencies than USD; NULL: these do
                       not count */
  QmOffers *offers; /* of the user's quotes; NULL: none: see
                       qm_question_set_offers() */
  gboolean expired_offers;        /* those that do not hold today count too */
  QmOwnershipSettings *ownership; /* costs, the budget with them, are totals of
                                     owning, over `lifetime_years` whatever
                                     stands in here; NULL: prices alone */
  QmHostTimes *host;              /* of this machine; NULL: leave it out */
  QmForecasts *forecasts;         /* what was predicted; NULL: nothing */
} QmQuestion;

/* A question with every default and no model. */
QmQuestion *qm_question_new (void);

/* The ids of all models that may be asked about, in the order of the catalog.
 * (transfer full) */
GStrv qm_catalog_list_models (const QmCatalog *catalog);

/* Asks as "$100K or 100 Days" (arXiv 2410.23261) does: its times, the
 * impossible ones too, of the steps alone, its prices, its four machines, which
 * carry any GPU, five years, prices alone, and the shortest time.  Quotes,
 * predictions and this machine do not take part. */
void qm_question_set_as_in_paper (QmQuestion *question);

/* Counts in that money, and takes its budget for the question's. */
void qm_question_take_purse (QmQuestion *question, const QmPurse *purse);

/* Counts with these offers, or none, of which those with a tax that is not told
 * are taken to contain that of the purse.  The question keeps a reference. */
void qm_question_set_offers (QmQuestion *question, QmOffers *offers);

/* Whether it is about a year's portfolio. */
gboolean qm_question_is_portfolio (const QmQuestion *question);

/* Which prices count. */
QmPriceBasis qm_question_price_basis (const QmQuestion *question);

/* Sets what costs are made of; NULL: prices alone.  The settings are copied. */
void qm_question_set_ownership (QmQuestion *question,
                                const QmOwnershipSettings *ownership);

/* Deep copy. */
QmQuestion *qm_question_copy (const QmQuestion *question);

void qm_question_free (QmQuestion *question);

/* The level of software that times are predicted at, as
 * pricing/advice/qm-forecast.h has it; NULL: none is to be predicted, or is of
 * such software.  Static. */
const char *qm_question_level (const QmQuestion *question);

/* Appends a line to the portfolio. */
void qm_question_add_run (QmQuestion *question,
                          const char *model,
                          double runs_per_year);

/* Appends GPUs to use. */
void qm_question_add_use (QmQuestion *question,
                          const char *gpu,
                          int gpus,
                          gint64 hour_micros,
                          double walltime_hours);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmQuestion, qm_question_free)

G_END_DECLS
