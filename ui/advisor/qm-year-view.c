/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-year-view.h"

#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"

#include "ui/qm-show.h"
#include "ui/qm-sideways.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Lines around the one that is recommended, on each side of it. */
#define LINES_AROUND 4

/* How wide a machine's name is before it is broken. */
#define NAME_CHARS 26

/* Columns before those of the runs. */
#define N_BEFORE 2

/* A line of the matrix. */
typedef struct
{
  int candidate;
  GtkWidget *button;
  GPtrArray *cells; /* of GtkWidget, one a run */
} Line;

struct _QmYearView
{
  GtkWidget parent_instance;

  GtkWidget *box;
  GtkLabel *headline;
  GtkLabel *plan;
  GtkWidget *expander;
  GtkScrolledWindow *scroller;
  GtkGrid *grid;

  QmAdvisor *advisor;
  GArray *lines; /* Line */
  int centre;    /* of the frontier, around which they are; -1: none yet */
};

G_DEFINE_FINAL_TYPE (QmYearView, qm_year_view, GTK_TYPE_WIDGET)

/* The one topic there is while it advises on a year; NULL. */
static const QmAdvice *
advice_of (QmYearView *self)
{
  const QmAdvice *advice;

  if (self->advisor == NULL || qm_advisor_get_n_topics (self->advisor) == 0)
    return NULL;
  advice = qm_advisor_get_advice (self->advisor, 0);
  return qm_advice_is_portfolio (advice) ? advice : NULL;
}

static void
line_clear (gpointer data)
{
  Line *line = data;

  g_ptr_array_unref (line->cells);
}

/* --- the matrix --- */

static void
clicked_cb (QmYearView *self, GtkWidget *button)
{
  for (guint i = 0; i < self->lines->len; i++)
    {
      const Line *line = &g_array_index (self->lines, Line, i);

      if (line->button == button && advice_of (self) != NULL)
        qm_advisor_select (self->advisor, 0, (guint) line->candidate);
    }
}

static GtkWidget *
new_head (const char *text, gboolean number)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), number ? 1 : 0);
  gtk_widget_set_halign (label, number ? GTK_ALIGN_END : GTK_ALIGN_START);
  gtk_widget_add_css_class (label, "caption-heading");
  return label;
}

static GtkWidget *
new_number (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_widget_set_halign (label, GTK_ALIGN_END);
  gtk_widget_add_css_class (label, "numeric");
  return label;
}

/* "Pythia (1B) on 4 × A100: 12 days; PyTorch, predicted: 9 to 15 days". */
static char *
describe_run (const QmRunTime *run, const char *model, const char *machine)
{
  g_autofree char *days = qm_prose_run_days (run);
  g_autofree char *whose = qm_prose_run_times_of (run);
  g_autofree char *range = NULL;

  if (whose == NULL)
    /* Translators: model, machine, "no time known". */
    return g_strdup_printf (_ ("%s on %s: %s"), model, machine, days);
  if (!run->predicted || !qm_known (run->days))
    /* Translators: model, machine, a time, whose it is. */
    return g_strdup_printf (_ ("%s on %s: %s; %s"), model, machine, days,
                            whose);
  range = qm_format_days_range (run->days, run->days_low, run->days_high);
  /* Translators: model, machine, a time, whose it is, its interval. */
  return g_strdup_printf (_ ("%s on %s: %s; %s: %s"), model, machine, days,
                          whose, range);
}

static GtkWidget *
new_cell (const QmRunTime *run, const char *model, const char *machine)
{
  g_autofree char *days = qm_prose_run_days (run);
  g_autofree char *about = describe_run (run, model, machine);
  g_autofree char *text =
      run->predicted && qm_known (run->days)
          ? g_strconcat ("≈\u00a0", days, NULL)
          : g_strdup (run->measurement != NULL ? days : "–");
  GtkWidget *cell = new_number (text);

  gtk_widget_set_tooltip_text (cell, about);
  gtk_accessible_update_property (GTK_ACCESSIBLE (cell),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, about, -1);
  return cell;
}

static const char *
name_of_model (QmYearView *self, const QmQuestion *question, guint run)
{
  const char *id = g_array_index (question->runs, QmRun, run).model;
  const QmModel *model =
      qm_catalog_model (qm_advisor_get_catalog (self->advisor), id);

  return model != NULL ? model->name : id;
}

/* Numbers beside it have their room. */
static void
wrap_name (GtkLabel *label)
{
  gtk_label_set_xalign (label, 0);
  gtk_label_set_wrap (label, TRUE);
  gtk_label_set_width_chars (label, NAME_CHARS);
  gtk_label_set_max_width_chars (label, NAME_CHARS);
}

static void
add_year_line (QmYearView *self, const QmAdvice *advice, int index)
{
  const QmQuestion *question = qm_advisor_get_question (self->advisor, 0);
  guint n_candidates, n;
  const QmCandidate *candidate =
      &qm_advice_candidates (advice, &n_candidates)[index];
  const QmRunTime *runs = qm_advice_runs (advice, candidate, &n);
  g_autofree char *machine = qm_prose_candidate (candidate);
  g_autofree char *busy = qm_known (candidate->busy)
                              ? qm_format_percent (candidate->busy)
                              : g_strdup ("–");
  Line line = { index, gtk_button_new_with_label (machine),
                g_ptr_array_new () };
  int row = (int) self->lines->len + 1;
  g_autofree char *cost =
      qm_purse_format (&question->purse, candidate->cost_minor);
  GtkWidget *share = new_number (busy);

  gtk_widget_add_css_class (line.button, "flat");
  gtk_widget_set_tooltip_text (line.button, _ ("Select this machine"));
  wrap_name (GTK_LABEL (gtk_button_get_child (GTK_BUTTON (line.button))));
  g_signal_connect_object (line.button, "clicked", G_CALLBACK (clicked_cb),
                           self, G_CONNECT_SWAPPED);
  gtk_grid_attach (self->grid, line.button, 0, row, 1, 1);
  gtk_grid_attach (self->grid, new_number (cost), 1, row, 1, 1);
  for (guint i = 0; i < n; i++)
    {
      GtkWidget *cell =
          new_cell (&runs[i], name_of_model (self, question, i), machine);

      gtk_grid_attach (self->grid, cell, (int) i + N_BEFORE, row, 1, 1);
      g_ptr_array_add (line.cells, cell);
    }
  gtk_grid_attach (self->grid, share, (int) n + N_BEFORE, row, 1, 1);
  g_array_append_val (self->lines, line);
}

static void
clear_grid (QmYearView *self)
{
  GtkWidget *child;

  g_array_set_size (self->lines, 0);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->grid))) != NULL)
    gtk_grid_remove (self->grid, child);
}

/* The place on the frontier of what is recommended or would do, or that is next
 * to it; -1: there is no frontier. */
static int
centre_of (QmYearView *self, const QmAdvice *advice)
{
  const QmRecommendation *found =
      qm_advisor_get_recommendation (self->advisor, 0);
  int wanted = found->best >= 0 ? found->best : found->would_do;
  guint n, n_candidates;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n_candidates);
  const int *frontier = qm_advice_frontier (advice, &n);

  for (guint i = 0; wanted >= 0 && i < n; i++)
    if (candidates[frontier[i]].days <= candidates[wanted].days)
      return (int) i;
  return (int) n - 1;
}

static void
fill_heads (QmYearView *self)
{
  const QmQuestion *question = qm_advisor_get_question (self->advisor, 0);
  int n = (int) question->runs->len;

  gtk_grid_attach (self->grid, new_head (_ ("GPUs"), FALSE), 0, 0, 1, 1);
  gtk_grid_attach (self->grid, new_head (_ ("Cost"), TRUE), 1, 0, 1, 1);
  for (int i = 0; i < n; i++)
    gtk_grid_attach (self->grid,
                     new_head (name_of_model (self, question, (guint) i), TRUE),
                     i + N_BEFORE, 0, 1, 1);
  gtk_grid_attach (self->grid, new_head (_ ("Busy"), TRUE), n + N_BEFORE, 0, 1,
                   1);
}

static void
fill_grid (QmYearView *self, const QmAdvice *advice, int centre)
{
  guint n;
  const int *frontier = qm_advice_frontier (advice, &n);
  const QmRecommendation *found =
      qm_advisor_get_recommendation (self->advisor, 0);
  gboolean seen = found->best < 0;

  clear_grid (self);
  self->centre = centre;
  gtk_widget_set_visible (self->expander, n > 0);
  fill_heads (self);
  for (int i = MAX (centre - LINES_AROUND, 0);
       i < (int) n && i <= centre + LINES_AROUND; i++)
    {
      add_year_line (self, advice, frontier[i]);
      seen |= frontier[i] == found->best;
    }
  if (!seen)
    add_year_line (self, advice, found->best);
}

/* Which line is recommended, and which runs are late. */
static void
mark_lines (QmYearView *self, const QmAdvice *advice)
{
  const QmRecommendation *found =
      qm_advisor_get_recommendation (self->advisor, 0);
  double deadline = qm_advisor_get_run_deadline_days (self->advisor);
  guint n_candidates;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n_candidates);

  for (guint i = 0; i < self->lines->len; i++)
    {
      const Line *line = &g_array_index (self->lines, Line, i);
      guint n;
      const QmRunTime *runs =
          qm_advice_runs (advice, &candidates[line->candidate], &n);
      gboolean best = line->candidate == found->best;

      qm_show_class (line->button, "suggested-action", best);
      qm_show_class (line->button, "flat", !best);
      for (guint run = 0; run < n && run < line->cells->len; run++)
        {
          GtkWidget *cell = g_ptr_array_index (line->cells, run);
          gboolean late = qm_known (deadline) && runs[run].days > deadline;

          qm_show_class (cell, "error", late);
          qm_show_class (cell, "dim-label", !qm_known (runs[run].days));
        }
    }
}

/* --- the whole --- */

static void
update_text (QmYearView *self, const QmAdvice *advice)
{
  const QmQuestion *question = qm_advisor_get_question (self->advisor, 0);
  const QmRecommendation *found =
      qm_advisor_get_recommendation (self->advisor, 0);
  g_autofree char *headline = qm_prose_headline (advice, question, found);
  int index = found->best >= 0 ? found->best : found->would_do;
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);
  g_auto (GStrv) plan =
      index >= 0 ? qm_prose_plan (advice, question, &candidates[index])
                 : g_new0 (char *, 1);
  g_autofree char *text = g_strjoinv ("\n", plan);
  g_autofree char *why = NULL;
  g_autofree char *all = NULL;

  /* Of what nobody may buy it is said why first. */
  if (found->best < 0)
    {
      why = qm_prose_why (advice, question, found);
      all =
          *text != '\0' ? g_strconcat (why, "\n", text, NULL) : g_strdup (why);
    }
  qm_show_text (self->headline, headline);
  qm_show_text (self->plan, all != NULL ? all : text);
}

static void
year_limits_cb (QmYearView *self)
{
  const QmAdvice *advice = advice_of (self);
  int centre;

  if (advice == NULL)
    return;
  centre = centre_of (self, advice);
  if (centre != self->centre)
    fill_grid (self, advice, centre);
  update_text (self, advice);
  mark_lines (self, advice);
}

static void
year_rebuilt_cb (QmYearView *self)
{
  const QmAdvice *advice = advice_of (self);

  gtk_widget_set_visible (GTK_WIDGET (self), advice != NULL);
  clear_grid (self);
  if (advice == NULL)
    return;
  fill_grid (self, advice, centre_of (self, advice));
  year_limits_cb (self);
}

void
qm_year_view_set_advisor (QmYearView *self, QmAdvisor *advisor)
{
  g_return_if_fail (QM_IS_YEAR_VIEW (self) && QM_IS_ADVISOR (advisor));
  g_return_if_fail (self->advisor == NULL);

  self->advisor = g_object_ref (advisor);
  g_signal_connect_object (advisor, "rebuilt", G_CALLBACK (year_rebuilt_cb),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (advisor, "limits-changed",
                           G_CALLBACK (year_limits_cb), self,
                           G_CONNECT_SWAPPED);
  year_rebuilt_cb (self);
}

static void
qm_year_view_dispose (GObject *object)
{
  QmYearView *self = QM_YEAR_VIEW (object);

  if (self->advisor != NULL)
    g_signal_handlers_disconnect_by_data (self->advisor, self);
  g_clear_object (&self->advisor);
  g_clear_pointer (&self->box, gtk_widget_unparent);

  G_OBJECT_CLASS (qm_year_view_parent_class)->dispose (object);
}

static void
qm_year_view_finalize (GObject *object)
{
  g_array_unref (QM_YEAR_VIEW (object)->lines);

  G_OBJECT_CLASS (qm_year_view_parent_class)->finalize (object);
}

static void
qm_year_view_class_init (QmYearViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  object_class->dispose = qm_year_view_dispose;
  object_class->finalize = qm_year_view_finalize;

  gtk_widget_class_set_template_from_resource (
      widget_class, "/org/quartermaster/Quartermaster/ui/qm-year-view.ui");
  gtk_widget_class_bind_template_child (widget_class, QmYearView, box);
  gtk_widget_class_bind_template_child (widget_class, QmYearView, headline);
  gtk_widget_class_bind_template_child (widget_class, QmYearView, plan);
  gtk_widget_class_bind_template_child (widget_class, QmYearView, expander);
  gtk_widget_class_bind_template_child (widget_class, QmYearView, scroller);
  gtk_widget_class_bind_template_child (widget_class, QmYearView, grid);
  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
qm_year_view_init (QmYearView *self)
{
  self->centre = -1;
  self->lines = g_array_new (FALSE, FALSE, sizeof (Line));
  g_array_set_clear_func (self->lines, line_clear);
  gtk_widget_init_template (GTK_WIDGET (self));
  qm_sideways_init (self->scroller);
}
