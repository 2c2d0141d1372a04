/* SPDX-License-Identifier: Apache-2.0 */

/* What was measured here and can be given away (data/shared.h), and what is
 * said of it before that. */

#pragma once

#include "data/catalog.h"
#include "data/results.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _QmShare QmShare;

/* What can be given away of the results file at `path`, of this machine's where
 * that is NULL; of one model where `model` is not NULL.  G_IO_ERROR_NOT_FOUND
 * where there is nothing, G_IO_ERROR_FAILED where it cannot be read.
 * (transfer full): NULL with an error. */
QmShare *qm_share_new (const QmCatalog *catalog,
                       const char *path,
                       const char *model,
                       GError **error);
void qm_share_free (QmShare *self);

/* The results, those of a model in the order in which they were measured; valid
 * as long as this is.  (transfer none) */
const QmResult *const *qm_share_get_results (const QmShare *self, guint *n);

/* The file that gives away the results of these models, a NULL-terminated list,
 * or of all where that is NULL, signed off.  (transfer full): NULL with an
 * error. */
GBytes *
qm_share_make (const QmShare *self, const char *const *models, GError **error);

/* "2 × NVIDIA H100 80GB HBM3".  (transfer full) */
char *qm_share_device (const QmResult *result);

/* "Quartermaster 0.2.0, driver 570.124.06".  (transfer full) */
char *qm_share_software (const QmResult *result);

/* "Free lunch, checkpointing, micro-batch 16".  (transfer full) */
char *qm_share_method (const QmResult *result);

/* What who signs a file off says, which the file says in English; static. */
const char *qm_share_statement (void);

/* What is not in the file; static. */
const char *qm_share_assurance (void);

/* Where the file is sent, a sentence.  (transfer full) */
char *qm_share_where (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmShare, qm_share_free)

G_END_DECLS
