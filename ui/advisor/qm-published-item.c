/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-published-item.h"

#include "pricing/advice/qm-prose-comparison.h"

#include <glib/gi18n-lib.h>

struct _QmPublishedItem
{
  GObject parent_instance;

  char *texts[QM_PUBLISHED_N_COLUMNS];
  double keys[QM_PUBLISHED_N_COLUMNS]; /* NaN: sorts as its text, if any */
  char *name;
};

G_DEFINE_FINAL_TYPE (QmPublishedItem, qm_published_item, G_TYPE_OBJECT)

const char *
qm_published_column_title (QmPublishedColumn column)
{
  static const char *const titles[QM_PUBLISHED_N_COLUMNS] = {
    N_ ("Model"),     N_ ("GPUs"),  N_ ("Published"),
    N_ ("Yardstick"), N_ ("Ratio"), N_ ("Settings"),
    N_ ("Known as"),  N_ ("Audit"), N_ ("Interval"),
  };

  g_return_val_if_fail (column < QM_PUBLISHED_N_COLUMNS, NULL);

  return _ (titles[column]);
}

gboolean
qm_published_column_is_number (QmPublishedColumn column)
{
  return column == QM_PUBLISHED_PUBLISHED || column == QM_PUBLISHED_YARDSTICK
         || column == QM_PUBLISHED_RATIO || column == QM_PUBLISHED_INTERVAL;
}

const char *
qm_published_item_get_text (QmPublishedItem *self, QmPublishedColumn column)
{
  g_return_val_if_fail (QM_IS_PUBLISHED_ITEM (self), NULL);
  g_return_val_if_fail (column < QM_PUBLISHED_N_COLUMNS, NULL);

  return self->texts[column];
}

const char *
qm_published_item_get_name (QmPublishedItem *self)
{
  g_return_val_if_fail (QM_IS_PUBLISHED_ITEM (self), NULL);

  return self->name;
}

/* Whether the audit has something against the published time. */
static gboolean
is_bad (QmPublishedItem *self)
{
  g_return_val_if_fail (QM_IS_PUBLISHED_ITEM (self), FALSE);

  return *self->texts[QM_PUBLISHED_AUDIT] != '\0';
}

static int
compare_keys (double a, double b, gboolean descending)
{
  if (isnan (a) || isnan (b))
    return (isnan (a) ? 1 : 0) - (isnan (b) ? 1 : 0);
  return descending ? (b > a) - (b < a) : (a > b) - (a < b);
}

int
qm_published_item_compare (QmPublishedItem *self,
                           QmPublishedItem *other,
                           QmPublishedColumn column,
                           gboolean descending)
{
  int order;

  g_return_val_if_fail (QM_IS_PUBLISHED_ITEM (self), 0);
  g_return_val_if_fail (QM_IS_PUBLISHED_ITEM (other), 0);
  g_return_val_if_fail (column < QM_PUBLISHED_N_COLUMNS, 0);

  if (qm_published_column_is_number (column) || column == QM_PUBLISHED_AUDIT)
    return compare_keys (self->keys[column], other->keys[column], descending);
  order = g_utf8_collate (self->texts[column], other->texts[column]);
  return descending ? -order : order;
}

static void
fill_texts (QmPublishedItem *self, const QmCompared *row)
{
  const QmMeasurement *published = row->published;
  char **texts = self->texts;

  texts[QM_PUBLISHED_MODEL] = g_strdup (published->model->name);
  texts[QM_PUBLISHED_GPUS] =
      g_strdup_printf ("%d × %s", published->gpus, published->gpu->name);
  texts[QM_PUBLISHED_SETTINGS] =
      g_strdup (qm_prose_settings_name (published->settings));
  texts[QM_PUBLISHED_PUBLISHED] = qm_prose_compared_time (published, FALSE);
  texts[QM_PUBLISHED_YARDSTICK] =
      qm_prose_compared_time (row->yardstick, FALSE);
  texts[QM_PUBLISHED_RATIO] = qm_prose_compared_ratio (row);
  texts[QM_PUBLISHED_PROVENANCE] =
      g_strdup (qm_prose_compared_provenance (row->yardstick));
  texts[QM_PUBLISHED_INTERVAL] = qm_prose_compared_interval (row->yardstick);
  texts[QM_PUBLISHED_AUDIT] = qm_prose_compared_verdict (row);
}

static void
fill_keys (QmPublishedItem *self, const QmCompared *row)
{
  const QmMeasurement *yardstick = row->yardstick;

  for (guint i = 0; i < QM_PUBLISHED_N_COLUMNS; i++)
    self->keys[i] = NAN;
  self->keys[QM_PUBLISHED_PUBLISHED] = row->published->days;
  self->keys[QM_PUBLISHED_RATIO] = row->ratio;
  if (is_bad (self))
    self->keys[QM_PUBLISHED_AUDIT] = row->utilization;
  if (yardstick == NULL)
    return;
  self->keys[QM_PUBLISHED_YARDSTICK] = yardstick->days;
  self->keys[QM_PUBLISHED_INTERVAL] = yardstick->days_high / yardstick->days;
}

QmPublishedItem *
qm_published_item_new (const QmCompared *row)
{
  QmPublishedItem *self;

  g_return_val_if_fail (row != NULL, NULL);

  self = g_object_new (QM_TYPE_PUBLISHED_ITEM, NULL);
  fill_texts (self, row);
  fill_keys (self, row);
  /* Translators: a model, GPUs, settings, the published time, that of the
   * yardstick, "predicted". */
  self->name = g_strdup_printf (_ ("%s, %s, %s: published %s, yardstick %s %s"),
                                self->texts[QM_PUBLISHED_MODEL],
                                self->texts[QM_PUBLISHED_GPUS],
                                self->texts[QM_PUBLISHED_SETTINGS],
                                self->texts[QM_PUBLISHED_PUBLISHED],
                                self->texts[QM_PUBLISHED_YARDSTICK],
                                self->texts[QM_PUBLISHED_PROVENANCE]);
  return self;
}

static void
qm_published_item_finalize (GObject *object)
{
  QmPublishedItem *self = QM_PUBLISHED_ITEM (object);

  for (guint i = 0; i < QM_PUBLISHED_N_COLUMNS; i++)
    g_free (self->texts[i]);
  g_free (self->name);
  G_OBJECT_CLASS (qm_published_item_parent_class)->finalize (object);
}

static void
qm_published_item_class_init (QmPublishedItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_published_item_finalize;
}

static void
qm_published_item_init (QmPublishedItem *self)
{
}
