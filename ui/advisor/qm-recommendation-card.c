/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-recommendation-card.h"

#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose-rent.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "ui/plot/qm-advice-plot.h"
#include "ui/qm-marker.h"
#include "ui/qm-show.h"
#include "ui/qm-text.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* A row that leads to a candidate. */
typedef struct
{
  GtkWidget *row;
  GtkWidget *marker;
  QmText *text;
  int candidate; /* -1: leads nowhere */
} Alternative;

/* A line of the list of topics. */
typedef struct
{
  GtkLabel *title;
  QmText *headline;
} TopicRow;

struct _QmRecommendationCard
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkWidget *answer;  /* what to buy, why, and warnings */
  GtkWidget *middle;  /* of somebody else, between both; NULL: nothing */
  GtkWidget *grounds; /* what is to be known of it, and what else would do */
  GtkWidget *words;   /* of the grounds */
  GtkListBox *topics;
  GtkImage *icon;
  GtkLabel *headline;
  GtkWidget *show_button;
  GtkLabel *reason;
  GtkLabel *machine;
  GtkLabel *renting;
  GtkWidget *warnings;
  GtkWidget *notes;
  GtkListBox *alternatives;
  GtkLabel *selected;

  QmAdvisor *advisor;
  guint topic;
  GArray *topic_rows; /* TopicRow */
  Alternative rows[QM_PROSE_ALTERNATIVES];
  int subject; /* the candidate that the headline or the reason names */
};

enum
{
  PROP_0,
  PROP_MIDDLE,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (QmRecommendationCard,
                     qm_recommendation_card,
                     GTK_TYPE_WIDGET)

static GParamSpec *properties[N_PROPS];

static QmText *
new_text (void)
{
  QmText *text = QM_TEXT (qm_text_new ());

  gtk_widget_set_hexpand (GTK_WIDGET (text), TRUE);
  return text;
}

static guint
style_of (QmRecommendationCard *self, const QmCandidate *candidate)
{
  const char *const *gpus = qm_advisor_get_gpus (self->advisor);

  for (guint i = 0; gpus[i] != NULL; i++)
    if (strcmp (gpus[i], candidate->gpu->id) == 0)
      return i;
  return 0;
}

static void
update_icon (QmRecommendationCard *self, QmOutcome outcome)
{
  const char *name = outcome == QM_OUTCOME_FOUND ? "starred-symbolic"
                                                 : "dialog-warning-symbolic";
  const char *class = outcome == QM_OUTCOME_FOUND ? "accent" : "warning";
  const char *classes[] = { class, NULL };

  if (g_strcmp0 (gtk_image_get_icon_name (self->icon), name) == 0)
    return;
  gtk_image_set_from_icon_name (self->icon, name);
  gtk_widget_set_css_classes (GTK_WIDGET (self->icon), classes);
}

static void
show_alternative (QmRecommendationCard *self,
                  guint i,
                  const char *text,
                  const QmAdvice *advice,
                  int index)
{
  Alternative *alternative = &self->rows[i];
  const QmCandidate *candidate = qm_advice_candidate (advice, index);

  gtk_widget_set_visible (alternative->row, text != NULL);
  if (text == NULL)
    return;
  qm_text_set_text (alternative->text, text);
  alternative->candidate = index;
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (alternative->row),
                                    candidate != NULL);
  gtk_widget_set_visible (alternative->marker, candidate != NULL);
  if (candidate != NULL)
    qm_marker_set_look (QM_MARKER (alternative->marker),
                        style_of (self, candidate),
                        qm_advice_plot_provenance (candidate),
                        candidate->verdict == QM_VERDICT_IMPOSSIBLE
                            ? QM_PLOT_POINT_CROSSED
                            : QM_PLOT_POINT_NORMAL);
}

static void
update_alternatives (QmRecommendationCard *self,
                     const QmAdvice *advice,
                     const QmRecommendation *recommendation)
{
  int indices[QM_PROSE_ALTERNATIVES];
  g_auto (GStrv) sentences =
      qm_prose_alternatives (advice, recommendation, indices);
  guint n = g_strv_length (sentences);

  for (guint i = 0; i < QM_PROSE_ALTERNATIVES; i++)
    show_alternative (self, i, i < n ? sentences[i] : NULL, advice,
                      i < n ? indices[i] : -1);
  gtk_widget_set_visible (GTK_WIDGET (self->alternatives), n > 0);
}

static GtkWidget *
new_line (const char *icon_name, const char *class, const char *name)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *icon = gtk_image_new_from_icon_name (icon_name);
  QmText *text = new_text ();

  gtk_widget_add_css_class (icon, class);
  gtk_widget_set_valign (icon, GTK_ALIGN_START);
  gtk_accessible_update_property (GTK_ACCESSIBLE (icon),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_box_append (GTK_BOX (line), icon);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (text));
  return line;
}

/* Shows sentences in the lines of a box, of which more are made as needed. */
static void
show_lines (GtkWidget *box,
            GStrv sentences,
            const char *icon_name,
            const char *class,
            const char *name)
{
  GtkWidget *line = gtk_widget_get_first_child (box);

  for (guint i = 0; sentences[i] != NULL; i++)
    {
      if (line == NULL)
        {
          line = new_line (icon_name, class, name);
          gtk_box_append (GTK_BOX (box), line);
        }
      qm_text_set_text (QM_TEXT (gtk_widget_get_last_child (line)),
                        sentences[i]);
      gtk_widget_set_visible (line, TRUE);
      line = gtk_widget_get_next_sibling (line);
    }
  for (; line != NULL; line = gtk_widget_get_next_sibling (line))
    gtk_widget_set_visible (line, FALSE);
  gtk_widget_set_visible (box, sentences[0] != NULL);
}

static void
update_warnings (QmRecommendationCard *self,
                 const QmAdvice *advice,
                 const QmRecommendation *recommendation)
{
  g_auto (GStrv) warnings =
      qm_prose_warnings (advice,
                         qm_advisor_get_question (self->advisor, self->topic),
                         recommendation, qm_date_today ());

  show_lines (self->warnings, warnings, "dialog-warning-symbolic", "warning",
              _ ("Warning"));
}

/* No move of a limit changes them. */
static void
update_notes (QmRecommendationCard *self)
{
  g_auto (GStrv) notes =
      qm_prose_notes (qm_advisor_get_advice (self->advisor, self->topic),
                      qm_advisor_get_question (self->advisor, self->topic));

  show_lines (self->notes, notes, "dialog-information-symbolic", "dim-label",
              _ ("Note"));
}

/* Shows what there is of the grounds. */
static void
update_grounds (QmRecommendationCard *self)
{
  gboolean words = gtk_widget_get_visible (GTK_WIDGET (self->machine))
                   || gtk_widget_get_visible (GTK_WIDGET (self->renting))
                   || gtk_widget_get_visible (self->notes)
                   || gtk_widget_get_visible (GTK_WIDGET (self->selected));
  gboolean rows = FALSE;

  for (guint i = 0; i < QM_PROSE_ALTERNATIVES; i++)
    rows |= gtk_widget_get_visible (self->rows[i].row);
  gtk_widget_set_visible (self->words, words);
  gtk_widget_set_visible (
      self->grounds, (words || rows) && gtk_widget_get_visible (self->answer));
}

/* "Selected: 8 × …: $20,900, 30 days, $344 an experiment; …". */
static char *
describe_facts (const QmCandidate *candidate, const QmAdvice *advice)
{
  gboolean portfolio = qm_advice_is_portfolio (advice);
  const QmPurse *purse = qm_advice_purse (advice);
  g_autofree char *what = qm_prose_candidate (candidate);
  g_autofree char *verdict = qm_prose_verdict (candidate);
  g_autofree char *cost = NULL;
  g_autofree char *days = NULL;
  g_autofree char *experiment = NULL;
  g_autofree char *facts = NULL;
  g_autofree char *source = NULL;
  g_autofree char *all = NULL;

  if (candidate->cost_minor >= 0)
    cost = qm_purse_format (purse, candidate->cost_minor);
  if (qm_known (candidate->days))
    days = qm_format_days (candidate->days);
  if (candidate->measurement != NULL)
    source = qm_prose_source (candidate->measurement);
  if (qm_known (candidate->experiment_cost))
    experiment =
        qm_purse_format (purse, llround (candidate->experiment_cost * 100));
  /* Translators: machine, overall cost, training time, cost of one experiment
   * or of a year's runs. */
  facts =
      g_strdup_printf (portfolio ? _ ("Selected: %s: %s, %s, %s a year")
                                 : _ ("Selected: %s: %s, %s, %s an experiment"),
                       what, cost != NULL ? cost : "–",
                       days != NULL ? days : "–",
                       experiment != NULL ? experiment : "–");
  if (source != NULL)
    /* Translators: facts about a machine, "measured with PyTorch, …". */
    all = g_strdup_printf (_ ("%s; time %s"), facts, source);
  else
    all = g_steal_pointer (&facts);
  if (verdict == NULL)
    return g_steal_pointer (&all);
  /* Translators: facts about a machine, what the audit says of them. */
  return g_strdup_printf (_ ("%s; %s"), all, verdict);
}

/* A sentence that tells why a candidate is not offered, or NULL. */
static char *
describe_lack (const QmCandidate *candidate)
{
  g_autofree char *why = NULL;

  if (!qm_candidate_is_not_carried (candidate))
    return NULL;
  why = qm_prose_not_carried (candidate);
  /* Translators: "no machine; the … carries up to 2 GPUs". */
  return g_strdup_printf (_ ("It is not offered: %s."), why);
}

/* The facts, and sentences about its machine and its price. */
static char *
describe_selected (const QmCandidate *candidate, const QmAdvice *advice)
{
  g_autofree char *facts = describe_facts (candidate, advice);
  g_autofree char *lack = describe_lack (candidate);
  g_autofree char *machine =
      qm_prose_about_machine (candidate, qm_advice_purse (advice));

  if (lack == NULL && machine == NULL)
    return g_steal_pointer (&facts);
  /* Translators: facts about a machine, sentences about it. */
  return g_strdup_printf (_ ("%s. %s"), facts, lack != NULL ? lack : machine);
}

static void
update_selected (QmRecommendationCard *self)
{
  guint topic, index;
  const QmCandidate *candidate = NULL;

  if (self->topic < qm_advisor_get_n_topics (self->advisor)
      && qm_advisor_get_selected (self->advisor, &topic, &index)
      && topic == self->topic)
    candidate =
        qm_advice_candidate (qm_advisor_get_advice (self->advisor, topic),
                             (int) index);
  if (candidate != NULL)
    {
      g_autofree char *text =
          describe_selected (candidate,
                             qm_advisor_get_advice (self->advisor, topic));

      qm_show_text (self->selected, text);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->selected), candidate != NULL);
  update_grounds (self);
}

/* Sentences about what is recommended, and what it comes to in the user's
 * money; a year's runs say the latter above the plots.  NULL: nothing. */
static char *
describe_machine (QmRecommendationCard *self, const QmCandidate *best)
{
  const QmAdvice *advice = qm_advisor_get_advice (self->advisor, self->topic);
  const QmQuestion *question =
      qm_advisor_get_question (self->advisor, self->topic);
  g_autofree char *machine = qm_prose_about_machine (best, &question->purse);
  g_auto (GStrv) plan = qm_prose_plan (advice, question, best);
  g_autofree char *money = g_strjoinv (" ", plan);

  if (qm_advice_is_portfolio (advice) || *money == '\0')
    return g_steal_pointer (&machine);
  return machine != NULL ? g_strjoin (" ", machine, money, NULL)
                         : g_steal_pointer (&money);
}

/* What renting costs in place of what is recommended, or would do. */
static void
update_renting (QmRecommendationCard *self)
{
  const QmAdvice *advice = qm_advisor_get_advice (self->advisor, self->topic);
  const QmCandidate *candidate = qm_advice_candidate (advice, self->subject);
  g_auto (GStrv) sentences = NULL;
  g_autofree char *text = NULL;

  if (candidate != NULL)
    {
      sentences =
          qm_prose_rent (qm_advisor_get_catalog (self->advisor), advice,
                         qm_advisor_get_question (self->advisor, self->topic),
                         candidate);
      text = g_strjoinv (" ", sentences);
    }
  qm_show_text (self->renting, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->renting),
                          text != NULL && *text != '\0');
}

static void
update_topic (QmRecommendationCard *self)
{
  const QmAdvice *advice = qm_advisor_get_advice (self->advisor, self->topic);
  const QmQuestion *question =
      qm_advisor_get_question (self->advisor, self->topic);
  const QmRecommendation *recommendation =
      qm_advisor_get_recommendation (self->advisor, self->topic);
  g_autofree char *headline =
      qm_prose_headline (advice, question, recommendation);
  g_autofree char *why = qm_prose_why (advice, question, recommendation);
  g_autofree char *machine =
      recommendation->outcome == QM_OUTCOME_FOUND
          ? describe_machine (self, qm_advice_candidate (advice,
                                                         recommendation->best))
          : NULL;

  self->subject = recommendation->best >= 0 ? recommendation->best
                                            : recommendation->would_do;
  qm_show_text (self->headline, headline);
  qm_show_text (self->reason, why);
  qm_show_text (self->machine, machine != NULL ? machine : "");
  gtk_widget_set_visible (GTK_WIDGET (self->machine), machine != NULL);
  update_renting (self);
  update_icon (self, recommendation->outcome);
  gtk_widget_set_visible (self->show_button, self->subject >= 0);
  update_warnings (self, advice, recommendation);
  update_alternatives (self, advice, recommendation);
}

static void
update_topic_rows (QmRecommendationCard *self)
{
  if (self->topic_rows->len < 2)
    return;
  for (guint i = 0; i < self->topic_rows->len; i++)
    {
      TopicRow *row = &g_array_index (self->topic_rows, TopicRow, i);
      g_autofree char *headline =
          qm_prose_headline (qm_advisor_get_advice (self->advisor, i),
                             qm_advisor_get_question (self->advisor, i),
                             qm_advisor_get_recommendation (self->advisor, i));

      qm_show_text (row->title, qm_advisor_get_title (self->advisor, i));
      qm_text_set_text (row->headline, headline);
    }
}

static void
card_limits_cb (QmRecommendationCard *self)
{
  if (self->topic >= qm_advisor_get_n_topics (self->advisor))
    return;
  update_topic (self);
  update_grounds (self);
  update_topic_rows (self);
}

static void
set_topic (QmRecommendationCard *self, guint topic)
{
  GtkListBoxRow *row =
      gtk_list_box_get_row_at_index (self->topics, (int) topic);

  self->topic = topic;
  if (row != NULL && row != gtk_list_box_get_selected_row (self->topics))
    gtk_list_box_select_row (self->topics, row);
  if (topic < qm_advisor_get_n_topics (self->advisor))
    {
      update_topic (self);
      update_notes (self);
    }
  update_selected (self);
}

static void
topic_selected_cb (QmRecommendationCard *self, GtkListBoxRow *row)
{
  if (row == NULL || self->advisor == NULL
      || (guint) gtk_list_box_row_get_index (row) == self->topic)
    return;
  set_topic (self, (guint) gtk_list_box_row_get_index (row));
}

static void
add_topic_row (QmRecommendationCard *self)
{
  TopicRow row = { GTK_LABEL (gtk_label_new (NULL)), new_text () };
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  gtk_label_set_width_chars (row.title, 14);
  gtk_label_set_xalign (row.title, 0);
  gtk_label_set_wrap (row.title, TRUE);
  gtk_label_set_max_width_chars (row.title, 14);
  gtk_widget_set_valign (GTK_WIDGET (row.title), GTK_ALIGN_START);
  gtk_widget_add_css_class (GTK_WIDGET (row.title), "heading");
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (row.title));
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (row.headline));
  gtk_list_box_append (self->topics, line);
  gtk_accessible_update_relation (GTK_ACCESSIBLE (gtk_widget_get_parent (line)),
                                  GTK_ACCESSIBLE_RELATION_LABELLED_BY,
                                  row.title, row.headline, NULL, -1);
  g_array_append_val (self->topic_rows, row);
}

static void
card_rebuilt_cb (QmRecommendationCard *self)
{
  guint n = self->advisor != NULL ? qm_advisor_get_n_topics (self->advisor) : 0;

  while (self->topic_rows->len > n)
    {
      guint last = self->topic_rows->len - 1;

      gtk_list_box_remove (self->topics,
                           GTK_WIDGET (gtk_list_box_get_row_at_index (
                               self->topics, (int) last)));
      g_array_set_size (self->topic_rows, last);
    }
  while (self->topic_rows->len < n)
    add_topic_row (self);
  gtk_widget_set_visible (GTK_WIDGET (self->topics), n > 1);
  gtk_widget_set_visible (self->answer, n > 0);
  if (n == 0)
    {
      update_grounds (self);
      return;
    }
  update_topic_rows (self);
  set_topic (self, MIN (self->topic, n - 1));
}

static void
selection_changed_cb (QmRecommendationCard *self)
{
  guint topic;

  if (qm_advisor_get_selected (self->advisor, &topic, NULL)
      && topic != self->topic)
    set_topic (self, topic);
  else
    update_selected (self);
}

static void
select_candidate (QmRecommendationCard *self, int candidate)
{
  guint n;

  if (self->topic >= qm_advisor_get_n_topics (self->advisor))
    return;
  qm_advice_candidates (qm_advisor_get_advice (self->advisor, self->topic), &n);
  if (candidate >= 0 && (guint) candidate < n)
    qm_advisor_select (self->advisor, self->topic, (guint) candidate);
}

static void
alternative_activated_cb (QmRecommendationCard *self, GtkListBoxRow *row)
{
  int index = gtk_list_box_row_get_index (row);

  if (index >= 0 && index < QM_PROSE_ALTERNATIVES)
    select_candidate (self, self->rows[index].candidate);
}

static void
show_clicked_cb (QmRecommendationCard *self)
{
  select_candidate (self, self->subject);
}

void
qm_recommendation_card_set_advisor (QmRecommendationCard *self,
                                    QmAdvisor *advisor)
{
  g_return_if_fail (QM_IS_RECOMMENDATION_CARD (self));
  g_return_if_fail (advisor == NULL || QM_IS_ADVISOR (advisor));

  if (self->advisor == advisor)
    return;
  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_data (self->advisor, self);
  g_set_object (&self->advisor, advisor);
  if (advisor != NULL)
    {
      g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (card_rebuilt_cb),
                               self, G_CONNECT_SWAPPED);
      g_signal_connect_object (advisor, "limits-changed",
                               G_CALLBACK (card_limits_cb), self,
                               G_CONNECT_SWAPPED);
      g_signal_connect_object (advisor, "selection-changed",
                               G_CALLBACK (selection_changed_cb), self,
                               G_CONNECT_SWAPPED);
    }
  card_rebuilt_cb (self);
}

/* Takes a widget in between, or out. */
static void
set_middle (QmRecommendationCard *self, GtkWidget *middle)
{
  if (self->middle != NULL)
    gtk_box_remove (GTK_BOX (self->box), self->middle);
  self->middle = middle;
  if (middle != NULL)
    gtk_box_insert_child_after (GTK_BOX (self->box), middle, self->answer);
}

static void
qm_recommendation_card_get_property (GObject *object,
                                     guint prop_id,
                                     GValue *value,
                                     GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_MIDDLE:
      g_value_set_object (value, QM_RECOMMENDATION_CARD (object)->middle);
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_recommendation_card_set_property (GObject *object,
                                     guint prop_id,
                                     const GValue *value,
                                     GParamSpec *pspec)
{
  switch (prop_id)
    {
    case PROP_MIDDLE:
      set_middle (QM_RECOMMENDATION_CARD (object), g_value_get_object (value));
      break;

    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
qm_recommendation_card_dispose (GObject *object)
{
  QmRecommendationCard *self = QM_RECOMMENDATION_CARD (object);

  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_data (self->advisor, self);
  g_clear_object (&self->advisor);
  self->middle = NULL;
  g_clear_pointer (&self->box, gtk_widget_unparent);

  G_OBJECT_CLASS (qm_recommendation_card_parent_class)->dispose (object);
}

static void
qm_recommendation_card_finalize (GObject *object)
{
  g_array_unref (QM_RECOMMENDATION_CARD (object)->topic_rows);

  G_OBJECT_CLASS (qm_recommendation_card_parent_class)->finalize (object);
}

static void
bind_recommendation_card (GtkWidgetClass *widget_class)
{
#define BIND(name)                                                          \
  gtk_widget_class_bind_template_child (widget_class, QmRecommendationCard, \
                                        name)
  BIND (box);
  BIND (answer);
  BIND (grounds);
  BIND (words);
  BIND (topics);
  BIND (icon);
  BIND (headline);
  BIND (show_button);
  BIND (reason);
  BIND (machine);
  BIND (renting);
  BIND (warnings);
  BIND (notes);
  BIND (alternatives);
  BIND (selected);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, topic_selected_cb);
  gtk_widget_class_bind_template_callback (widget_class,
                                           alternative_activated_cb);
  gtk_widget_class_bind_template_callback (widget_class, show_clicked_cb);
}

static void
qm_recommendation_card_class_init (QmRecommendationCardClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->get_property = qm_recommendation_card_get_property;
  object_class->set_property = qm_recommendation_card_set_property;
  object_class->dispose = qm_recommendation_card_dispose;
  object_class->finalize = qm_recommendation_card_finalize;

  properties[PROP_MIDDLE] =
      g_param_spec_object ("middle", NULL, NULL, GTK_TYPE_WIDGET,
                           G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  gtk_widget_class_set_template_from_resource (
      widget_class,
      "/org/quartermaster/Quartermaster/ui/qm-recommendation-card.ui");
  bind_recommendation_card (widget_class);
  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
add_alternative (QmRecommendationCard *self, guint i)
{
  Alternative *alternative = &self->rows[i];
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  alternative->candidate = -1;
  alternative->marker = qm_marker_new (0);
  alternative->text = new_text ();
  gtk_widget_set_valign (alternative->marker, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (line), alternative->marker);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (alternative->text));
  gtk_list_box_append (self->alternatives, line);
  alternative->row = gtk_widget_get_parent (line);
  gtk_accessible_update_relation (GTK_ACCESSIBLE (alternative->row),
                                  GTK_ACCESSIBLE_RELATION_LABELLED_BY,
                                  alternative->text, NULL, -1);
}

static void
qm_recommendation_card_init (QmRecommendationCard *self)
{
  self->subject = -1;
  self->topic_rows = g_array_new (FALSE, FALSE, sizeof (TopicRow));
  gtk_widget_init_template (GTK_WIDGET (self));
  for (guint i = 0; i < QM_PROSE_ALTERNATIVES; i++)
    add_alternative (self, i);
  gtk_widget_set_visible (self->answer, FALSE);
  gtk_widget_set_visible (self->grounds, FALSE);
}
