/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "ui/plot/qm-advice-plot-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* --- Names of axes and marks --------------------------------------------- */

/* The engine that all measured, or all predicted, times are of; unstated where
 * they differ. */
static QmEngine
common_engine (const QmAdvicePlot *self, QmPlotProvenance provenance)
{
  QmEngine common = QM_ENGINE_UNSTATED;
  gboolean first = TRUE;

  for (guint i = 0; i < self->data.n_points; i++)
    {
      const QmMeasurement *m = self->candidates[i].measurement;

      if (m == NULL || self->points[i].provenance != provenance)
        continue;
      if (!first && m->engine != common)
        return QM_ENGINE_UNSTATED;
      common = m->engine;
      first = FALSE;
    }
  return common;
}

static const char *
measured_name (QmEngine engine)
{
  switch (engine)
    {
    case QM_ENGINE_QUARTERMASTER:
      return C_ ("times", "Measured, Quartermaster");
    case QM_ENGINE_PYTORCH:
      return C_ ("times", "Measured, PyTorch");
    case QM_ENGINE_UNSTATED:
    default:
      return C_ ("times", "Measured");
    }
}

static const char *
predicted_name (QmEngine engine)
{
  switch (engine)
    {
    case QM_ENGINE_QUARTERMASTER:
      return C_ ("times", "Predicted, Quartermaster");
    case QM_ENGINE_PYTORCH:
      return C_ ("times", "Predicted, PyTorch");
    case QM_ENGINE_UNSTATED:
    default:
      return C_ ("times", "Predicted");
    }
}

void
_qm_advice_plot_name_provenances (QmAdvicePlot *self)
{
  gboolean told[QM_PLOT_PREDICTED + 1] = { FALSE };

  for (guint i = 0; i < self->data.n_points; i++)
    told[self->points[i].provenance] = TRUE;
  if (!told[QM_PLOT_MEASURED] && !told[QM_PLOT_PREDICTED])
    return;
  if (told[QM_PLOT_PUBLISHED])
    self->data.provenance_names[QM_PLOT_PUBLISHED] = C_ ("times", "Reported");
  if (told[QM_PLOT_MEASURED])
    self->data.provenance_names[QM_PLOT_MEASURED] =
        measured_name (common_engine (self, QM_PLOT_MEASURED));
  if (told[QM_PLOT_PREDICTED])
    self->data.provenance_names[QM_PLOT_PREDICTED] =
        predicted_name (common_engine (self, QM_PLOT_PREDICTED));
}

/* The name of a GPU without its brand, its form and its memory: "H100" of "H100
 * SXM5 80GB", "RTX 3090 Ti" of "GeForce RTX 3090 Ti".  (transfer full) */
static char *
short_gpu_name (const char *name)
{
  static const char *const brands[] = { "GeForce", "Tesla", "Instinct",
                                        "Radeon", NULL };
  static const char *const kinds[] = { "Ti", "Ada", "SUPER", NULL };
  g_auto (GStrv) words = g_strsplit (name, " ", -1);
  guint first = words[0] != NULL && g_strv_contains (brands, words[0]) ? 1 : 0;
  guint end = first;
  gboolean numbered = FALSE;
  GString *text;

  for (; words[end] != NULL && !numbered; end++)
    numbered = strpbrk (words[end], "0123456789") != NULL;
  if (words[end] != NULL && g_strv_contains (kinds, words[end]))
    end++;
  if (first == end)
    return g_strdup (name);
  text = g_string_new (words[first]);
  for (guint i = first + 1; i < end; i++)
    g_string_append_printf (text, " %s", words[i]);
  return g_string_free (text, FALSE);
}

static char *
name_of (const QmCandidate *candidate, const char *gpu)
{
  if (candidate->here)
    return g_strdup (_ ("This machine"));
  if (candidate->machines > 1)
    return g_strdup_printf ("%d × %d × %s", candidate->machines,
                            candidate->gpus, gpu);
  return g_strdup_printf ("%d × %s", candidate->gpus, gpu);
}

void
_qm_advice_plot_name_frontier (QmAdvicePlot *self)
{
  const guint n = self->data.n_frontier;

  self->frontier_names = g_new0 (char *, n + 1);
  self->frontier_short_names = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const QmCandidate *candidate = &self->candidates[self->data.frontier[i]];
      g_autofree char *gpu = short_gpu_name (candidate->gpu->name);

      self->frontier_names[i] = name_of (candidate, candidate->gpu->name);
      self->frontier_short_names[i] = name_of (candidate, gpu);
    }
  self->data.frontier_names = (const char *const *) self->frontier_names;
  self->data.frontier_short_names =
      (const char *const *) self->frontier_short_names;
}

/* "EUR", "EUR with tax". */
static char *
money_name (const QmPurse *purse)
{
  if (purse->tax_percent <= 0)
    return g_strdup (purse->currency);
  /* Translators: the code of a currency. */
  return g_strdup_printf (purse->gross ? _ ("%s with tax")
                                       : _ ("%s without tax"),
                          purse->currency);
}

char *
_qm_advice_plot_cost_title (const QmAdvicePlot *self)
{
  g_autofree char *money = money_name (&self->purse);

  if (self->kind == QM_ADVICE_PLOT_OVERALL)
    return self->ownership
               /* Translators: the code of a currency, or "EUR with tax". */
               ? g_strdup_printf (_ ("Total cost of owning (%s)"), money)
               /* Translators: the code of a currency, or "EUR with tax". */
               : g_strdup_printf (_ ("Overall cost (%s)"), money);
  return self->portfolio
             /* Translators: the code of a currency, or "EUR with tax". */
             ? g_strdup_printf (_ ("Cost of a year’s runs (%s)"), money)
             /* Translators: the code of a currency, or "EUR with tax". */
             : g_strdup_printf (_ ("Experiment cost (%s)"), money);
}

/* --- What is hovered ----------------------------------------------------- */

/* Takes the line. */
static void
append_taken_line (GString *text, char *line)
{
  if (line == NULL)
    return;
  if (text->len > 0)
    g_string_append_c (text, '\n');
  g_string_append (text, line);
  g_free (line);
}

/* "119 % of the peak: impossible" */
static void
add_audit (GString *text, const QmCandidate *candidate)
{
  g_autofree char *share = NULL;

  if (!qm_known (candidate->implied_utilization))
    return;
  share = qm_format_percent (candidate->implied_utilization);
  /* Translators: a percentage, "ok", "doubtful" or "impossible". */
  append_taken_line (text, g_strdup_printf (_ ("Utilization %s: %s"), share,
                                            qm_prose_verdict_name (
                                                candidate->verdict)));
}

/* What it costs in all, and what of that is the price. */
static void
add_cost (GString *text, const QmAdvicePlot *self, const QmCandidate *candidate)
{
  g_autofree char *cost = qm_purse_format (&self->purse, candidate->cost_minor);
  g_autofree char *price =
      qm_purse_format (&self->purse, candidate->price_minor);

  if (self->ownership)
    /* Translators: two amounts. */
    append_taken_line (text,
                       g_strdup_printf (_ ("Total cost of owning %s, price %s"),
                                        cost, price));
  else
    append_taken_line (text, g_strdup_printf (_ ("Overall cost %s"), cost));
}

char *
_qm_advice_plot_describe (const QmAdvicePlot *self,
                          const QmCandidate *candidate)
{
  GString *text = g_string_new (NULL);
  g_autofree char *days = qm_format_days (candidate->days);
  g_autofree char *experiment =
      qm_format_money (self->rate * candidate->experiment_cost,
                       self->purse.currency, FALSE);
  g_autofree char *source = NULL;

  append_taken_line (text, qm_prose_candidate (candidate));
  add_cost (text, self, candidate);
  append_taken_line (text, g_strdup_printf (self->portfolio
                                                ? _ ("Time of a year’s runs %s")
                                                : _ ("Training time %s"),
                                            days));
  append_taken_line (text, g_strdup_printf (self->portfolio
                                                ? _ ("Cost of a year’s runs %s")
                                                : _ ("Experiment cost %s"),
                                            experiment));
  add_audit (text, candidate);
  if (candidate->measurement != NULL)
    {
      g_autofree char *interval = qm_prose_interval (candidate);

      if (interval != NULL)
        /* Translators: "20 days to 30 days". */
        append_taken_line (text, g_strdup_printf (_ ("Predicted within %s"),
                                                  interval));
      source = qm_prose_source (candidate->measurement);
      /* Translators: "published (arXiv 2410.23261)". */
      append_taken_line (text, g_strdup_printf (_ ("Time %s"), source));
    }
  append_taken_line (text, qm_prose_price_basis (candidate));
  if (candidate->insufficient)
    append_taken_line (text, g_strdup (_ ("Not enough for a year’s runs")));
  if (candidate->superseded)
    append_taken_line (text, g_strdup (_ ("A measured time takes its place")));
  append_taken_line (text, qm_prose_cost_interval (candidate, &self->purse));
  return g_string_free (text, FALSE);
}
