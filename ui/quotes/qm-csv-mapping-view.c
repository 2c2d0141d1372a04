/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/quotes/qm-csv-mapping-view.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Rows of a column that are shown beside it. */
#define SAMPLE_ROWS 3
/* Characters of it. */
#define SAMPLE_LENGTH 60

struct _QmCsvMappingView
{
  AdwBin parent_instance;

  GtkLabel *reason;
  AdwPreferencesGroup *columns;
  AdwComboRow *decimal;
  AdwComboRow *dates;
  AdwComboRow *tax;
  AdwEntryRow *currency;
  GtkSwitch *remember;
  GtkWidget *remember_row;

  GPtrArray *rows; /* AdwComboRow of each column */
  QmCsvMapping *mapping;
  gboolean syncing;
};

G_DEFINE_FINAL_TYPE (QmCsvMappingView, qm_csv_mapping_view, ADW_TYPE_BIN)

static void
show_fields (QmCsvMappingView *self)
{
  self->syncing = TRUE;
  for (guint i = 0; i < self->rows->len; i++)
    adw_combo_row_set_selected (g_ptr_array_index (self->rows, i),
                                qm_csv_mapping_field (self->mapping, i));
  self->syncing = FALSE;
}

static void
show_reason (QmCsvMappingView *self)
{
  g_autoptr (GError) error = NULL;
  gboolean complete = qm_csv_mapping_check (self->mapping, &error);

  gtk_label_set_label (self->reason,
                       complete ? _ ("Is each column what it is said to be?")
                                : error->message);
}

static void
field_cb (AdwComboRow *row, GParamSpec *pspec, QmCsvMappingView *self)
{
  guint column;

  if (self->syncing || !g_ptr_array_find (self->rows, row, &column))
    return;
  qm_csv_mapping_set_field (self->mapping, column,
                            (QmCsvField) adw_combo_row_get_selected (row));
  show_fields (self);
  show_reason (self);
}

static void
manner_cb (QmCsvMappingView *self)
{
  static const QmTristate taxes[] = { QM_UNSTATED, QM_NO, QM_YES };

  if (self->syncing || self->mapping == NULL)
    return;
  self->mapping->decimal =
      (QmDecimal) adw_combo_row_get_selected (self->decimal);
  self->mapping->date_order =
      (QmDateOrder) adw_combo_row_get_selected (self->dates);
  self->mapping->tax_included = taxes[adw_combo_row_get_selected (self->tax)];
}

static void
currency_cb (QmCsvMappingView *self)
{
  g_autofree char *code =
      g_ascii_strup (gtk_editable_get_text (GTK_EDITABLE (self->currency)), -1);
  gboolean valid = qm_currency_valid (code);

  if (valid || *code == '\0')
    gtk_widget_remove_css_class (GTK_WIDGET (self->currency), "error");
  else
    gtk_widget_add_css_class (GTK_WIDGET (self->currency), "error");
  if (self->mapping == NULL)
    return;
  memset (self->mapping->currency, 0, sizeof self->mapping->currency);
  if (valid)
    memcpy (self->mapping->currency, code, 3);
}

/* What lies in a column below its name. */
static char *
sample_text (const QmImport *import, guint column)
{
  GString *text = g_string_new (NULL);
  guint row = (guint) (import->mapping->header_row + 1);
  guint found = 0;

  for (; row < qm_sheet_n_rows (import->sample) && found < SAMPLE_ROWS; row++)
    {
      const char *cell = qm_sheet_cell (import->sample, row, column);

      if (*cell == '\0')
        continue;
      g_string_append_printf (text, found++ > 0 ? " · %s" : "%s", cell);
    }
  if (g_utf8_strlen (text->str, -1) > SAMPLE_LENGTH)
    {
      g_string_truncate (text, (gsize) (g_utf8_offset_to_pointer (text->str,
                                                                  SAMPLE_LENGTH)
                                        - text->str));
      g_string_append (text, "…");
    }
  return g_string_free (text, FALSE);
}

static GtkWidget *
new_column (QmCsvMappingView *self,
            const QmImport *import,
            GListModel *fields,
            guint column)
{
  const char *name =
      import->mapping->header_row >= 0
          ? qm_sheet_cell (import->sample, (guint) import->mapping->header_row,
                           column)
          : "";
  g_autofree char *numbered = g_strdup_printf (_ ("Column %u"), column + 1);
  g_autofree char *title =
      g_markup_escape_text (*name != '\0' ? name : numbered, -1);
  g_autofree char *sample = sample_text (import, column);
  g_autofree char *subtitle = g_markup_escape_text (sample, -1);
  GtkWidget *row = g_object_new (ADW_TYPE_COMBO_ROW, "title", title, "subtitle",
                                 subtitle, "model", fields, "title-lines", 2,
                                 "subtitle-lines", 2, NULL);

  g_signal_connect_object (row, "notify::selected", G_CALLBACK (field_cb), self,
                           0);
  return row;
}

static guint
count_columns (const QmSheet *sheet)
{
  guint n = 0;

  for (guint i = 0; i < qm_sheet_n_rows (sheet); i++)
    n = MAX (n, qm_sheet_n_cells (sheet, i));
  return n;
}

static void
show_columns (QmCsvMappingView *self, const QmImport *import)
{
  g_autoptr (GtkStringList) fields = gtk_string_list_new (NULL);
  guint n = count_columns (import->sample);

  for (guint i = 0; i < QM_N_CSV_FIELDS; i++)
    gtk_string_list_append (fields, qm_csv_field_label ((QmCsvField) i));
  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (self->columns,
                                  g_ptr_array_index (self->rows, i));
  g_ptr_array_set_size (self->rows, 0);
  self->syncing = TRUE;
  for (guint i = 0; i < n; i++)
    {
      GtkWidget *row = new_column (self, import, G_LIST_MODEL (fields), i);

      adw_preferences_group_add (self->columns, row);
      g_ptr_array_add (self->rows, row);
    }
  self->syncing = FALSE;
}

static void
show_manner (QmCsvMappingView *self, const QmImport *import)
{
  self->syncing = TRUE;
  adw_combo_row_set_selected (self->decimal, self->mapping->decimal);
  adw_combo_row_set_selected (self->dates, self->mapping->date_order);
  adw_combo_row_set_selected (self->tax,
                              self->mapping->tax_included == QM_UNSTATED ? 0
                              : self->mapping->tax_included == QM_NO     ? 1
                                                                         : 2);
  gtk_editable_set_text (GTK_EDITABLE (self->currency),
                         self->mapping->currency);
  gtk_widget_set_visible (self->remember_row, import->fingerprint != NULL);
  self->syncing = FALSE;
}

void
qm_csv_mapping_view_set_import (QmCsvMappingView *self, const QmImport *import)
{
  g_return_if_fail (QM_IS_CSV_MAPPING_VIEW (self));
  g_return_if_fail (import != NULL && import->mapping != NULL);
  g_return_if_fail (import->sample != NULL);

  g_clear_pointer (&self->mapping, qm_csv_mapping_free);
  show_columns (self, import);
  self->mapping = qm_csv_mapping_copy (import->mapping);
  show_manner (self, import);
  show_fields (self);
  show_reason (self);
}

const QmCsvMapping *
qm_csv_mapping_view_get_mapping (QmCsvMappingView *self)
{
  g_return_val_if_fail (QM_IS_CSV_MAPPING_VIEW (self), NULL);

  return self->mapping;
}

gboolean
qm_csv_mapping_view_get_remember (QmCsvMappingView *self)
{
  g_return_val_if_fail (QM_IS_CSV_MAPPING_VIEW (self), FALSE);

  return gtk_widget_get_visible (self->remember_row)
         && gtk_switch_get_active (self->remember);
}

static void
qm_csv_mapping_view_finalize (GObject *object)
{
  QmCsvMappingView *self = QM_CSV_MAPPING_VIEW (object);

  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->mapping, qm_csv_mapping_free);

  G_OBJECT_CLASS (qm_csv_mapping_view_parent_class)->finalize (object);
}

static void
qm_csv_mapping_view_class_init (QmCsvMappingViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = qm_csv_mapping_view_finalize;

  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-csv-mapping-view.ui");
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView, reason);
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView,
                                        columns);
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView,
                                        decimal);
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView, dates);
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView, tax);
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView,
                                        currency);
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView,
                                        remember);
  gtk_widget_class_bind_template_child (widget_class, QmCsvMappingView,
                                        remember_row);
  gtk_widget_class_bind_template_callback (widget_class, manner_cb);
  gtk_widget_class_bind_template_callback (widget_class, currency_cb);
}

static void
qm_csv_mapping_view_init (QmCsvMappingView *self)
{
  self->rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
}
