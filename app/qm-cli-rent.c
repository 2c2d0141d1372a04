/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-rent.h"

#include "app/qm-cli-json.h"
#include "pricing/advice/qm-prose-rent.h"

static json_t *
usd (double minor)
{
  return qm_cli_json_number (minor / 100, 2);
}

static json_t *
uses_json (const QmRentPlan *plan)
{
  json_t *array = json_array ();

  for (guint i = 0; i < QM_RENT_USES; i++)
    {
      json_t *one = json_object ();

      json_object_set_new (one, "use_percent",
                           json_integer (plan->uses[i].percent));
      json_object_set_new (one, "rent_usd", usd (plan->uses[i].rent));
      json_object_set_new (one, "buy_usd", usd (plan->uses[i].buy));
      json_array_append_new (array, one);
    }
  return array;
}

static json_t *
mixed_json (const QmRentPlan *plan)
{
  json_t *object;

  if (plan->kept == 0)
    return json_null ();
  object = json_object ();
  json_object_set_new (object, "machines_bought", json_integer (plan->kept));
  json_object_set_new (object, "bought_usd", usd (plan->kept_cost));
  json_object_set_new (object, "rent_a_year_usd", usd (plan->rest_year));
  json_object_set_new (object, "all_usd", usd (plan->mixed));
  return object;
}

json_t *
qm_cli_rent_json (const QmCatalog *catalog,
                  const QmAdvice *advice,
                  const QmQuestion *question,
                  const QmCandidate *candidate)
{
  g_auto (GStrv) sentences =
      qm_prose_rent (catalog, advice, question, candidate);
  json_t *object = json_object ();
  const QmCandidate *rented = qm_rent_plan_find (catalog, advice, candidate);
  QmRentPlan plan;
  gboolean known =
      rented != NULL
      && qm_rent_plan_compute (catalog, question, candidate, rented, &plan);

  json_object_set_new (object, "gpu",
                       known ? json_string (rented->gpu->id) : json_null ());
  json_object_set_new (object, "gpus",
                       known ? json_integer (rented->gpus) : json_null ());
  json_object_set_new (object, "source",
                       known ? qm_cli_json_text (plan.price->source)
                             : json_null ());
  json_object_set_new (object, "observed_on",
                       known ? qm_cli_json_date (plan.price->observed_on)
                             : json_null ());
  json_object_set_new (object, "rented_together",
                       known ? json_integer (plan.price->gpus) : json_null ());
  json_object_set_new (object, "gpu_hour_usd",
                       known ? qm_cli_json_number (plan.gpu_hour / 100, 6)
                             : json_null ());
  json_object_set_new (object, "hour_usd",
                       known ? usd (plan.hour) : json_null ());
  json_object_set_new (object, "uses",
                       known ? uses_json (&plan) : json_null ());
  json_object_set_new (object, "mixed",
                       known ? mixed_json (&plan) : json_null ());
  json_object_set_new (object, "sentences",
                       qm_cli_json_strings ((const char *const *) sentences));
  return object;
}
