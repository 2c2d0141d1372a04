/* SPDX-License-Identifier: Apache-2.0 */

/* The table that holds published times against the yardstick, sorted by any
 * column; at first as it was filled. */

#pragma once

#include "ui/advisor/qm-published-item.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define QM_TYPE_PUBLISHED_TABLE (qm_published_table_get_type ())
G_DECLARE_FINAL_TYPE (
    QmPublishedTable, qm_published_table, QM, PUBLISHED_TABLE, GtkWidget)

/* Fills it anew. */
void qm_published_table_set_rows (QmPublishedTable *self,
                                  const QmCompared *rows,
                                  guint n_rows);

/* Whether it names the model of each row: not where all are of one. */
void qm_published_table_set_several (QmPublishedTable *self, gboolean several);

G_END_DECLS
