/* SPDX-License-Identifier: Apache-2.0 */

/* Where a training time comes from, in words. */

#include "config.h"

#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* What begins the version of PyTorch in results files. */
#define TORCH "torch "

const char *
qm_prose_times_of_name (QmTimesOf times_of)
{
  switch (times_of)
    {
    case QM_TIMES_OF_QUARTERMASTER:
      return "Quartermaster";
    case QM_TIMES_OF_PUBLICATION:
      return C_ ("times of", "Publication");
    case QM_TIMES_OF_PYTORCH:
    case QM_N_TIMES_OF:
    default:
      return "PyTorch";
    }
}

const char *
qm_prose_level_name (const char *level)
{
  if (g_strcmp0 (level, "tuned") == 0)
    return _ ("compiled PyTorch");
  if (g_strcmp0 (level, "eager") == 0)
    return _ ("PyTorch that is not compiled");
  if (g_strcmp0 (level, "naive") == 0)
    return _ ("PyTorch off the shelf");
  return "Quartermaster";
}

/* NULL where it is unstated. */
static const char *
engine_name (QmEngine engine)
{
  switch (engine)
    {
    case QM_ENGINE_QUARTERMASTER:
      return "Quartermaster";
    case QM_ENGINE_PYTORCH:
      return "PyTorch";
    case QM_ENGINE_UNSTATED:
    default:
      return NULL;
    }
}

char *
qm_prose_engine (const QmMeasurement *measurement)
{
  const char *name, *version;

  g_return_val_if_fail (measurement != NULL, NULL);

  name = engine_name (measurement->engine);
  version = measurement->engine_version;
  if (name == NULL)
    return NULL;
  if (version == NULL || *version == '\0')
    return g_strdup (name);
  if (g_str_has_prefix (version, TORCH))
    version += strlen (TORCH);
  return g_strdup_printf ("%s %s", name, version);
}

/* In a word or two. */
static char *
times_of (const QmMeasurement *measurement)
{
  const char *name = engine_name (measurement->engine);

  switch (measurement->provenance)
    {
    case QM_PROVENANCE_MEASURED:
      return g_strdup (name != NULL ? name : C_ ("provenance", "measured"));
    case QM_PROVENANCE_PREDICTED:
      if (name == NULL)
        return g_strdup (C_ ("provenance", "predicted"));
      /* Translators: name of software. */
      return g_strdup_printf (_ ("%s, predicted"), name);
    case QM_PROVENANCE_REPORTED:
      if (name == NULL)
        return g_strdup (C_ ("provenance", "reported"));
      /* Translators: name of software. */
      return g_strdup_printf (_ ("%s, reported"), name);
    case QM_PROVENANCE_PUBLISHED:
    default:
      return g_strdup (C_ ("provenance", "published"));
    }
}

char *
qm_prose_times_of (const QmCandidate *candidate)
{
  const QmMeasurement *measurement;

  g_return_val_if_fail (candidate != NULL, NULL);

  measurement = candidate->measurement;
  if (measurement == NULL)
    return NULL;
  if (candidate->predicted
      && measurement->provenance != QM_PROVENANCE_PREDICTED)
    return g_strdup (C_ ("provenance", "partly predicted"));
  return times_of (measurement);
}

char *
qm_prose_run_times_of (const QmRunTime *run)
{
  g_return_val_if_fail (run != NULL, NULL);

  return run->measurement != NULL ? times_of (run->measurement) : NULL;
}

/* "measured with PyTorch 2.11.0 on 21 November 2026" */
static char *
how_measured (const QmMeasurement *measurement)
{
  g_autofree char *engine = qm_prose_engine (measurement);
  g_autofree char *date = measurement->measured_on.year != 0
                              ? qm_format_date (measurement->measured_on)
                              : NULL;

  if (engine != NULL && date != NULL)
    /* Translators: software with its version, a date. */
    return g_strdup_printf (_ ("measured with %s, %s"), engine, date);
  if (engine != NULL)
    /* Translators: software with its version. */
    return g_strdup_printf (_ ("measured with %s"), engine);
  if (date != NULL)
    /* Translators: a date. */
    return g_strdup_printf (_ ("measured, %s"), date);
  return g_strdup (_ ("measured"));
}

static char *
how_predicted (const QmMeasurement *measurement)
{
  const char *name = engine_name (measurement->engine);

  if (name == NULL || *measurement->source != '\0')
    return g_strdup (_ ("predicted"));
  /* Translators: name of software. */
  return g_strdup_printf (_ ("predicted for %s, operator by operator"), name);
}

/* "reported with PyTorch 2.7" */
static char *
how_reported (const QmMeasurement *measurement)
{
  g_autofree char *engine = qm_prose_engine (measurement);

  if (engine == NULL)
    return g_strdup (_ ("reported"));
  /* Translators: software with its version. */
  return g_strdup_printf (_ ("reported with %s"), engine);
}

char *
qm_prose_source (const QmMeasurement *measurement)
{
  g_autofree char *how = NULL;

  g_return_val_if_fail (measurement != NULL, NULL);

  switch (measurement->provenance)
    {
    case QM_PROVENANCE_MEASURED:
      how = how_measured (measurement);
      break;
    case QM_PROVENANCE_PREDICTED:
      how = how_predicted (measurement);
      break;
    case QM_PROVENANCE_REPORTED:
      how = how_reported (measurement);
      break;
    case QM_PROVENANCE_PUBLISHED:
    default:
      how = g_strdup (_ ("published"));
      break;
    }
  if (measurement->source == NULL || *measurement->source == '\0')
    return g_steal_pointer (&how);
  return g_strdup_printf ("%s (%s)", how, measurement->source);
}

GStrv
qm_prose_sources (const QmAdvice *advice)
{
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const QmCandidate *candidates;
  guint n;

  g_return_val_if_fail (advice != NULL, NULL);

  candidates = qm_advice_candidates (advice, &n);
  for (guint i = 0; i < n; i++)
    {
      char *source = NULL;

      if (candidates[i].measurement != NULL)
        source = qm_prose_source (candidates[i].measurement);
      if (source == NULL || g_hash_table_contains (seen, source))
        {
          g_free (source);
          continue;
        }
      g_strv_builder_add (builder, source);
      g_hash_table_add (seen, source);
    }
  return g_strv_builder_end (builder);
}
