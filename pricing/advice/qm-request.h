/* SPDX-License-Identifier: Apache-2.0 */

/* A request for quotation: what a machine has to be and do so that the plan of
 * a question holds on it, whoever makes it.  No brand, type or number of GPUs
 * is asked for, but what the recommended candidate shows to be possible:
 * memory, sustained rates of training, links, power, warranty.
 *
 * A training of n samples that may take D days has to run at
 *
 *   n x f / (D x 86400)   samples a second
 *
 * with the factor f of the question for what its steps do not take.  D is the
 * deadline of a single run, of one training its deadline; where the runs of a
 * year leave the machines less than that, what they leave:
 *
 *   days on the recommended candidate x (days of the year's work x machines /
 *   what all runs take on one machine)
 *
 * and without any deadline what it takes on the recommended candidate.  Each
 * GPU needs the memory of the smallest one in the catalog that all trainings
 * are predicted to fit on, as many of them as recommended. */

#pragma once

#include "pricing/advice/qm-question.h"
#include "pricing/quotes/qm-quote-compare.h"

G_BEGIN_DECLS

typedef enum
{
  QM_NEED_MACHINES,
  QM_NEED_GPU_MEMORY, /* GiB of each */
  QM_NEED_PRECISION,
  QM_NEED_RATE,        /* a second; of one training */
  QM_NEED_LINK,        /* PCIe generation of each GPU's place */
  QM_NEED_HOST_MEMORY, /* GiB */
  QM_NEED_POWER,       /* W at most */
  QM_NEED_WARRANTY,    /* years */
  QM_NEED_NET,         /* a price without tax */
  QM_NEED_TAX,
  QM_NEED_SHIPPING,
  QM_NEED_VALIDITY /* on the day of the terms */
} QmNeedKind;

/* One requirement; texts are in the user's language. */
typedef struct
{
  QmNeedKind kind;
  int training;  /* index; -1: of none */
  double least;  /* as the kind says; NaN: none */
  gboolean rows; /* of QM_PRECISION_FP8: each row of a factor has a scale */
  char *name;    /* "Memory of each GPU" */
  char *amount;  /* "at least 48 GiB" */
} QmNeed;

/* A training that has to be possible. */
typedef struct
{
  const QmModel *model; /* the catalog's */
  double runs_per_year; /* NaN: nobody says */
  double days;          /* that it may take */
  double planned_days;  /* that it takes on the recommended candidate */
  double per_second;    /* samples, or tokens of texts, rounded up */
  gboolean tokens;
} QmRequestedTraining;

/* What the buyer says besides. */
typedef struct
{
  double warranty_years;  /* >= 0 */
  double host_memory_gib; /* 0: as much as all GPUs need together, or as the
                             plan takes where that is more */
  int valid_days;         /* that offers have to hold */
  QmDate answer_by;       /* year 0: nobody says */
  QmDate today;
} QmRequestTerms;

/* Three years, 60 days, and today. */
QmRequestTerms qm_request_terms_default (void);

typedef struct
{
  QmRequestTerms terms;
  int machines;
  int gpus;              /* in one machine, as in the plan; not asked for */
  const QmGpu *gpu;      /* of the plan, the catalog's; not asked for */
  double gpu_memory_gib; /* of each */
  double host_memory_gib;
  double pcie_generation; /* NaN: not known */
  double pcie_lanes;
  double direct_gbs; /* that the plan counts on between GPUs, one way; 0:
                        it counts on none */
  double room_watts; /* INFINITY: any */
  double lifetime_years;
  double time_factor;
  char currency[4];   /* that the buyer counts in */
  gboolean predicted; /* the plan rests on predicted times */
  GArray *trainings;  /* of QmRequestedTraining */
  GArray *needs;      /* of QmNeed */
} QmRequest;

#define QM_REQUEST_ERROR (qm_request_error_quark ())
GQuark qm_request_error_quark (void);

typedef enum
{
  QM_REQUEST_ERROR_NOTHING /* no candidate is in time, so that nobody knows what
                              to ask for */
} QmRequestError;

/* What the plan of a question needs.  Its budget is not in there, since it is
 * not for vendors to know.
 *
 * Returns: (transfer full): what must not outlive the catalog; NULL with an
 *   error of the advice or QM_REQUEST_ERROR. */
QmRequest *qm_request_new (const QmCatalog *catalog,
                           const QmQuestion *question,
                           const QmRequestTerms *terms,
                           GError **error);

void qm_request_free (QmRequest *request);

typedef enum
{
  QM_ANSWER_YES,
  QM_ANSWER_NO,
  QM_ANSWER_UNTOLD, /* the quote does not tell it */
  QM_N_ANSWERS
} QmAnswerState;

/* What a quote says to a requirement. */
typedef struct
{
  QmAnswerState state;
  char *text; /* in the user's language: "96 GiB"; NULL: nothing */
} QmAnswer;

/* What a quote of a comparison, to which the trainings of the request have been
 * added in their order, says to each requirement.
 *
 * Returns: (transfer full): of QmAnswer, in the order of the needs. */
GArray *qm_request_check (const QmRequest *request,
                          const QmCatalog *catalog,
                          const QmQuoteComparison *comparison,
                          guint quote);

/* Whether a quote is complete: every answer is yes. */
gboolean qm_answers_are_complete (const GArray *answers);

/* "yes", "no" or "untold", as files have it; static. */
const char *qm_answer_state_name (QmAnswerState state);

/* "gpu_memory" and so on, as files have it; static. */
const char *qm_need_kind_name (QmNeedKind kind);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmRequest, qm_request_free)

G_END_DECLS
