/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-proposal-bytes.h"

#include "data/datadir.h"
#include "ui/advisor/qm-results-files.h"
#include "ui/plot/qm-proposal-pdf.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

/* Of a project, as the command line has it. */
#define PROJECT_MONTHS 36

/* The shipped rules of funders; NULL: there are none. */
static QmFunderRules *
load_rules (void)
{
  char directory[PATH_MAX];
  QmFunderRules *rules = NULL;
  QmError problem = { 0 };

  if (qm_data_dir (directory, sizeof directory)
      && qm_funder_rules_load (directory, &rules, &problem) != QM_OK)
    g_debug ("no rules of funders: %s", problem.message);
  return rules;
}

/* (transfer full): NULL with an error. */
static GBytes *
propose (QmAdvisor *advisor,
         const QmQuestion *question,
         QmProposalForm form,
         GError **error)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (advisor);
  g_autoptr (QmAdvice) advice = qm_advice_new (catalog, question, error);
  QmProposal proposal = { .catalog = catalog,
                          .question = question,
                          .advice = advice,
                          .project_months = PROJECT_MONTHS,
                          .today = qm_date_today () };
  g_autoptr (QmPaper) paper = NULL;
  QmFunderRules *rules;
  GBytes *bytes;
  char *text;

  if (advice == NULL)
    return NULL;
  proposal.found = qm_advice_recommend (advice, question->budget_minor,
                                        question->deadline_days);
  proposal.rules = rules = load_rules ();
  paper = qm_proposal_paper_new (&proposal);
  proposal.rules = NULL;
  qm_funder_rules_free (rules);
  if (paper == NULL)
    {
      g_set_error_literal (
          error, G_IO_ERROR, G_IO_ERROR_FAILED,
          _ ("no machine with a price is known that does it, so "
             "that there is nothing to propose"));
      return NULL;
    }
  if (form == QM_PROPOSAL_ODT)
    return qm_paper_to_odt (paper);
  if (form == QM_PROPOSAL_LATEX)
    {
      text = qm_paper_to_latex (paper);
      return g_bytes_new_take (text, strlen (text));
    }
  bytes = qm_proposal_to_pdf (&proposal, paper, qm_results_page ());
  if (bytes == NULL)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                         _ ("the pages could not be drawn"));
  return bytes;
}

GBytes *
qm_proposal_bytes (QmAdvisor *advisor, QmProposalForm form, GError **error)
{
  g_autoptr (QmQuestion) question = NULL;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  question = qm_advisor_ask_whole (advisor);
  if (question != NULL)
    return propose (advisor, question, form, error);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                       _ ("nothing is asked in the advisor yet"));
  return NULL;
}
