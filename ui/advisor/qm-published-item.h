/* SPDX-License-Identifier: Apache-2.0 */

/* One row of the table that holds published times against the yardstick: the
 * texts of its cells, and by what they sort. */

#pragma once

#include "pricing/advice/qm-comparison.h"

#include <glib-object.h>

G_BEGIN_DECLS

typedef enum
{
  QM_PUBLISHED_MODEL,
  QM_PUBLISHED_GPUS,
  QM_PUBLISHED_PUBLISHED,
  QM_PUBLISHED_YARDSTICK,
  QM_PUBLISHED_RATIO,
  QM_PUBLISHED_SETTINGS,
  QM_PUBLISHED_PROVENANCE,
  QM_PUBLISHED_AUDIT,
  QM_PUBLISHED_INTERVAL,
  QM_PUBLISHED_N_COLUMNS
} QmPublishedColumn;

/* The title, in the user's language; static. */
const char *qm_published_column_title (QmPublishedColumn column);

/* Whether it holds numbers. */
gboolean qm_published_column_is_number (QmPublishedColumn column);

#define QM_TYPE_PUBLISHED_ITEM (qm_published_item_get_type ())
G_DECLARE_FINAL_TYPE (
    QmPublishedItem, qm_published_item, QM, PUBLISHED_ITEM, GObject)

/* Keeps nothing of `row`.  (transfer full) */
QmPublishedItem *qm_published_item_new (const QmCompared *row);

/* What stands in a column; "" where nothing is known. */
const char *qm_published_item_get_text (QmPublishedItem *self,
                                        QmPublishedColumn column);

/* What a screen reader says of the row. */
const char *qm_published_item_get_name (QmPublishedItem *self);

/* Compares for sorting; what is not known comes last in both directions. */
int qm_published_item_compare (QmPublishedItem *self,
                               QmPublishedItem *other,
                               QmPublishedColumn column,
                               gboolean descending);

G_END_DECLS
