/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-model.h"

/* More rows than GTK has widgets for: more than that are there at once. */
#define HEAD 256

/* Rows that are there at once, more than a screen has, and how many come or go
 * at a time. */
#define FIRST 24
#define STEP  6

struct _QmQuoteModel
{
  GObject parent_instance;

  const QmCatalog *catalog;
  GPtrArray *rows; /* const QmQuoteRow */
  GPtrArray *head; /* QmQuoteItem of the first ones, or of rows that are gone */
  guint n;         /* that are there for GTK */
  guint idle;
};

static void list_model_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (QmQuoteModel,
                               qm_quote_model,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL,
                                                      list_model_init))

static GType
get_item_type (GListModel *list)
{
  return QM_TYPE_QUOTE_ITEM;
}

static guint
get_n_items (GListModel *list)
{
  return QM_QUOTE_MODEL (list)->n;
}

static gpointer
get_item (GListModel *list, guint position)
{
  QmQuoteModel *self = QM_QUOTE_MODEL (list);

  if (position >= self->n)
    return NULL;
  if (position < self->head->len)
    return g_object_ref (g_ptr_array_index (self->head, position));
  return qm_quote_item_new (self->catalog,
                            g_ptr_array_index (self->rows, position),
                            qm_date_today ());
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

/* Changes the end of what is there. */
static void
set_n (QmQuoteModel *self, guint n)
{
  guint before = self->n;

  self->n = n;
  if (n > before)
    g_list_model_items_changed (G_LIST_MODEL (self), before, 0, n - before);
  else if (n < before)
    g_list_model_items_changed (G_LIST_MODEL (self), n, before - n, 0);
}

static gboolean
idle_cb (gpointer user_data)
{
  QmQuoteModel *self = user_data;
  guint n_rows = self->rows->len;

  if (n_rows < self->n)
    set_n (self, self->n - n_rows > STEP ? self->n - STEP : n_rows);
  else
    set_n (self, self->n + STEP < MIN (HEAD, n_rows) ? self->n + STEP : n_rows);
  if (self->n != n_rows)
    return G_SOURCE_CONTINUE;
  self->idle = 0;
  return G_SOURCE_REMOVE;
}

static GPtrArray *
make_head (QmQuoteModel *self, GPtrArray *rows)
{
  GPtrArray *head = g_ptr_array_new_with_free_func (g_object_unref);
  QmDate today = qm_date_today ();

  for (guint i = 0; i < MIN (rows->len, HEAD); i++)
    g_ptr_array_add (head,
                     qm_quote_item_new (self->catalog,
                                        g_ptr_array_index (rows, i), today));
  return head;
}

static gboolean
same_head (GPtrArray *a, GPtrArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    if (!qm_quote_item_equal (g_ptr_array_index (a, i),
                              g_ptr_array_index (b, i)))
      return FALSE;
  return TRUE;
}

/* Whether the first rows show the same, and there are as many. */
static gboolean
keeps_head (QmQuoteModel *self, GPtrArray *rows, GPtrArray *head)
{
  return self->idle == 0 && rows->len == self->n
         && same_head (self->head, head);
}

/* Nothing is left: the rows go one after the other, their items stay until
 * then. */
static void
set_empty (QmQuoteModel *self)
{
  set_n (self, MIN (self->n, self->head->len));
  g_ptr_array_unref (self->rows);
  self->rows = g_ptr_array_new ();
}

/* How many are the same from the beginning, or with `end` from the end, of at
 * most `most`. */
static guint
count_same (GPtrArray *a, GPtrArray *b, gboolean end, guint most)
{
  guint n = 0;

  while (
      n < most
      && qm_quote_item_equal (g_ptr_array_index (a, end ? a->len - 1 - n : n),
                              g_ptr_array_index (b, end ? b->len - 1 - n : n)))
    n++;
  return n;
}

/* Where a few of not too many rows are others, the list does not lose its
 * place: which, or FALSE. */
static gboolean
find_few (QmQuoteModel *self,
          GPtrArray *rows,
          GPtrArray *head,
          guint *at,
          guint *removed,
          guint *added)
{
  guint most = MIN (self->head->len, head->len);
  guint after;

  if (rows->len != head->len || self->n != self->head->len
      || self->n != self->rows->len)
    return FALSE;
  *at = count_same (self->head, head, FALSE, most);
  after = count_same (self->head, head, TRUE, most - *at);
  *removed = self->n - *at - after;
  *added = head->len - *at - after;
  return *removed <= STEP && *added <= STEP;
}

static void
set_others (QmQuoteModel *self, GPtrArray *rows, GPtrArray *head)
{
  guint at, removed, added;

  if (!find_few (self, rows, head, &at, &removed, &added))
    {
      at = 0;
      removed = self->n;
      added = MIN (rows->len, FIRST);
    }
  g_ptr_array_unref (self->rows);
  self->rows = g_ptr_array_ref (rows);
  g_ptr_array_unref (self->head);
  self->head = g_ptr_array_ref (head);
  self->n += added - removed;
  g_list_model_items_changed (G_LIST_MODEL (self), at, removed, added);
}

/* What is beyond the first rows may be another. */
static void
set_tail (QmQuoteModel *self, GPtrArray *rows)
{
  gboolean same = TRUE;

  for (guint i = HEAD; i < rows->len && same; i++)
    same = g_ptr_array_index (rows, i) == g_ptr_array_index (self->rows, i);
  g_ptr_array_unref (self->rows);
  self->rows = g_ptr_array_ref (rows);
  if (!same)
    g_list_model_items_changed (G_LIST_MODEL (self), HEAD, rows->len - HEAD,
                                rows->len - HEAD);
}

void
qm_quote_model_set_rows (QmQuoteModel *self, GPtrArray *rows)
{
  g_autoptr (GPtrArray) head = NULL;

  g_return_if_fail (QM_IS_QUOTE_MODEL (self));
  g_return_if_fail (rows != NULL);

  head = make_head (self, rows);
  if (keeps_head (self, rows, head))
    {
      set_tail (self, rows);
      return;
    }
  g_clear_handle_id (&self->idle, g_source_remove);
  if (rows->len == 0)
    set_empty (self);
  else
    set_others (self, rows, head);
  if (self->n != rows->len)
    self->idle = g_idle_add (idle_cb, self);
}

void
qm_quote_model_touch (QmQuoteModel *self)
{
  g_return_if_fail (QM_IS_QUOTE_MODEL (self));

  g_list_model_items_changed (G_LIST_MODEL (self), 0, self->n, self->n);
}

guint
qm_quote_model_n_rows (QmQuoteModel *self)
{
  g_return_val_if_fail (QM_IS_QUOTE_MODEL (self), 0);

  return self->rows->len;
}

guint
qm_quote_model_find (QmQuoteModel *self, gint64 id)
{
  g_return_val_if_fail (QM_IS_QUOTE_MODEL (self), G_MAXUINT);

  for (guint i = 0; i < MIN (self->n, self->rows->len); i++)
    {
      const QmQuoteRow *row = g_ptr_array_index (self->rows, i);

      if (row->id == id)
        return i;
    }
  return G_MAXUINT;
}

QmQuoteModel *
qm_quote_model_new (const QmCatalog *catalog)
{
  QmQuoteModel *self;

  g_return_val_if_fail (catalog != NULL, NULL);

  self = g_object_new (QM_TYPE_QUOTE_MODEL, NULL);
  self->catalog = catalog;
  return self;
}

static void
qm_quote_model_finalize (GObject *object)
{
  QmQuoteModel *self = QM_QUOTE_MODEL (object);

  g_clear_handle_id (&self->idle, g_source_remove);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->head);

  G_OBJECT_CLASS (qm_quote_model_parent_class)->finalize (object);
}

static void
qm_quote_model_class_init (QmQuoteModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = qm_quote_model_finalize;
}

static void
qm_quote_model_init (QmQuoteModel *self)
{
  self->rows = g_ptr_array_new ();
  self->head = g_ptr_array_new_with_free_func (g_object_unref);
}
