/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-log-scale.h"

#include "pricing/qm-format.h"
#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

struct _QmLogScale
{
  AdwPreferencesRow parent_instance;

  GtkWidget *title_label;
  GtkWidget *reset_button;
  GtkWidget *entry;
  GtkWidget *unit_label;
  GtkWidget *toggle;
  GtkWidget *scale;
  GtkAdjustment *adjustment; /* of the decimal logarithm */

  QmLogScaleKind kind;
  double lower;
  double upper;
  double default_value;
  double start_value;
  gboolean optional;

  char *currency;
  double value;
  gboolean updating; /* the widgets are being set from the value */
};

enum
{
  PROP_0,
  PROP_KIND,
  PROP_LOWER,
  PROP_UPPER,
  PROP_DEFAULT_VALUE,
  PROP_START_VALUE,
  PROP_OPTIONAL,
  PROP_CURRENCY,
  PROP_VALUE,
  N_PROPS
};

G_DEFINE_ENUM_TYPE (QmLogScaleKind,
                    qm_log_scale_kind,
                    G_DEFINE_ENUM_VALUE (QM_LOG_SCALE_MONEY, "money"),
                    G_DEFINE_ENUM_VALUE (QM_LOG_SCALE_DAYS, "days"))

G_DEFINE_FINAL_TYPE (QmLogScale, qm_log_scale, ADW_TYPE_PREFERENCES_ROW)

static GParamSpec *properties[N_PROPS];

/* The distance between neighbouring values that the slider can give. */
static double
grid_at (double value, QmLogScaleKind kind)
{
  /* The small excess keeps 1000 from counting as 999.99... */
  double decade = pow (10, floor (log10 (value) + 1e-9));
  double grid = decade / 10;

  if (value < decade * (2 - 1e-9))
    grid = decade / 50;
  else if (value < decade * (5 - 1e-9))
    grid = decade / 20;

  return kind == QM_LOG_SCALE_DAYS ? MAX (grid, 1) : grid;
}

double
qm_log_scale_snap (double value, QmLogScaleKind kind)
{
  double grid = grid_at (value, kind);

  return round (value / grid) * grid;
}

double
qm_log_scale_step (double value, QmLogScaleKind kind, int direction)
{
  double snapped;

  if (direction > 0)
    {
      snapped = qm_log_scale_snap (value * 1.02, kind);
      return snapped > value ? snapped : snapped + grid_at (snapped, kind);
    }

  snapped = qm_log_scale_snap (value / 1.02, kind);
  return snapped < value ? snapped : snapped - grid_at (snapped / 1.02, kind);
}

static char *
format_value (QmLogScale *self, double value)
{
  if (self->kind == QM_LOG_SCALE_MONEY)
    return qm_format_money (value, self->currency, FALSE);
  return qm_format_number (value, 2);
}

/* What a screen reader says in place of the logarithm. */
static char *
describe_value (QmLogScale *self)
{
  if (self->kind == QM_LOG_SCALE_MONEY)
    return qm_format_money (self->value, self->currency, FALSE);
  return qm_format_days (self->value);
}

/* Takes a unit that was typed along ("60 days", "60 d") off the text. */
static void
strip_unit (char *text, const char *unit)
{
  g_autofree char *folded_unit = g_utf8_casefold (unit, -1);
  g_autofree char *word = NULL;
  char *end = text + strlen (text);
  char *start = end;

  while (start > text
         && g_unichar_isalpha (
             g_utf8_get_char (g_utf8_find_prev_char (text, start))))
    start = g_utf8_find_prev_char (text, start);

  word = g_utf8_casefold (start, -1);
  if (word[0] != '\0' && g_str_has_prefix (folded_unit, word))
    *start = '\0';
}

static gboolean
parse_entry (QmLogScale *self, double *value)
{
  g_autofree char *text =
      g_strdup (gtk_editable_get_text (GTK_EDITABLE (self->entry)));

  if (self->kind == QM_LOG_SCALE_DAYS)
    {
      strip_unit (text, "days");
      strip_unit (text, _ ("days"));
    }

  return qm_parse_amount (g_strstrip (text), value) && *value >= self->lower
         && *value <= self->upper;
}

static void
set_error (QmLogScale *self, gboolean error)
{
  g_autofree char *message = NULL;

  if (error)
    {
      g_autofree char *lower = format_value (self, self->lower);
      g_autofree char *upper = format_value (self, self->upper);

      gtk_widget_add_css_class (self->entry, "error");
      if (self->kind == QM_LOG_SCALE_MONEY)
        /* Translators: the parameters are amounts of money. */
        message = g_strdup_printf (
            _ ("Give an amount from %s to %s, for instance 40k"), lower, upper);
      else
        message = g_strdup_printf (_ ("Give a number of days from %s to %s"),
                                   lower, upper);
    }
  else
    gtk_widget_remove_css_class (self->entry, "error");

  gtk_widget_set_tooltip_text (self->entry, message);
  gtk_accessible_update_state (
      GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_STATE_INVALID,
      error ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE, -1);
}

static void
sync_entry (QmLogScale *self)
{
  g_autofree char *text = format_value (self, self->value);

  self->updating = TRUE;
  gtk_editable_set_text (GTK_EDITABLE (self->entry), text);
  self->updating = FALSE;
  set_error (self, FALSE);
}

/* Everything but the text of the entry, which may be in the user's hands. */
static void
sync_rest (QmLogScale *self)
{
  gboolean on = self->value > 0;

  self->updating = TRUE;
  if (on)
    {
      g_autofree char *text = describe_value (self);

      gtk_adjustment_set_value (self->adjustment, log10 (self->value));
      /* GTK 4.8 does not hand the text of a value on to screen readers,
       * but it does a description. */
      gtk_accessible_update_property (GTK_ACCESSIBLE (self->scale),
                                      GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text,
                                      GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                      -1);
    }
  gtk_switch_set_active (GTK_SWITCH (self->toggle), on);
  self->updating = FALSE;

  gtk_widget_set_visible (self->entry, on);
  gtk_widget_set_visible (self->unit_label,
                          on && self->kind == QM_LOG_SCALE_DAYS);
  gtk_widget_set_visible (self->scale, on);
  gtk_widget_set_visible (self->reset_button,
                          self->value != self->default_value);
}

/* Returns whether the value changed. */
static gboolean
take_value (QmLogScale *self, double value)
{
  if (value > 0 || !self->optional)
    value = CLAMP (value, self->lower, self->upper);
  else
    value = 0;

  if (value == self->value)
    return FALSE;

  if (self->value > 0)
    self->start_value = self->value;
  self->value = value;
  sync_rest (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_VALUE]);

  return TRUE;
}

void
qm_log_scale_set_value (QmLogScale *self, double value)
{
  g_return_if_fail (QM_IS_LOG_SCALE (self));
  g_return_if_fail (isfinite (value));

  if (take_value (self, value) && self->value > 0)
    sync_entry (self);
}

void
qm_log_scale_focus (QmLogScale *self)
{
  g_return_if_fail (QM_IS_LOG_SCALE (self));

  gtk_widget_grab_focus (self->value > 0 ? self->scale : self->toggle);
}

static void
scale_reset_cb (QmLogScale *self)
{
  /* The button is about to go, and the focus must not go with it. */
  if (gtk_widget_has_focus (self->reset_button))
    qm_log_scale_focus (self);
  qm_log_scale_set_value (self, self->default_value);
  sync_entry (self);
}

static void
toggle_changed_cb (QmLogScale *self)
{
  if (self->updating)
    return;

  qm_log_scale_set_value (self,
                          gtk_switch_get_active (GTK_SWITCH (self->toggle))
                              ? self->start_value
                              : 0);
}

static void
entry_changed_cb (QmLogScale *self)
{
  double value;

  if (self->updating || !parse_entry (self, &value))
    return;

  set_error (self, FALSE);
  take_value (self, value);
}

static void
entry_commit_cb (QmLogScale *self)
{
  double value;

  if (self->value <= 0)
    return;

  if (parse_entry (self, &value))
    {
      /* Text that is only a rounded form of the value leaves it alone. */
      g_autofree char *text = format_value (self, self->value);
      if (strcmp (text, gtk_editable_get_text (GTK_EDITABLE (self->entry)))
          != 0)
        take_value (self, value);
      sync_entry (self);
    }
  else
    set_error (self, TRUE);
}

static gboolean
entry_key_pressed_cb (QmLogScale *self, guint keyval)
{
  g_autofree char *text = format_value (self, self->value);

  if (keyval != GDK_KEY_Escape
      || strcmp (text, gtk_editable_get_text (GTK_EDITABLE (self->entry))) == 0)
    return GDK_EVENT_PROPAGATE;

  sync_entry (self);
  return GDK_EVENT_STOP;
}

/* Keys move in steps that a person would count in; dragging is left to the
 * range and rounded afterwards. */
static gboolean
scale_change_value_cb (GtkRange *range,
                       GtkScrollType scroll,
                       double value,
                       QmLogScale *self)
{
  switch (scroll)
    {
    case GTK_SCROLL_STEP_FORWARD:
    case GTK_SCROLL_STEP_RIGHT:
    case GTK_SCROLL_STEP_UP:
      value = qm_log_scale_step (self->value, self->kind, 1);
      break;

    case GTK_SCROLL_STEP_BACKWARD:
    case GTK_SCROLL_STEP_LEFT:
    case GTK_SCROLL_STEP_DOWN:
      value = qm_log_scale_step (self->value, self->kind, -1);
      break;

    case GTK_SCROLL_PAGE_FORWARD:
    case GTK_SCROLL_PAGE_RIGHT:
    case GTK_SCROLL_PAGE_UP:
      value = qm_log_scale_snap (self->value * 1.25, self->kind);
      value = MAX (value, qm_log_scale_step (self->value, self->kind, 1));
      break;

    case GTK_SCROLL_PAGE_BACKWARD:
    case GTK_SCROLL_PAGE_LEFT:
    case GTK_SCROLL_PAGE_DOWN:
      value = qm_log_scale_snap (self->value / 1.25, self->kind);
      value = MIN (value, qm_log_scale_step (self->value, self->kind, -1));
      break;

    case GTK_SCROLL_START:
      value = self->lower;
      break;

    case GTK_SCROLL_END:
      value = self->upper;
      break;

    case GTK_SCROLL_NONE:
    case GTK_SCROLL_JUMP:
    default:
      return FALSE;
    }

  qm_log_scale_set_value (self, CLAMP (value, self->lower, self->upper));
  return TRUE;
}

static void
adjustment_changed_cb (QmLogScale *self)
{
  double value;

  if (self->updating)
    return;

  value = pow (10, gtk_adjustment_get_value (self->adjustment));
  qm_log_scale_set_value (self, qm_log_scale_snap (value, self->kind));
  /* The slider stands on the rounded value even where that did not change. */
  sync_rest (self);
}

static void
add_marks (QmLogScale *self)
{
  gtk_scale_clear_marks (GTK_SCALE (self->scale));

  for (double mark = pow (10, ceil (log10 (self->lower) - 1e-9));
       mark <= self->upper * (1 + 1e-9); mark *= 10)
    {
      g_autofree char *text = self->kind == QM_LOG_SCALE_MONEY
                                  ? qm_format_money_short (mark, self->currency)
                                  : qm_format_number (mark, 0);
      g_autofree char *escaped = g_markup_escape_text (text, -1);
      g_autofree char *markup =
          g_strdup_printf ("<span size='small'>%s</span>", escaped);

      gtk_scale_add_mark (GTK_SCALE (self->scale), log10 (mark), GTK_POS_BOTTOM,
                          markup);
    }
}

static void
apply_range (QmLogScale *self)
{
  double lower = log10 (self->lower);
  double upper = log10 (MAX (self->upper, self->lower));

  self->updating = TRUE;
  gtk_adjustment_configure (self->adjustment,
                            CLAMP (gtk_adjustment_get_value (self->adjustment),
                                   lower, upper),
                            lower, upper, log10 (1.02), log10 (1.25), 0);
  self->updating = FALSE;
  add_marks (self);
  qm_log_scale_set_value (self, self->value);
}

static void
qm_log_scale_constructed (GObject *object)
{
  QmLogScale *self = QM_LOG_SCALE (object);

  G_OBJECT_CLASS (qm_log_scale_parent_class)->constructed (object);

  gtk_range_set_round_digits (GTK_RANGE (self->scale), -1);
  qm_input_ignore_wheel (self->scale);
  qm_input_name_reset (self->reset_button,
                       gtk_label_get_text (GTK_LABEL (self->title_label)));
  gtk_widget_set_visible (self->toggle, self->optional);
  gtk_label_set_text (GTK_LABEL (self->unit_label), _ ("days"));
  if (self->kind == QM_LOG_SCALE_DAYS)
    {
      gtk_editable_set_width_chars (GTK_EDITABLE (self->entry), 6);
      gtk_editable_set_max_width_chars (GTK_EDITABLE (self->entry), 6);
    }

  apply_range (self);
  sync_rest (self);
}

static void
qm_log_scale_finalize (GObject *object)
{
  g_free (QM_LOG_SCALE (object)->currency);

  G_OBJECT_CLASS (qm_log_scale_parent_class)->finalize (object);
}

static void
qm_log_scale_get_property (GObject *object,
                           guint prop_id,
                           GValue *value,
                           GParamSpec *pspec)
{
  QmLogScale *self = QM_LOG_SCALE (object);

  switch (prop_id)
    {
    case PROP_KIND:
      g_value_set_enum (value, self->kind);
      break;

    case PROP_LOWER:
      g_value_set_double (value, self->lower);
      break;

    case PROP_UPPER:
      g_value_set_double (value, self->upper);
      break;

    case PROP_DEFAULT_VALUE:
      g_value_set_double (value, self->default_value);
      break;

    case PROP_START_VALUE:
      g_value_set_double (value, self->start_value);
      break;

    case PROP_OPTIONAL:
      g_value_set_boolean (value, self->optional);
      break;

    case PROP_CURRENCY:
      g_value_set_string (value, self->currency);
      break;

    case PROP_VALUE:
      g_value_set_double (value, self->value);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_log_scale_set_property (GObject *object,
                           guint prop_id,
                           const GValue *value,
                           GParamSpec *pspec)
{
  QmLogScale *self = QM_LOG_SCALE (object);

  switch (prop_id)
    {
    case PROP_KIND:
      self->kind = g_value_get_enum (value);
      break;

    case PROP_LOWER:
      self->lower = g_value_get_double (value);
      apply_range (self);
      break;

    case PROP_UPPER:
      self->upper = g_value_get_double (value);
      apply_range (self);
      break;

    case PROP_DEFAULT_VALUE:
      self->default_value = g_value_get_double (value);
      sync_rest (self);
      break;

    case PROP_START_VALUE:
      self->start_value = g_value_get_double (value);
      break;

    case PROP_OPTIONAL:
      self->optional = g_value_get_boolean (value);
      break;

    case PROP_CURRENCY:
      g_free (self->currency);
      self->currency = g_value_dup_string (value);
      add_marks (self);
      sync_rest (self);
      break;

    case PROP_VALUE:
      qm_log_scale_set_value (self, g_value_get_double (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
install_properties (GObjectClass *object_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  properties[PROP_KIND] =
      g_param_spec_enum ("kind", NULL, NULL, QM_TYPE_LOG_SCALE_KIND,
                         QM_LOG_SCALE_MONEY, flags | G_PARAM_CONSTRUCT_ONLY);
  properties[PROP_OPTIONAL] =
      g_param_spec_boolean ("optional", NULL, NULL, FALSE,
                            flags | G_PARAM_CONSTRUCT_ONLY);
  properties[PROP_LOWER] =
      g_param_spec_double ("lower", NULL, NULL, G_MINDOUBLE, G_MAXDOUBLE, 1,
                           flags);
  properties[PROP_UPPER] =
      g_param_spec_double ("upper", NULL, NULL, G_MINDOUBLE, G_MAXDOUBLE, 10,
                           flags);
  properties[PROP_DEFAULT_VALUE] =
      g_param_spec_double ("default-value", NULL, NULL, 0, G_MAXDOUBLE, 1,
                           flags);
  properties[PROP_START_VALUE] =
      g_param_spec_double ("start-value", NULL, NULL, 0, G_MAXDOUBLE, 1, flags);
  properties[PROP_CURRENCY] =
      g_param_spec_string ("currency", NULL, NULL, "USD", flags);
  properties[PROP_VALUE] =
      g_param_spec_double ("value", NULL, NULL, 0, G_MAXDOUBLE, 0,
                           flags | G_PARAM_EXPLICIT_NOTIFY);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
qm_log_scale_class_init (QmLogScaleClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = qm_log_scale_constructed;
  object_class->finalize = qm_log_scale_finalize;
  object_class->get_property = qm_log_scale_get_property;
  object_class->set_property = qm_log_scale_set_property;
  install_properties (object_class);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-log-scale.ui");
  gtk_widget_class_bind_template_child (widget_class, QmLogScale, title_label);
  gtk_widget_class_bind_template_child (widget_class, QmLogScale, reset_button);
  gtk_widget_class_bind_template_child (widget_class, QmLogScale, entry);
  gtk_widget_class_bind_template_child (widget_class, QmLogScale, unit_label);
  gtk_widget_class_bind_template_child (widget_class, QmLogScale, toggle);
  gtk_widget_class_bind_template_child (widget_class, QmLogScale, scale);
  gtk_widget_class_bind_template_child (widget_class, QmLogScale, adjustment);
  gtk_widget_class_bind_template_callback (widget_class, scale_reset_cb);
  gtk_widget_class_bind_template_callback (widget_class, toggle_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, entry_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, entry_commit_cb);
  gtk_widget_class_bind_template_callback (widget_class, entry_key_pressed_cb);
  gtk_widget_class_bind_template_callback (widget_class, scale_change_value_cb);
  gtk_widget_class_bind_template_callback (widget_class, adjustment_changed_cb);
}

static void
qm_log_scale_init (QmLogScale *self)
{
  self->currency = g_strdup ("USD");
  self->lower = 1;
  self->upper = 10;
  self->default_value = 1;
  self->start_value = 1;
  gtk_widget_init_template (GTK_WIDGET (self));
}
