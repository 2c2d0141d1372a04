/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-quote-draft.h"

#include "pricing/quotes/qm-plausible.h"
#include "ui/quotes/qm-csv-mapping-view.h"
#include "ui/quotes/qm-quote-questions.h"
#include "ui/quotes/qm-quote-text.h"
#include "ui/quotes/qm-quote-view.h"

#include <glib/gi18n-lib.h>

#define PROGRESS_MS 100

struct _QmQuoteDraft
{
  AdwWindow parent_instance;

  AdwWindowTitle *title;
  GtkWidget *cancel_button;
  GtkButton *accept_button;
  GtkStack *stack;
  GtkLabel *reading_label;
  GtkProgressBar *progress;
  AdwStatusPage *failed;
  QmCsvMappingView *mapping_view;
  GtkWidget *several;
  GtkDropDown *which;
  GtkCheckButton *include;
  GtkLabel *summary;
  GtkWidget *columns_button;
  QmQuoteView *view;

  QmQuoteBook *book;
  GPtrArray *readers; /* QmQuoteReader */
  guint current;
  QmImport *import; /* of the current reader */
  GArray *included; /* gboolean of each quote */
  QmCsvMapping *mapping;
  GCancellable *cancellable;
  guint timer;
};

enum
{
  STORED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmQuoteDraft, qm_quote_draft, ADW_TYPE_WINDOW)

static guint signals[N_SIGNALS];

static void read_current (QmQuoteDraft *self);

static QmQuoteReader *
reader_of (QmQuoteDraft *self)
{
  return g_ptr_array_index (self->readers, self->current);
}

static gboolean
is_last (QmQuoteDraft *self)
{
  return self->current + 1 >= self->readers->len;
}

static void
show_page (QmQuoteDraft *self, const char *name, const char *accept)
{
  gtk_stack_set_visible_child_name (self->stack, name);
  gtk_widget_set_visible (GTK_WIDGET (self->accept_button), accept != NULL);
  if (accept != NULL)
    gtk_button_set_label (self->accept_button, accept);
}

static gboolean
timer_cb (gpointer user_data)
{
  QmQuoteDraft *self = user_data;
  gint64 done, total;

  qm_quote_reader_get_progress (reader_of (self), &done, &total);
  if (total > 0 && done < total)
    gtk_progress_bar_set_fraction (self->progress,
                                   (double) done / (double) total);
  else
    gtk_progress_bar_pulse (self->progress);
  return G_SOURCE_CONTINUE;
}

static void
stop_reading (QmQuoteDraft *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
}

/* The next document, or the end. */
static void
next_document (QmQuoteDraft *self)
{
  if (is_last (self))
    {
      gtk_window_destroy (GTK_WINDOW (self));
      return;
    }
  self->current++;
  g_clear_pointer (&self->mapping, qm_csv_mapping_free);
  read_current (self);
}

static void
show_failure (QmQuoteDraft *self, const char *reason)
{
  g_autofree char *markup = g_markup_escape_text (reason, -1);

  adw_status_page_set_description (self->failed, markup);
  show_page (self, "failed", is_last (self) ? NULL : _ ("Next"));
  gtk_widget_grab_focus (self->cancel_button);
}

/* The draft. */

static QmQuote *
shown_quote (QmQuoteDraft *self)
{
  guint selected = gtk_drop_down_get_selected (self->which);

  if (self->import == NULL || selected >= self->import->quotes->len)
    return NULL;
  return g_ptr_array_index (self->import->quotes, selected);
}

static guint
count_included (QmQuoteDraft *self)
{
  guint n = 0;

  for (guint i = 0; i < self->included->len; i++)
    n += g_array_index (self->included, gboolean, i) ? 1 : 0;
  return n;
}

static guint
count_warnings (const QmQuote *quote)
{
  guint n = 0;

  for (guint i = 0; i < quote->findings->len; i++)
    {
      const QmFinding *finding = g_ptr_array_index (quote->findings, i);

      n += finding->level == QM_FINDING_WARNING ? 1 : 0;
    }
  return n;
}

static guint
count_open (const QmQuote *quote)
{
  guint n = 0;

  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *line = g_ptr_array_index (quote->lines, i);

      n += line->match == QM_MATCH_AMBIGUOUS ? 1 : 0;
    }
  return n;
}

static void
show_summary (QmQuoteDraft *self, const QmQuote *quote)
{
  guint warnings = count_warnings (quote);
  guint open = count_open (quote);
  g_autofree char *first =
      warnings == 0
          ? g_strdup (_ ("Nothing is stored yet. Everything was understood."))
          : g_strdup_printf (
              ngettext ("Nothing is stored yet. %u thing needs a look.",
                        "Nothing is stored yet. %u things need a look.",
                        warnings),
              warnings);
  g_autofree char *second =
      open > 0 ? g_strdup_printf (
          ngettext ("%u line could be several GPUs: please choose.",
                    "%u lines could be several GPUs: please choose.", open),
          open)
               : NULL;
  guint asked = qm_quote_n_open (quote);
  g_autofree char *third =
      asked > 0 ? g_strdup_printf (
          ngettext ("%u question is open: what it is about does not "
                    "count until you answer it.",
                    "%u questions are open: what they are about does not "
                    "count until you answer them.",
                    asked),
          asked)
                : NULL;
  g_autoptr (GStrvBuilder) sentences = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;
  g_autofree char *text = NULL;

  g_strv_builder_add (sentences, first);
  if (second != NULL)
    g_strv_builder_add (sentences, second);
  if (third != NULL)
    g_strv_builder_add (sentences, third);
  all = g_strv_builder_end (sentences);
  text = g_strjoinv (" ", all);

  gtk_label_set_label (self->summary, text);
}

static void
update_accept (QmQuoteDraft *self)
{
  gtk_widget_set_sensitive (GTK_WIDGET (self->accept_button),
                            count_included (self) > 0 || !is_last (self));
}

static void
which_cb (QmQuoteDraft *self)
{
  const QmQuote *quote = shown_quote (self);
  guint selected = gtk_drop_down_get_selected (self->which);

  if (quote == NULL)
    return;
  gtk_check_button_set_active (
      self->include, g_array_index (self->included, gboolean, selected));
  show_summary (self, quote);
  qm_quote_view_set_quote (self->view, qm_quote_book_get_keeper (self->book),
                           quote);
}

static void
include_cb (QmQuoteDraft *self)
{
  guint selected = gtk_drop_down_get_selected (self->which);

  if (self->included == NULL || selected >= self->included->len)
    return;
  g_array_index (self->included, gboolean, selected) =
      gtk_check_button_get_active (self->include);
  update_accept (self);
}

static void
matched_cb (QmQuoteDraft *self, guint number, const char *item)
{
  QmQuote *quote = shown_quote (self);

  if (quote == NULL || number >= quote->lines->len)
    return;
  qm_quote_line_choose (g_ptr_array_index (quote->lines, number),
                        qm_quote_book_get_catalog (self->book), item);
  qm_quote_ask_prices (quote, qm_quote_book_get_catalog (self->book),
                       qm_quote_book_get_rates (self->book));
  show_summary (self, quote);
}

static void
draft_answered_cb (QmQuoteDraft *self, guint line, guint ask, int number)
{
  QmQuote *quote = shown_quote (self);

  if (quote == NULL
      || !qm_quote_apply_answer (quote, line, (QmAsk) ask, number))
    return;
  which_cb (self);
}

/* What is stored already is not stored again. */
static void
leave_out_known (QmQuoteDraft *self)
{
  g_autoptr (GArray) relations =
      qm_quote_book_relate (self->book, self->import->quotes, NULL);

  for (guint i = 0; relations != NULL && i < relations->len; i++)
    if (g_array_index (relations, QmQuoteRelation, i).same != 0)
      {
        g_array_index (self->included, gboolean, i) = FALSE;
        qm_quote_add_finding (g_ptr_array_index (self->import->quotes, i),
                              QM_FINDING_NOTE, NULL,
                              _ ("This document is stored already; it is not "
                                 "stored twice."));
      }
}

static void
show_draft (QmQuoteDraft *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);
  gboolean yes = TRUE;

  g_array_set_size (self->included, 0);
  for (guint i = 0; i < self->import->quotes->len; i++)
    {
      const QmQuote *quote = g_ptr_array_index (self->import->quotes, i);
      g_autofree char *title =
          qm_quote_title (quote->vendor, quote->number, quote->alternative,
                          quote->source);

      gtk_string_list_append (names, title);
      g_array_append_val (self->included, yes);
    }
  leave_out_known (self);
  gtk_drop_down_set_model (self->which, G_LIST_MODEL (names));
  gtk_widget_set_visible (self->several, self->import->quotes->len > 1);
  gtk_widget_set_visible (self->columns_button, self->import->mapping != NULL);
  which_cb (self);
  show_page (self, "draft", _ ("Store"));
  update_accept (self);
  gtk_widget_grab_focus (GTK_WIDGET (self->accept_button));
}

static void
columns_cb (QmQuoteDraft *self)
{
  qm_csv_mapping_view_set_import (self->mapping_view, self->import);
  show_page (self, "mapping", _ ("Read"));
}

static void
remember (QmQuoteDraft *self)
{
  g_autoptr (GError) error = NULL;

  if (self->mapping == NULL || self->import->fingerprint == NULL
      || !qm_csv_mapping_view_get_remember (self->mapping_view))
    return;
  if (!qm_quote_book_remember_mapping (self->book, self->import->fingerprint,
                                       self->mapping, &error))
    g_message ("%s", error->message);
}

static void
take_import (QmQuoteDraft *self, QmImport *import)
{
  g_clear_pointer (&self->import, qm_import_free);
  self->import = import;
  if (import->mapping_wanted)
    {
      columns_cb (self);
      return;
    }
  remember (self);
  show_draft (self);
}

static void
read_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  QmQuoteReader *reader = QM_QUOTE_READER (source);
  g_autoptr (QmQuoteDraft) self = user_data;
  g_autoptr (GError) error = NULL;
  QmImport *import = qm_quote_reader_read_finish (reader, result, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  stop_reading (self);
  if (import != NULL)
    take_import (self, import);
  else
    show_failure (self, error->message);
}

static void
read_current (QmQuoteDraft *self)
{
  QmQuoteReader *reader = reader_of (self);
  const char *name = qm_quote_reader_get_name (reader);
  g_autofree char *count =
      self->readers->len > 1
          ? g_strdup_printf (_ ("%s (%u of %u)"), name, self->current + 1,
                             self->readers->len)
          : g_strdup (name);
  g_autofree char *label = g_strdup_printf (_ ("Reading %s"), name);

  adw_window_title_set_subtitle (self->title, count);
  gtk_label_set_label (self->reading_label, label);
  gtk_progress_bar_set_fraction (self->progress, 0);
  show_page (self, "reading", NULL);
  stop_reading (self);
  self->cancellable = g_cancellable_new ();
  self->timer = g_timeout_add (PROGRESS_MS, timer_cb, self);
  qm_quote_reader_read_async (reader, self->mapping, self->cancellable, read_cb,
                              g_object_ref (self));
}

static void
store (QmQuoteDraft *self)
{
  g_autoptr (GPtrArray) quotes = g_ptr_array_new ();
  g_autoptr (GPtrArray) attachments = g_ptr_array_new_with_free_func (
      (GDestroyNotify) qm_quote_attachment_free);
  QmQuoteAttachment *attachment = qm_quote_reader_attachment (reader_of (self));
  g_autoptr (GArray) ids = NULL;
  g_autoptr (GError) error = NULL;
  guint added = 0;

  for (guint i = 0; i < self->import->quotes->len; i++)
    if (g_array_index (self->included, gboolean, i))
      g_ptr_array_add (quotes, g_ptr_array_index (self->import->quotes, i));
  if (attachment != NULL)
    g_ptr_array_add (attachments, attachment);
  if (quotes->len > 0)
    {
      ids = qm_quote_book_add_all (self->book, quotes, attachments, &added,
                                   &error);
      if (ids == NULL)
        {
          gtk_label_set_label (self->summary, error->message);
          return;
        }
      g_signal_emit (self, signals[STORED], 0, g_array_index (ids, gint64, 0),
                     added, ids->len - added);
    }
  next_document (self);
}

static void
accept_cb (QmQuoteDraft *self)
{
  const char *page = gtk_stack_get_visible_child_name (self->stack);

  if (g_strcmp0 (page, "mapping") == 0)
    {
      g_clear_pointer (&self->mapping, qm_csv_mapping_free);
      self->mapping = qm_csv_mapping_copy (
          qm_csv_mapping_view_get_mapping (self->mapping_view));
      read_current (self);
    }
  else if (g_strcmp0 (page, "draft") == 0)
    store (self);
  else
    next_document (self);
}

GtkWidget *
qm_quote_draft_new (GtkWindow *parent, QmQuoteBook *book, GPtrArray *readers)
{
  QmQuoteDraft *self;

  g_return_val_if_fail (QM_IS_QUOTE_BOOK (book), NULL);
  g_return_val_if_fail (readers != NULL && readers->len > 0, NULL);

  self = g_object_new (QM_TYPE_QUOTE_DRAFT, "transient-for", parent, NULL);
  self->book = g_object_ref (book);
  for (guint i = 0; i < readers->len; i++)
    g_ptr_array_add (self->readers,
                     g_object_ref (g_ptr_array_index (readers, i)));
  read_current (self);
  return GTK_WIDGET (self);
}

static void
qm_quote_draft_dispose (GObject *object)
{
  QmQuoteDraft *self = QM_QUOTE_DRAFT (object);

  stop_reading (self);
  g_clear_pointer (&self->import, qm_import_free);
  g_clear_pointer (&self->mapping, qm_csv_mapping_free);
  g_clear_pointer (&self->readers, g_ptr_array_unref);
  g_clear_pointer (&self->included, g_array_unref);
  g_clear_object (&self->book);

  G_OBJECT_CLASS (qm_quote_draft_parent_class)->dispose (object);
}

static void
bind_quote_draft (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, title);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft,
                                        cancel_button);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft,
                                        accept_button);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, stack);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft,
                                        reading_label);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, progress);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, failed);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft,
                                        mapping_view);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, several);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, which);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, include);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, summary);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft,
                                        columns_button);
  gtk_widget_class_bind_template_child (widget_class, QmQuoteDraft, view);
}

static void
qm_quote_draft_class_init (QmQuoteDraftClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_quote_draft_dispose;

  signals[STORED] =
      g_signal_new ("stored", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 3, G_TYPE_INT64, G_TYPE_UINT,
                    G_TYPE_UINT);

  g_type_ensure (QM_TYPE_CSV_MAPPING_VIEW);
  g_type_ensure (QM_TYPE_QUOTE_VIEW);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-quote-draft.ui");
  bind_quote_draft (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, accept_cb);
  gtk_widget_class_bind_template_callback (widget_class, which_cb);
  gtk_widget_class_bind_template_callback (widget_class, include_cb);
  gtk_widget_class_bind_template_callback (widget_class, columns_cb);
  gtk_widget_class_bind_template_callback (widget_class, matched_cb);
  gtk_widget_class_bind_template_callback (widget_class, draft_answered_cb);
}

static void
qm_quote_draft_init (QmQuoteDraft *self)
{
  self->readers = g_ptr_array_new_with_free_func (g_object_unref);
  self->included = g_array_new (FALSE, FALSE, sizeof (gboolean));
  gtk_widget_init_template (GTK_WIDGET (self));
}
