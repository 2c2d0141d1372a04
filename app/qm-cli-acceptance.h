/* SPDX-License-Identifier: Apache-2.0 */

/* What a machine is held against once it is delivered, written beside a
 * document that asks for it. */

#pragma once

#include "pricing/advice/qm-request.h"
#include "pricing/papers/qm-paper.h"

G_BEGIN_DECLS

/* The values of the options as they were typed. */
typedef struct
{
  GStrv file;
  GStrv tolerance;
} QmCliAcceptance;

/* Adds "--acceptance" and "--tolerance". */
void qm_cli_acceptance_add_options (QmCliAcceptance *typed, GArray *options);
void qm_cli_acceptance_clear (QmCliAcceptance *typed);

/* Reads both, before there is anything to write.  Returns FALSE with a
 * QM_CLI_ERROR_USAGE. */
gboolean qm_cli_acceptance_check (const QmCliAcceptance *typed, GError **error);

/* Where a file was asked for, writes it and adds to the document how it is
 * used. named: the GPUs of the plan are ordered, and none other.  The forecasts
 * of `question` are added to. */
gboolean qm_cli_acceptance_write (const QmCliAcceptance *typed,
                                  QmQuestion *question,
                                  const QmCatalog *catalog,
                                  const QmRequest *request,
                                  gboolean named,
                                  gboolean replace,
                                  QmPaper *paper,
                                  GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QmCliAcceptance, qm_cli_acceptance_clear)

G_END_DECLS
