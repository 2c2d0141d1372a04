/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-candidate-table.h"

#include "pricing/advice/qm-prose.h"
#include "ui/advisor/qm-candidate-cell.h"
#include "ui/advisor/qm-candidate-item.h"
#include "ui/advisor/qm-table-csv.h"
#include "ui/qm-column-sort.h"
#include "ui/qm-column-view.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* A column and the table that it belongs to, for callbacks. */
typedef struct
{
  QmCandidateTable *table;
  QmCandidateColumn id;
  GtkColumnViewColumn *column;
} Column;

/* The advisor's answer on a topic as it was last told; asking for it anew could
 * rebuild the table in the middle of drawing it. */
typedef struct
{
  const char *title;
  const QmCandidate *candidates;
  guint n;
  const QmRecommendation *recommendation;
  const QmPurse *purse;
} Topic;

/* A cell that shows something.  Every move of a slider asks all of them, which
 * are thousands: what the list item would say is looked up once, and a cell is
 * told what changes only. */
typedef struct
{
  GtkListItem *list_item;
  QmCandidateCell *cell;
  guint topic, index;
  gboolean within, recommended;
} Bound;

struct _QmCandidateTable
{
  GtkWidget parent_instance;

  GtkWidget *frame;
  GtkColumnView *view;

  QmAdvisor *advisor;
  GHashTable *styles; /* const char* id of a GPU -> look of its marker */
  Column columns[QM_N_COLUMNS];
  GListStore *store;
  GtkSortListModel *sorted;
  GtkSingleSelection *selection;
  GArray *topics;   /* Topic: what `store` has rows for */
  GArray *bound;    /* Bound */
  gboolean syncing; /* the selection is being taken over from the advisor */

  GtkSorter *sorter;
  QmColumnSort *sort;
};

G_DEFINE_FINAL_TYPE (QmCandidateTable, qm_candidate_table, GTK_TYPE_WIDGET)

static const Topic *
topic_of (QmCandidateTable *self, QmCandidateItem *item)
{
  return &g_array_index (self->topics, Topic,
                         qm_candidate_item_get_topic (item));
}

static const QmCandidate *
candidate_of_item (QmCandidateTable *self, QmCandidateItem *item)
{
  return &topic_of (self, item)->candidates[qm_candidate_item_get_index (item)];
}

/* Sorting. */

static void
sort_changed_cb (QmCandidateTable *self)
{
  gtk_sorter_changed (self->sorter, GTK_SORTER_CHANGE_DIFFERENT);
}

static int
compare_uints (guint a, guint b, gboolean descending)
{
  int order = (a > b) - (a < b);

  return descending ? -order : order;
}

static int
compare_items_cb (gconstpointer a, gconstpointer b, gpointer data)
{
  QmCandidateTable *self = data;
  QmCandidateItem *p = (QmCandidateItem *) a;
  QmCandidateItem *q = (QmCandidateItem *) b;
  int order = 0;

  if (qm_column_sort_get_column (self->sort) == QM_COLUMN_MODEL)
    order = compare_uints (qm_candidate_item_get_topic (p),
                           qm_candidate_item_get_topic (q),
                           qm_column_sort_is_descending (self->sort));
  else if (qm_column_sort_get_column (self->sort) >= 0)
    order = qm_candidate_column_compare (
        (QmCandidateColumn) qm_column_sort_get_column (self->sort),
        candidate_of_item (self, p), candidate_of_item (self, q),
        qm_column_sort_is_descending (self->sort));
  if (order == 0)
    order = compare_uints (qm_candidate_item_get_topic (p),
                           qm_candidate_item_get_topic (q), FALSE);
  if (order == 0)
    order = compare_uints (qm_candidate_item_get_index (p),
                           qm_candidate_item_get_index (q), FALSE);
  return order;
}

/* Cells. */

static void
update_state (QmCandidateTable *self,
              Bound *bound,
              gint64 budget_minor,
              double deadline_days,
              gboolean anew)
{
  const Topic *topic = &g_array_index (self->topics, Topic, bound->topic);
  const QmCandidate *candidate = &topic->candidates[bound->index];
  gboolean within = qm_candidate_within (candidate, budget_minor, deadline_days)
                    && !candidate->superseded;
  gboolean recommended = topic->recommendation->best == (int) bound->index;

  if (!anew && within == bound->within && recommended == bound->recommended)
    return;
  bound->within = within;
  bound->recommended = recommended;
  qm_candidate_cell_set_state (bound->cell, within, recommended);
}

static void
fill_cell (QmCandidateTable *self, Bound *bound)
{
  const Topic *topic = &g_array_index (self->topics, Topic, bound->topic);
  const QmCandidate *candidate = &topic->candidates[bound->index];
  g_autofree char *what = qm_prose_candidate (candidate);

  qm_candidate_cell_set_candidate (bound->cell, candidate, topic->title,
                                   topic->purse,
                                   GPOINTER_TO_UINT (g_hash_table_lookup (
                                       self->styles, candidate->gpu->id)));
  qm_column_view_name_row (GTK_WIDGET (bound->cell), what);
  update_state (self, bound, qm_advisor_get_budget_minor (self->advisor),
                qm_advisor_get_deadline_days (self->advisor), TRUE);
}

static void
setup_candidate_cb (GtkListItemFactory *factory,
                    GtkListItem *list_item,
                    gpointer data)
{
  Column *column = data;

  gtk_list_item_set_child (list_item, qm_candidate_cell_new (column->id));
}

static void
bind_candidate_cb (GtkListItemFactory *factory,
                   GtkListItem *list_item,
                   gpointer data)
{
  Column *column = data;
  QmCandidateItem *item = gtk_list_item_get_item (list_item);
  Bound bound = {
    .list_item = list_item,
    .cell = QM_CANDIDATE_CELL (gtk_list_item_get_child (list_item)),
    .topic = qm_candidate_item_get_topic (item),
    .index = qm_candidate_item_get_index (item),
  };

  fill_cell (column->table, &bound);
  g_array_append_val (column->table->bound, bound);
}

static void
unbind_cb (GtkListItemFactory *factory, GtkListItem *list_item, gpointer data)
{
  Column *column = data;
  GArray *all = column->table->bound;
  guint i = 0;

  while (i < all->len && g_array_index (all, Bound, i).list_item != list_item)
    i++;
  if (i < all->len)
    g_array_remove_index_fast (all, i);
  qm_candidate_cell_set_candidate (QM_CANDIDATE_CELL (
                                       gtk_list_item_get_child (list_item)),
                                   NULL, NULL, NULL, 0);
}

/* Selection. */

static void
candidate_selected_cb (QmCandidateTable *self)
{
  QmCandidateItem *item;

  if (self->syncing || self->advisor == NULL)
    return;
  item = gtk_single_selection_get_selected_item (self->selection);
  if (item != NULL)
    qm_advisor_select (self->advisor, qm_candidate_item_get_topic (item),
                       qm_candidate_item_get_index (item));
  else
    qm_advisor_unselect (self->advisor);
}

static guint
find_row (QmCandidateTable *self, guint topic, guint index)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->sorted));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmCandidateItem) item =
          g_list_model_get_item (G_LIST_MODEL (self->sorted), i);

      if (qm_candidate_item_get_index (item) == index
          && qm_candidate_item_get_topic (item) == topic)
        return i;
    }
  return GTK_INVALID_LIST_POSITION;
}

static void
selection_changed_cb (QmCandidateTable *self)
{
  guint row = GTK_INVALID_LIST_POSITION;
  guint topic, index;

  if (qm_advisor_get_selected (self->advisor, &topic, &index))
    {
      QmCandidateItem *item =
          gtk_single_selection_get_selected_item (self->selection);

      if (item != NULL && qm_candidate_item_get_topic (item) == topic
          && qm_candidate_item_get_index (item) == index)
        return;
      row = find_row (self, topic, index);
    }
  self->syncing = TRUE;
  gtk_single_selection_set_selected (self->selection, row);
  self->syncing = FALSE;
  if (row != GTK_INVALID_LIST_POSITION)
    qm_column_view_scroll_to (self->view, row);
}

/* What the advisor has to say. */

static void
table_limits_cb (QmCandidateTable *self)
{
  gint64 budget_minor = qm_advisor_get_budget_minor (self->advisor);
  double deadline_days = qm_advisor_get_deadline_days (self->advisor);

  for (guint i = 0; i < self->bound->len; i++)
    update_state (self, &g_array_index (self->bound, Bound, i), budget_minor,
                  deadline_days, FALSE);
}

static void
show_columns (QmCandidateTable *self)
{
  gboolean portfolio;
  gboolean times_of = FALSE;
  guint n_topics = qm_advisor_get_n_topics (self->advisor);

  for (guint i = 0; i < n_topics; i++)
    times_of |= qm_candidate_column_tells_times (
        qm_advisor_get_advice (self->advisor, i));
  gtk_column_view_column_set_visible (self->columns[QM_COLUMN_TIMES_OF].column,
                                      times_of);
  g_object_get (self->advisor, "portfolio", &portfolio, NULL);
  gtk_column_view_column_set_visible (self->columns[QM_COLUMN_MODEL].column,
                                      n_topics > 1);
  gtk_column_view_column_set_visible (self->columns[QM_COLUMN_MACHINES].column,
                                      portfolio);
  for (guint i = 0; i < QM_N_COLUMNS; i++)
    gtk_column_view_column_set_title (
        self->columns[i].column, portfolio
                                     ? qm_candidate_column_portfolio_title (i)
                                     : qm_candidate_column_title (i));
}

static GArray *
take_topics (QmCandidateTable *self)
{
  GArray *topics = g_array_new (FALSE, FALSE, sizeof (Topic));
  guint n_topics =
      self->advisor != NULL ? qm_advisor_get_n_topics (self->advisor) : 0;

  for (guint i = 0; i < n_topics; i++)
    {
      Topic topic = {
        .title = qm_advisor_get_title (self->advisor, i),
        .recommendation = qm_advisor_get_recommendation (self->advisor, i),
        .purse = qm_advice_purse (qm_advisor_get_advice (self->advisor, i)),
      };

      topic.candidates =
          qm_advice_candidates (qm_advisor_get_advice (self->advisor, i),
                                &topic.n);
      g_array_append_val (topics, topic);
    }
  return topics;
}

static void
refill (QmCandidateTable *self)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint topic = 0; topic < self->topics->len; topic++)
    for (guint i = 0; i < g_array_index (self->topics, Topic, topic).n; i++)
      g_ptr_array_add (items, qm_candidate_item_new (topic, i));
  g_list_store_splice (self->store, 0,
                       g_list_model_get_n_items (G_LIST_MODEL (self->store)),
                       items->pdata, items->len);
}

/* Whether the rows of one are the rows of the other. */
static gboolean
same_shape (const GArray *a, const GArray *b)
{
  gboolean same = a->len == b->len;

  for (guint i = 0; i < a->len && same; i++)
    same = g_array_index (a, Topic, i).n == g_array_index (b, Topic, i).n;
  return same;
}

static void
table_rebuilt_cb (QmCandidateTable *self)
{
  GArray *topics = take_topics (self);
  gboolean same = same_shape (topics, self->topics);

  self->syncing = TRUE;
  if (!same)
    /* The old rows must not be looked up in the new answers. */
    g_list_store_remove_all (self->store);
  g_array_unref (self->topics);
  self->topics = topics;
  show_columns (self);
  if (same)
    {
      for (guint i = 0; i < self->bound->len; i++)
        fill_cell (self, &g_array_index (self->bound, Bound, i));
      gtk_sorter_changed (self->sorter, GTK_SORTER_CHANGE_DIFFERENT);
    }
  else
    refill (self);
  self->syncing = FALSE;
}

static void
find_styles (QmCandidateTable *self)
{
  const char *const *gpus = qm_advisor_get_gpus (self->advisor);

  g_hash_table_remove_all (self->styles);
  for (guint i = 0; gpus[i] != NULL; i++)
    g_hash_table_insert (self->styles, (gpointer) gpus[i],
                         GUINT_TO_POINTER (i));
}

void
qm_candidate_table_set_advisor (QmCandidateTable *self, QmAdvisor *advisor)
{
  g_return_if_fail (QM_IS_CANDIDATE_TABLE (self));
  g_return_if_fail (advisor == NULL || QM_IS_ADVISOR (advisor));

  if (self->advisor == advisor)
    return;
  self->syncing = TRUE;
  g_list_store_remove_all (self->store);
  g_array_set_size (self->topics, 0);
  self->syncing = FALSE;
  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_data (self->advisor, self);
  g_set_object (&self->advisor, advisor);
  if (advisor != NULL)
    {
      g_signal_connect_object (advisor, "rebuilt",
                               G_CALLBACK (table_rebuilt_cb), self,
                               G_CONNECT_SWAPPED);
      g_signal_connect_object (advisor, "limits-changed",
                               G_CALLBACK (table_limits_cb), self,
                               G_CONNECT_SWAPPED);
      g_signal_connect_object (advisor, "selection-changed",
                               G_CALLBACK (selection_changed_cb), self,
                               G_CONNECT_SWAPPED);
      find_styles (self);
      table_rebuilt_cb (self);
      selection_changed_cb (self);
    }
}

static void
qm_candidate_table_dispose (GObject *object)
{
  QmCandidateTable *self = QM_CANDIDATE_TABLE (object);

  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_data (self->advisor, self);
  self->syncing = TRUE;
  if (self->view != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->sort, self);
      gtk_column_view_set_model (self->view, NULL);
    }
  g_clear_object (&self->selection);
  g_clear_object (&self->sorted);
  g_clear_object (&self->store);
  g_clear_object (&self->sorter);
  for (guint i = 0; i < QM_N_COLUMNS; i++)
    g_clear_object (&self->columns[i].column);
  g_clear_pointer (&self->frame, gtk_widget_unparent);
  g_clear_object (&self->sort);
  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_candidate_table_parent_class)->dispose (object);
}

static void
qm_candidate_table_finalize (GObject *object)
{
  QmCandidateTable *self = QM_CANDIDATE_TABLE (object);

  g_hash_table_unref (self->styles);
  g_array_unref (self->topics);
  g_array_unref (self->bound);

  G_OBJECT_CLASS (qm_candidate_table_parent_class)->finalize (object);
}

/* Sorts by the n-th visible column, the other way round if it is sorted so. */
static void
sort_candidates_cb (GtkWidget *widget, const char *action, GVariant *parameter)
{
  qm_column_sort_toggle (QM_CANDIDATE_TABLE (widget)->sort,
                         g_variant_get_uint32 (parameter));
}

static gboolean
qm_candidate_table_focus (GtkWidget *widget, GtkDirectionType direction)
{
  return !qm_column_view_is_left (widget, direction)
         && GTK_WIDGET_CLASS (qm_candidate_table_parent_class)
                ->focus (widget, direction);
}

static void
qm_candidate_table_class_init (QmCandidateTableClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_candidate_table_dispose;
  object_class->finalize = qm_candidate_table_finalize;
  widget_class->focus = qm_candidate_table_focus;

  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-candidate-table.ui");
  gtk_widget_class_bind_template_child (widget_class, QmCandidateTable, frame);
  gtk_widget_class_bind_template_child (widget_class, QmCandidateTable, view);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c,
                                       GDK_CONTROL_MASK, "results.copy-row",
                                       NULL);
  /* The headers of GTK 4.8 never have the keyboard. */
  gtk_widget_class_install_action (widget_class, "table.sort", "u",
                                   sort_candidates_cb);
  for (guint i = 0; i < 9; i++)
    gtk_widget_class_add_binding_action (widget_class, GDK_KEY_1 + i,
                                         GDK_CONTROL_MASK, "table.sort", "u",
                                         i);
}

static void
add_candidate_column (QmCandidateTable *self, QmCandidateColumn id)
{
  Column *column = &self->columns[id];
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  column->table = self;
  column->id = id;
  g_signal_connect (factory, "setup", G_CALLBACK (setup_candidate_cb), column);
  g_signal_connect (factory, "bind", G_CALLBACK (bind_candidate_cb), column);
  g_signal_connect (factory, "unbind", G_CALLBACK (unbind_cb), column);
  column->column =
      gtk_column_view_column_new (qm_candidate_column_title (id), factory);
  qm_column_sort_add (self->sort, column->column, id);
  gtk_column_view_column_set_resizable (column->column, TRUE);
  gtk_column_view_column_set_expand (column->column,
                                     id == QM_COLUMN_GPU
                                         || id == QM_COLUMN_MACHINE
                                         || id == QM_COLUMN_SOURCE);
  gtk_column_view_append_column (self->view, column->column);
}

static void
qm_candidate_table_init (QmCandidateTable *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));

  self->styles = g_hash_table_new (g_str_hash, g_str_equal);
  self->topics = g_array_new (FALSE, FALSE, sizeof (Topic));
  self->bound = g_array_new (FALSE, FALSE, sizeof (Bound));
  self->sort = qm_column_sort_new (self->view);
  for (guint i = 0; i < QM_N_COLUMNS; i++)
    add_candidate_column (self, i);

  self->store = g_list_store_new (QM_TYPE_CANDIDATE_ITEM);
  self->sorter =
      GTK_SORTER (gtk_custom_sorter_new (compare_items_cb, self, NULL));
  self->sorted =
      gtk_sort_list_model_new (g_object_ref (G_LIST_MODEL (self->store)),
                               g_object_ref (self->sorter));
  self->selection =
      gtk_single_selection_new (g_object_ref (G_LIST_MODEL (self->sorted)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_single_selection_set_selected (self->selection,
                                     GTK_INVALID_LIST_POSITION);
  g_signal_connect_object (self->selection, "notify::selected-item",
                           G_CALLBACK (candidate_selected_cb), self,
                           G_CONNECT_SWAPPED);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_object (self->sort, "changed", G_CALLBACK (sort_changed_cb),
                           self, G_CONNECT_SWAPPED);
  qm_candidate_table_sort (self, QM_COLUMN_COST, GTK_SORT_ASCENDING);
}

void
qm_candidate_table_sort (QmCandidateTable *self,
                         QmCandidateColumn column,
                         GtkSortType order)
{
  g_return_if_fail (QM_IS_CANDIDATE_TABLE (self) && column < QM_N_COLUMNS);

  gtk_column_view_sort_by_column (self->view, self->columns[column].column,
                                  order);
}

static QmTableRow
row_of (QmCandidateTable *self, QmCandidateItem *item)
{
  guint topic = qm_candidate_item_get_topic (item);
  const QmQuestion *question = qm_advisor_get_question (self->advisor, topic);
  const QmRecommendation *recommendation =
      qm_advisor_get_recommendation (self->advisor, topic);
  gboolean portfolio = question->runs != NULL && question->runs->len > 0;

  return (QmTableRow){
    portfolio ? qm_advisor_get_title (self->advisor, topic) : question->model,
    candidate_of_item (self, item),
    recommendation->best == (int) qm_candidate_item_get_index (item),
    question->rates
  };
}

char *
qm_candidate_table_get_csv (QmCandidateTable *self, gboolean only_selected)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (QmTableRow));
  guint n;

  g_return_val_if_fail (QM_IS_CANDIDATE_TABLE (self), NULL);

  if (self->advisor != NULL)
    qm_advisor_get_n_topics (self->advisor);
  n = g_list_model_get_n_items (G_LIST_MODEL (self->sorted));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmCandidateItem) item =
          g_list_model_get_item (G_LIST_MODEL (self->sorted), i);
      QmTableRow row;

      if (only_selected
          && item != gtk_single_selection_get_selected_item (self->selection))
        continue;
      row = row_of (self, item);
      g_array_append_val (rows, row);
    }
  return qm_table_csv ((const QmTableRow *) (void *) rows->data, rows->len);
}

gboolean
qm_candidate_table_has_selected (QmCandidateTable *self)
{
  g_return_val_if_fail (QM_IS_CANDIDATE_TABLE (self), FALSE);

  return gtk_single_selection_get_selected_item (self->selection) != NULL;
}
