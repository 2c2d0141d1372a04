/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-proposal.h"

#include "app/qm-cli-acceptance.h"
#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-paper.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-save.h"
#include "app/qm-cli.h"
#include "data/datadir.h"
#include "ui/plot/qm-proposal-pdf.h"

#include <glib/gi18n-lib.h>
#include <limits.h>

#define PROJECT_DEFAULT 36
#define PROJECT_MAX     600

/* The values of the options as they were typed. */
typedef struct
{
  QmCliQuestion question;
  QmCliPaper paper;
  QmCliAcceptance acceptance;
  GStrv project;
} Typed;

static void
clear_typed_proposal (Typed *typed)
{
  qm_cli_question_clear (&typed->question);
  qm_cli_paper_clear (&typed->paper);
  qm_cli_acceptance_clear (&typed->acceptance);
  g_clear_pointer (&typed->project, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_proposal)

static gboolean
read_project (const Typed *typed, double *months, GError **error)
{
  const char *value;

  *months = PROJECT_DEFAULT;
  if (!qm_cli_option_single ("project", typed->project, &value, error))
    return FALSE;
  if (value != NULL && !qm_cli_read_number (value, PROJECT_MAX, months))
    return qm_cli_set_value_error (
        error, "project", value,
        _ ("is not a number of months above 0 and up to 600"));
  return TRUE;
}

/* The shipped rules of funders; without them there are no hints. */
static QmFunderRules *
load_rules (void)
{
  char directory[PATH_MAX];
  QmFunderRules *rules = NULL;
  QmError problem = { 0 };

  if (qm_data_dir (directory, sizeof directory)
      && qm_funder_rules_load (directory, &rules, &problem) != QM_OK)
    qm_cli_warn (&problem);
  return rules;
}

static gboolean
write_paper (const QmProposal *proposal,
             const QmPaper *paper,
             const QmCliForm *form,
             GError **error)
{
  g_autoptr (GBytes) bytes = NULL;

  if (!g_str_equal (form->format, "pdf"))
    return qm_cli_paper_write (paper, form, error);
  bytes = qm_proposal_to_pdf (proposal, paper,
                              form->letter ? QM_PAGE_LETTER : QM_PAGE_A4);
  if (bytes != NULL)
    return qm_cli_save (bytes, form->output, form->force, error);
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
                       _ ("the pages could not be drawn"));
  return FALSE;
}

/* What the machine is held against, where that is asked for. */
static gboolean
write_acceptance (const Typed *typed,
                  const QmProposal *proposal,
                  QmQuestion *question,
                  QmPaper *paper,
                  GError **error)
{
  const QmRequestTerms terms = qm_request_terms_default ();
  g_autoptr (QmRequest) request = NULL;

  if (typed->acceptance.file == NULL)
    return TRUE;
  request = qm_request_new (proposal->catalog, question, &terms, error);
  return request != NULL
         && qm_cli_acceptance_write (&typed->acceptance, question,
                                     proposal->catalog, request, TRUE,
                                     typed->paper.force, paper, error);
}

static int
propose (const Typed *typed,
         QmProposal *proposal,
         QmQuestion *question,
         const QmCliForm *form,
         GError **error)
{
  QmFunderRules *rules = load_rules ();
  g_autoptr (QmPaper) paper = NULL;
  gboolean written;

  proposal->rules = rules;
  paper = qm_proposal_paper_new (proposal);
  proposal->rules = NULL;
  qm_funder_rules_free (rules);
  if (paper == NULL)
    {
      g_set_error_literal (
          error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
          _ ("no machine with a price is known that does it, so "
             "that there is nothing to propose; “quartermaster "
             "advise” says why"));
      return QM_CLI_EXIT_BAD_INPUT;
    }
  written = write_acceptance (typed, proposal, question, paper, error)
            && write_paper (proposal, paper, form, error);
  return !written                    ? QM_CLI_EXIT_BAD_INPUT
         : proposal->found.best >= 0 ? QM_CLI_EXIT_FOUND
                                     : QM_CLI_EXIT_NOTHING_FITS;
}

int
qm_cli_proposal (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "proposal",
    .parameters = _ ("[FILE]"),
    .summary = _ ("Writes a proposal to a funder: what is asked for, the need, "
                  "options, cost, what it\ndepends on, and what renting would "
                  "cost."),
    .description = _ ("FILE is a question that was saved, as in "
                      "gpus.quartermaster; options go before what it asks.\n"
                      "Exit status: 0 within the limits, 1 nothing fits them, "
                      "2 bad input."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_auto (GStrv) files = NULL;
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmQuestion) question = NULL;
  g_autoptr (QmAdvice) advice = NULL;
  QmProposal proposal = { .today = qm_date_today () };
  QmCliForm form = { 0 };
  int status;

  qm_cli_question_add_options (&typed.question, options);
  qm_cli_options_add_value (options, "project", 0, _ ("MONTHS"),
                            _ ("Of a project that the machine is written off "
                               "to; 36 if not given"),
                            &typed.project);
  qm_cli_acceptance_add_options (&typed.acceptance, options);
  qm_cli_paper_add_options (&typed.paper, options);
  if (!qm_cli_options_parse (&verb, options, arguments, &files, &status, error))
    return status;
  if (!qm_cli_paper_read (&typed.paper, &form, error)
      || !qm_cli_acceptance_check (&typed.acceptance, error)
      || !read_project (&typed, &proposal.project_months, error)
      || (catalog = qm_cli_catalog_load (error)) == NULL
      || (question =
              qm_cli_question_whole (&typed.question, files, catalog, error))
             == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  qm_cli_forecast (question, catalog);
  advice = qm_advice_new (catalog, question, error);
  if (advice == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  proposal.catalog = catalog;
  proposal.question = question;
  proposal.advice = advice;
  proposal.found = qm_advice_recommend (advice, question->budget_minor,
                                        question->deadline_days);
  return propose (&typed, &proposal, question, &form, error);
}
