/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-text.h"

#include <string.h>

#define MIN_WIDTH     120
#define NATURAL_WIDTH 480

struct _QmText
{
  GtkWidget parent_instance;

  char *text;
  PangoLayout *layout;
  int line_width, line_height; /* of a line for each paragraph; -1: not known */
  int wrapped_width, wrapped_height; /* when last wrapped; -1: not known */
};

G_DEFINE_FINAL_TYPE (QmText, qm_text, GTK_TYPE_WIDGET)

static PangoLayout *
layout_for (QmText *self, int width)
{
  if (self->layout == NULL)
    {
      self->line_width = self->line_height = -1;
      self->wrapped_width = self->wrapped_height = -1;
      self->layout =
          gtk_widget_create_pango_layout (GTK_WIDGET (self), self->text);
      pango_layout_set_wrap (self->layout, PANGO_WRAP_WORD_CHAR);
    }
  pango_layout_set_width (self->layout, width < 0 ? -1 : width * PANGO_SCALE);
  return self->layout;
}

/* Measures it without wrapping.  As high as the highest part of each line,
 * which may be in a font of its own. */
static void
measure_lines (QmText *self)
{
  if (self->layout == NULL || self->line_width < 0)
    pango_layout_get_pixel_size (layout_for (self, -1), &self->line_width,
                                 &self->line_height);
}

/* Another width has Pango shape all of the text anew: asked for only where it
 * is wrapped at all. */
static int
height_for (QmText *self, int width)
{
  measure_lines (self);
  if (self->line_width <= width)
    return self->line_height;
  if (self->wrapped_width != width)
    {
      pango_layout_get_pixel_size (layout_for (self, width), NULL,
                                   &self->wrapped_height);
      self->wrapped_width = width;
    }
  return self->wrapped_height;
}

/* Whether nothing of it is to be at the right of the room that it has. */
static gboolean
begins_left (PangoLayout *layout)
{
  for (GSList *list = pango_layout_get_lines_readonly (layout); list != NULL;
       list = list->next)
    {
      const PangoLayoutLine *line = list->data;

      if (line->resolved_dir == PANGO_DIRECTION_RTL)
        return FALSE;
    }
  return TRUE;
}

/* To be drawn in so much room. */
static PangoLayout *
layout_in (QmText *self, int width)
{
  PangoLayout *layout;

  measure_lines (self);
  if (self->line_width > width)
    return layout_for (self, width);
  layout = layout_for (self, -1);
  return begins_left (layout) ? layout : layout_for (self, width);
}

static GtkSizeRequestMode
qm_text_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
qm_text_measure (GtkWidget *widget,
                 GtkOrientation orientation,
                 int for_size,
                 int *minimum,
                 int *natural,
                 int *minimum_baseline,
                 int *natural_baseline)
{
  QmText *self = QM_TEXT (widget);

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = MIN_WIDTH;
      *natural = NATURAL_WIDTH;
      if (for_size < 0)
        return;
      /* Of a height: GTK 4.18 wants a width at which it does. */
      measure_lines (self);
      *natural = MAX (NATURAL_WIDTH, self->line_width);
      return;
    }
  *natural = height_for (self, for_size < 0 ? NATURAL_WIDTH : for_size);
  /* The least of any width: GTK 4.18 gives a line no less than this, whatever
   * the width that it then has. */
  *minimum = for_size < 0 ? self->line_height : *natural;
}

static void
qm_text_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  PangoLayout *layout =
      layout_in (QM_TEXT (widget), gtk_widget_get_width (widget));
  GdkRGBA color;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  gtk_snapshot_append_layout (snapshot, layout, &color);
}

static void
qm_text_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  QmText *self = QM_TEXT (widget);

  GTK_WIDGET_CLASS (qm_text_parent_class)->css_changed (widget, change);

  g_clear_object (&self->layout);
  gtk_widget_queue_resize (widget);
}

static void
qm_text_direction_changed (GtkWidget *widget, GtkTextDirection previous)
{
  g_clear_object (&QM_TEXT (widget)->layout);
  gtk_widget_queue_resize (widget);
}

static void
qm_text_finalize (GObject *object)
{
  QmText *self = QM_TEXT (object);

  g_free (self->text);
  g_clear_object (&self->layout);

  G_OBJECT_CLASS (qm_text_parent_class)->finalize (object);
}

static void
qm_text_class_init (QmTextClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->finalize = qm_text_finalize;
  widget_class->get_request_mode = qm_text_get_request_mode;
  widget_class->measure = qm_text_measure;
  widget_class->snapshot = qm_text_snapshot;
  widget_class->css_changed = qm_text_css_changed;
  widget_class->direction_changed = qm_text_direction_changed;

  gtk_widget_class_set_css_name (widget_class, "label");
  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_LABEL);
}

static void
qm_text_init (QmText *self)
{
  self->text = g_strdup ("");
}

GtkWidget *
qm_text_new (void)
{
  return g_object_new (QM_TYPE_TEXT, NULL);
}

void
qm_text_set_text (QmText *self, const char *text)
{
  g_return_if_fail (QM_IS_TEXT (self) && text != NULL);

  if (strcmp (self->text, text) == 0)
    return;
  g_free (self->text);
  self->text = g_strdup (text);
  g_clear_object (&self->layout);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}
