/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-model.h"

/* More places than GTK has widgets for: more than that are there at once. */
#define HEAD 256

/* Places that are there at once, more than a screen has, and how many come or
 * go at a time. */
#define FIRST 24
#define STEP  6

/* As many as that show something else in a frame: GTK measures them all in the
 * next one. */
#define FRAME_MS 16

struct _QmQuoteModel
{
  GObject parent_instance;

  QmCatalogKeeper *keeper;
  GPtrArray *rows;  /* const QmQuoteRow */
  GPtrArray *items; /* QmQuoteItem by the place that GTK has; NULL: not asked
                       for, or no longer */
  guint stale;      /* from here on items may show what was there before */
  guint later;      /* a source for what is left to do */
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
  return QM_QUOTE_MODEL (list)->items->len;
}

/* A place that is about to go shows nothing. */
static QmQuoteItem *
make_item (QmQuoteModel *self, guint position)
{
  static const QmQuoteRow nothing = { 0 };

  return qm_quote_item_new (qm_catalog_keeper_get (self->keeper),
                            position < self->rows->len
                                ? g_ptr_array_index (self->rows, position)
                                : &nothing,
                            qm_date_today ());
}

static gpointer
get_item (GListModel *list, guint position)
{
  QmQuoteModel *self = QM_QUOTE_MODEL (list);
  gpointer *item;

  if (position >= self->items->len)
    return NULL;
  item = &g_ptr_array_index (self->items, position);
  if (*item == NULL)
    *item = make_item (self, position);
  return g_object_ref (*item);
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

/* Items that nobody looks at are made again when somebody does. */
static void
forget_unused (QmQuoteModel *self)
{
  for (guint i = 0; i < self->items->len; i++)
    {
      gpointer *item = &g_ptr_array_index (self->items, i);

      if (*item != NULL && G_OBJECT (*item)->ref_count == 1)
        g_clear_object (item);
    }
}

/* Has at most that many items show what is there now. */
static void
freshen (QmQuoteModel *self, guint most)
{
  guint n = MIN (self->items->len, self->rows->len);
  QmDate today = qm_date_today ();

  for (; self->stale < n && most > 0; self->stale++)
    {
      QmQuoteItem *item = g_ptr_array_index (self->items, self->stale);

      if (item == NULL)
        continue;
      qm_quote_item_set_row (item, qm_catalog_keeper_get (self->keeper),
                             g_ptr_array_index (self->rows, self->stale),
                             today);
      most--;
    }
}

/* Changes the end of what is there. */
static void
set_n (QmQuoteModel *self, guint n)
{
  guint before = self->items->len;

  g_ptr_array_set_size (self->items, (int) n);
  if (n > before)
    g_list_model_items_changed (G_LIST_MODEL (self), before, 0, n - before);
  else if (n < before)
    g_list_model_items_changed (G_LIST_MODEL (self), n, before - n, 0);
}

/* What comes is filled in as it is now. */
static void
step_n (QmQuoteModel *self)
{
  guint n = self->items->len;
  guint n_rows = self->rows->len;

  if (n_rows < n)
    set_n (self, n - n_rows > STEP ? n - STEP : n_rows);
  else
    set_n (self, n + STEP < MIN (HEAD, n_rows) ? n + STEP : n_rows);
  self->stale = self->items->len;
}

/* Does what is left to do bit by bit. */

static gboolean later_cb (gpointer user_data);

static void
go_on_later (QmQuoteModel *self)
{
  if (self->stale < MIN (self->items->len, self->rows->len))
    self->later = g_timeout_add_full (G_PRIORITY_DEFAULT_IDLE, FRAME_MS,
                                      later_cb, self, NULL);
  else if (self->items->len != self->rows->len)
    self->later = g_idle_add (later_cb, self);
  else
    self->later = 0;
}

static gboolean
later_cb (gpointer user_data)
{
  QmQuoteModel *self = user_data;

  if (self->stale < MIN (self->items->len, self->rows->len))
    freshen (self, FIRST);
  else
    step_n (self);
  go_on_later (self);
  return G_SOURCE_REMOVE;
}

/* How many are the same from the beginning, or with `end` from the end, of at
 * most `most`. */
static guint
count_same (GPtrArray *a, GPtrArray *b, gboolean end, guint most)
{
  guint n = 0;

  while (n < most)
    {
      const QmQuoteRow *p = g_ptr_array_index (a, end ? a->len - 1 - n : n);
      const QmQuoteRow *q = g_ptr_array_index (b, end ? b->len - 1 - n : n);

      if (p->id != q->id)
        break;
      n++;
    }
  return n;
}

/* Where a few quotes came or went, the others stay in their places. */
static gboolean
change_few (QmQuoteModel *self, GPtrArray *before)
{
  GPtrArray *rows = self->rows;
  guint most = MIN (before->len, rows->len);
  guint at = count_same (before, rows, FALSE, most);
  guint after = count_same (before, rows, TRUE, most - at);
  guint removed = before->len - at - after;
  guint added = rows->len - at - after;

  if (self->items->len != before->len || rows->len == 0 || removed > STEP
      || added > STEP)
    return FALSE;
  if (removed > 0)
    g_ptr_array_remove_range (self->items, at, removed);
  for (guint i = 0; i < added; i++)
    g_ptr_array_insert (self->items, (int) at, NULL);
  if (removed > 0 || added > 0)
    g_list_model_items_changed (G_LIST_MODEL (self), at, removed, added);
  return TRUE;
}

/* Where the longest run of places begins that are looked at: those around what
 * the list shows; the selected one may be elsewhere. */
static guint
find_run (QmQuoteModel *self)
{
  guint best = 0;
  guint longest = 0;
  guint begin = 0;

  for (guint i = 0; i < self->items->len; i++)
    {
      if (g_ptr_array_index (self->items, i) == NULL)
        begin = i + 1;
      else if (i + 1 - begin > longest)
        {
          longest = i + 1 - begin;
          best = begin;
        }
    }
  return best;
}

/* What is looked at becomes the beginning: to scroll there, GTK would fill all
 * of its widgets at once. */
static void
begin_here (QmQuoteModel *self)
{
  guint before = find_run (self);

  if (before == 0)
    return;
  g_ptr_array_remove_range (self->items, 0, before);
  g_list_model_items_changed (G_LIST_MODEL (self), 0, before, 0);
}

/* Other quotes move into the places that are there. */
static void
change_many (QmQuoteModel *self)
{
  guint n = self->items->len;
  guint n_rows = self->rows->len;

  if (n_rows == 0)
    set_n (self, MIN (n, HEAD));
  else if (n_rows < n || n >= HEAD)
    set_n (self, n_rows);
  else
    set_n (self, MAX (n, MIN (n_rows, FIRST)));
}

void
qm_quote_model_set_rows (QmQuoteModel *self, GPtrArray *rows, gboolean anew)
{
  g_autoptr (GPtrArray) before = NULL;

  g_return_if_fail (QM_IS_QUOTE_MODEL (self));
  g_return_if_fail (rows != NULL);

  before = g_steal_pointer (&self->rows);
  self->rows = g_ptr_array_ref (rows);
  forget_unused (self);
  self->stale = 0;
  if (anew)
    begin_here (self);
  if (!change_few (self, before))
    change_many (self);
  freshen (self, FIRST);
  g_clear_handle_id (&self->later, g_source_remove);
  go_on_later (self);
}

void
qm_quote_model_touch (QmQuoteModel *self)
{
  g_return_if_fail (QM_IS_QUOTE_MODEL (self));

  for (guint i = 0; i < self->items->len; i++)
    if (g_ptr_array_index (self->items, i) != NULL)
      qm_quote_item_touch (g_ptr_array_index (self->items, i));
}

guint
qm_quote_model_find (QmQuoteModel *self, gint64 id)
{
  g_return_val_if_fail (QM_IS_QUOTE_MODEL (self), G_MAXUINT);

  for (guint i = 0; i < MIN (self->items->len, self->rows->len); i++)
    {
      const QmQuoteRow *row = g_ptr_array_index (self->rows, i);

      if (row->id == id)
        return i;
    }
  return G_MAXUINT;
}

QmQuoteModel *
qm_quote_model_new (QmCatalogKeeper *keeper)
{
  QmQuoteModel *self;

  g_return_val_if_fail (QM_IS_CATALOG_KEEPER (keeper), NULL);

  self = g_object_new (QM_TYPE_QUOTE_MODEL, NULL);
  self->keeper = g_object_ref (keeper);
  return self;
}

static void
qm_quote_model_finalize (GObject *object)
{
  QmQuoteModel *self = QM_QUOTE_MODEL (object);

  g_clear_handle_id (&self->later, g_source_remove);
  g_ptr_array_unref (self->rows);
  g_ptr_array_unref (self->items);
  g_clear_object (&self->keeper);

  G_OBJECT_CLASS (qm_quote_model_parent_class)->finalize (object);
}

static void
unref_item (gpointer item)
{
  g_clear_object (&item);
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
  self->items = g_ptr_array_new_with_free_func (unref_item);
}
