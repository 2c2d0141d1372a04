/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-acceptance-paper.h"

#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static void
set_rate (QmPaperCell *cell, double rate)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (isfinite (rate))
    qm_paper_cell_set (cell, qm_format_number (rate, rate < 100 ? 1 : 0),
                       g_strdup (g_ascii_formatd (number, sizeof number, "%.6g",
                                                  rate)));
}

/* "8 × H100 SXM5 80GB", or that any will do.  (transfer full) */
static char *
gpus_of (const QmAcceptanceTraining *training, const QmCatalog *catalog)
{
  const QmGpu *gpu =
      training->gpu[0] != '\0' ? qm_catalog_gpu (catalog, training->gpu) : NULL;

  if (gpu == NULL || training->gpus < 1)
    return g_strdup (_ ("any that reach it"));
  return g_strdup_printf ("%d × %s", training->gpus, gpu->name);
}

static void
add_acceptance_row (QmPaperTable *table,
                    const QmAcceptance *acceptance,
                    const QmAcceptanceTraining *training,
                    const QmCatalog *catalog)
{
  const QmModel *model = qm_catalog_model (catalog, training->model);
  QmPaperCell *cells =
      qm_paper_table_add_row (table, QM_ROW_PLAIN,
                              model != NULL ? model->name : training->model);

  qm_paper_cell_set (&cells[1], gpus_of (training, catalog), NULL);
  qm_paper_cell_set (&cells[2],
                     g_strdup (training->tokens ? _ ("tokens a second")
                                                : _ ("samples a second")),
                     NULL);
  set_rate (&cells[3], training->predicted);
  set_rate (&cells[4], training->guaranteed);
  set_rate (&cells[5], qm_acceptance_least (acceptance, training));
}

void
qm_paper_add_acceptance (QmPaper *paper,
                         const QmAcceptance *acceptance,
                         const QmCatalog *catalog,
                         const char *file)
{
  const char *const heads[] = {
    _ ("Model"),
    _ ("GPUs"),
    _ ("Unit"),
    _ ("Predicted"),
    _ ("Guaranteed"),
    _ ("Least, with the tolerance"),
    NULL,
  };
  g_autofree char *name = g_path_get_basename (file);
  g_autofree char *percent = qm_format_percentage (acceptance->tolerance, 1);
  g_autofree char *text =
      /* Translators: the name of a file, a percentage. */
      g_strdup_printf (
          _ ("After delivery the machine is measured by the program qm-bench, "
             "with its own engine, which both sides can run: “qm-bench accept "
             "--against %s”. It is accepted where every training reaches the "
             "rate that is guaranteed, less a tolerance of %s, after ten "
             "minutes at full load, and where its GPUs are those that were "
             "ordered."),
          name, percent);
  QmPaperTable *table;

  g_return_if_fail (paper != NULL && catalog != NULL);

  qm_paper_add (paper, QM_PAPER_HEADING, _ ("Acceptance test"));
  qm_paper_add (paper, QM_PAPER_TEXT, text);
  table = qm_paper_add_table (paper, _ ("Acceptance"), heads);
  qm_paper_table_set_words (table, (const guint[]){ 1, 2, 0 });
  for (size_t i = 0; i < acceptance->n; i++)
    add_acceptance_row (table, acceptance, &acceptance->trainings[i], catalog);
  qm_paper_add (paper, QM_PAPER_TEXT,
                acceptance->n > 0 && acceptance->trainings[0].gpu[0] != '\0'
                    ? _ ("The guaranteed rate is the low end of what is "
                         "predicted of these GPUs: nine of ten predictions are "
                         "within. Other software reaches other rates on the "
                         "same machine.")
                    : _ ("The guaranteed rate is what the plan needs, as that "
                         "engine reaches it. Other software reaches other "
                         "rates on the same machine."));
}
