/* SPDX-License-Identifier: Apache-2.0 */

/* A question as a file, which a colleague can open: what is asked, within which
 * limits and on which terms, but nothing of whose quotes, exchange rates and
 * machines answer it.
 *
 * A file is a JSON object of at most QM_ASKED_MAX_BYTES with "format":
 * "quartermaster-question" and "version": 1, and else only what is asked for
 * otherwise than by default:
 *
 *   "models"            ids, to be compared
 *   "runs"              instead: [{"model": id, "runs_per_year": N}, ...]
 *   "at_once"           machines side by side
 *   "deadline_days", "run_deadline_days"
 *   "money"             {"currency", "budget", "tax_percent", "gross",
 *                       "machine_least", "machine_most"}, in major units
 *   "gpu", "gpus"       ids, and numbers of them in a machine
 *   "machine"           "desktop" or "server"
 *   "use"               [{"gpu", "gpus", "hour_usd", "walltime_hours"}, ...]
 *   "room"              as qm_room_name() has it, or watts
 *   "times_of", "predictions", "link", "settings"
 *   "any_price", "expired_quotes", "as_in_the_paper"
 *   "lifetime_years", "time_factor", "slack_percent"
 *   "ownership"         {"parts": [...], "values": {key: number}}: what counts
 *                       as cost besides the price
 *
 * A field that is none of these, or wrong, refuses the whole file, with its
 * line and name: a question that is understood by half is another one. */

#pragma once

#include "pricing/advice/qm-ownership.h"

G_BEGIN_DECLS

#define QM_ASKED_MAX_BYTES (256 << 10)
#define QM_ASKED_MAX_LINES 1000
#define QM_ASKED_FORMAT    "quartermaster-question"
#define QM_ASKED_VERSION   1
#define QM_ASKED_SUFFIX    ".quartermaster"

/* Limits of what can be asked, in a file or typed. */
#define QM_ASKED_DAYS_MAX     1e6
#define QM_ASKED_YEARS_MAX    100
#define QM_ASKED_RUNS_MAX     1e5
#define QM_ASKED_AT_ONCE_MAX  1000
#define QM_ASKED_GPUS_MAX     1024
#define QM_ASKED_ROOM_MAX     1e9
#define QM_ASKED_WALLTIME_MAX 1e6

typedef struct
{
  GStrv models;         /* none where there are runs */
  QmQuestion *question; /* its model is not set, and its purse has no rate yet:
                           qm_purse_set_currency() */
} QmAsked;

#define QM_ASKED_ERROR (qm_asked_error_quark ())
GQuark qm_asked_error_quark (void);

typedef enum
{
  QM_ASKED_ERROR_FORMAT, /* it is no such file, or not understood */
  QM_ASKED_ERROR_UNKNOWN /* it names what the catalog does not have */
} QmAskedError;

/* Takes copies.  (transfer full) */
QmAsked *qm_asked_new (const char *const *models, const QmQuestion *question);

void qm_asked_free (QmAsked *asked);

/* Reads a file's text.  `name` is how errors call it.
 *
 * Returns: (transfer full): NULL with QM_ASKED_ERROR_FORMAT. */
QmAsked *qm_asked_read (const char *text,
                        gsize length,
                        const char *name,
                        GError **error);

/* Reads a file, for which it is not waited where it is none (a pipe).
 *
 * Returns: (transfer full): NULL with QM_ASKED_ERROR_FORMAT or a
 *   G_FILE_ERROR. */
QmAsked *qm_asked_load (const char *path, GError **error);

/* The text of a file, which is read back equal.  (transfer full) */
char *qm_asked_write (const QmAsked *asked);

/* Whether the catalog has what it names; else an error tells which not. */
gboolean
qm_asked_check (const QmAsked *asked, const QmCatalog *catalog, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmAsked, qm_asked_free)

G_END_DECLS
