/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-axis.h"
#include "ui/plot/qm-plot-time.h"

#include <math.h>

/* Labels comfortably apart, and just not touching: between the boxes of labels
 * side by side, in ems, and from line to line, in line heights. */
#define COMFORTABLE_GAP  1.4
#define TIGHT_GAP        0.6
#define COMFORTABLE_LINE 2.3
#define TIGHT_LINE       1.15

/* More labels than this are not comfortable, however much room there is. */
#define COMFORTABLE_TICKS 9
#define MIN_TICKS         3

/* Least distance of minor ticks, in user units. */
#define MINOR_GAP 3.0

typedef struct
{
  const QmPlotAxis *axis;
  const QmPlotRange *range;
  double length;
  gboolean vertical;
  QmPlotText *text;
  double line_height;
} Chooser;

/* A rule by which ticks are laid out; finer ones have a lower order. */
typedef enum
{
  RULE_STEPS, /* multiples of 1, 2 or 5 x 10^exponent */
  RULE_ONE_TWO_FIVE,
  RULE_ONE_THREE,
  RULE_DECADES, /* every `stride`th power of ten */
  RULE_DAYS,    /* of dates: every `stride`th day, or month */
  RULE_MONTHS,
  RULE_TIME /* of lengths of time */
} RuleKind;

typedef struct
{
  RuleKind kind;
  double mantissa; /* of steps: 1, 2 or 5 */
  int exponent;
  int stride;
  QmPlotTimeRule time;
} Rule;

/* mantissa x 10^exponent, as near as a double comes. */
static double
decimal (double mantissa, int exponent)
{
  return exponent >= 0 ? mantissa * pow (10, exponent)
                       : mantissa / pow (10, -exponent);
}

static gboolean
add_tick (QmPlotTicks *ticks, const QmPlotRange *range, double value)
{
  double slack = range->log ? 0 : (range->max - range->min) * 1e-9;

  if (value < range->min - slack || value > range->max + slack
      || value < range->tick_min - slack)
    return TRUE;
  if (ticks->n_major == QM_PLOT_MAX_TICKS)
    return FALSE;
  ticks->major[ticks->n_major++] = (QmPlotTick){ .value = value };
  return TRUE;
}

static gboolean
add_steps (QmPlotTicks *ticks, const QmPlotRange *range, const Rule *rule)
{
  double step = decimal (rule->mantissa, rule->exponent);
  double first = ceil (range->min / step - 1e-6);
  double last = floor (range->max / step + 1e-6);

  /* A tick too many proves the rule too fine; there is no need to count on. */
  if (last - first > 2 * QM_PLOT_MAX_TICKS)
    return FALSE;
  for (double i = first; i <= last; i++)
    if (!add_tick (ticks, range,
                   i == 0 ? 0 : decimal (i * rule->mantissa, rule->exponent)))
      return FALSE;
  return TRUE;
}

/* The first days of every `stride`th month, counted from a January. */
static gboolean
add_months (QmPlotTicks *ticks, const QmPlotRange *range, const Rule *rule)
{
  g_autoptr (GDateTime) first = qm_plot_date (range->min);
  int month;

  if (first == NULL)
    return TRUE;
  month = g_date_time_get_year (first) * 12 + g_date_time_get_month (first) - 1;
  month -= month % rule->stride;
  for (guint i = 0; i <= 2 * QM_PLOT_MAX_TICKS; i++, month += rule->stride)
    {
      double value = qm_plot_days_of_month (month / 12, month % 12 + 1);

      if (!(value <= range->max))
        return TRUE;
      if (!add_tick (ticks, range, value))
        return FALSE;
    }
  return FALSE;
}

static gboolean
add_days (QmPlotTicks *ticks, const QmPlotRange *range, const Rule *rule)
{
  double first = ceil (range->min / rule->stride) * rule->stride;

  if ((range->max - first) / rule->stride > 2 * QM_PLOT_MAX_TICKS)
    return FALSE;
  for (double day = first; day <= range->max; day += rule->stride)
    if (!add_tick (ticks, range, day))
      return FALSE;
  return TRUE;
}

static gboolean
add_decades (QmPlotTicks *ticks, const QmPlotRange *range, const Rule *rule)
{
  static const double one_two_five[] = { 1, 2, 5 };
  static const double one_three[] = { 1, 3 };
  const double *mantissas = one_two_five;
  guint n = 1;
  int first = (int) floor (log10 (range->min)) - 1;
  int last = (int) ceil (log10 (range->max)) + 1;

  if (rule->kind == RULE_ONE_TWO_FIVE)
    n = G_N_ELEMENTS (one_two_five);
  if (rule->kind == RULE_ONE_THREE)
    {
      mantissas = one_three;
      n = G_N_ELEMENTS (one_three);
    }
  for (int e = first; e <= last; e++)
    for (guint i = 0; e % rule->stride == 0 && i < n; i++)
      if (!add_tick (ticks, range, decimal (mantissas[i], e)))
        return FALSE;
  return TRUE;
}

static gboolean
add_times (QmPlotTicks *ticks, const QmPlotRange *range, const Rule *rule)
{
  QmPlotTimeMark marks[QM_PLOT_MAX_TICKS];
  guint n = qm_plot_time_marks (range, &rule->time, marks, QM_PLOT_MAX_TICKS);

  if (n > QM_PLOT_MAX_TICKS)
    return FALSE;
  for (guint i = 0; i < n; i++)
    ticks->major[ticks->n_major++] =
        (QmPlotTick){ .value = marks[i].value, .unit = marks[i].unit };
  return TRUE;
}

static double
position (const Chooser *chooser, double value)
{
  return qm_plot_range_fraction (chooser->range, value) * chooser->length;
}

/* Whether all ticks are at least `gap` apart. */
static gboolean
spaced (const Chooser *chooser, const QmPlotTicks *ticks, double gap)
{
  for (guint i = 1; i < ticks->n_major; i++)
    if (position (chooser, ticks->major[i].value)
            - position (chooser, ticks->major[i - 1].value)
        < gap)
      return FALSE;
  return TRUE;
}

static void
write_labels (QmPlotTicks *ticks,
              const QmPlotAxis *axis,
              gboolean brief,
              QmPlotText *text)
{
  qm_plot_tick_labels (ticks->major, ticks->n_major, axis, brief);
  for (guint i = 0; i < ticks->n_major; i++)
    ticks->major[i].width =
        qm_plot_text_measure (text, ticks->major[i].label, QM_PLOT_FONT_NORMAL);
}

static void
label (const Chooser *chooser, QmPlotTicks *ticks)
{
  write_labels (ticks, chooser->axis, FALSE, chooser->text);
}

static gboolean
labels_fit (const Chooser *chooser, QmPlotTicks *ticks, gboolean comfortable)
{
  double em = chooser->text->size;
  double gap = em * (comfortable ? COMFORTABLE_GAP : TIGHT_GAP);

  if (chooser->vertical)
    {
      gap = comfortable ? COMFORTABLE_LINE : TIGHT_LINE;
      if (!spaced (chooser, ticks, chooser->line_height * gap))
        return FALSE;
      label (chooser, ticks);
      return TRUE;
    }
  /* Two digits a label at the least: saves writing most that cannot fit. */
  if (!spaced (chooser, ticks, gap + em))
    return FALSE;
  label (chooser, ticks);
  for (guint i = 1; i < ticks->n_major; i++)
    if (position (chooser, ticks->major[i].value)
            - position (chooser, ticks->major[i - 1].value)
            - (ticks->major[i].width + ticks->major[i - 1].width) / 2
        < gap)
      return FALSE;
  return TRUE;
}

static void
clear_major (QmPlotTicks *ticks)
{
  for (guint i = 0; i < ticks->n_major; i++)
    g_clear_pointer (&ticks->major[i].label, g_free);
  ticks->n_major = 0;
}

static gboolean
add_by_rule (QmPlotTicks *ticks, const QmPlotRange *range, const Rule *rule)
{
  switch (rule->kind)
    {
    case RULE_STEPS:
      return add_steps (ticks, range, rule);
    case RULE_DAYS:
      return add_days (ticks, range, rule);
    case RULE_MONTHS:
      return add_months (ticks, range, rule);
    case RULE_TIME:
      return add_times (ticks, range, rule);
    case RULE_ONE_TWO_FIVE:
    case RULE_ONE_THREE:
    case RULE_DECADES:
    default:
      return add_decades (ticks, range, rule);
    }
}

static gboolean
try_rule (const Chooser *chooser,
          const Rule *rule,
          guint min_ticks,
          guint max_ticks,
          gboolean comfortable,
          QmPlotTicks *ticks)
{
  gboolean complete;

  clear_major (ticks);
  complete = add_by_rule (ticks, chooser->range, rule);
  if (complete && ticks->n_major >= min_ticks && ticks->n_major <= max_ticks
      && labels_fit (chooser, ticks, comfortable))
    return TRUE;
  clear_major (ticks);
  return FALSE;
}

#define MAX_RULES 60

/* The rules for a range from fine to coarse. */
static guint
list_rules (const QmPlotRange *range, Rule rules[MAX_RULES])
{
  static const double mantissas[] = { 1, 2, 5 };
  static const int strides[] = { 1, 2, 3, 5, 10, 20, 50, 100 };
  double span = range->max - range->min;
  double decades = range->log ? log10 (range->max / range->min) : 0;
  int exponent = (int) floor (log10 (span / QM_PLOT_MAX_TICKS));
  guint n = 0;

  if (range->log && decades >= 1)
    rules[n++] = (Rule){ .kind = RULE_ONE_TWO_FIVE, .stride = 1 };
  if (range->log && decades >= 1)
    rules[n++] = (Rule){ .kind = RULE_ONE_THREE, .stride = 1 };
  for (guint i = 0; range->log && decades >= 1 && i < G_N_ELEMENTS (strides);
       i++)
    rules[n++] = (Rule){ .kind = RULE_DECADES, .stride = strides[i] };
  for (int e = exponent; decades < 2 && e <= exponent + 2; e++)
    for (guint i = 0; i < G_N_ELEMENTS (mantissas); i++)
      rules[n++] =
          (Rule){ .kind = RULE_STEPS, .mantissa = mantissas[i], .exponent = e };
  /* Where steps are too close at the upper end. */
  if (range->log && decades < 1)
    {
      rules[n++] = (Rule){ .kind = RULE_ONE_TWO_FIVE, .stride = 1 };
      rules[n++] = (Rule){ .kind = RULE_ONE_THREE, .stride = 1 };
    }
  return n;
}

/* The rules for dates: days, months, years. */
static guint
list_date_rules (Rule rules[MAX_RULES])
{
  static const int days[] = { 1, 2, 5, 10 };
  static const int months[] = { 1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200 };
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (days); i++)
    rules[n++] = (Rule){ .kind = RULE_DAYS, .stride = days[i] };
  for (guint i = 0; i < G_N_ELEMENTS (months); i++)
    rules[n++] = (Rule){ .kind = RULE_MONTHS, .stride = months[i] };
  return n;
}

static guint
list_time_rules (const QmPlotRange *range, Rule rules[MAX_RULES])
{
  QmPlotTimeRule times[QM_PLOT_MAX_TIME_RULES];
  guint n = qm_plot_time_rules (range, times);

  for (guint i = 0; i < n; i++)
    rules[i] = (Rule){ .kind = RULE_TIME, .time = times[i] };
  return n;
}

static guint
list_rules_of (const QmPlotAxis *axis,
               const QmPlotRange *range,
               Rule rules[MAX_RULES])
{
  if (axis->unit == QM_PLOT_UNIT_TIME)
    return list_time_rules (range, rules);
  if (axis->unit == QM_PLOT_UNIT_DATE && !range->log)
    return list_date_rules (rules);
  return list_rules (range, rules);
}

static void
choose_major (const Chooser *chooser, QmPlotTicks *ticks)
{
  Rule rules[MAX_RULES];
  guint n_rules = list_rules_of (chooser->axis, chooser->range, rules);

  for (guint i = 0; i < n_rules; i++)
    if (try_rule (chooser, &rules[i], MIN_TICKS, COMFORTABLE_TICKS, TRUE,
                  ticks))
      return;
  for (guint i = 0; i < n_rules; i++)
    if (try_rule (chooser, &rules[i], MIN_TICKS, QM_PLOT_MAX_TICKS, FALSE,
                  ticks))
      return;
  for (guint wanted = MIN_TICKS - 1; wanted > 0; wanted--)
    for (guint i = 0; i < n_rules; i++)
      if (try_rule (chooser, &rules[i], wanted, wanted, FALSE, ticks))
        return;
}

static gboolean
is_major (const QmPlotTicks *ticks, double value)
{
  for (guint i = 0; i < ticks->n_major; i++)
    if (fabs (ticks->major[i].value - value) <= value * 1e-9)
      return TRUE;
  return FALSE;
}

/* Adds the minor ticks of every decade, unless they are too many or too close
 * to each other. */
static gboolean
add_minor (const Chooser *chooser,
           const double *mantissas,
           guint n,
           double closest,
           QmPlotTicks *ticks)
{
  const QmPlotRange *range = chooser->range;
  double decades = log10 (range->max / range->min);

  if (chooser->length / decades * closest < MINOR_GAP
      || (decades + 2) * n > QM_PLOT_MAX_MINOR)
    return FALSE;
  for (int e = (int) floor (log10 (range->min)); e <= log10 (range->max); e++)
    for (guint i = 0; i < n; i++)
      {
        double value = decimal (mantissas[i], e);

        if (value >= range->min && value <= range->max
            && !is_major (ticks, value))
          ticks->minor[ticks->n_minor++] = value;
      }
  return TRUE;
}

/* The most that have room: 2 to 9 in each decade, 2 and 5, or powers of ten. */
static void
choose_minor (const Chooser *chooser, QmPlotTicks *ticks)
{
  static const double mantissas[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  static const double few[] = { 1, 2, 5 };

  if (!add_minor (chooser, mantissas, G_N_ELEMENTS (mantissas),
                  log10 (10.0 / 9), ticks)
      && !add_minor (chooser, few, G_N_ELEMENTS (few), log10 (2), ticks))
    add_minor (chooser, few, 1, 1, ticks);
}

/* Likewise of times, by what a ladder of round ones has beside the labels. */
static gboolean
add_minor_times (const Chooser *chooser,
                 const QmPlotTimeRule *rule,
                 QmPlotTicks *ticks)
{
  QmPlotTimeMark marks[QM_PLOT_MAX_MINOR];
  guint n = qm_plot_time_marks (chooser->range, rule, marks, QM_PLOT_MAX_MINOR);

  if (n > QM_PLOT_MAX_MINOR)
    return FALSE;
  for (guint i = 1; i < n; i++)
    if (position (chooser, marks[i].value)
            - position (chooser, marks[i - 1].value)
        < MINOR_GAP)
      return FALSE;
  for (guint i = 0; i < n; i++)
    if (!is_major (ticks, marks[i].value))
      ticks->minor[ticks->n_minor++] = marks[i].value;
  return TRUE;
}

static void
choose_minor_times (const Chooser *chooser, QmPlotTicks *ticks)
{
  QmPlotTimeRule rule;

  for (guint i = 0; qm_plot_time_minor_rule (i, &rule); i++)
    if (add_minor_times (chooser, &rule, ticks))
      return;
}

void
qm_plot_ticks_init (QmPlotTicks *ticks,
                    const QmPlotAxis *axis,
                    const QmPlotRange *range,
                    double length,
                    gboolean vertical,
                    QmPlotText *text)
{
  Chooser chooser = { axis, range, length, vertical, text, 0 };

  ticks->n_major = 0;
  ticks->n_minor = 0;
  chooser.line_height = qm_plot_text_line_height (text, QM_PLOT_FONT_NORMAL);
  choose_major (&chooser, ticks);
  if (range->log && axis->unit == QM_PLOT_UNIT_TIME)
    choose_minor_times (&chooser, ticks);
  else if (range->log)
    choose_minor (&chooser, ticks);
}

void
qm_plot_ticks_shorten (QmPlotTicks *ticks,
                       const QmPlotAxis *axis,
                       QmPlotText *text)
{
  write_labels (ticks, axis, TRUE, text);
}

void
qm_plot_ticks_clear (QmPlotTicks *ticks)
{
  clear_major (ticks);
  ticks->n_minor = 0;
}
