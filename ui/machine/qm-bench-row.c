/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/machine/qm-bench-row.h"

#include "ui/machine/qm-machine-text.h"

#include <math.h>

struct _QmBenchRow
{
  GObject parent_instance;

  char *model;
  char *title;
  char *settings;
  char *variant; /* of sharding or of offloading */
  gboolean offloads;
  int gpus;
  gboolean checkpointing;
  gint64 micro_batch;

  QmBenchRowState state;
  double progress;
  QmBenchFigure predicted; /* days */
  double days;
  double step;
  double mfu;
  double cost;
  gint64 memory;
  char *reason; /* in the user's language */
  char *words;  /* as they were said */
  char *log;
};

G_DEFINE_FINAL_TYPE (QmBenchRow, qm_bench_row, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_STATE,
  PROP_PROGRESS,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];
static guint changed;

/* Of one GPU nothing is said. */
static int
gpus_of (const json_t *line)
{
  return (int) CLAMP (qm_line_whole (line, "gpus"), 1, 4096);
}

static gboolean
is_set (const json_t *line, const char *name)
{
  return json_is_true (json_object_get (line, name));
}

static QmBenchRowState
state_of (const json_t *line)
{
  static const struct
  {
    const char *name;
    QmBenchRowState state;
  } states[] = {
    { "running", QM_BENCH_ROW_RUNNING },
    { "measured", QM_BENCH_ROW_MEASURED },
    { "infeasible", QM_BENCH_ROW_INFEASIBLE },
    { "failed", QM_BENCH_ROW_FAILED },
    { "not run", QM_BENCH_ROW_NOT_RUN },
    /* Seen to be slow, and not timed: its reason says so. */
    { "cut", QM_BENCH_ROW_NOT_RUN },
  };
  const char *status = qm_line_text (line, "status");

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    if (g_str_equal (states[i].name, status))
      return states[i].state;
  return json_is_false (json_object_get (line, "fits"))
             ? QM_BENCH_ROW_INFEASIBLE
             : QM_BENCH_ROW_WAITING;
}

static void
set_text (char **place, const char *text)
{
  g_free (*place);
  *place = g_strdup (text);
}

/* Tells what changed once all of it has. */
static void
tell_changes (QmBenchRow *self, QmBenchRowState state, double progress)
{
  gboolean other_state = self->state != state;
  gboolean other_progress =
      self->progress < progress || self->progress > progress;

  self->state = state;
  self->progress = progress;
  if (other_state)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
  if (other_progress)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PROGRESS]);
  g_signal_emit (self, changed, 0);
}

static gboolean
is_done (QmBenchRowState state)
{
  return state != QM_BENCH_ROW_WAITING && state != QM_BENCH_ROW_RUNNING;
}

char *
qm_bench_row_key (const json_t *line)
{
  g_return_val_if_fail (line != NULL, NULL);

  return g_strdup_printf (
      "%s\x1f%d\x1f%s\x1f%d\x1f%s\x1f%d\x1f%" G_GINT64_FORMAT,
      qm_line_text (line, "model"), gpus_of (line),
      qm_line_text (line, "settings"), is_set (line, "checkpointing"),
      qm_line_text (line, "sharding"), is_set (line, "offloading"),
      qm_line_whole (line, "micro_batch"));
}

void
qm_bench_row_update (QmBenchRow *self, const json_t *line)
{
  QmBenchRowState state;
  gint64 used;

  g_return_if_fail (QM_IS_BENCH_ROW (self));
  g_return_if_fail (line != NULL);

  state = state_of (line);
  used = qm_line_whole (line, "used_bytes");
  self->days = qm_line_number (line, "days");
  self->step = qm_line_number (line, "step_s");
  self->mfu = qm_line_number (line, "mfu");
  self->cost = qm_line_number (line, "cost_s");
  self->memory = used >= 0 ? used : qm_line_whole (line, "total_bytes");
  g_free (self->reason);
  self->reason = qm_machine_text_reason (line);
  set_text (&self->words, qm_line_text (line, "reason"));
  set_text (&self->log, "");
  tell_changes (self, state, is_done (state) ? 1 : 0);
}

QmBenchRow *
qm_bench_row_new (const json_t *line, const char *title)
{
  QmBenchRow *self;

  g_return_val_if_fail (line != NULL && title != NULL, NULL);

  self = g_object_new (QM_TYPE_BENCH_ROW, NULL);
  self->model = g_strdup (qm_line_text (line, "model"));
  self->title = g_strdup (title);
  self->settings = g_strdup (qm_line_text (line, "settings"));
  self->variant = g_strdup (qm_line_text (line, "sharding"));
  self->offloads = !json_is_false (json_object_get (line, "offloading"));
  self->gpus = gpus_of (line);
  self->checkpointing = is_set (line, "checkpointing");
  self->micro_batch = qm_line_whole (line, "micro_batch");
  qm_bench_row_update (self, line);
  return self;
}

void
qm_bench_row_set_progress (QmBenchRow *self, double progress)
{
  g_return_if_fail (QM_IS_BENCH_ROW (self));

  if (self->state == QM_BENCH_ROW_RUNNING)
    tell_changes (self, self->state, CLAMP (progress, 0, 1));
}

void
qm_bench_row_put_back (QmBenchRow *self)
{
  g_return_if_fail (QM_IS_BENCH_ROW (self));

  if (self->state == QM_BENCH_ROW_RUNNING)
    tell_changes (self, QM_BENCH_ROW_WAITING, 0);
}

void
qm_bench_row_fail (QmBenchRow *self, const char *reason, const char *log)
{
  g_return_if_fail (QM_IS_BENCH_ROW (self));

  if (self->state != QM_BENCH_ROW_RUNNING)
    return;
  set_text (&self->reason, reason);
  set_text (&self->words, reason);
  set_text (&self->log, log != NULL ? log : "");
  tell_changes (self, QM_BENCH_ROW_FAILED, 1);
}

void
qm_bench_row_set_predicted (QmBenchRow *self, QmBenchFigure days)
{
  g_return_if_fail (QM_IS_BENCH_ROW (self));

  self->predicted = days;
  tell_changes (self, self->state, self->progress);
}

QmBenchRowState
qm_bench_row_get_state (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), QM_BENCH_ROW_WAITING);

  return self->state;
}

double
qm_bench_row_get_progress (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), 0);

  return self->progress;
}

const char *
qm_bench_row_get_model (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->model;
}

const char *
qm_bench_row_get_title (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->title;
}

const char *
qm_bench_row_get_settings (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->settings;
}

gboolean
qm_bench_row_get_checkpointing (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), FALSE);

  return self->checkpointing;
}

int
qm_bench_row_get_gpus (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), 1);

  return self->gpus;
}

const char *
qm_bench_row_get_sharding (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->offloads ? "none" : self->variant;
}

const char *
qm_bench_row_get_offloading (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->offloads ? self->variant : "none";
}

gint64
qm_bench_row_get_micro_batch (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), -1);

  return self->micro_batch;
}

QmBenchFigure
qm_bench_row_get_step (QmBenchRow *self)
{
  QmBenchFigure figure = { NAN, NAN, NAN };

  g_return_val_if_fail (QM_IS_BENCH_ROW (self), figure);

  figure.value = self->step;
  return figure;
}

QmBenchFigure
qm_bench_row_get_days (QmBenchRow *self)
{
  QmBenchFigure figure = { NAN, NAN, NAN };

  g_return_val_if_fail (QM_IS_BENCH_ROW (self), figure);

  figure.value = self->days;
  return is_done (self->state) ? figure : self->predicted;
}

double
qm_bench_row_get_mfu (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NAN);

  return self->mfu;
}

gint64
qm_bench_row_get_memory (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), -1);

  return self->memory;
}

double
qm_bench_row_get_cost (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NAN);

  return is_done (self->state) ? 0 : self->cost;
}

const char *
qm_bench_row_get_reason (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->reason;
}

const char *
qm_bench_row_get_words (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->words;
}

const char *
qm_bench_row_get_log (QmBenchRow *self)
{
  g_return_val_if_fail (QM_IS_BENCH_ROW (self), NULL);

  return self->log;
}

static void
qm_bench_row_get_property (GObject *object,
                           guint id,
                           GValue *value,
                           GParamSpec *pspec)
{
  QmBenchRow *self = QM_BENCH_ROW (object);

  switch (id)
    {
    case PROP_STATE:
      g_value_set_int (value, (int) self->state);
      break;
    case PROP_PROGRESS:
      g_value_set_double (value, self->progress);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
qm_bench_row_finalize (GObject *object)
{
  QmBenchRow *self = QM_BENCH_ROW (object);

  g_free (self->model);
  g_free (self->title);
  g_free (self->settings);
  g_free (self->variant);
  g_free (self->reason);
  g_free (self->words);
  g_free (self->log);
  G_OBJECT_CLASS (qm_bench_row_parent_class)->finalize (object);
}

static void
qm_bench_row_class_init (QmBenchRowClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);

  object_class->get_property = qm_bench_row_get_property;
  object_class->finalize = qm_bench_row_finalize;
  properties[PROP_STATE] =
      g_param_spec_int ("state", NULL, NULL, QM_BENCH_ROW_WAITING,
                        QM_BENCH_ROW_NOT_RUN, QM_BENCH_ROW_WAITING,
                        G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  properties[PROP_PROGRESS] =
      g_param_spec_double ("progress", NULL, NULL, 0, 1, 0,
                           G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  changed =
      g_signal_new ("changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                    NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
qm_bench_row_init (QmBenchRow *self)
{
  self->predicted = (QmBenchFigure){ NAN, NAN, NAN };
  self->reason = g_strdup ("");
  self->words = g_strdup ("");
  self->log = g_strdup ("");
}
