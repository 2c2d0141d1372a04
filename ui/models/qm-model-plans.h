/* SPDX-License-Identifier: Apache-2.0 */

/* What a training takes of every GPU of the catalog, and how long, as qm-bench
 * plans and predicts it in a child process.  Whoever types asks again and
 * again: only the last question is answered. */

#pragma once

#include "data/model.h"
#include "pricing/advice/qm-forecast.h"

#include <gio/gio.h>
#include <jansson.h>

G_BEGIN_DECLS

/* One way to train on one GPU. */
typedef struct
{
  const char *gpu;         /* id in the catalog */
  const char *settings;    /* "naive", "free-lunch" */
  const char *offloading;  /* "none", "zero_1" and so on */
  const char *unsupported; /* why there is no plan, which then has nothing of
                              the following; NULL: there is */
  gboolean checkpointing;
  gboolean fits;
  gint64 micro_batch; /* the largest that fits, else 1 */
  gint64
      pairs; /* that the loss compares, where a step has more; else 0 or less */
  gint64 bytes;           /* of the GPU, at that */
  gint64 host_bytes;      /* of the host, at that */
  gint64 available_bytes; /* that the GPU has */
  gint64 smallest_bytes;  /* at a micro-batch of 1 */
  json_t *line;           /* that has the texts */
} QmModelPlan;

/* What the way to train is called.  (transfer full) */
char *qm_model_plan_name (const QmModelPlan *plan);

#define QM_TYPE_MODEL_PLANS (qm_model_plans_get_type ())
G_DECLARE_FINAL_TYPE (QmModelPlans, qm_model_plans, QM, MODEL_PLANS, GObject)

/* Signal "changed": what follows is another. */

QmModelPlans *qm_model_plans_new (void);

/* The numbers of GPUs that trainings are predicted on: "1,2,4,8". */
void qm_model_plans_set_counts (QmModelPlans *self, const char *counts);

/* Asks about a configuration, the text of a config.json, and a recipe, on a
 * host with so many GiB of memory for what is offloaded; 0: as many as it
 * takes. */
void qm_model_plans_ask (QmModelPlans *self,
                         const char *config_text,
                         const QmRecipe *recipe,
                         gint64 host_gib);

/* Forgets the question and its answers. */
void qm_model_plans_clear (QmModelPlans *self);

/* Whether an answer is under way; what there is belongs to an earlier question
 * then. */
gboolean qm_model_plans_is_busy (QmModelPlans *self);

/* Why there is no answer; NULL: nothing failed. */
const char *qm_model_plans_get_problem (QmModelPlans *self);

/* The plans, QmModelPlan, in the order of the catalog's GPUs and of the ways;
 * valid until "changed". */
GPtrArray *qm_model_plans_get (QmModelPlans *self);

/* What is predicted, of a model that is called QM_MODEL_PLANS_MODEL at
 * QM_MODEL_PLANS_LEVEL; valid until "changed". */
#define QM_MODEL_PLANS_MODEL ""
#define QM_MODEL_PLANS_LEVEL "tuned"
const QmForecasts *qm_model_plans_get_forecasts (QmModelPlans *self);

G_END_DECLS
