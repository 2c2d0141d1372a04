/* SPDX-License-Identifier: Apache-2.0 */

/* From options to a question; shared by the commands that ask one. */

#pragma once

#include "app/qm-cli-money.h"
#include "app/qm-cli-ownership.h"
#include "pricing/advice/qm-asked.h"
#include "pricing/advice/qm-question.h"

G_BEGIN_DECLS

/* The values of the options as they were typed. */
typedef struct
{
  GStrv model;
  GStrv runs;
  GStrv at_once;
  QmCliMoney money;
  GStrv deadline;
  GStrv run_deadline;
  GStrv gpu;
  GStrv gpus;
  GStrv machine;
  GStrv times_of;
  GStrv predictions;
  GStrv link;
  GStrv room;
  GStrv use;
  GStrv settings;
  GStrv lifetime;
  GStrv time_factor;
  GStrv slack;
  GStrv costs;
  QmCliOwnership ownership;
  GStrv store;
  QmAsked *asked; /* the file that was given; NULL: none */
  gboolean as_in_paper;
  gboolean any_price;
  gboolean no_quotes;
  gboolean expired_quotes;
  gboolean no_this_machine;
  GPtrArray *troubles; /* of char: what is wrong with the user's quotes, to be
                          told with the answer; NULL: nothing */
} QmCliQuestion;

/* Adds the options of a question to a list of qm_cli_options_new(). */
void qm_cli_question_add_options (QmCliQuestion *typed, GArray *options);

/* Adds "--link" alone, which that has, too. */
void qm_cli_question_add_link (QmCliQuestion *typed, GArray *options);

void qm_cli_question_clear (QmCliQuestion *typed);

/* Opens the file among the arguments that are no options, of which there may be
 * one: what is typed besides goes before what it has. */
gboolean qm_cli_question_open (QmCliQuestion *typed,
                               GStrv arguments,
                               const QmCatalog *catalog,
                               GError **error);

/* What owning is assumed to cost, where that is to be told: typed, or of the
 * question.  *owning is FALSE where nobody asks. */
gboolean qm_cli_question_ownership (const QmCliQuestion *typed,
                                    const QmQuestion *question,
                                    QmOwnershipSettings *ownership,
                                    gboolean *owning,
                                    GError **error);

/* The models that are asked about, checked against the catalog: one, or where
 * `several` allows it more, each once; none where a portfolio is given in
 * "--runs".  Returns: (transfer full): NULL with a QM_CLI_ERROR. */
GStrv qm_cli_question_models (const QmCliQuestion *typed,
                              const QmCatalog *catalog,
                              gboolean several,
                              GError **error);

/* Whether there are results that do not say of which machine they are, and so
 * cannot be this one's: what there is to tell. */
gboolean qm_cli_question_unsaid (const QmQuestion *question, QmError *notice);

/* Everything of the question but its model, with what the user's quotes offer
 * and what was measured on this machine.  Where these quotes cannot be read, or
 * not all of them, the answer is to say so: typed->troubles.
 * Returns: (transfer full): NULL with a QM_CLI_ERROR. */
QmQuestion *qm_cli_question_read (QmCliQuestion *typed,
                                  const QmCatalog *catalog,
                                  GError **error);

/* All of that for a command that answers one question: where it is of several
 * models, a year with one training of each.  What is wrong with the user's
 * quotes is told.  Returns: (transfer full): NULL with a QM_CLI_ERROR. */
QmQuestion *qm_cli_question_whole (QmCliQuestion *typed,
                                   GStrv files,
                                   const QmCatalog *catalog,
                                   GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmCliQuestion, qm_cli_question_clear)

/* Whether that is the id of a GPU; else sets an error that names the nearest.
 */
gboolean
qm_cli_check_gpu (const QmCatalog *catalog, const char *id, GError **error);

G_END_DECLS
