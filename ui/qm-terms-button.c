/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-terms-button.h"

#include "pricing/qm-terms.h"
#include "ui/qm-input.h"

#include <glib/gi18n-lib.h>

#define WIDTH_CHARS 44
#define MAX_HEIGHT  380

struct _QmTermsButton
{
  AdwBin parent_instance;

  char *terms;
  GtkWidget *button;
  GtkWidget *popover; /* NULL until it is asked for */
};

enum
{
  PROP_0,
  PROP_TERMS,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmTermsButton, qm_terms_button, ADW_TYPE_BIN)

static GParamSpec *properties[N_PROPS];

/* What opens is beside the window, not below the popover. */
static void
followed_cb (QmTermsButton *self)
{
  gtk_popover_popdown (GTK_POPOVER (self->popover));
}

/* The terms that there are.  (transfer full) */
static GArray *
list_terms (QmTermsButton *self)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (QmTerm));
  g_auto (GStrv) ids =
      g_strsplit (self->terms != NULL ? self->terms : "", " ", -1);

  for (guint i = 0; ids[i] != NULL; i++)
    {
      QmTerm term;

      if (qm_term_find (ids[i], &term))
        g_array_append_val (list, term);
    }
  return list;
}

static GtkWidget *
new_line (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), WIDTH_CHARS);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

/* A term as a heading, with the way to its place in the guide at the end. */
static GtkWidget *
new_heading (QmTermsButton *self, const QmTerm *term)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *name = new_line (term->name, "heading");
  GtkWidget *link = gtk_button_new_with_label (_ ("In the guide"));
  /* Translators: a term that the user guide explains. */
  g_autofree char *label =
      g_strdup_printf (_ ("%s in the user guide"), term->name);

  gtk_widget_set_hexpand (name, TRUE);
  gtk_box_append (GTK_BOX (box), name);
  gtk_widget_add_css_class (link, "link");
  gtk_widget_add_css_class (link, "qm-guide-link");
  gtk_widget_set_valign (link, GTK_ALIGN_BASELINE);
  gtk_widget_set_tooltip_text (link, label);
  qm_input_name_button (link, label);
  gtk_actionable_set_action_target (GTK_ACTIONABLE (link), "s", term->id);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (link), "app.explain");
  g_signal_connect_swapped (link, "clicked", G_CALLBACK (followed_cb), self);
  gtk_box_append (GTK_BOX (box), link);
  return box;
}

static GtkWidget *
new_popover (QmTermsButton *self)
{
  g_autoptr (GArray) list = list_terms (self);
  GtkWidget *popover = gtk_popover_new ();
  GtkWidget *scrolled = gtk_scrolled_window_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  for (guint i = 0; i < list->len; i++)
    {
      const QmTerm *term = &g_array_index (list, QmTerm, i);

      gtk_box_append (GTK_BOX (box), new_heading (self, term));
      gtk_box_append (GTK_BOX (box), new_line (term->text, NULL));
    }
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), box);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled),
                                  GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (
      GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_propagate_natural_width (
      GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled),
                                              MAX_HEIGHT);
  gtk_popover_set_child (GTK_POPOVER (popover), scrolled);
  gtk_widget_set_parent (popover, self->button);
  return popover;
}

static void
clicked_cb (QmTermsButton *self)
{
  if (self->popover == NULL)
    self->popover = new_popover (self);
  gtk_popover_popup (GTK_POPOVER (self->popover));
}

static void
set_terms (QmTermsButton *self, const char *terms)
{
  g_autoptr (GArray) list = NULL;
  g_autoptr (GString) names = g_string_new (NULL);
  g_autoptr (GString) texts = g_string_new (NULL);

  if (g_strcmp0 (self->terms, terms) == 0)
    return;
  g_free (self->terms);
  self->terms = g_strdup (terms);
  g_clear_pointer (&self->popover, gtk_widget_unparent);
  list = list_terms (self);
  for (guint i = 0; i < list->len; i++)
    {
      const QmTerm *term = &g_array_index (list, QmTerm, i);

      if (i > 0)
        {
          g_string_append (names, ", ");
          g_string_append_c (texts, '\n');
        }
      g_string_append (names, term->name);
      if (list->len > 1)
        g_string_append_printf (texts, "%s: ", term->name);
      g_string_append (texts, term->text);
    }
  gtk_widget_set_visible (GTK_WIDGET (self), list->len > 0);
  gtk_widget_set_tooltip_text (self->button, _ ("What the words mean"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, names->str,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  texts->str, -1);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_TERMS]);
}

static void
qm_terms_button_get_property (GObject *object,
                              guint prop_id,
                              GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_TERMS:
      g_value_set_string (value, QM_TERMS_BUTTON (object)->terms);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_terms_button_set_property (GObject *object,
                              guint prop_id,
                              const GValue *value,
                              GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_TERMS:
      set_terms (QM_TERMS_BUTTON (object), g_value_get_string (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_terms_button_dispose (GObject *object)
{
  QmTermsButton *self = QM_TERMS_BUTTON (object);

  g_clear_pointer (&self->popover, gtk_widget_unparent);

  G_OBJECT_CLASS (qm_terms_button_parent_class)->dispose (object);
}

static void
qm_terms_button_finalize (GObject *object)
{
  g_free (QM_TERMS_BUTTON (object)->terms);

  G_OBJECT_CLASS (qm_terms_button_parent_class)->finalize (object);
}

static void
qm_terms_button_class_init (QmTermsButtonClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = qm_terms_button_get_property;
  object_class->set_property = qm_terms_button_set_property;
  object_class->dispose = qm_terms_button_dispose;
  object_class->finalize = qm_terms_button_finalize;

  properties[PROP_TERMS] =
      g_param_spec_string ("terms", NULL, NULL, NULL,
                           G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                               | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
qm_terms_button_init (QmTermsButton *self)
{
  self->button = gtk_button_new_from_icon_name ("dialog-question-symbolic");
  gtk_widget_add_css_class (self->button, "flat");
  gtk_widget_add_css_class (self->button, "qm-terms");
  gtk_widget_set_valign (self->button, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->button),
                                  GTK_ACCESSIBLE_PROPERTY_HAS_POPUP, TRUE, -1);
  g_signal_connect_swapped (self->button, "clicked", G_CALLBACK (clicked_cb),
                            self);
  adw_bin_set_child (ADW_BIN (self), self->button);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
