/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/qm-format.h"
#include "ui/plot/qm-plot-axis.h"
#include "ui/plot/qm-plot-time.h"

#include <glib/gi18n-lib.h>
#include <math.h>

/* Value over its power of ten. */
static double
mantissa_of (double value)
{
  return value == 0 ? 0
                    : value / pow (10, floor (log10 (fabs (value)) + 1e-12));
}

/* "2×10¹²" */
static char *
format_scientific (double value, int digits)
{
  static const char *const superscripts[] = { "⁰", "¹", "²", "³", "⁴",
                                              "⁵", "⁶", "⁷", "⁸", "⁹" };
  int exponent = value == 0 ? 0 : (int) floor (log10 (fabs (value)) + 1e-12);
  double mantissa = mantissa_of (value);
  g_autofree char *number = qm_format_number (mantissa, digits);
  g_autofree char *power = g_strdup_printf ("%d", ABS (exponent));
  GString *text = g_string_new (NULL);

  if (value == 0)
    return g_string_free (g_string_append (text, "0"), FALSE);
  if (fabs (mantissa - 1) > 1e-9)
    g_string_append_printf (text, "%s×", number);
  g_string_append (text, exponent < 0 ? "10⁻" : "10");
  for (const char *c = power; *c != '\0'; c++)
    g_string_append (text, superscripts[*c - '0']);
  return g_string_free (text, FALSE);
}

static gboolean
is_multiple (double value, double quantum)
{
  double n = value / quantum;

  return fabs (n - round (n)) < 1e-5;
}

static gboolean
is_scientific (double value)
{
  return fabs (value) >= 1e6 || (value != 0 && fabs (value) < 1e-3);
}

static gboolean
is_exact_number (double value, int decimals)
{
  return is_multiple (is_scientific (value) ? mantissa_of (value) : value,
                      pow (10, -decimals));
}

static char *
format_number (double value, int decimals)
{
  return is_scientific (value) ? format_scientific (value, decimals)
                               : qm_format_number (value, decimals);
}

/* How the labels of one axis are written, each with more digits than the one
 * before. */
typedef enum
{
  STYLE_MONEY_SHORT, /* three digits at the most */
  STYLE_MONEY,
  STYLE_MONEY_CENTS,
  STYLE_NUMBER /* and beyond: with that many decimals */
} LabelStyle;

#define MAX_DECIMALS 9

/* Whether a value keeps its worth in that style. */
static gboolean
is_exact (double value, guint style)
{
  if (style >= STYLE_NUMBER)
    return is_exact_number (value, (int) (style - STYLE_NUMBER));
  if (fabs (value) >= 1e12)
    return FALSE;
  if (style == STYLE_MONEY_SHORT)
    return fabs (value) < 1000 ? is_multiple (value, 1)
                               : is_multiple (mantissa_of (value), 0.01);
  return is_multiple (value, style == STYLE_MONEY ? 1 : 0.01);
}

static char *
format_value (double value, guint style, const char *currency)
{
  switch (style)
    {
    case STYLE_MONEY_SHORT:
      return qm_format_money_short (value, currency);
    case STYLE_MONEY:
    case STYLE_MONEY_CENTS:
      return qm_format_money (value, currency, style == STYLE_MONEY_CENTS);
    default:
      return format_number (value, (int) (style - STYLE_NUMBER));
    }
}

GDateTime *
qm_plot_date (double days)
{
  g_autoptr (GDateTime) epoch = g_date_time_new_utc (1970, 1, 1, 0, 0, 0);

  return fabs (days) < 1e6 ? g_date_time_add_days (epoch, (int) floor (days))
                           : NULL;
}

double
qm_plot_days_of_month (int year, int month)
{
  g_autoptr (GDateTime) epoch = g_date_time_new_utc (1970, 1, 1, 0, 0, 0);
  g_autoptr (GDateTime) time = g_date_time_new_utc (year, month, 1, 0, 0, 0);

  return time != NULL
             ? (double) (g_date_time_difference (time, epoch) / G_TIME_SPAN_DAY)
             : NAN;
}

/* Years where all dates begin one, months where all begin one, else days. */
static const char *
date_format (const QmPlotTick *ticks, guint n)
{
  gboolean years = TRUE, months = TRUE;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GDateTime) time = qm_plot_date (ticks[i].value);

      months &= time != NULL && g_date_time_get_day_of_month (time) == 1;
      years &= months && g_date_time_get_month (time) == 1;
    }
  if (years)
    return "%Y";
  /* Translators: a month in short, see g_date_time_format(). */
  return months ? C_ ("date", "%b %Y")
                /* Translators: a day in short, see g_date_time_format(). */
                : C_ ("date", "%-e %b %Y");
}

static char *
format_date (double days, const char *format)
{
  g_autoptr (GDateTime) time = qm_plot_date (days);

  return time != NULL ? g_date_time_format (time, format) : g_strdup ("");
}

/* As many decimals as the times told in one unit need. */
static int
time_decimals (const QmPlotTick *ticks, guint n, guint unit)
{
  int decimals = 0;

  for (guint i = 0; i < n && decimals < MAX_DECIMALS;)
    if (ticks[i].unit != unit
        || is_exact_number (qm_plot_time_count (ticks[i].value, unit),
                            decimals))
      i++;
    else
      {
        decimals++;
        i = 0;
      }
  return decimals;
}

static void
label_times (QmPlotTick *ticks, guint n, gboolean brief)
{
  for (guint i = 0; i < n; i++)
    {
      double count = qm_plot_time_count (ticks[i].value, ticks[i].unit);
      g_autofree char *number =
          format_number (count, time_decimals (ticks, n, ticks[i].unit));

      g_free (ticks[i].label);
      ticks[i].label = ticks[i].value == 0
                           ? g_steal_pointer (&number)
                           : qm_plot_time_label (number, ticks[i].unit, brief);
    }
}

void
qm_plot_tick_labels (QmPlotTick *ticks,
                     guint n,
                     const QmPlotAxis *axis,
                     gboolean brief)
{
  gboolean money = axis->unit == QM_PLOT_UNIT_MONEY && axis->currency != NULL;
  guint style = money ? STYLE_MONEY_SHORT : STYLE_NUMBER;

  if (axis->unit == QM_PLOT_UNIT_TIME)
    {
      label_times (ticks, n, brief);
      return;
    }
  if (axis->unit == QM_PLOT_UNIT_DATE)
    {
      const char *format = date_format (ticks, n);

      for (guint i = 0; i < n; i++)
        {
          g_free (ticks[i].label);
          ticks[i].label = format_date (ticks[i].value, format);
        }
      return;
    }
  for (guint i = 0; i < n && style < STYLE_NUMBER + MAX_DECIMALS;)
    if (is_exact (ticks[i].value, style))
      i++;
    else
      {
        style++;
        i = 0;
      }
  for (guint i = 0; i < n; i++)
    {
      g_free (ticks[i].label);
      ticks[i].label = format_value (ticks[i].value, style, axis->currency);
    }
}
