/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-advisor-page.h"

#include "ui/advisor/qm-question-panel.h"
#include "ui/advisor/qm-results-view.h"

/* What to do in the side bar as soon as it is there. */
typedef enum
{
  ERRAND_NONE,
  ERRAND_MODEL,
  ERRAND_BUDGET
} Errand;

struct _QmAdvisorPage
{
  AdwBin parent_instance;

  AdwFlap *flap;
  GtkWidget *panel;
  GtkWidget *results;

  QmAdvisor *advisor;
  Errand errand;
};

enum
{
  PROP_0,
  PROP_ADVISOR,
  PROP_SHOW_SIDEBAR,
  PROP_FOLDED,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmAdvisorPage, qm_advisor_page, ADW_TYPE_BIN)

static GParamSpec *properties[N_PROPS];

GtkWidget *
qm_advisor_page_new (QmAdvisor *advisor)
{
  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  return g_object_new (QM_TYPE_ADVISOR_PAGE, "advisor", advisor, NULL);
}

gboolean
qm_advisor_page_get_folded (QmAdvisorPage *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR_PAGE (self), FALSE);

  return adw_flap_get_folded (self->flap);
}

GtkWidget *
qm_advisor_page_get_results (QmAdvisorPage *self)
{
  g_return_val_if_fail (QM_IS_ADVISOR_PAGE (self), NULL);

  return self->results;
}

static void
reveal_progress_cb (QmAdvisorPage *self)
{
  Errand errand = self->errand;

  if (adw_flap_get_reveal_progress (self->flap) < 1
      || !gtk_widget_get_mapped (self->panel))
    return;

  self->errand = ERRAND_NONE;
  if (errand == ERRAND_MODEL)
    qm_question_panel_search_model (QM_QUESTION_PANEL (self->panel));
  else if (errand == ERRAND_BUDGET)
    qm_question_panel_focus_budget (QM_QUESTION_PANEL (self->panel));
}

/* Until the panel has arrived it has no place to open a list at. */
static void
send_errand (QmAdvisorPage *self, Errand errand)
{
  self->errand = errand;
  adw_flap_set_reveal_flap (self->flap, TRUE);
  reveal_progress_cb (self);
}

void
qm_advisor_page_search_model (QmAdvisorPage *self)
{
  g_return_if_fail (QM_IS_ADVISOR_PAGE (self));

  send_errand (self, ERRAND_MODEL);
}

void
qm_advisor_page_focus_budget (QmAdvisorPage *self)
{
  g_return_if_fail (QM_IS_ADVISOR_PAGE (self));

  send_errand (self, ERRAND_BUDGET);
}

static void
reveal_changed_cb (QmAdvisorPage *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOW_SIDEBAR]);
}

static void
folded_changed_cb (QmAdvisorPage *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FOLDED]);
}

static void
qm_advisor_page_constructed (GObject *object)
{
  QmAdvisorPage *self = QM_ADVISOR_PAGE (object);

  G_OBJECT_CLASS (qm_advisor_page_parent_class)->constructed (object);

  self->panel = qm_question_panel_new (self->advisor);
  /* It needs a ground of its own while it lies over the answer. */
  gtk_widget_add_css_class (self->panel, "background");
  adw_flap_set_flap (self->flap, self->panel);

  self->results =
      g_object_new (QM_TYPE_RESULTS_VIEW, "advisor", self->advisor, NULL);
  gtk_widget_set_hexpand (self->results, TRUE);
  adw_flap_set_content (self->flap, self->results);
}

static void
qm_advisor_page_dispose (GObject *object)
{
  QmAdvisorPage *self = QM_ADVISOR_PAGE (object);

  g_clear_object (&self->advisor);

  G_OBJECT_CLASS (qm_advisor_page_parent_class)->dispose (object);
}

static void
qm_advisor_page_get_property (GObject *object,
                              guint prop_id,
                              GValue *value,
                              GParamSpec *pspec)
{
  QmAdvisorPage *self = QM_ADVISOR_PAGE (object);

  switch (prop_id)
    {
    case PROP_ADVISOR:
      g_value_set_object (value, self->advisor);
      break;

    case PROP_SHOW_SIDEBAR:
      g_value_set_boolean (value, adw_flap_get_reveal_flap (self->flap));
      break;

    case PROP_FOLDED:
      g_value_set_boolean (value, qm_advisor_page_get_folded (self));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_advisor_page_set_property (GObject *object,
                              guint prop_id,
                              const GValue *value,
                              GParamSpec *pspec)
{
  QmAdvisorPage *self = QM_ADVISOR_PAGE (object);

  switch (prop_id)
    {
    case PROP_ADVISOR:
      self->advisor = g_value_dup_object (value);
      break;

    case PROP_SHOW_SIDEBAR:
      adw_flap_set_reveal_flap (self->flap, g_value_get_boolean (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_advisor_page_class_init (QmAdvisorPageClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = qm_advisor_page_constructed;
  object_class->dispose = qm_advisor_page_dispose;
  object_class->get_property = qm_advisor_page_get_property;
  object_class->set_property = qm_advisor_page_set_property;

  properties[PROP_ADVISOR] =
      g_param_spec_object ("advisor", NULL, NULL, QM_TYPE_ADVISOR,
                           G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY
                               | G_PARAM_STATIC_STRINGS);
  properties[PROP_SHOW_SIDEBAR] =
      g_param_spec_boolean ("show-sidebar", NULL, NULL, TRUE,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY
                                | G_PARAM_STATIC_STRINGS);
  properties[PROP_FOLDED] =
      g_param_spec_boolean ("folded", NULL, NULL, FALSE,
                            G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-advisor-page.ui");
  gtk_widget_class_bind_template_child (widget_class, QmAdvisorPage, flap);
  gtk_widget_class_bind_template_callback (widget_class, reveal_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, folded_changed_cb);
  gtk_widget_class_bind_template_callback (widget_class, reveal_progress_cb);
}

static void
qm_advisor_page_init (QmAdvisorPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
