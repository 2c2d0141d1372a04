/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/advisor/qm-report.h"

#include "pricing/advice/qm-prose-plan.h"
#include "pricing/advice/qm-prose-rent.h"
#include "pricing/advice/qm-prose.h"
#include "pricing/qm-format.h"
#include "ui/advisor/qm-candidate-column.h"
#include "ui/advisor/qm-plot-set.h"
#include "ui/plot/qm-page-text.h"
#include "ui/plot/qm-plot-export.h"

#include <cairo-pdf.h>
#include <glib/gi18n-lib.h>
#include <math.h>

#define SETTINGS 6.5 /* font sizes in points */
#define SMALL    8.0
#define BODY     9.5
#define HEADLINE 14.0
#define GAP      8.0
#define CELL_GAP 8.0

/* Plots take at least this share of the height that is left (of one model, of
 * several), and at most this share of the width as height. */
#define PLOT_SHARE     0.5
#define PLOTS_SHARE    0.65
#define PLOT_ASPECT    0.8
#define MIN_PLOT_SPACE 120.0

/* The size, in the plots' own units, that a plot is made for, and how far paper
 * shrinks it. */
#define PLOT_AREA (420.0 * 320.0)
#define MIN_SCALE 0.3
#define MAX_SCALE 0.65

/* A4, in points. */
#define PAPER_WIDTH  595.276
#define PAPER_HEIGHT 841.89
#define MARGIN       36.0

typedef struct
{
  guint topic;
  guint index;
} Row;

struct _QmReport
{
  QmAdvisor *advisor;
  QmDate today;
  QmPlotSet *plots;
  GArray *rows; /* Row */
  Row taken;    /* the candidate that is taken along, with its settings */
  char *settings_title;
  char *settings; /* NULL: none is */
};

/* Where the next thing goes. */
typedef struct
{
  const QmReport *report;
  cairo_t *cr;
  double width, height;
  double y;
} Page;

static const QmCandidate *
candidate_of (const QmReport *report, const Row *row)
{
  guint n;

  return &qm_advice_candidates (
      qm_advisor_get_advice (report->advisor, row->topic), &n)[row->index];
}

static gboolean
is_recommended (const QmReport *report, const Row *row)
{
  return qm_advisor_get_recommendation (report->advisor, row->topic)->best
         == (int) row->index;
}

/* The recommended ones first; then by topic and overall cost. */
static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const QmReport *report = data;
  const Row *p = a;
  const Row *q = b;
  int order;

  order = is_recommended (report, q) - is_recommended (report, p);
  if (order == 0)
    order = (p->topic > q->topic) - (p->topic < q->topic);
  if (order == 0)
    order =
        qm_candidate_column_compare (QM_COLUMN_COST, candidate_of (report, p),
                                     candidate_of (report, q), FALSE);
  if (order == 0)
    order = (p->index > q->index) - (p->index < q->index);
  return order;
}

QmReport *
qm_report_new (QmAdvisor *advisor, QmDate today)
{
  QmReport *report;

  g_return_val_if_fail (QM_IS_ADVISOR (advisor), NULL);

  report = g_new0 (QmReport, 1);
  report->advisor = g_object_ref (advisor);
  report->today = today;
  report->plots = qm_plot_set_new (advisor, QM_PLOT_SET_BOTH);
  report->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  for (guint topic = 0; topic < qm_advisor_get_n_topics (advisor); topic++)
    {
      guint n;

      qm_advice_candidates (qm_advisor_get_advice (advisor, topic), &n);
      for (guint i = 0; i < n; i++)
        g_array_append_val (report->rows, ((Row){ topic, i }));
    }
  g_array_sort_with_data (report->rows, compare_rows, report);
  return report;
}

void
qm_report_free (QmReport *report)
{
  if (report == NULL)
    return;
  qm_plot_set_free (report->plots);
  g_array_unref (report->rows);
  g_object_unref (report->advisor);
  g_free (report->settings_title);
  g_free (report->settings);
  g_free (report);
}

void
qm_report_take (QmReport *report,
                guint topic,
                guint candidate,
                const char *title,
                const char *settings)
{
  guint n;

  g_return_if_fail (report != NULL && title != NULL && settings != NULL);
  g_return_if_fail (topic < qm_advisor_get_n_topics (report->advisor));
  qm_advice_candidates (qm_advisor_get_advice (report->advisor, topic), &n);
  g_return_if_fail (candidate < n);

  report->taken = (Row){ topic, candidate };
  g_free (report->settings_title);
  g_free (report->settings);
  report->settings_title = g_strdup (title);
  report->settings = g_strdup (settings);
}

static void
show (Page *page, PangoLayout *layout, double x, double y)
{
  cairo_move_to (page->cr, x, y);
  pango_cairo_show_layout (page->cr, layout);
}

/* A paragraph over the whole width; nothing where it finds no room. */
static void
add_text (Page *page, const char *text, double size, gboolean bold)
{
  g_autoptr (PangoLayout) layout =
      qm_page_text_new (page->cr, text, size, bold);
  double height;

  pango_layout_set_width (layout, (int) (page->width * PANGO_SCALE));
  height = qm_page_text_height (layout);
  if (page->y + height > page->height)
    return;
  show (page, layout, 0, page->y);
  page->y += height + GAP / 2;
}

static void
add_title (Page *page)
{
  g_autofree char *date = qm_format_date (page->report->today);
  g_autoptr (PangoLayout) name =
      qm_page_text_new (page->cr, _ ("Quartermaster"), SMALL, FALSE);
  g_autoptr (PangoLayout) day = qm_page_text_new (page->cr, date, SMALL, FALSE);

  show (page, name, 0, page->y);
  show (page, day, page->width - qm_page_text_width (day), page->y);
  page->y += qm_page_text_height (name) + GAP;
}

/* What is compared with what could be bought. */
static void
add_uses (Page *page)
{
  QmAdvisor *advisor = page->report->advisor;
  const QmCatalog *catalog = qm_advisor_get_catalog (advisor);
  g_autoptr (GString) list = g_string_new (NULL);
  g_autofree char *line = NULL;

  for (guint i = 0; i < qm_advisor_get_n_uses (advisor); i++)
    {
      const QmUse *use = qm_advisor_get_use (advisor, i);
      g_autofree char *text =
          qm_prose_use (use, qm_catalog_gpu (catalog, use->gpu));

      g_string_append_printf (list, "%s%s", i > 0 ? "; " : "", text);
    }
  if (list->len == 0)
    return;
  /* Translators: "4 × A100; 8 × H100 at 2 USD an hour of each". */
  line = g_strdup_printf (_ ("To use instead: %s"), list->str);
  add_text (page, line, SMALL, FALSE);
}

/* Of what is recommended or would do: what a year's runs come to, or one
 * training in the user's money, and what renting costs in its place. */
static void
add_plan (Page *page, guint topic)
{
  QmAdvisor *advisor = page->report->advisor;
  const QmAdvice *advice = qm_advisor_get_advice (advisor, topic);
  const QmQuestion *question = qm_advisor_get_question (advisor, topic);
  const QmRecommendation *found =
      qm_advisor_get_recommendation (advisor, topic);
  int index = found->best >= 0 ? found->best : found->would_do;
  guint n;
  const QmCandidate *candidates = qm_advice_candidates (advice, &n);
  g_auto (GStrv) plan = NULL;
  g_auto (GStrv) rent = NULL;
  g_autofree char *renting = NULL;

  if (index < 0)
    return;
  plan = qm_prose_plan (advice, question, &candidates[index]);
  for (guint i = 0; plan[i] != NULL; i++)
    add_text (page, plan[i], BODY, FALSE);
  rent = qm_prose_rent (qm_advisor_get_catalog (advisor), advice, question,
                        &candidates[index]);
  renting = g_strjoinv (" ", rent);
  if (*renting != '\0')
    add_text (page, renting, BODY, FALSE);
}

static void
add_topic (Page *page, guint topic, gboolean in_full)
{
  QmAdvisor *advisor = page->report->advisor;
  const QmAdvice *advice = qm_advisor_get_advice (advisor, topic);
  const QmQuestion *question = qm_advisor_get_question (advisor, topic);
  const QmRecommendation *recommendation =
      qm_advisor_get_recommendation (advisor, topic);
  g_autofree char *headline =
      qm_prose_headline (advice, question, recommendation);
  /* Translators: name of a model, its recommendation. */
  g_autofree char *line =
      g_strdup_printf (_ ("%s: %s"), qm_advisor_get_title (advisor, topic),
                       headline);
  g_autofree char *reason = NULL;
  g_auto (GStrv) sentences = NULL;
  g_autofree char *paragraph = NULL;

  if (!in_full)
    {
      add_text (page, line, BODY, FALSE);
      return;
    }
  reason = qm_prose_reason (advice, question, recommendation);
  sentences = qm_prose_alternatives (advice, recommendation, NULL);
  paragraph = g_strjoinv (" ", sentences);
  add_text (page, line, HEADLINE, TRUE);
  add_text (page, reason, BODY, FALSE);
  add_plan (page, topic);
  if (*paragraph != '\0')
    add_text (page, paragraph, BODY, FALSE);
}

static void
add_warnings (Page *page)
{
  QmAdvisor *advisor = page->report->advisor;
  g_auto (GStrv) warnings = NULL;
  g_auto (GStrv) notes = qm_prose_notes (qm_advisor_get_advice (advisor, 0),
                                         qm_advisor_get_question (advisor, 0));

  warnings = qm_prose_warnings (qm_advisor_get_advice (advisor, 0),
                                qm_advisor_get_question (advisor, 0),
                                qm_advisor_get_recommendation (advisor, 0),
                                page->report->today);
  for (guint i = 0; warnings[i] != NULL; i++)
    {
      g_autofree char *line = g_strdup_printf ("⚠ %s", warnings[i]);

      add_text (page, line, BODY, FALSE);
    }
  for (guint i = 0; notes[i] != NULL; i++)
    add_text (page, notes[i], BODY, FALSE);
}

/* More sources than that are for the table's export. */
#define MAX_SOURCES 4

static void
add_sources (Page *page, guint topic)
{
  g_auto (GStrv) sources =
      qm_prose_sources (qm_advisor_get_advice (page->report->advisor, topic));

  for (guint i = 0; sources[i] != NULL && i < MAX_SOURCES; i++)
    {
      g_autofree char *line =
          g_strdup_printf (_ ("Training times: %s."), sources[i]);

      add_text (page, line, SMALL, FALSE);
    }
}

/* The candidate that is taken along: the machine, how its time is known. */
static void
add_taken (Page *page)
{
  const QmReport *report = page->report;
  const QmCandidate *candidate = candidate_of (report, &report->taken);
  g_autofree char *name = qm_prose_candidate (candidate);
  g_autofree char *machine = qm_prose_machine (candidate);
  g_autofree char *days = qm_format_days (candidate->days);
  g_autofree char *interval = qm_prose_interval (candidate);
  g_autofree char *source = qm_prose_source (candidate->measurement);
  /* Translators: name of a model, GPUs, time. */
  g_autofree char *line = g_strdup_printf (
      _ ("%s on %s: %s"),
      qm_advisor_get_title (report->advisor, report->taken.topic), name, days);
  /* Translators: where a time comes from. */
  g_autofree char *time = g_strdup_printf (_ ("The time is %s."), source);
  g_autofree char *verdict = qm_prose_verdict (candidate);

  add_text (page, line, HEADLINE, TRUE);
  add_text (page, machine, BODY, FALSE);
  add_text (page, time, BODY, FALSE);
  if (interval != NULL)
    add_text (page, interval, BODY, FALSE);
  if (verdict != NULL)
    {
      g_autofree char *warning = g_strdup_printf ("⚠ %s", verdict);

      add_text (page, warning, BODY, FALSE);
    }
}

/* Settings as a file has them; lines that find no room are left out. */
static void
add_settings (Page *page)
{
  g_auto (GStrv) lines = g_strsplit (page->report->settings, "\n", -1);

  add_text (page, page->report->settings_title, BODY, TRUE);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autoptr (PangoLayout) layout =
          qm_page_text_new (page->cr, lines[i], SETTINGS, FALSE);
      PangoFontDescription *font = pango_font_description_copy (
          pango_layout_get_font_description (layout));

      pango_font_description_set_family (font, "monospace");
      pango_layout_set_font_description (layout, font);
      pango_font_description_free (font);
      pango_layout_set_width (layout, (int) (page->width * PANGO_SCALE));
      if (page->y + qm_page_text_height (layout) > page->height)
        return;
      show (page, layout, 0, page->y);
      page->y += qm_page_text_height (layout);
    }
  page->y += GAP;
}

/* Draws plots as one grid; what they share is said once. */
static void
add_grid (Page *page, const QmPlotData *const *plots, guint n, double height)
{
  double scale =
      CLAMP (sqrt (page->width * height / n / PLOT_AREA), MIN_SCALE, MAX_SCALE);

  cairo_save (page->cr);
  cairo_translate (page->cr, 0, page->y);
  cairo_scale (page->cr, scale, scale);
  qm_plot_draw_grid (page->cr, plots, n, page->width / scale, height / scale,
                     qm_plot_theme_light ());
  cairo_restore (page->cr);
  page->y += height;
}

static void
add_plots (Page *page, double wanted)
{
  guint n;
  const QmPlotData *const *plots = qm_plot_set_data (page->report->plots, &n);
  guint n_topics = qm_advisor_get_n_topics (page->report->advisor);
  double room = MIN (wanted, page->height - page->y);

  if (n == 0 || room < MIN_PLOT_SPACE)
    return;
  if (n_topics == 1)
    add_grid (page, plots, n, room);
  else
    for (guint i = 0; i < n; i += n_topics)
      add_grid (page, plots + i, n_topics, room * n_topics / n);
  page->y += GAP;
}

static char *
cell_text (const QmReport *report, const Row *row, QmCandidateColumn column)
{
  g_autofree char *text = qm_candidate_column_text (
      column, qm_advisor_get_title (report->advisor, row->topic),
      candidate_of (report, row),
      &qm_advisor_get_question (report->advisor, row->topic)->purse);

  if (column == QM_COLUMN_GPU && is_recommended (report, row))
    return g_strdup_printf ("★ %s", text);
  return g_steal_pointer (&text);
}

static const char *
heading_of (const QmReport *report, QmCandidateColumn column)
{
  gboolean portfolio;

  g_object_get (report->advisor, "portfolio", &portfolio, NULL);
  return portfolio ? qm_candidate_column_portfolio_title (column)
                   : qm_candidate_column_title (column);
}

/* The columns that say something. */
static guint
choose_columns (const QmReport *report, QmCandidateColumn columns[QM_N_COLUMNS])
{
  gboolean portfolio;
  gboolean times_of = FALSE;
  guint n = 0;

  g_object_get (report->advisor, "portfolio", &portfolio, NULL);
  for (guint i = 0; i < qm_advisor_get_n_topics (report->advisor); i++)
    times_of |= qm_candidate_column_tells_times (
        qm_advisor_get_advice (report->advisor, i));
  for (guint i = 0; i < QM_N_COLUMNS; i++)
    if (i != QM_COLUMN_SOURCE && (i != QM_COLUMN_TIMES_OF || times_of)
        && (i != QM_COLUMN_MACHINES || portfolio)
        && (i != QM_COLUMN_MODEL
            || qm_advisor_get_n_topics (report->advisor) > 1))
      columns[n++] = i;
  return n;
}

/* Widths that hold the headings and the first `n_rows` rows, squeezed alike
 * where that is more than there is. */
static void
measure_columns (Page *page,
                 const QmCandidateColumn *columns,
                 guint n_columns,
                 guint n_rows,
                 double *widths)
{
  double sum = 0;
  double room = page->width - CELL_GAP * (n_columns - 1);

  for (guint c = 0; c < n_columns; c++)
    {
      g_autoptr (PangoLayout) heading =
          qm_page_text_new (page->cr, heading_of (page->report, columns[c]),
                            SMALL, TRUE);

      widths[c] = qm_page_text_width (heading);
      for (guint i = 0; i < n_rows; i++)
        {
          const Row *row = &g_array_index (page->report->rows, Row, i);
          g_autofree char *text = cell_text (page->report, row, columns[c]);
          g_autoptr (PangoLayout) layout =
              qm_page_text_new (page->cr, text, SMALL,
                                is_recommended (page->report, row));

          widths[c] = MAX (widths[c], qm_page_text_width (layout));
        }
      sum += widths[c];
    }
  for (guint c = 0; c < n_columns && sum > room; c++)
    widths[c] *= room / sum;
}

static void
draw_cell (Page *page,
           const char *text,
           QmCandidateColumn column,
           double x,
           double width,
           gboolean bold)
{
  g_autoptr (PangoLayout) layout =
      qm_page_text_new (page->cr, text, SMALL, bold);

  pango_layout_set_width (layout, (int) (width * PANGO_SCALE));
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  if (qm_candidate_column_is_number (column))
    pango_layout_set_alignment (layout, PANGO_ALIGN_RIGHT);
  show (page, layout, x, page->y);
}

static void
draw_row (Page *page,
          const QmCandidateColumn *columns,
          guint n_columns,
          const double *widths,
          const Row *row)
{
  double x = 0;

  for (guint c = 0; c < n_columns; c++)
    {
      g_autofree char *text =
          row != NULL ? cell_text (page->report, row, columns[c])
                      : g_strdup (heading_of (page->report, columns[c]));

      draw_cell (page, text, columns[c], x, widths[c],
                 row == NULL || is_recommended (page->report, row));
      x += widths[c] + CELL_GAP;
    }
}

static double
line_height (Page *page)
{
  g_autoptr (PangoLayout) layout =
      qm_page_text_new (page->cr, "X", SMALL, TRUE);

  return qm_page_text_height (layout) + 2;
}

static guint
add_table (Page *page)
{
  QmCandidateColumn columns[QM_N_COLUMNS];
  double widths[QM_N_COLUMNS];
  guint n_columns = choose_columns (page->report, columns);
  double line = line_height (page);
  double room = page->height - page->y - line; /* but for the heading */
  guint n = page->report->rows->len;
  guint shown = room > 0 ? (guint) (room / line) : 0;

  if (shown >= n)
    shown = n;
  else if (shown > 0)
    shown--; /* for the line that counts the others */
  if (shown == 0)
    return 0;
  measure_columns (page, columns, n_columns, shown, widths);
  draw_row (page, columns, n_columns, widths, NULL);
  page->y += line;
  cairo_rectangle (page->cr, 0, page->y - 1.5, page->width, 0.5);
  cairo_fill (page->cr);
  for (guint i = 0; i < shown; i++)
    {
      draw_row (page, columns, n_columns, widths,
                &g_array_index (page->report->rows, Row, i));
      page->y += line;
    }
  if (shown < n)
    {
      g_autofree char *rest =
          g_strdup_printf (ngettext ("and %u more candidate",
                                     "and %u more candidates", n - shown),
                           n - shown);

      draw_cell (page, rest, QM_COLUMN_GPU, 0, page->width, FALSE);
    }
  return shown;
}

guint
qm_report_draw (const QmReport *report,
                cairo_t *cr,
                double width,
                double height)
{
  Page page = { .report = report, .cr = cr, .width = width, .height = height };
  guint n_topics;
  g_autofree char *question = NULL;
  double table_height;
  double room, least;
  guint shown;

  g_return_val_if_fail (report != NULL && cr != NULL, 0);
  g_return_val_if_fail (width > 0 && height > 0, 0);

  cairo_save (cr);
  cairo_rectangle (cr, 0, 0, width, height);
  cairo_clip (cr);
  cairo_set_source_rgb (cr, 0, 0, 0);
  add_title (&page);
  n_topics = qm_advisor_get_n_topics (report->advisor);
  if (report->settings != NULL)
    add_taken (&page);
  for (guint i = 0; i < n_topics && report->settings == NULL; i++)
    add_topic (&page, i, n_topics == 1);
  if (n_topics == 1 && report->settings == NULL)
    add_warnings (&page);
  if (n_topics > 0)
    {
      question =
          qm_prose_question (qm_advisor_get_question (report->advisor, 0));
      add_text (&page, question, SMALL, FALSE);
      add_uses (&page);
    }
  if (report->settings != NULL)
    add_settings (&page);
  else if (n_topics == 1)
    add_sources (&page, 0);

  /* The plots take what a table in full leaves, but never less than a share. */
  table_height = line_height (&page) * (report->rows->len + 2);
  room = height - page.y;
  least = room * (n_topics > 1 ? PLOTS_SHARE : PLOT_SHARE);
  add_plots (&page, CLAMP (room - table_height, least,
                           MAX (width * PLOT_ASPECT, least)));
  cairo_set_source_rgb (cr, 0, 0, 0);
  shown = add_table (&page);
  cairo_restore (cr);
  return shown;
}

static cairo_status_t
append_cb (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

GBytes *
qm_report_pdf (const QmReport *report)
{
  GByteArray *bytes = g_byte_array_new ();
  cairo_surface_t *surface;
  cairo_t *cr;

  g_return_val_if_fail (report != NULL, NULL);

  surface = cairo_pdf_surface_create_for_stream (append_cb, bytes, PAPER_WIDTH,
                                                 PAPER_HEIGHT);
  cr = cairo_create (surface);
  cairo_translate (cr, MARGIN, MARGIN);
  qm_report_draw (report, cr, PAPER_WIDTH - 2 * MARGIN,
                  PAPER_HEIGHT - 2 * MARGIN);
  cairo_show_page (cr);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return g_byte_array_free_to_bytes (bytes);
}
