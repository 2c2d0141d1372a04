/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-time.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define DAYS_PER_YEAR 365.25

/* --- Units --------------------------------------------------------------- */

typedef struct
{
  double days;
  double most;    /* more of it are told in larger units, or in parts of one */
  gboolean parts; /* parts of it are told as decimals */
} Unit;

static const Unit units[QM_PLOT_N_TIME_UNITS] = {
  [QM_PLOT_SECONDS] = { 1.0 / 86400, 120, TRUE },
  [QM_PLOT_MINUTES] = { 1.0 / 1440, 120, TRUE },
  [QM_PLOT_HOURS] = { 1.0 / 24, 48, TRUE },
  [QM_PLOT_DAYS] = { 1, 2 * DAYS_PER_YEAR, TRUE },
  [QM_PLOT_WEEKS] = { 7, 26, FALSE },
  [QM_PLOT_MONTHS] = { DAYS_PER_YEAR / 12, 60, FALSE },
  [QM_PLOT_YEARS] = { DAYS_PER_YEAR, HUGE_VAL, TRUE },
};

double
qm_plot_time_count (double days, QmPlotTimeUnit unit)
{
  double count = days / units[unit].days;

  return fabs (count - round (count)) < 1e-9 * fabs (count) ? round (count)
                                                            : count;
}

static const char *
brief_format (QmPlotTimeUnit unit)
{
  switch (unit)
    {
    case QM_PLOT_SECONDS:
      /* Translators: seconds, in short. */
      return C_ ("time", "%s s");
    case QM_PLOT_MINUTES:
      /* Translators: minutes, in short. */
      return C_ ("time", "%s min");
    case QM_PLOT_HOURS:
      /* Translators: hours, in short. */
      return C_ ("time", "%s h");
    case QM_PLOT_DAYS:
      /* Translators: days, in short. */
      return C_ ("time", "%s d");
    case QM_PLOT_WEEKS:
      /* Translators: weeks, in short. */
      return C_ ("time", "%s wk");
    case QM_PLOT_MONTHS:
      /* Translators: months, in short. */
      return C_ ("time", "%s mo");
    case QM_PLOT_YEARS:
    case QM_PLOT_N_TIME_UNITS:
    default:
      /* Translators: years, in short. */
      return C_ ("time", "%s yr");
    }
}

char *
qm_plot_time_label (const char *number, QmPlotTimeUnit unit, gboolean brief)
{
  gulong n = strcmp (number, "1") == 0 ? 1 : 2;

  if (!brief && unit == QM_PLOT_DAYS)
    return g_strdup_printf (ngettext ("%s day", "%s days", n), number);
  if (!brief && unit == QM_PLOT_WEEKS)
    return g_strdup_printf (ngettext ("%s week", "%s weeks", n), number);
  if (!brief && unit == QM_PLOT_MONTHS)
    return g_strdup_printf (ngettext ("%s month", "%s months", n), number);
  if (!brief && unit == QM_PLOT_YEARS)
    return g_strdup_printf (ngettext ("%s year", "%s years", n), number);
  /* Shorter ones are written in short everywhere. */
  return g_strdup_printf (brief_format (unit), number);
}

/* --- Marks of logarithmic axes ------------------------------------------- */

/* The ladders from fine to coarse, the first one for minor ticks; the last has
 * decades far apart, and between them only what is as far from its
 * neighbours. */
enum
{
  LADDER_MINOR,
  LADDER_FINEST,
  LADDER_FINE,
  LADDER_MEDIUM,
  LADDER_WIDE,
  LADDER_BROAD,
  LADDER_WIDER,
  LADDER_UNITS,
  LADDER_DECADES,
  N_LADDERS
};

#define MI (1 << LADDER_MINOR)
#define FT (1 << LADDER_FINEST)
#define FI (1 << LADDER_FINE)
#define ME (1 << LADDER_MEDIUM)
#define WI (1 << LADDER_WIDE)
#define BR (1 << LADDER_BROAD)
#define WR (1 << LADDER_WIDER)
#define UN (1 << LADDER_UNITS)
#define DE (1 << LADDER_DECADES)

static const struct
{
  QmPlotTimeUnit unit;
  int count;
  guint ladders; /* that it is in */
  int stride;    /* of LADDER_DECADES: the widest that it is in */
} rungs[] = {
  { QM_PLOT_SECONDS, 1, MI | FT | FI | ME | WI | BR | WR | UN | DE, 10 },
  { QM_PLOT_SECONDS, 2, MI | FT | FI | ME, 0 },
  { QM_PLOT_SECONDS, 3, MI | FT, 0 },
  { QM_PLOT_SECONDS, 4, MI, 0 },
  { QM_PLOT_SECONDS, 5, MI | FT | FI | ME | WI | BR, 0 },
  { QM_PLOT_SECONDS, 10, MI | FT | FI | ME | WR, 0 },
  { QM_PLOT_SECONDS, 15, WI | BR, 0 },
  { QM_PLOT_SECONDS, 20, MI | FT, 0 },
  { QM_PLOT_SECONDS, 30, MI | FT | FI | ME, 0 },
  { QM_PLOT_SECONDS, 40, MI, 0 },
  { QM_PLOT_SECONDS, 50, MI, 0 },
  { QM_PLOT_MINUTES, 1, MI | FT | FI | ME | WI | BR | WR | UN, 0 },
  { QM_PLOT_MINUTES, 2, MI | FT | FI | ME, 0 },
  { QM_PLOT_MINUTES, 3, MI | FT, 0 },
  { QM_PLOT_MINUTES, 4, MI, 0 },
  { QM_PLOT_MINUTES, 5, MI | FT | FI | ME | WI | BR, 0 },
  { QM_PLOT_MINUTES, 10, MI | FT | FI | ME | WR, 0 },
  { QM_PLOT_MINUTES, 15, WI | BR, 0 },
  { QM_PLOT_MINUTES, 20, MI | FT, 0 },
  { QM_PLOT_MINUTES, 30, MI | FT | FI | ME, 0 },
  { QM_PLOT_MINUTES, 40, MI, 0 },
  { QM_PLOT_MINUTES, 50, MI, 0 },
  { QM_PLOT_HOURS, 1, MI | FT | FI | ME | WI | BR | WR | UN | DE, 3 },
  { QM_PLOT_HOURS, 2, MI | FT | FI, 0 },
  { QM_PLOT_HOURS, 3, MI | FT | ME, 0 },
  { QM_PLOT_HOURS, 4, MI, 0 },
  { QM_PLOT_HOURS, 6, MI | FT | FI | WI | BR, 0 },
  { QM_PLOT_HOURS, 9, MI, 0 },
  { QM_PLOT_HOURS, 12, MI | FT | FI | ME, 0 },
  { QM_PLOT_HOURS, 18, MI, 0 },
  { QM_PLOT_DAYS, 1, MI | FT | FI | ME | WI | BR | WR | UN, 0 },
  { QM_PLOT_DAYS, 2, MI | FT | FI, 0 },
  { QM_PLOT_DAYS, 3, MI | ME | WI, 0 },
  { QM_PLOT_DAYS, 4, MI | FT | FI, 0 },
  { QM_PLOT_DAYS, 5, MI, 0 },
  { QM_PLOT_DAYS, 6, MI, 0 },
  { QM_PLOT_WEEKS, 1, MI | FT | FI | ME | WI | BR | WR, 0 },
  { QM_PLOT_WEEKS, 2, MI | FT | FI | ME, 0 },
  { QM_PLOT_WEEKS, 3, MI | FT, 0 },
  { QM_PLOT_MONTHS, 1, MI | FT | FI | ME | WI | BR | WR | UN, 0 },
  { QM_PLOT_MONTHS, 2, MI | FT | FI, 0 },
  { QM_PLOT_MONTHS, 3, MI | FT | FI | ME | WI | BR, 0 },
  { QM_PLOT_MONTHS, 4, MI, 0 },
  { QM_PLOT_MONTHS, 5, MI, 0 },
  { QM_PLOT_MONTHS, 6, MI | FT | FI | ME, 0 },
  { QM_PLOT_MONTHS, 7, MI, 0 },
  { QM_PLOT_MONTHS, 8, MI, 0 },
  { QM_PLOT_MONTHS, 9, MI, 0 },
  { QM_PLOT_MONTHS, 10, MI, 0 },
  { QM_PLOT_MONTHS, 11, MI, 0 },
};

typedef struct
{
  const QmPlotRange *range;
  QmPlotTimeMark *marks;
  guint n, max;
} List;

/* Returns FALSE once there are too many. */
static gboolean
add_mark (List *list, double value, QmPlotTimeUnit unit)
{
  const QmPlotRange *range = list->range;
  double slack = range->log ? 0 : (range->max - range->min) * 1e-9;

  if (value < range->min - slack || value > range->max + slack
      || value < range->tick_min - slack)
    return TRUE;
  if (list->n < list->max)
    list->marks[list->n] = (QmPlotTimeMark){ value, unit };
  return ++list->n <= list->max;
}

/* 10^exponent, as near as a double comes. */
static double
power_of_ten (int exponent)
{
  return exponent >= 0 ? pow (10, exponent) : 1 / pow (10, -exponent);
}

/* The mantissas that a ladder has in each decade. */
static guint
list_mantissas (guint rung, const double **mantissas)
{
  static const double all[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  static const double one_two_three_five[] = { 1, 2, 3, 5 };
  static const double one_two_five[] = { 1, 2, 5 };
  static const double one_three[] = { 1, 3 };

  *mantissas = all;
  switch (rung)
    {
    case LADDER_MINOR:
      return G_N_ELEMENTS (all);
    case LADDER_FINEST:
      *mantissas = one_two_three_five;
      return G_N_ELEMENTS (one_two_three_five);
    case LADDER_FINE:
    case LADDER_MEDIUM:
      *mantissas = one_two_five;
      return G_N_ELEMENTS (one_two_five);
    case LADDER_WIDE:
    case LADDER_BROAD:
      *mantissas = one_three;
      return G_N_ELEMENTS (one_three);
    default:
      return 1;
    }
}

/* The decades of a unit from one power of ten to another. */
static gboolean
add_decades (List *list,
             const QmPlotTimeRule *rule,
             QmPlotTimeUnit unit,
             int first,
             int last)
{
  const double *mantissas;
  guint n = list_mantissas (rule->rung, &mantissas);

  for (int e = first; e <= last; e++)
    for (guint i = 0; e % rule->stride == 0 && i < n; i++)
      if (!add_mark (list, mantissas[i] * power_of_ten (e) * units[unit].days,
                     unit))
        return FALSE;
  return TRUE;
}

static gboolean
add_ladder (List *list, const QmPlotTimeRule *rule)
{
  const QmPlotRange *range = list->range;
  int first = (int) floor (log10 (range->min / units[QM_PLOT_SECONDS].days));
  int last = (int) ceil (log10 (range->max / units[QM_PLOT_YEARS].days));

  if (!add_decades (list, rule, QM_PLOT_SECONDS, first - 1, -1))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (rungs); i++)
    if ((rungs[i].ladders & 1 << rule->rung) != 0
        && (rule->rung != LADDER_DECADES || rule->stride <= rungs[i].stride)
        && !add_mark (list, rungs[i].count * units[rungs[i].unit].days,
                      rungs[i].unit))
      return FALSE;
  return add_decades (list, rule, QM_PLOT_YEARS, 0, last);
}

static gboolean
add_steps (List *list, const QmPlotTimeRule *rule)
{
  double step = rule->step * units[rule->unit].days;
  double first = ceil (list->range->min / step - 1e-6);
  double last = floor (list->range->max / step + 1e-6);

  /* Too many prove the rule too fine; there is no need to count on. */
  if (last - first > 2.0 * list->max)
    return FALSE;
  for (double i = first; i <= last; i++)
    if (!add_mark (list, i == 0 ? 0 : i * step, rule->unit))
      return FALSE;
  return TRUE;
}

guint
qm_plot_time_marks (const QmPlotRange *range,
                    const QmPlotTimeRule *rule,
                    QmPlotTimeMark *marks,
                    guint max)
{
  List list = { range, marks, 0, max };

  if (!(rule->ladder ? add_ladder (&list, rule) : add_steps (&list, rule)))
    return max + 1;
  return list.n;
}

/* --- Rules --------------------------------------------------------------- */

/* Steps of whole units, from fine to coarse. */
static const struct
{
  QmPlotTimeUnit unit;
  int count;
} whole[] = {
  { QM_PLOT_SECONDS, 1 },  { QM_PLOT_SECONDS, 2 },  { QM_PLOT_SECONDS, 5 },
  { QM_PLOT_SECONDS, 10 }, { QM_PLOT_SECONDS, 20 }, { QM_PLOT_SECONDS, 30 },
  { QM_PLOT_MINUTES, 1 },  { QM_PLOT_MINUTES, 2 },  { QM_PLOT_MINUTES, 5 },
  { QM_PLOT_MINUTES, 10 }, { QM_PLOT_MINUTES, 20 }, { QM_PLOT_MINUTES, 30 },
  { QM_PLOT_HOURS, 1 },    { QM_PLOT_HOURS, 2 },    { QM_PLOT_HOURS, 3 },
  { QM_PLOT_HOURS, 6 },    { QM_PLOT_HOURS, 12 },   { QM_PLOT_DAYS, 1 },
  { QM_PLOT_DAYS, 2 },     { QM_PLOT_DAYS, 3 },     { QM_PLOT_DAYS, 5 },
  { QM_PLOT_WEEKS, 1 },    { QM_PLOT_DAYS, 10 },    { QM_PLOT_WEEKS, 2 },
  { QM_PLOT_MONTHS, 1 },   { QM_PLOT_MONTHS, 2 },   { QM_PLOT_MONTHS, 3 },
  { QM_PLOT_MONTHS, 6 },
};

/* Whether numbers of a unit up to `largest` days are told in it. */
static gboolean
is_countable (QmPlotTimeUnit unit, double largest)
{
  return largest <= units[unit].most * units[unit].days;
}

/* From three weeks on steps of several days make way for weeks, unless those
 * are too many to be counted. */
static gboolean
is_of_use (guint i, double largest)
{
  gboolean several = whole[i].unit == QM_PLOT_DAYS && whole[i].count > 2;

  return is_countable (whole[i].unit, largest)
         && !(several && largest >= 3 * units[QM_PLOT_WEEKS].days
              && is_countable (QM_PLOT_WEEKS, largest));
}

/* The largest unit of which there are two, and that has decimals. */
static QmPlotTimeUnit
unit_of_parts (double largest)
{
  QmPlotTimeUnit unit = QM_PLOT_SECONDS;

  for (guint i = 0; i < QM_PLOT_N_TIME_UNITS; i++)
    if (units[i].parts && largest >= 2 * units[i].days)
      unit = (QmPlotTimeUnit) i;
  return unit;
}

static void
add_rule (QmPlotTimeRule *rules, guint *n, QmPlotTimeUnit unit, double step)
{
  if (*n < QM_PLOT_MAX_TIME_RULES)
    rules[(*n)++] = (QmPlotTimeRule){ .unit = unit, .step = step };
}

/* Steps of 1, 2 or 5 times a power of ten of a unit, three decades of them, in
 * between these days. */
static void
add_decimal_steps (QmPlotTimeRule *rules,
                   guint *n,
                   QmPlotTimeUnit unit,
                   double span,
                   double least,
                   double most)
{
  static const double mantissas[] = { 1, 2, 5 };
  const double days = units[unit].days;
  int first = (int) floor (log10 (span / QM_PLOT_MAX_TICKS / days));

  for (int e = first; e <= first + 2; e++)
    for (guint i = 0; i < G_N_ELEMENTS (mantissas); i++)
      {
        double step =
            e >= 0 ? mantissas[i] * pow (10, e) : mantissas[i] / pow (10, -e);

        /* Rounding decides nothing: steps are no nearer to each other. */
        if (step * days > 0.99 * least && step * days < 0.99 * most)
          add_rule (rules, n, unit, step);
      }
}

static void
add_step_rules (const QmPlotRange *range, QmPlotTimeRule *rules, guint *n)
{
  double largest = MAX (fabs (range->min), fabs (range->max));
  double span = range->max - range->min;
  double finest = units[QM_PLOT_YEARS].days;

  for (guint i = G_N_ELEMENTS (whole); i-- > 0;)
    if (is_of_use (i, largest))
      finest = whole[i].count * units[whole[i].unit].days;
  add_decimal_steps (rules, n, unit_of_parts (largest), span, 0, finest);
  for (guint i = 0; i < G_N_ELEMENTS (whole); i++)
    if (is_of_use (i, largest))
      add_rule (rules, n, whole[i].unit, whole[i].count);
  add_decimal_steps (rules, n, QM_PLOT_YEARS, span, units[QM_PLOT_YEARS].days,
                     HUGE_VAL);
}

guint
qm_plot_time_rules (const QmPlotRange *range,
                    QmPlotTimeRule rules[QM_PLOT_MAX_TIME_RULES])
{
  static const int strides[] = { 2, 3, 5, 10, 20, 50, 100 };
  guint n = 0;

  for (guint i = LADDER_FINEST; range->log && i < LADDER_DECADES; i++)
    rules[n++] = (QmPlotTimeRule){ .ladder = TRUE, .rung = i, .stride = 1 };
  for (guint i = 0; range->log && i < G_N_ELEMENTS (strides); i++)
    rules[n++] = (QmPlotTimeRule){ .ladder = TRUE,
                                   .rung = LADDER_DECADES,
                                   .stride = strides[i] };
  if (!range->log || range->max < 100 * range->min)
    add_step_rules (range, rules, &n);
  return n;
}

gboolean
qm_plot_time_minor_rule (guint coarseness, QmPlotTimeRule *rule)
{
  static const guint ladders[] = { LADDER_MINOR, LADDER_FINE, LADDER_BROAD,
                                   LADDER_WIDER, LADDER_UNITS };

  if (coarseness >= G_N_ELEMENTS (ladders))
    return FALSE;
  *rule = (QmPlotTimeRule){ .ladder = TRUE,
                            .rung = ladders[coarseness],
                            .stride = 1 };
  return TRUE;
}
