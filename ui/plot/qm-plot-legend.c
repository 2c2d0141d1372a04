/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-legend.h"
#include "ui/plot/qm-plot-marker.h"
#include "ui/plot/qm-plot-paint.h"

#include <math.h>

#define MAX_ENTRIES  64
#define SYMBOL_GAP   5.0  /* from symbol to text */
#define ENTRY_GAP    12.0 /* from text to the next symbol in a row */
#define LINE_GAP     4.0
#define GROUP_GAP    10.0 /* between groups, besides that in rows */
#define LINE_LENGTH  18.0 /* of the frontier's sample */
#define SYMBOL_SIZE  2    /* weight of the sample markers */
#define NAME_MAX_EMS 16   /* wider names are cut */

static void
clear_entry (gpointer entry)
{
  g_free (((QmPlotEntry *) entry)->text);
}

void
qm_plot_legend_init (QmPlotLegend *legend, QmPlotText *text)
{
  *legend = (QmPlotLegend){ .place = QM_PLOT_LEGEND_NONE };
  legend->entries = g_array_new (FALSE, FALSE, sizeof (QmPlotEntry));
  g_array_set_clear_func (legend->entries, clear_entry);
  legend->line_height = qm_plot_text_line_height (text, QM_PLOT_FONT_NORMAL);
}

void
qm_plot_legend_clear (QmPlotLegend *legend)
{
  g_clear_pointer (&legend->entries, g_array_unref);
}

/* Of many series two may look alike: each has its name. */
static gboolean
has_entry (const QmPlotLegend *legend,
           QmPlotEntryKind kind,
           guint value,
           const char *name)
{
  for (guint i = 0; i < legend->entries->len; i++)
    {
      const QmPlotEntry *entry =
          &g_array_index (legend->entries, QmPlotEntry, i);

      if (entry->kind == kind && entry->value == value
          && (kind != QM_PLOT_ENTRY_SERIES || g_str_equal (entry->text, name)))
        return TRUE;
    }
  return FALSE;
}

static QmPlotFont
entry_font (QmPlotEntryKind kind)
{
  return kind == QM_PLOT_ENTRY_HEADING ? QM_PLOT_FONT_STRONG
                                       : QM_PLOT_FONT_NORMAL;
}

static void
limit_text (QmPlotEntry *entry, double max_width)
{
  entry->text_width = CLAMP (entry->full_width, 0, MAX (max_width, 1));
}

static void
add (QmPlotLegend *legend,
     QmPlotText *text,
     QmPlotEntryKind kind,
     guint value,
     const char *name,
     double symbol)
{
  QmPlotEntry entry = { .kind = kind, .value = value, .size = symbol };

  if (name == NULL || *name == '\0' || legend->entries->len >= MAX_ENTRIES
      || has_entry (legend, kind, value, name))
    return;
  entry.text = g_strdup (name);
  entry.full_width = MIN (qm_plot_text_measure (text, name, entry_font (kind)),
                          NAME_MAX_EMS * text->size);
  entry.height = MAX (legend->line_height,
                      kind == QM_PLOT_ENTRY_WEIGHT ? ceil (symbol) : 0);
  g_array_append_val (legend->entries, entry);
}

static void
add_weights (QmPlotLegend *legend,
             const QmPlotData *data,
             const QmPlotTheme *theme,
             QmPlotText *text)
{
  if (data->n_legend_weights == 0)
    return;
  add (legend, text, QM_PLOT_ENTRY_HEADING, 0, data->weight_title, 0);
  for (guint i = 0; i < data->n_legend_weights; i++)
    {
      guint weight = data->legend_weights[i];
      g_autofree char *name = g_strdup_printf ("%u", weight);

      add (legend, text, QM_PLOT_ENTRY_WEIGHT, weight, name,
           2 * qm_plot_marker_radius (theme, weight) + 2);
    }
}

/* Which series have a point that is drawn; of many types a shortlist may be.
 * (transfer full) */
static gboolean *
used_series (const QmPlotData *data)
{
  gboolean *used = g_new0 (gboolean, data->n_series + 1);

  for (guint i = 0; i < data->n_points; i++)
    if (data->points[i].series < data->n_series
        && qm_plot_point_drawable (data, &data->points[i]))
      used[data->points[i].series] = TRUE;
  return used;
}

void
qm_plot_legend_add (QmPlotLegend *legend,
                    const QmPlotData *data,
                    const QmPlotContents *contents,
                    const QmPlotTheme *theme,
                    QmPlotText *text)
{
  double symbol = 2 * qm_plot_marker_radius (theme, SYMBOL_SIZE) + 4;
  g_autofree gboolean *used = used_series (data);

  for (guint i = 0; i < data->n_series; i++)
    if (used[i])
      add (legend, text, QM_PLOT_ENTRY_SERIES,
           data->series[i].style % QM_PLOT_N_LOOKS, data->series[i].name,
           symbol);
  add_weights (legend, data, theme, text);
  for (guint i = 0; i < G_N_ELEMENTS (data->provenance_names); i++)
    if (contents->provenances & 1u << i)
      add (legend, text, QM_PLOT_ENTRY_PROVENANCE, i, data->provenance_names[i],
           symbol);
  if (contents->crossed)
    add (legend, text, QM_PLOT_ENTRY_CROSSED, 0, data->crossed_name, symbol);
  if (contents->grey)
    add (legend, text, QM_PLOT_ENTRY_GREY, 0, data->grey_name, symbol);
  if (data->n_frontier > 1)
    add (legend, text, QM_PLOT_ENTRY_FRONTIER, 0, data->frontier_name,
         LINE_LENGTH);
}

void
qm_plot_legend_keep_series (QmPlotLegend *legend)
{
  for (guint i = legend->entries->len; i > 0; i--)
    if (g_array_index (legend->entries, QmPlotEntry, i - 1).kind
        != QM_PLOT_ENTRY_SERIES)
      g_array_remove_index (legend->entries, i - 1);
}

/* Series, weights, and the rest. */
static int
group_of (QmPlotEntryKind kind)
{
  if (kind == QM_PLOT_ENTRY_SERIES)
    return 0;
  return kind == QM_PLOT_ENTRY_HEADING || kind == QM_PLOT_ENTRY_WEIGHT ? 1 : 2;
}

static double
entry_width (const QmPlotEntry *entry)
{
  return entry->symbol + (entry->symbol > 0 ? SYMBOL_GAP : 0)
         + entry->text_width;
}

void
qm_plot_legend_arrange_column (QmPlotLegend *legend, double max_width)
{
  double symbol = 0;
  double y = 0;

  legend->width = 0;
  for (guint i = 0; i < legend->entries->len; i++)
    symbol = MAX (symbol, g_array_index (legend->entries, QmPlotEntry, i).size);
  for (guint i = 0; i < legend->entries->len; i++)
    {
      QmPlotEntry *entry = &g_array_index (legend->entries, QmPlotEntry, i);

      if (i > 0)
        y += group_of (entry[-1].kind) != group_of (entry->kind) ? GROUP_GAP
                                                                 : LINE_GAP;
      entry->symbol = entry->size > 0 ? symbol : 0;
      limit_text (entry, max_width - symbol - SYMBOL_GAP);
      entry->x = 0;
      entry->y = y;
      y += entry->height;
      legend->width = MAX (legend->width, entry_width (entry));
    }
  legend->width = ceil (legend->width);
  legend->height = ceil (y);
}

/* Centres the entries from `first` on in a row and returns its height. */
static double
finish_row (QmPlotLegend *legend, guint first, guint end, double y)
{
  double height = 0;

  for (guint i = first; i < end; i++)
    height =
        MAX (height, g_array_index (legend->entries, QmPlotEntry, i).height);
  for (guint i = first; i < end; i++)
    {
      QmPlotEntry *entry = &g_array_index (legend->entries, QmPlotEntry, i);

      entry->y = y + (height - entry->height) / 2;
    }
  return height;
}

void
qm_plot_legend_arrange_rows (QmPlotLegend *legend, double max_width)
{
  double x = 0;
  double y = 0;
  guint first = 0;

  legend->width = 0;
  for (guint i = 0; i < legend->entries->len; i++)
    {
      QmPlotEntry *entry = &g_array_index (legend->entries, QmPlotEntry, i);

      if (x > 0 && group_of (entry[-1].kind) != group_of (entry->kind))
        x += GROUP_GAP;
      entry->symbol = entry->size;
      limit_text (entry, max_width - entry->symbol - SYMBOL_GAP);
      if (i > first && x + entry_width (entry) > max_width)
        {
          y += finish_row (legend, first, i, y) + LINE_GAP;
          first = i;
          x = 0;
        }
      entry->x = x;
      legend->width = MAX (legend->width, x + entry_width (entry));
      x += entry_width (entry) + ENTRY_GAP;
    }
  y += finish_row (legend, first, legend->entries->len, y);
  legend->width = ceil (legend->width);
  legend->height = ceil (y);
}

/* A marker that stands for no series. */
static void
neutral_marker (QmPlotMarker *marker,
                const QmPlotTheme *theme,
                guint weight,
                guint provenance,
                guint flags)
{
  double fill;

  qm_plot_marker_init (marker, theme, 0, weight, provenance, flags);
  fill = marker->fill.alpha;
  marker->fill = theme->faint_text;
  marker->fill.alpha *= flags & QM_PLOT_POINT_CROSSED ? fill / 2 : fill;
  if (provenance != QM_PLOT_MEASURED)
    marker->stroke = theme->faint_text;
}

void
qm_plot_set_frontier_line (cairo_t *cr, const QmPlotTheme *theme)
{
  qm_plot_set_color (cr, &theme->text, 0.55);
  cairo_set_line_width (cr, 1.6);
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
}

static void
draw_symbol (const QmPlotEntry *entry,
             cairo_t *cr,
             const QmPlotTheme *theme,
             double x,
             double y)
{
  QmPlotMarker marker;

  switch (entry->kind)
    {
    case QM_PLOT_ENTRY_SERIES:
      qm_plot_marker_init (&marker, theme, entry->value, SYMBOL_SIZE,
                           QM_PLOT_PUBLISHED, 0);
      break;
    case QM_PLOT_ENTRY_WEIGHT:
      neutral_marker (&marker, theme, entry->value, QM_PLOT_PUBLISHED, 0);
      marker.fill.alpha /= 3;
      break;
    case QM_PLOT_ENTRY_PROVENANCE:
      neutral_marker (&marker, theme, SYMBOL_SIZE, entry->value, 0);
      break;
    case QM_PLOT_ENTRY_CROSSED:
      neutral_marker (&marker, theme, SYMBOL_SIZE, QM_PLOT_PUBLISHED,
                      QM_PLOT_POINT_CROSSED);
      break;
    case QM_PLOT_ENTRY_GREY:
      qm_plot_marker_init (&marker, theme, 0, SYMBOL_SIZE, QM_PLOT_PUBLISHED,
                           QM_PLOT_POINT_GREY);
      break;
    case QM_PLOT_ENTRY_FRONTIER:
      qm_plot_set_frontier_line (cr, theme);
      cairo_move_to (cr, x - LINE_LENGTH / 2, y);
      cairo_line_to (cr, x + LINE_LENGTH / 2, y);
      cairo_stroke (cr);
      return;
    case QM_PLOT_ENTRY_HEADING:
    default:
      return;
    }
  qm_plot_marker_draw (&marker, cr, x, y);
}

/* Where pixels do not round the advances, a text may be a little wider than it
 * was measured: no reason to cut it. */
static gboolean
is_cut (const QmPlotEntry *entry, const QmPlotText *text)
{
  return entry->text_width < entry->full_width
         || entry->full_width >= NAME_MAX_EMS * text->size;
}

void
qm_plot_legend_draw (const QmPlotLegend *legend,
                     cairo_t *cr,
                     const QmPlotTheme *theme,
                     QmPlotText *text)
{
  for (guint i = 0; i < legend->entries->len; i++)
    {
      const QmPlotEntry *entry =
          &g_array_index (legend->entries, QmPlotEntry, i);
      double x = legend->x + entry->x;
      double y = legend->y + entry->y + entry->height / 2;
      double width;
      double height;

      draw_symbol (entry, cr, theme, x + entry->symbol / 2, y);
      qm_plot_text_set (text, entry->text, entry_font (entry->kind),
                        is_cut (entry, text) ? entry->text_width : -1);
      qm_plot_text_get_size (text, &width, &height);
      qm_plot_set_color (cr,
                         entry->kind == QM_PLOT_ENTRY_HEADING
                             ? &theme->faint_text
                             : &theme->text,
                         1);
      qm_plot_text_show (text, cr,
                         x + entry->symbol
                             + (entry->symbol > 0 ? SYMBOL_GAP : 0),
                         y - height / 2);
    }
}
