/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-editor.h"

#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-plausible.h"
#include "ui/quotes/qm-quote-fields.h"
#include "ui/quotes/qm-quote-text.h"

#include <glib/gi18n-lib.h>

/* More lines than that are too many for rows of entries. */
#define MAX_LINES 500

/* One line and its entries. */
typedef struct
{
  QmQuoteEditor *editor;
  QmQuoteLine *line; /* of the copy that is edited; a removed one is NULL */
  GtkWidget *row;
  GtkWidget **entries; /* by field */
  GtkWidget *role;
  GtkWidget *thing;
  GtkWidget *item;
} Line;

struct _QmQuoteEditor
{
  AdwWindow parent_instance;

  GtkLabel *problem;
  AdwPreferencesGroup *head;
  AdwPreferencesGroup *lines;
  GtkWidget *add_button;

  QmQuoteBook *book;
  QmQuote *before; /* NULL: a new one */
  QmQuote *quote;  /* the copy that is edited */
  GtkWidget **entries;
  GtkWidget *tax;
  GPtrArray *rows; /* Line */
  GStrv items;     /* ids by position, from 1 */
  GtkStringList *item_names;
};

enum
{
  SAVED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmQuoteEditor, qm_quote_editor, ADW_TYPE_WINDOW)

static guint signals[N_SIGNALS];

static const QmTristate taxes[] = { QM_UNSTATED, QM_NO, QM_YES };

static void
line_free (Line *line)
{
  g_free (line->entries);
  g_free (line);
}

static GtkWidget *
new_entry (const QmField *field, gconstpointer object, const char *currency)
{
  g_autofree char *text = qm_field_text (field, object, currency);
  GtkWidget *row = adw_entry_row_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _ (field->title));
  gtk_editable_set_text (GTK_EDITABLE (row), text);
  return row;
}

static GtkWidget *
new_combo (const char *title, GListModel *model, guint selected)
{
  return g_object_new (ADW_TYPE_COMBO_ROW, "title", title, "model", model,
                       "selected", selected, NULL);
}

/* The GPUs and machines of the catalog. */
static void
fill_items (QmQuoteEditor *self)
{
  const QmCatalog *catalog = qm_quote_book_get_catalog (self->book);
  g_autoptr (GStrvBuilder) ids = g_strv_builder_new ();
  size_t n_gpus, n_machines;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n_gpus);
  const QmMachine *machines = qm_catalog_machines (catalog, &n_machines);

  self->item_names = gtk_string_list_new (NULL);
  gtk_string_list_append (self->item_names, _ ("Nothing of the catalog"));
  for (size_t i = 0; i < n_gpus; i++)
    {
      g_strv_builder_add (ids, gpus[i].id);
      gtk_string_list_append (self->item_names, gpus[i].name);
    }
  for (size_t i = 0; i < n_machines; i++)
    {
      g_strv_builder_add (ids, machines[i].id);
      gtk_string_list_append (self->item_names, machines[i].name);
    }
  self->items = g_strv_builder_end (ids);
}

static guint
position_of (QmQuoteEditor *self, const char *id)
{
  for (guint i = 0; id != NULL && self->items[i] != NULL; i++)
    if (g_str_equal (self->items[i], id))
      return i + 1;
  return 0;
}

/* Lines. */

static void
title_line_row (Line *line)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (line->entries[0]));
  g_autofree char *title =
      g_markup_escape_text (*text != '\0' ? text : _ ("New line"), -1);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (line->row), title);
}

static void
remove_line_cb (Line *line)
{
  QmQuoteEditor *self = line->editor;

  gtk_widget_grab_focus (self->add_button);
  adw_preferences_group_remove (self->lines, line->row);
  g_ptr_array_remove (self->quote->lines, line->line);
  g_ptr_array_remove (self->rows, line);
}

static GtkWidget *
new_remove_button (Line *line)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("user-trash-symbolic");

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, _ ("Remove this line"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Remove this line"), -1);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (remove_line_cb),
                            line);
  return button;
}

static GtkWidget *
new_role_row (QmLineRole role)
{
  const char *const names[] = { _ ("Counts"),
                                _ ("Part of the line above"),
                                _ ("Substitute: does not count"),
                                _ ("Alternative: does not count"),
                                _ ("Option: does not count"),
                                NULL };
  g_autoptr (GtkStringList) model = gtk_string_list_new (names);

  return new_combo (_ ("Role"), G_LIST_MODEL (model), role);
}

/* In the order of QmLineThing. */
static GtkWidget *
new_thing_row (QmLineThing thing)
{
  const char *const names[] = { _ ("As its words tell"),
                                _ ("GPUs without a machine"),
                                _ ("A whole machine"),
                                _ ("A part of a machine"),
                                _ ("Warranty or service"),
                                _ ("Shipping"),
                                _ ("A rent: does not count"),
                                _ ("Something else"),
                                NULL };
  g_autoptr (GtkStringList) model = gtk_string_list_new (names);

  return new_combo (_ ("What it is"), G_LIST_MODEL (model), thing);
}

static Line *
add_editable_line (QmQuoteEditor *self, QmQuoteLine *quote_line)
{
  Line *line = g_new0 (Line, 1);
  AdwExpanderRow *expander;

  line->editor = self;
  line->line = quote_line;
  line->row = adw_expander_row_new ();
  line->entries = g_new0 (GtkWidget *, qm_n_line_fields);
  expander = ADW_EXPANDER_ROW (line->row);
  for (guint i = 0; i < qm_n_line_fields; i++)
    {
      line->entries[i] =
          new_entry (&qm_line_fields[i], quote_line, self->quote->currency);
      adw_expander_row_add_row (expander, line->entries[i]);
    }
  g_signal_connect_swapped (line->entries[0], "changed",
                            G_CALLBACK (title_line_row), line);
  line->item = new_combo (_ ("GPU or machine"), G_LIST_MODEL (self->item_names),
                          position_of (self, quote_line->item));
  adw_expander_row_add_row (expander, line->item);
  line->role = new_role_row (quote_line->role);
  adw_expander_row_add_row (expander, line->role);
  line->thing = new_thing_row (quote_line->thing);
  adw_expander_row_add_row (expander, line->thing);
  adw_expander_row_add_action (expander, new_remove_button (line));
  title_line_row (line);
  adw_preferences_group_add (self->lines, line->row);
  g_ptr_array_add (self->rows, line);
  return line;
}

static void
add_line_cb (QmQuoteEditor *self)
{
  QmQuoteLine *quote_line = qm_quote_add_line (self->quote, QM_LINE_QUOTED);
  Line *line;

  quote_line->quantity_micros = QM_MICROS_PER_UNIT;
  line = add_editable_line (self, quote_line);
  adw_expander_row_set_expanded (ADW_EXPANDER_ROW (line->row), TRUE);
  gtk_widget_grab_focus (line->entries[0]);
}

/* Saving. */

static void
complain (QmQuoteEditor *self, const char *message)
{
  gtk_label_set_label (self->problem, message);
  gtk_widget_set_visible (GTK_WIDGET (self->problem), TRUE);
}

static gboolean
take_fields (QmQuoteEditor *self,
             const QmField *fields,
             guint n,
             GtkWidget **entries,
             gpointer object)
{
  for (guint i = 0; i < n; i++)
    {
      const char *text = gtk_editable_get_text (GTK_EDITABLE (entries[i]));
      g_autofree char *message = NULL;

      if (qm_field_set (&fields[i], object, text, self->quote->currency))
        {
          gtk_widget_remove_css_class (entries[i], "error");
          continue;
        }
      gtk_widget_add_css_class (entries[i], "error");
      /* Translators: what was typed, the name of the field. */
      message = g_strdup_printf (_ ("“%s” is not understood: %s"), text,
                                 _ (fields[i].title));
      complain (self, message);
      gtk_widget_grab_focus (entries[i]);
      return FALSE;
    }
  return TRUE;
}

/* A line of a GPU that is said to be in the catalog is the user's choice; one
 * that nothing is said about is matched by its words. */
static void
take_item (QmQuoteEditor *self, Line *line)
{
  guint selected = adw_combo_row_get_selected (ADW_COMBO_ROW (line->item));
  const char *item = selected > 0 ? self->items[selected - 1] : NULL;
  const QmMatcher *matcher = qm_quote_book_get_matcher (self->book);
  QmQuoteLine *quote_line = line->line;
  g_auto (QmMatch) match = { 0 };

  if (g_strcmp0 (item, quote_line->item) != 0)
    {
      g_free (quote_line->item);
      quote_line->item = g_strdup (item);
      quote_line->match = QM_MATCH_CHOSEN;
    }
  else if (item == NULL && quote_line->match == QM_MATCH_NONE
           && matcher != NULL)
    {
      qm_matcher_match (matcher, quote_line->part_number,
                        quote_line->description, &match);
      quote_line->match = match.state;
      quote_line->item = g_steal_pointer (&match.item);
      g_free (quote_line->candidates);
      quote_line->candidates = g_steal_pointer (&match.candidates);
      if (quote_line->gpus == 0)
        quote_line->gpus = match.gpus;
    }
  if (quote_line->item != NULL && quote_line->gpus == 0
      && qm_catalog_gpu (qm_quote_book_get_catalog (self->book),
                         quote_line->item)
             != NULL)
    quote_line->gpus = 1;
}

/* Whoever changes what was asked about has answered. */
static void
answer_line (const QmQuoteLine *before, QmQuoteLine *line)
{
  guint open = qm_quote_line_open (line);

  if ((open & QM_ASK_PACK) != 0 && line->gpus != before->gpus && line->gpus > 0)
    qm_quote_line_answer (line, QM_ASK_PACK, line->gpus);
  if ((open & QM_ASK_PRICE) != 0
      && (line->price_micros != before->price_micros
          || line->total_minor != before->total_minor))
    qm_quote_line_answer (line, QM_ASK_PRICE, 0);
  if ((open & QM_ASK_RENT) != 0 && line->thing != before->thing)
    qm_quote_line_answer (line, QM_ASK_RENT, line->thing == QM_THING_RENT);
}

static void
answer_quote (QmQuote *quote)
{
  guint open = qm_quote_open (quote);

  if ((open & QM_ASK_DATE) != 0 && quote->issued_on.day != 0)
    qm_quote_answer (quote, QM_ASK_DATE);
  if ((open & QM_ASK_VALIDITY) != 0 && quote->valid_until.day != 0)
    qm_quote_answer (quote, QM_ASK_VALIDITY);
}

static gboolean
take_all (QmQuoteEditor *self)
{
  if (!take_fields (self, qm_quote_fields, qm_n_quote_fields, self->entries,
                    self->quote))
    return FALSE;
  self->quote->tax_included =
      taxes[adw_combo_row_get_selected (ADW_COMBO_ROW (self->tax))];
  for (guint i = 0; i < self->rows->len; i++)
    {
      Line *line = g_ptr_array_index (self->rows, i);
      const QmQuoteLine before = *line->line;

      if (!take_fields (self, qm_line_fields, qm_n_line_fields, line->entries,
                        line->line))
        {
          adw_expander_row_set_expanded (ADW_EXPANDER_ROW (line->row), TRUE);
          return FALSE;
        }
      line->line->role =
          (QmLineRole) adw_combo_row_get_selected (ADW_COMBO_ROW (line->role));
      line->line->thing = (QmLineThing) adw_combo_row_get_selected (
          ADW_COMBO_ROW (line->thing));
      take_item (self, line);
      answer_line (&before, line->line);
    }
  answer_quote (self->quote);
  if (self->rows->len > 0 && self->quote->currency[0] == '\0')
    {
      complain (self, _ ("The currency is missing"));
      gtk_widget_grab_focus (self->entries[2]);
      return FALSE;
    }
  return TRUE;
}

static gint64
store (QmQuoteEditor *self, GError **error)
{
  g_autoptr (GPtrArray) quotes = NULL;
  g_autoptr (GArray) ids = NULL;

  if (self->before != NULL)
    return qm_quote_book_update (self->book, self->quote, self->before, error)
               ? self->quote->id
               : 0;
  quotes = g_ptr_array_new ();
  g_ptr_array_add (quotes, self->quote);
  ids = qm_quote_book_add_all (self->book, quotes, NULL, NULL, error);
  return ids != NULL ? g_array_index (ids, gint64, 0) : 0;
}

static void
save_quote_cb (QmQuoteEditor *self)
{
  g_autoptr (GError) error = NULL;
  gint64 id;

  if (!take_all (self))
    return;
  g_ptr_array_set_size (self->quote->findings, 0);
  qm_quote_check (self->quote);
  qm_quote_ask_prices (self->quote, qm_quote_book_get_catalog (self->book),
                       qm_quote_book_get_rates (self->book));
  id = store (self, &error);
  if (id == 0)
    {
      complain (self, error->message);
      return;
    }
  g_signal_emit (self, signals[SAVED], 0, id);
  gtk_window_destroy (GTK_WINDOW (self));
}

/* Opening. */

/* Two quotes that were typed in are told apart by the time. */
static QmQuote *
new_quote (void)
{
  QmQuote *quote = qm_quote_new ();
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();

  quote->origin = QM_QUOTE_FROM_HAND;
  quote->kind = QM_PRICE_QUOTE;
  quote->read_at = g_date_time_to_unix (now);
  quote->source = g_date_time_format (now, "%F %T.%f");
  g_date_time_get_ymd (now, &quote->issued_on.year, &quote->issued_on.month,
                       &quote->issued_on.day);
  return quote;
}

static void
fill_editor (QmQuoteEditor *self)
{
  const char *const names[] = { _ ("Not known"), _ ("Not contained"),
                                _ ("Contained"), NULL };
  g_autoptr (GtkStringList) model = gtk_string_list_new (names);
  QmTristate tax = self->quote->tax_included;

  self->entries = g_new0 (GtkWidget *, qm_n_quote_fields);
  for (guint i = 0; i < qm_n_quote_fields; i++)
    {
      self->entries[i] =
          new_entry (&qm_quote_fields[i], self->quote, self->quote->currency);
      adw_preferences_group_add (self->head, self->entries[i]);
    }
  self->tax = new_combo (_ ("Tax in the prices"), G_LIST_MODEL (model),
                         tax == QM_UNSTATED ? 0
                         : tax == QM_NO     ? 1
                                            : 2);
  adw_preferences_group_add (self->head, self->tax);
  fill_items (self);
  for (guint i = 0; i < self->quote->lines->len && i < MAX_LINES; i++)
    add_editable_line (self, g_ptr_array_index (self->quote->lines, i));
  if (self->before == NULL)
    add_line_cb (self);
  gtk_widget_grab_focus (self->entries[0]);
}

GtkWidget *
qm_quote_editor_new (GtkWindow *parent, QmQuoteBook *book, const QmQuote *quote)
{
  QmQuoteEditor *self;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);

  self =
      g_object_new (QM_TYPE_QUOTE_EDITOR, "transient-for", parent, "title",
                    quote != NULL ? _ ("Edit Quote") : _ ("New Quote"), NULL);
  self->book = g_object_ref (book);
  self->before = quote != NULL ? qm_quote_copy (quote) : NULL;
  self->quote = quote != NULL ? qm_quote_copy (quote) : new_quote ();
  fill_editor (self);
  return GTK_WIDGET (self);
}

static void
qm_quote_editor_dispose (GObject *object)
{
  QmQuoteEditor *self = QM_QUOTE_EDITOR (object);

  g_clear_object (&self->book);

  G_OBJECT_CLASS (qm_quote_editor_parent_class)->dispose (object);
}

static void
qm_quote_editor_finalize (GObject *object)
{
  QmQuoteEditor *self = QM_QUOTE_EDITOR (object);

  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->before, qm_quote_free);
  g_clear_pointer (&self->quote, qm_quote_free);
  g_clear_pointer (&self->items, g_strfreev);
  g_clear_object (&self->item_names);
  g_free (self->entries);

  G_OBJECT_CLASS (qm_quote_editor_parent_class)->finalize (object);
}

static void
qm_quote_editor_class_init (QmQuoteEditorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_quote_editor_dispose;
  object_class->finalize = qm_quote_editor_finalize;

  signals[SAVED] =
      g_signal_new ("saved", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT64);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-quote-editor.ui");
  gtk_widget_class_bind_template_child (widget_class, QmQuoteEditor, problem);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteEditor, head);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteEditor, lines);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteEditor,
                                        add_button);
  gtk_widget_class_bind_template_callback (widget_class, save_quote_cb);
  gtk_widget_class_bind_template_callback (widget_class, add_line_cb);
}

static void
qm_quote_editor_init (QmQuoteEditor *self)
{
  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) line_free);
  gtk_widget_init_template (GTK_WIDGET (self));
}
