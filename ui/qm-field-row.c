/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-field-row.h"

#include "data/text.h"
#include "pricing/qm-format.h"

#include <glib/gi18n-lib.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#define ENTRY_CHARS 12

struct _QmFieldRow
{
  AdwActionRow parent_instance;

  GtkWidget *entry;
  char *hint;
  char *problem;
};

enum
{
  CHANGED,
  N_SIGNALS
};

G_DEFINE_FINAL_TYPE (QmFieldRow, qm_field_row, ADW_TYPE_ACTION_ROW)

static guint signals[N_SIGNALS];

static void
show_subtitle (QmFieldRow *self)
{
  const char *text = self->problem != NULL ? self->problem : self->hint;

  adw_action_row_set_subtitle (ADW_ACTION_ROW (self), text ? text : "");
}

GtkWidget *
qm_field_row_new (const char *title, const char *hint)
{
  QmFieldRow *self = g_object_new (QM_TYPE_FIELD_ROW, NULL);

  qm_field_row_set_title (self, title);
  qm_field_row_set_hint (self, hint);
  return GTK_WIDGET (self);
}

void
qm_field_row_set_title (QmFieldRow *self, const char *title)
{
  g_return_if_fail (QM_IS_FIELD_ROW (self) && title != NULL);

  /* The row's title labels its activatable widget, too. */
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self), title);
}

void
qm_field_row_set_hint (QmFieldRow *self, const char *hint)
{
  g_return_if_fail (QM_IS_FIELD_ROW (self));

  if (g_strcmp0 (self->hint, hint) == 0)
    return;
  g_free (self->hint);
  self->hint = g_strdup (hint);
  show_subtitle (self);
}

const char *
qm_field_row_get_text (QmFieldRow *self)
{
  g_return_val_if_fail (QM_IS_FIELD_ROW (self), NULL);

  return gtk_editable_get_text (GTK_EDITABLE (self->entry));
}

void
qm_field_row_set_text (QmFieldRow *self, const char *text)
{
  g_return_if_fail (QM_IS_FIELD_ROW (self) && text != NULL);

  if (strcmp (qm_field_row_get_text (self), text) != 0)
    gtk_editable_set_text (GTK_EDITABLE (self->entry), text);
}

void
qm_field_row_set_number (QmFieldRow *self, double value)
{
  char text[40] = "";

  if (value == floor (value) && fabs (value) < 1e15)
    g_snprintf (text, sizeof text, "%.0f", value);
  else
    for (int digits = 6; digits <= 17 && isfinite (value); digits++)
      {
        g_snprintf (text, sizeof text, "%.*g", digits, value);
        if (g_strtod (text, NULL) == value)
          break;
      }
  qm_field_row_set_text (self, text);
}

void
qm_field_row_set_problem (QmFieldRow *self, const char *problem)
{
  g_return_if_fail (QM_IS_FIELD_ROW (self));

  if (g_strcmp0 (self->problem, problem) == 0)
    return;
  g_free (self->problem);
  self->problem = g_strdup (problem);
  if (problem != NULL)
    gtk_widget_add_css_class (GTK_WIDGET (self), "qm-wrong");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "qm-wrong");
  show_subtitle (self);
  gtk_accessible_update_state (GTK_ACCESSIBLE (self->entry),
                               GTK_ACCESSIBLE_STATE_INVALID,
                               problem != NULL ? GTK_ACCESSIBLE_INVALID_TRUE
                                               : GTK_ACCESSIBLE_INVALID_FALSE,
                               -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  problem ? problem : "", -1);
}

/* What the last letter multiplies with; 1 and untouched where it is none. */
static double
take_multiplier (char *text)
{
  static const char letters[] = "kMGT";
  gsize length = strlen (text);
  const char *found = length > 1 ? strchr (letters, text[length - 1]) : NULL;

  if (found == NULL)
    return 1;
  text[length - 1] = '\0';
  return pow (1000, (double) (found - letters) + 1);
}

/* Reads "3e-4", "0,1" where the locale writes so. */
static gboolean
parse_number (const char *typed, double *value)
{
  const char *sign = localeconv ()->decimal_point;
  g_autofree char *text = g_strstrip (g_strdup (typed));
  g_auto (GStrv) parts = NULL;
  g_autofree char *plain = NULL;

  if (strcmp (sign, ".") == 0)
    return qm_number_parse (text, value);
  parts = g_strsplit (text, sign, 3);
  if (g_strv_length (parts) != 2)
    return qm_number_parse (text, value);
  if (strchr (text, '.') != NULL)
    return FALSE;
  plain = g_strjoinv (".", parts);
  return qm_number_parse (plain, value);
}

/* A whole number: without decimals, which some read as thousands. */
static gboolean
parse_whole (const char *typed, double *value)
{
  g_autoptr (GString) digits = g_string_new (NULL);
  double multiplier;

  for (const char *at = typed; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (c == '.' || c == ',')
        return FALSE;
      if (!g_unichar_isspace (c) && c != 0x202f && c != '\'')
        g_string_append_unichar (digits, c);
    }
  multiplier = take_multiplier (digits->str);
  if (!qm_number_parse (digits->str, value))
    return FALSE;
  *value *= multiplier;
  return *value == floor (*value);
}

static void
refuse_range (QmFieldRow *self, double min, double max, gboolean whole)
{
  const int decimals = whole ? 0 : 6;
  g_autofree char *from = qm_format_number (min, decimals);
  g_autofree char *to = qm_format_number (max, decimals);
  g_autofree char *problem = NULL;

  /* Translators: the least and the greatest value. */
  problem = whole
                ? g_strdup_printf (_ ("A whole number from %s to %s"), from, to)
                : g_strdup_printf (_ ("A number from %s to %s"), from, to);
  qm_field_row_set_problem (self, problem);
}

gboolean
qm_field_row_read_whole (QmFieldRow *self,
                         gint64 min,
                         gint64 max,
                         gint64 *value)
{
  double number;

  g_return_val_if_fail (QM_IS_FIELD_ROW (self) && value != NULL, FALSE);

  if (!parse_whole (qm_field_row_get_text (self), &number)
      || !(number >= (double) min && number <= (double) max))
    {
      refuse_range (self, (double) min, (double) max, TRUE);
      return FALSE;
    }
  *value = (gint64) number;
  qm_field_row_set_problem (self, NULL);
  return TRUE;
}

gboolean
qm_field_row_read_number (
    QmFieldRow *self, double min, double max, gboolean optional, double *value)
{
  const char *text;

  g_return_val_if_fail (QM_IS_FIELD_ROW (self) && value != NULL, FALSE);

  text = qm_field_row_get_text (self);
  *value = NAN;
  if (!(optional && *text == '\0')
      && (!parse_number (text, value) || !(*value >= min && *value <= max)))
    {
      refuse_range (self, min, max, FALSE);
      return FALSE;
    }
  qm_field_row_set_problem (self, NULL);
  return TRUE;
}

void
qm_field_row_focus (QmFieldRow *self)
{
  g_return_if_fail (QM_IS_FIELD_ROW (self));

  gtk_widget_grab_focus (self->entry);
}

static void
entry_changed_cb (QmFieldRow *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

static void
qm_field_row_finalize (GObject *object)
{
  QmFieldRow *self = QM_FIELD_ROW (object);

  g_free (self->hint);
  g_free (self->problem);
  G_OBJECT_CLASS (qm_field_row_parent_class)->finalize (object);
}

static void
qm_field_row_class_init (QmFieldRowClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = qm_field_row_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", QM_TYPE_FIELD_ROW, G_SIGNAL_RUN_LAST, 0, NULL,
                    NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_field_row_init (QmFieldRow *self)
{
  self->entry = gtk_entry_new ();
  gtk_widget_set_valign (self->entry, GTK_ALIGN_CENTER);
  gtk_editable_set_width_chars (GTK_EDITABLE (self->entry), ENTRY_CHARS);
  g_signal_connect_object (self->entry, "changed",
                           G_CALLBACK (entry_changed_cb), self,
                           G_CONNECT_SWAPPED);
  adw_action_row_add_suffix (ADW_ACTION_ROW (self), self->entry);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (self), self->entry);
  adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (self), 0);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (self), 0);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self), FALSE);
}
