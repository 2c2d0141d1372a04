/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-proposal-bytes.h"

#include "data/datadir.h"
#include "pricing/papers/qm-proposal.h"
#include "ui/advisor/qm-results-files.h"

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

static QmPaper *
make_paper (QmAdvisor *advisor, const QmQuestion *question, GError **error)
{
  const QmCatalog *catalog = qm_advisor_get_catalog (advisor);
  g_autoptr (QmAdvice) advice = qm_advice_new (catalog, question, error);
  QmProposal proposal = { .catalog = catalog,
                          .question = question,
                          .advice = advice,
                          .project_months = PROJECT_MONTHS,
                          .today = qm_date_today () };
  QmFunderRules *rules;
  QmPaper *paper;

  if (advice == NULL)
    return NULL;
  proposal.found = qm_advice_recommend (advice, question->budget_minor,
                                        question->deadline_days);
  proposal.rules = rules = load_rules ();
  paper = qm_proposal_paper_new (&proposal);
  qm_funder_rules_free (rules);
  if (paper == NULL)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                         _ ("no machine with a price is known that does it, so "
                            "that there is nothing to propose"));
  return paper;
}

GBytes *
qm_proposal_bytes (QmAdvisor *advisor, gboolean as_pdf, GError **error)
{
  g_autoptr (QmQuestion) question = NULL;
  g_autoptr (QmPaper) paper = NULL;
  char *text;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  question = qm_advisor_ask_whole (advisor);
  if (question == NULL)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                           _ ("nothing is asked in the advisor yet"));
      return NULL;
    }
  paper = make_paper (advisor, question, error);
  if (paper == NULL)
    return NULL;
  if (as_pdf)
    return qm_results_pdf (paper, error);
  text = qm_paper_to_latex (paper);
  return g_bytes_new_take (text, strlen (text));
}
