/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/plot/qm-plot-axis.h"

#include <locale.h>
#include <math.h>
#include <string.h>

typedef struct
{
  QmPlotAxis axis;
  QmPlotRange range;
  QmPlotTicks ticks;
  double length;
  gboolean vertical;
} Case;

static void
choose (Case *c, QmPlotText *text)
{
  memset (&c->ticks, 0, sizeof c->ticks);
  qm_plot_ticks_init (&c->ticks, &c->axis, &c->range, c->length, c->vertical,
                      text);
}

static double
place (const Case *c, double value)
{
  return qm_plot_range_fraction (&c->range, value) * c->length;
}

/* The distance of x from the nearest whole number. */
static double
unevenness (double x)
{
  return fabs (x - round (x));
}

static gboolean
is_one_of (double value, const double *list, guint n)
{
  double mantissa = value / pow (10, floor (log10 (value) + 1e-9));

  for (guint i = 0; i < n; i++)
    if (fabs (mantissa - list[i]) < 1e-5)
      return TRUE;
  return FALSE;
}

/* A step without the rounding of the difference that it came from. */
static double
rounded_step (double step)
{
  double power = pow (10, floor (log10 (step) + 1e-6));

  return round (step / power) * power;
}

/* Multiples of one step of 1, 2 or 5 times a power of ten, or on a logarithmic
 * axis such mantissas. */
static void
check_nice (const Case *c)
{
  static const double steps[] = { 1, 2, 5 };
  static const double mantissas[] = { 1, 2, 3, 5 };
  const QmPlotTicks *ticks = &c->ticks;
  gboolean even = ticks->n_major > 1;
  double step;

  if (ticks->n_major < 2)
    return;
  step = ticks->major[1].value - ticks->major[0].value;
  for (guint i = 1; i < ticks->n_major; i++)
    even &= fabs (ticks->major[i].value - ticks->major[i - 1].value - step)
            < 1e-5 * step;
  even = even && is_one_of (step, steps, G_N_ELEMENTS (steps));
  step = rounded_step (step);
  for (guint i = 0; i < ticks->n_major; i++)
    even = even && unevenness (ticks->major[i].value / step) < 1e-3;
  if (even)
    return;
  g_assert_true (c->range.log);
  for (guint i = 0; i < ticks->n_major; i++)
    g_assert_true (
        is_one_of (ticks->major[i].value, mantissas, G_N_ELEMENTS (mantissas)));
}

/* Days that a label of a time says; NaN: it has a power of ten. */
static double
days_of (const char *label)
{
  static const struct
  {
    const char *name;
    double days;
  } units[] = { { "s", 1.0 / 86400 }, { "min", 1.0 / 1440 },
                { "h", 1.0 / 24 },    { "day", 1 },
                { "week", 7 },        { "month", 365.25 / 12 },
                { "year", 365.25 } };
  g_auto (GStrv) words = g_strsplit (label, " ", -1);
  g_auto (GStrv) digits = g_strsplit (words[0], ",", -1);
  g_autofree char *number = g_strjoinv (NULL, digits);
  char *end;
  double count = g_ascii_strtod (number, &end);

  if (g_str_equal (label, "0"))
    return 0;
  g_assert_cmpuint (g_strv_length (words), ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    {
      g_autofree char *several = g_strconcat (units[i].name, "s", NULL);

      /* The rule of English. */
      if (g_str_equal (words[1], units[i].name)
              ? i < 3 || g_str_equal (number, "1")
              : i >= 3 && g_str_equal (words[1], several)
                    && !g_str_equal (number, "1"))
        return *end != '\0' ? NAN : count * units[i].days;
    }
  g_error ("%s", label);
}

/* Labels say what they stand at, in round numbers. */
static void
check_times (const Case *c)
{
  for (guint i = 0; i < c->ticks.n_major; i++)
    {
      const QmPlotTick *tick = &c->ticks.major[i];
      double said = days_of (tick->label);

      if (!isnan (said))
        g_assert_cmpfloat (fabs (said - tick->value), <=,
                           1e-6 * fabs (tick->value));
    }
}

static void
check_labels (const Case *c, QmPlotText *text)
{
  double line = qm_plot_text_line_height (text, QM_PLOT_FONT_NORMAL);

  for (guint i = 0; i < c->ticks.n_major; i++)
    {
      const QmPlotTick *tick = &c->ticks.major[i];

      g_assert_nonnull (tick->label);
      g_assert_true (g_utf8_validate (tick->label, -1, NULL));
      g_assert_cmpfloat (tick->width, >, 0);
      if (i == 0)
        continue;
      g_assert_cmpstr (tick->label, !=, tick[-1].label);
      g_assert_cmpfloat (place (c, tick->value) - place (c, tick[-1].value), >=,
                         c->vertical ? line
                                     : (tick->width + tick[-1].width) / 2);
    }
}

static void
check_order (const Case *c)
{
  double slack = c->range.log ? 0 : (c->range.max - c->range.min) * 1e-8;

  for (guint i = 0; i < c->ticks.n_major; i++)
    {
      double value = c->ticks.major[i].value;

      g_assert_cmpfloat (value, >=, c->range.min - slack);
      g_assert_cmpfloat (value, <=, c->range.max + slack);
      g_assert_cmpfloat (value, >=, c->range.tick_min);
      if (i > 0)
        g_assert_cmpfloat (value, >, c->ticks.major[i - 1].value);
    }
  for (guint i = 0; i < c->ticks.n_minor; i++)
    {
      g_assert_cmpfloat (c->ticks.minor[i], >=, c->range.min);
      g_assert_cmpfloat (c->ticks.minor[i], <=, c->range.max);
      if (i > 0)
        g_assert_cmpfloat (place (c, c->ticks.minor[i])
                               - place (c, c->ticks.minor[i - 1]),
                           >, 2.5);
    }
}

static void
check (Case *c, QmPlotText *text)
{
  choose (c, text);
  g_assert_cmpuint (c->ticks.n_major, <=, QM_PLOT_MAX_TICKS);
  check_order (c);
  check_labels (c, text);
  if (c->axis.unit == QM_PLOT_UNIT_TIME)
    check_times (c);
  else
    check_nice (c);
}

static void
fill_random (Case *c, GRand *random)
{
  static const QmPlotUnit units[] = { QM_PLOT_UNIT_NUMBER, QM_PLOT_UNIT_MONEY,
                                      QM_PLOT_UNIT_TIME };
  double size = pow (10, g_rand_double_range (random, -3, 9));
  double span;

  memset (c, 0, sizeof *c);
  c->axis.unit = units[g_rand_int_range (random, 0, 3)];
  c->axis.currency = "USD";
  c->axis.log = c->range.log = g_rand_boolean (random);
  c->range.tick_min = -HUGE_VAL;
  if (c->axis.log)
    {
      c->range.min = size;
      c->range.max = size * pow (10, g_rand_double_range (random, 0.02, 12));
    }
  else
    {
      span = size * pow (10, g_rand_double_range (random, -2, 1));
      c->range.min = g_rand_boolean (random) ? size : -size / 3;
      c->range.max = c->range.min + span;
    }
  c->vertical = g_rand_boolean (random);
}

/* Wherever there is room, however wide the font: 3 to 12 labels, in order,
 * within the range, round, and clear of each other. */
static void
test_random_ranges (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  QmPlotText text;
  double room;

  qm_plot_text_init (&text, qm_plot_theme_light (), NULL);
  room =
      5 * qm_plot_text_measure (&text, "900,000.5 months", QM_PLOT_FONT_NORMAL);
  for (int i = 0; i < 3000; i++)
    {
      Case c;

      fill_random (&c, random);
      c.length = g_rand_double_range (random, c.vertical ? 160 : room, 1600);
      check (&c, &text);
      if (c.ticks.n_major < 3)
        g_test_message ("%.17g to %.17g, log %d, length %g, vertical %d",
                        c.range.min, c.range.max, c.range.log, c.length,
                        c.vertical);
      g_assert_cmpuint (c.ticks.n_major, >=, 3);
      qm_plot_ticks_clear (&c.ticks);
    }
  qm_plot_text_clear (&text);
}

/* Without room there are fewer, and still nothing overlaps. */
static void
test_no_room (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (2);
  QmPlotText text;

  qm_plot_text_init (&text, qm_plot_theme_light (), NULL);
  for (int i = 0; i < 1500; i++)
    {
      Case c;

      fill_random (&c, random);
      c.length = g_rand_double_range (random, 1, 160);
      check (&c, &text);
      qm_plot_ticks_clear (&c.ticks);
    }
  qm_plot_text_clear (&text);
}

static void
test_extremes (void)
{
  static const double ranges[][2] = {
    { 1e-100, 1e100 },    { 1e-100, 1.1e-100 },  { 9e99, 1e100 },
    { 1, 1.00001 },       { 1e12, 1.00001e12 },  { 12345678, 12345878 },
    { 0.999999, 1.0001 }, { 0.0012, 0.00120002 }
  };
  QmPlotText text;

  qm_plot_text_init (&text, qm_plot_theme_light (), NULL);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (ranges); i++)
    for (double length = 1; length < 20000; length *= 3)
      {
        Case c = { .axis = { .currency = "USD", .log = i % 2 },
                   .range = { ranges[i / 2][0], ranges[i / 2][1], -HUGE_VAL,
                              i % 2 },
                   .length = length };

        check (&c, &text);
        qm_plot_ticks_clear (&c.ticks);
      }
  qm_plot_text_clear (&text);
}

static void
assert_labels (const Case *given, const char *expected)
{
  g_autoptr (GString) labels = g_string_new (NULL);
  Case c = *given;
  QmPlotText text;

  qm_plot_text_init (&text, qm_plot_theme_light (), NULL);
  choose (&c, &text);
  for (guint i = 0; i < c.ticks.n_major; i++)
    g_string_append_printf (labels, "%s%s", i > 0 ? " " : "",
                            c.ticks.major[i].label);
  g_assert_cmpstr (labels->str, ==, expected);
  qm_plot_ticks_clear (&c.ticks);
  qm_plot_text_clear (&text);
}

#define MONEY(is_log)                                              \
  {                                                                \
    .unit = QM_PLOT_UNIT_MONEY, .currency = "USD", .log = (is_log) \
  }
#define NUMBER(is_log)                           \
  {                                              \
    .unit = QM_PLOT_UNIT_NUMBER, .log = (is_log) \
  }

static void
test_labels (void)
{
  assert_labels (&(Case){ .axis = MONEY (TRUE),
                          .range = { 2000, 300000, -HUGE_VAL, TRUE },
                          .length = 690 },
                 "$2k $5k $10k $20k $50k $100k $200k");
  assert_labels (&(Case){ .axis = MONEY (FALSE),
                          .range = { -8000, 260000, 0, FALSE },
                          .length = 690 },
                 "$0 $50k $100k $150k $200k $250k");
  /* A step that three digits cannot show. */
  assert_labels (&(Case){ .axis = MONEY (FALSE),
                          .range = { 40100, 40200, -HUGE_VAL, FALSE },
                          .length = 500 },
                 "$40,100 $40,120 $40,140 $40,160 $40,180 $40,200");
  assert_labels (&(Case){ .axis = MONEY (FALSE),
                          .range = { 0, 1, 0, FALSE },
                          .length = 500 },
                 "$0.00 $0.20 $0.40 $0.60 $0.80 $1.00");
  assert_labels (&(Case){ .axis = NUMBER (TRUE),
                          .range = { 3.5, 430, -HUGE_VAL, TRUE },
                          .length = 510,
                          .vertical = TRUE },
                 "5 10 20 50 100 200");
  assert_labels (&(Case){ .axis = NUMBER (TRUE),
                          .range = { 0.3, 7, -HUGE_VAL, TRUE },
                          .length = 300,
                          .vertical = TRUE },
                 "0.5 1 2 5");
  /* Less than a decade. */
  assert_labels (&(Case){ .axis = NUMBER (TRUE),
                          .range = { 21, 64, -HUGE_VAL, TRUE },
                          .length = 260,
                          .vertical = TRUE },
                 "30 40 50 60");
  /* Less than a decade, and no room for the third label. */
  assert_labels (&(Case){ .axis = MONEY (TRUE),
                          .range = { 600, 3600, -HUGE_VAL, TRUE },
                          .length = 110 },
                 "$1k $2k");
  assert_labels (&(Case){ .axis = NUMBER (FALSE),
                          .range = { 0, 4e12, 0, FALSE },
                          .length = 300 },
                 "0 10¹² 2×10¹² 3×10¹² 4×10¹²");
}

/* The labels of times between two, given in days, along 300 units. */
static void
assert_times (gboolean log, double min, double max, const char *expected)
{
  assert_labels (&(Case){ .axis = { .unit = QM_PLOT_UNIT_TIME, .log = log },
                          .range = { min, max, log ? -HUGE_VAL : 0, log },
                          .length = 300,
                          .vertical = TRUE },
                 expected);
}

#define SECOND (1.0 / 86400)
#define MINUTE (1.0 / 1440)
#define HOUR   (1.0 / 24)
#define YEAR   365.25

static void
test_times (void)
{
  assert_times (FALSE, 0, 20 * SECOND, "0 5 s 10 s 15 s 20 s");
  assert_times (FALSE, 0, 90 * SECOND, "0 20 s 40 s 60 s 80 s");
  assert_times (FALSE, 0, 45 * MINUTE, "0 10 min 20 min 30 min 40 min");
  assert_times (FALSE, 0, 5 * HOUR, "0 1 h 2 h 3 h 4 h 5 h");
  assert_times (FALSE, 0, 1.5, "0 6 h 12 h 18 h 24 h 30 h 36 h");
  assert_times (FALSE, 0, 3,
                "0 0.5 days 1 day 1.5 days 2 days 2.5 days 3 days");
  assert_times (FALSE, 0, 10, "0 2 days 4 days 6 days 8 days 10 days");
  assert_times (FALSE, 0, 30, "0 1 week 2 weeks 3 weeks 4 weeks");
  assert_times (FALSE, 0, 90,
                "0 2 weeks 4 weeks 6 weeks 8 weeks 10 weeks 12 weeks");
  assert_times (FALSE, 0, 200,
                "0 1 month 2 months 3 months 4 months 5 months 6 months");
  assert_times (FALSE, 0, 2 * YEAR,
                "0 3 months 6 months 9 months 12 months 15 months 18 months "
                "21 months 24 months");
  assert_times (FALSE, 0, 7 * YEAR,
                "0 1 year 2 years 3 years 4 years 5 years 6 years 7 years");
  assert_times (FALSE, 0, 4e12,
                "0 2×10⁹ years 4×10⁹ years 6×10⁹ years "
                "8×10⁹ years 10¹⁰ years");
  /* What is looked at closely. */
  assert_times (FALSE, 30, 30.5,
                "30 days 30.1 days 30.2 days 30.3 days 30.4 days 30.5 days");
  assert_times (FALSE, 61.5, 66, "62 days 63 days 64 days 65 days 66 days");
  assert_times (FALSE, 20 * YEAR, 20.5 * YEAR,
                "20 years 20.1 years 20.2 years 20.3 years 20.4 years "
                "20.5 years");
  /* Units change along a logarithmic axis. */
  assert_times (TRUE, 3.5, 430,
                "1 week 2 weeks 1 month 3 months 6 months 1 year");
  assert_times (TRUE, 0.3, 7, "12 h 1 day 2 days 4 days 1 week");
  assert_times (TRUE, 10 * SECOND, 2 * HOUR, "15 s 1 min 5 min 15 min 1 h");
  assert_times (TRUE, MINUTE, 2 * YEAR, "1 min 1 h 1 day 1 month 1 year");
  assert_times (TRUE, 2.2, 3500, "1 week 1 month 3 months 1 year 3 years");
  /* Less than a decade. */
  assert_times (TRUE, 21, 64, "3 weeks 1 month 2 months");
}

/* Four to nine of them, whatever the span. */
static void
test_many_times (void)
{
  QmPlotText text;

  qm_plot_text_init (&text, qm_plot_theme_light (), NULL);
  for (double max = MINUTE; max < 10 * YEAR; max *= 1.03)
    for (guint i = 0; i < 3; i++)
      {
        const double ratios[] = { 0, 20, 400 };
        gboolean log = i > 0;
        Case c = { .axis = { .unit = QM_PLOT_UNIT_TIME, .log = log },
                   .range = { log ? max / ratios[i] : 0, max,
                              log ? -HUGE_VAL : 0, log },
                   .length = 340,
                   .vertical = TRUE };

        check (&c, &text);
        g_test_message ("%g days, %u: %u", max, i, c.ticks.n_major);
        g_assert_cmpuint (c.ticks.n_major, >=, 4);
        g_assert_cmpuint (c.ticks.n_major, <=, 9);
        qm_plot_ticks_clear (&c.ticks);
      }
  qm_plot_text_clear (&text);
}

/* Minor ticks are round times, too. */
static void
test_minor_times (void)
{
  Case c = { .axis = { .unit = QM_PLOT_UNIT_TIME, .log = TRUE },
             .range = { 1, 40, -HUGE_VAL, TRUE },
             .length = 300,
             .vertical = TRUE };
  /* Between 1, 2 and 4 days, 1 and 2 weeks and a month. */
  const double expected[] = { 3, 5, 6, 21 };
  QmPlotText text;

  qm_plot_text_init (&text, qm_plot_theme_light (), NULL);
  choose (&c, &text);
  g_assert_cmpuint (c.ticks.n_major, ==, 6);
  g_assert_cmpuint (c.ticks.n_minor, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpfloat (c.ticks.minor[i], ==, expected[i]);
  qm_plot_ticks_clear (&c.ticks);
  /* Fewer where they would touch. */
  for (double length = 300; length > 1; length /= 2)
    {
      c.length = length;
      choose (&c, &text);
      check_order (&c);
      g_assert_cmpfloat (c.ticks.n_minor, <=, length / 3 + 1);
      qm_plot_ticks_clear (&c.ticks);
    }
  qm_plot_text_clear (&text);
}

static void
test_minor (void)
{
  Case c = { .axis = MONEY (TRUE),
             .range = { 1000, 1e5, -HUGE_VAL, TRUE },
             .length = 400 };
  QmPlotText text;
  guint before;

  qm_plot_text_init (&text, qm_plot_theme_light (), NULL);
  choose (&c, &text);
  /* 2 to 9 of both decades but for what has a label, and the ends. */
  g_assert_cmpuint (c.ticks.n_major + c.ticks.n_minor, ==, 19);
  qm_plot_ticks_clear (&c.ticks);
  before = G_MAXUINT;
  for (double decades = 2; decades < 200; decades *= 2)
    {
      c.range.max = c.range.min * pow (10, decades);
      choose (&c, &text);
      g_assert_cmpuint (c.ticks.n_minor, <, 400 / 3);
      before = c.ticks.n_minor;
      qm_plot_ticks_clear (&c.ticks);
    }
  /* Decades less than three units wide have none. */
  g_assert_cmpuint (before, <=, 400 / 3);
  c.range.max = c.range.min * 1e95;
  c.length = 200;
  choose (&c, &text);
  g_assert_cmpuint (c.ticks.n_minor, ==, 0);
  qm_plot_ticks_clear (&c.ticks);
  qm_plot_text_clear (&text);
}

/* --- Ranges -------------------------------------------------------------- */

static QmPlotRange
range_of (const QmPlotAxis *axis, double min, double max)
{
  QmPlotSpan span = { TRUE, min, max };
  QmPlotRange range;

  qm_plot_range_init (&range, axis, &span, 400, 10);
  g_assert_true (isfinite (range.min) && isfinite (range.max));
  g_assert_cmpfloat (range.min, <, range.max);
  if (range.log)
    g_assert_cmpfloat (range.min, >, 0);
  return range;
}

static void
test_ranges (void)
{
  QmPlotAxis axis = { .min = NAN, .max = NAN };
  QmPlotRange range;

  /* From zero where that costs little. */
  range = range_of (&axis, 100, 1000);
  g_assert_cmpfloat (range.min, ==, 0);
  g_assert_cmpfloat_with_epsilon (400 * qm_plot_range_fraction (&range, 1000),
                                  390, 1e-6);
  range = range_of (&axis, 900, 1000);
  g_assert_cmpfloat_with_epsilon (400 * qm_plot_range_fraction (&range, 900),
                                  10, 1e-6);
  /* The lowest marker is not cut, yet no tick is negative. */
  range = range_of (&axis, 1, 1000);
  g_assert_cmpfloat (range.min, <, 0);
  g_assert_cmpfloat (range.tick_min, ==, 0);
  g_assert_cmpfloat_with_epsilon (400 * qm_plot_range_fraction (&range, 1), 10,
                                  1e-6);
  /* What was asked for. */
  axis.min = 5;
  axis.max = 6;
  range = range_of (&axis, 1, 1000);
  g_assert_cmpfloat (range.min, ==, 5);
  g_assert_cmpfloat (range.max, ==, 6);
  axis.max = NAN;
  range = range_of (&axis, 1, 1000);
  g_assert_cmpfloat (range.min, ==, 5);
  g_assert_cmpfloat_with_epsilon (400 * qm_plot_range_fraction (&range, 1000),
                                  390, 1e-6);
  axis.log = TRUE;
  axis.min = NAN;
  range = range_of (&axis, 10, 1000);
  g_assert_cmpfloat_with_epsilon (400 * qm_plot_range_fraction (&range, 10), 10,
                                  1e-6);
  g_assert_cmpfloat_with_epsilon (400 * qm_plot_range_fraction (&range, 100),
                                  200, 1e-6);
}

static void
test_odd_ranges (void)
{
  static const double odd[] = { NAN, INFINITY, -INFINITY, 0,     -0.0,
                                -1,  1,        1e-300,    1e300, -1e300,
                                42,  1e100,    1e-100 };
  static const double data[][2] = { { 0, 0 },          { 1, 1 },
                                    { -3, -3 },        { -1e100, 1e100 },
                                    { 1e-100, 1e100 }, { 7, 7.0000000001 },
                                    { -5, 5 } };
  QmPlotSpan nothing = { FALSE, HUGE_VAL, -HUGE_VAL };

  for (guint i = 0; i < G_N_ELEMENTS (odd); i++)
    for (guint j = 0; j < G_N_ELEMENTS (odd); j++)
      for (guint is_log = 0; is_log < 2; is_log++)
        {
          QmPlotAxis axis = { .min = odd[i], .max = odd[j], .log = is_log };
          QmPlotRange range;

          for (guint k = 0; k < G_N_ELEMENTS (data); k++)
            if (!is_log || data[k][0] > 0)
              range_of (&axis, data[k][0], data[k][1]);
          for (double length = 0; length < 1e6; length = 3 * length + 1)
            {
              qm_plot_range_init (&range, &axis, &nothing, length, length);
              g_assert_cmpfloat (range.min, <, range.max);
            }
        }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/ticks/random-ranges", test_random_ranges);
  g_test_add_func ("/plot/ticks/no-room", test_no_room);
  g_test_add_func ("/plot/ticks/extremes", test_extremes);
  g_test_add_func ("/plot/ticks/labels", test_labels);
  g_test_add_func ("/plot/ticks/times", test_times);
  g_test_add_func ("/plot/ticks/many-times", test_many_times);
  g_test_add_func ("/plot/ticks/minor", test_minor);
  g_test_add_func ("/plot/ticks/minor-times", test_minor_times);
  g_test_add_func ("/plot/range/plain", test_ranges);
  g_test_add_func ("/plot/range/odd", test_odd_ranges);
  return g_test_run ();
}
