/* SPDX-License-Identifier: Apache-2.0 */

/* How far a benchmark is: both bars, how long it takes yet, what is being
 * measured, temperature and power; what went wrong, with the last lines of the
 * log behind an expander; and the buttons that steer it. */

#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What it shows; text is copied. */
typedef struct
{
  const char *headline; /* "Measuring 3 of 12"; what a screen reader hears */
  gboolean running;     /* bars and sensors are shown */
  gboolean can_pause, can_continue, can_try_again, can_cancel;
  double overall;           /* 0 to 1 */
  const char *overall_text; /* "about 12 minutes left" */
  double current;           /* 0 to 1; NaN: not known, the bar pulses */
  const char *current_text; /* the configuration */
  const char *sensors;      /* "61 °C · 540 of 700 W"; NULL: not known */
  const char *failure;      /* a sentence; NULL: nothing went wrong */
  const char *log;          /* its last lines; NULL: none */
} QmBenchWatched;

#define QM_TYPE_BENCH_WATCH (qm_bench_watch_get_type ())
G_DECLARE_FINAL_TYPE (QmBenchWatch, qm_bench_watch, QM, BENCH_WATCH, GtkWidget)

/* Shows it; NULL hides the widget. */
void qm_bench_watch_show (QmBenchWatch *self, const QmBenchWatched *watched);

/* Gives the keyboard to the first of its buttons that can be pressed. */
void qm_bench_watch_focus (QmBenchWatch *self);

G_END_DECLS
