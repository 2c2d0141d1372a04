/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-item.h"

#include "pricing/qm-format.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>

struct _QmQuoteItem
{
  GObject parent_instance;

  QmQuoteShown shown;
};

G_DEFINE_FINAL_TYPE (QmQuoteItem, qm_quote_item, G_TYPE_OBJECT)

static guint changed_signal;

static char *
detail_of (const QmCatalog *catalog, const QmQuoteRow *row)
{
  g_autofree char *items = qm_quote_items_text (catalog, row->items);
  const char *which = row->number != NULL   ? row->number
                      : row->vendor != NULL ? row->source
                                            : NULL;
  g_autofree char *number =
      which != NULL ? g_strjoin (", ", which, row->alternative, NULL) : NULL;

  if (number != NULL && *items != '\0')
    return g_strdup_printf ("%s · %s", number, items);
  return g_strdup (number != NULL ? number : items);
}

static void
clear_shown (QmQuoteShown *shown)
{
  g_free (shown->title);
  g_free (shown->detail);
  g_free (shown->issued);
  g_free (shown->validity);
  g_free (shown->total);
}

static void
fill_shown (QmQuoteShown *shown,
            const QmCatalog *catalog,
            const QmQuoteRow *row,
            QmDate today)
{
  shown->id = row->id;
  shown->title =
      row->vendor != NULL
          ? g_strdup (row->vendor)
          : qm_quote_title (NULL, row->number, row->alternative, row->source);
  shown->detail = detail_of (catalog, row);
  shown->issued = row->issued_on.year != 0
                      ? qm_format_date_brief (row->issued_on)
                      : g_strdup ("—");
  shown->validity =
      qm_validity_text (row->valid_from, row->valid_until, today, TRUE);
  shown->total = qm_quote_amount_text (row->total_minor, row->currency);
  shown->expired = qm_validity_on (row->valid_from, row->valid_until, today)
                   == QM_VALIDITY_EXPIRED;
  shown->warned = row->n_warnings > 0;
  shown->open = row->open;
  shown->broken = row->broken;
}

const char *
qm_quote_shown_note (const QmQuoteShown *shown)
{
  g_return_val_if_fail (shown != NULL, NULL);

  if (shown->broken)
    return _ ("Could not be read completely, and does not count");
  if (shown->open)
    return _ ("Asks something before all of it counts");
  return shown->warned ? _ ("Something in this quote needs a look") : NULL;
}

const char *
qm_quote_shown_icon (const QmQuoteShown *shown)
{
  g_return_val_if_fail (shown != NULL, NULL);

  if (shown->broken)
    return "dialog-error-symbolic";
  if (shown->open)
    return "dialog-question-symbolic";
  return shown->warned ? "dialog-warning-symbolic" : NULL;
}

static gboolean
same_shown (const QmQuoteShown *p, const QmQuoteShown *q)
{
  return p->id == q->id && g_str_equal (p->title, q->title)
         && g_str_equal (p->detail, q->detail)
         && g_str_equal (p->issued, q->issued)
         && g_str_equal (p->validity, q->validity)
         && g_str_equal (p->total, q->total) && p->expired == q->expired
         && p->warned == q->warned && p->open == q->open
         && p->broken == q->broken;
}

QmQuoteItem *
qm_quote_item_new (const QmCatalog *catalog,
                   const QmQuoteRow *row,
                   QmDate today)
{
  QmQuoteItem *self;

  g_return_val_if_fail (catalog != NULL && row != NULL, NULL);

  self = g_object_new (QM_TYPE_QUOTE_ITEM, NULL);
  fill_shown (&self->shown, catalog, row, today);
  return self;
}

const QmQuoteShown *
qm_quote_item_get_shown (QmQuoteItem *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_ITEM (self), NULL);

  return &self->shown;
}

void
qm_quote_item_set_row (QmQuoteItem *self,
                       const QmCatalog *catalog,
                       const QmQuoteRow *row,
                       QmDate today)
{
  QmQuoteShown before;

  g_return_if_fail (QM_IS_QUOTE_ITEM (self));
  g_return_if_fail (catalog != NULL && row != NULL);

  before = self->shown;
  fill_shown (&self->shown, catalog, row, today);
  if (!same_shown (&before, &self->shown))
    g_signal_emit (self, changed_signal, 0);
  clear_shown (&before);
}

void
qm_quote_item_touch (QmQuoteItem *self)
{
  g_return_if_fail (QM_IS_QUOTE_ITEM (self));

  g_signal_emit (self, changed_signal, 0);
}

static void
qm_quote_item_finalize (GObject *object)
{
  clear_shown (&QM_QUOTE_ITEM (object)->shown);

  G_OBJECT_CLASS (qm_quote_item_parent_class)->finalize (object);
}

static void
qm_quote_item_class_init (QmQuoteItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_quote_item_finalize;

  changed_signal =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_quote_item_init (QmQuoteItem *self)
{
}
