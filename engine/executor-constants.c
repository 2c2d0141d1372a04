/* SPDX-License-Identifier: Apache-2.0 */

/* What models know of places without learning it. */

#include "engine/executor-private.h"

#include "data/rope.h"

#include <math.h>
#include <stdlib.h>

/* Angles of the rotary embedding: cosines, then sines. */
static QmStatus
write_rotary (QmExecutor *executor, const QmRotary *rotary, QmError *error)
{
  const QmTensor *shape =
      qm_graph_tensor (executor->plan->graph, rotary->value);
  int64_t rows = shape->shape[0], half = shape->shape[1] / 2;
  float *table = malloc ((size_t) (rows * half * 2) * sizeof *table);
  QmStatus status;

  if (table == NULL)
    return qm_error_no_memory (error);
  for (int64_t j = 0; j < half; j++)
    {
      double turn = qm_rope_turn (&rotary->rope, 2 * half, j);

      for (int64_t s = 0; s < rows; s++)
        {
          double angle = (double) s * turn;

          table[s * half * 2 + j] =
              (float) (rotary->rope.amplitude * cos (angle));
          table[s * half * 2 + half + j] =
              (float) (rotary->rope.amplitude * sin (angle));
        }
    }
  status = qm_executor_write_floats (executor, rotary->value, table, error);
  free (table);
  return status;
}

/* Of He et al. 2022 (MAE, util/pos_embed.py): a quarter of the features each
 * are sines and cosines of the column, then of the row, of a patch, with wave
 * lengths as Vaswani et al. 2017 have them; a class token has zeros. */
static QmStatus
write_table (QmExecutor *executor, const QmTable *table, QmError *error)
{
  const QmTensor *shape = qm_graph_tensor (executor->plan->graph, table->value);
  int64_t rows = shape->shape[0], features = shape->shape[1];
  int64_t quarter = features / 4, first = table->bare ? 0 : 1;
  float *values = calloc ((size_t) (rows * features), sizeof *values);
  QmStatus status;

  if (values == NULL)
    return qm_error_no_memory (error);
  for (int64_t patch = 0; patch < rows - first; patch++)
    for (int64_t j = 0; j < 2 * quarter; j++)
      {
        float *to = values + (first + patch) * features;
        int64_t place = j < quarter ? patch % table->side : patch / table->side;
        double angle =
            (double) place
            * pow (10000, -(double) (j % quarter) / (double) quarter);

        to += j / quarter * 2 * quarter + j % quarter;
        to[0] = (float) sin (angle);
        to[quarter] = (float) cos (angle);
      }
  status = qm_executor_write_floats (executor, table->value, values, error);
  free (values);
  return status;
}

/* Ho et al. 2020, 4: of 1000 times betas go from 0.0001 to 0.02, and of others
 * so that as much noise comes together (Nichol and Dhariwal's code). */
static void
fill_schedule (int64_t times, float *values)
{
  double scale = 1000.0 / (double) times, before = 1, least = 0;

  for (int64_t t = 0; t < times; t++)
    {
      double share = times > 1 ? (double) t / (double) (times - 1) : 0;
      double beta = scale * (0.0001 + (0.02 - 0.0001) * share);
      double left = before * (1 - beta);
      float *row = values + t * QM_SCHEDULE_SIZE;

      row[QM_SCHEDULE_SIGNAL] = (float) sqrt (left);
      row[QM_SCHEDULE_NOISE] = (float) sqrt (1 - left);
      row[QM_SCHEDULE_MEAN] = (float) (beta * sqrt (before) / (1 - left));
      row[QM_SCHEDULE_MEAN_NOISY] =
          (float) ((1 - before) * sqrt (1 - beta) / (1 - left));
      least = log (beta * (1 - before) / (1 - left));
      row[QM_SCHEDULE_LEAST] = (float) least;
      row[QM_SCHEDULE_MOST] = (float) log (beta);
      before = left;
    }
  /* At time 0 there is none. */
  values[QM_SCHEDULE_LEAST] = values[QM_SCHEDULE_SIZE + QM_SCHEDULE_LEAST];
}

/* Cosines, then sines, of a time, with wave lengths as Vaswani et al. 2017 have
 * them (facebookresearch/DiT, models.py). */
static void
fill_waves (int64_t times, int64_t features, float *values)
{
  int64_t half = features / 2;

  for (int64_t t = 0; t < times; t++)
    for (int64_t j = 0; j < half; j++)
      {
        double angle = (double) t * pow (10000, -(double) j / (double) half);

        values[t * features + j] = (float) cos (angle);
        values[t * features + half + j] = (float) sin (angle);
      }
}

static QmStatus
write_diffusion (QmExecutor *executor,
                 const QmDiffusion *diffusion,
                 QmError *error)
{
  const QmGraph *graph = executor->plan->graph;
  const int64_t *waves = qm_graph_tensor (graph, diffusion->waves)->shape;
  int64_t times = waves[0], features = waves[1];
  int64_t columns = features > QM_SCHEDULE_SIZE ? features : QM_SCHEDULE_SIZE;
  float *values = malloc ((size_t) (times * columns) * sizeof *values);
  QmStatus status;

  if (values == NULL)
    return qm_error_no_memory (error);
  fill_schedule (times, values);
  status =
      qm_executor_write_floats (executor, diffusion->schedule, values, error);
  fill_waves (times, features, values);
  if (status == QM_OK)
    status =
        qm_executor_write_floats (executor, diffusion->waves, values, error);
  free (values);
  return status;
}

/* How much of a pixel `away` counts (Keys 1981). */
static double
cubic (double away, double a)
{
  double x = fabs (away);

  if (x >= 2)
    return 0;
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1
                : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* Shares of the rows of one side in row `i` of the other, as PyTorch has them:
 * those beyond the edges are the edges', or, of smooth ones, left out, of which
 * fewer rows are means of more. */
static void
resize_side (const QmResizing *resizing, int64_t i, double *shares)
{
  int64_t from = resizing->from;
  double scale = (double) from / (double) resizing->to, sum = 0;
  double place = ((double) i + 0.5) * scale - 0.5;
  double wide = resizing->smooth && scale > 1 ? scale : 1;
  int64_t first = (int64_t) floor (place - 2 * wide);
  int64_t last = (int64_t) ceil (place + 2 * wide);

  for (int64_t j = 0; j < from; j++)
    shares[j] = 0;
  for (int64_t j = first; j <= last; j++)
    {
      double share =
          cubic ((place - (double) j) / wide, resizing->smooth ? -0.5 : -0.75);

      if (resizing->smooth && (j < 0 || j >= from))
        continue;
      shares[j < 0 ? 0 : j >= from ? from - 1 : j] += share;
      sum += share;
    }
  for (int64_t j = 0; j < from; j++)
    shares[j] /= sum;
}

static QmStatus
write_resizing (QmExecutor *executor,
                const QmResizing *resizing,
                QmError *error)
{
  int64_t from = resizing->from, to = resizing->to, columns = 1 + from * from;
  float *values = calloc ((size_t) ((1 + to * to) * columns), sizeof *values);
  double *sides = malloc ((size_t) (2 * from) * sizeof *sides);
  QmStatus status;

  if (values == NULL || sides == NULL)
    status = qm_error_no_memory (error);
  else
    {
      values[0] = 1;
      for (int64_t i = 0; i < to * to; i++)
        {
          resize_side (resizing, i / to, sides);
          resize_side (resizing, i % to, sides + from);
          for (int64_t j = 0; j < from * from; j++)
            values[(1 + i) * columns + 1 + j] =
                (float) (sides[j / from] * sides[from + j % from]);
        }
      status =
          qm_executor_write_floats (executor, resizing->value, values, error);
    }
  free (sides);
  free (values);
  return status;
}

QmStatus
qm_executor_write_constants (QmExecutor *executor, QmError *error)
{
  const QmGraph *graph = executor->plan->graph;
  QmStatus status = QM_OK;

  for (int i = 0; i < QM_GRAPH_ROTARIES && status == QM_OK; i++)
    if (graph->rotary[i].value != QM_NO_VALUE)
      status = write_rotary (executor, &graph->rotary[i], error);
  for (int i = 0; i < QM_GRAPH_TABLES && status == QM_OK; i++)
    if (graph->tables[i].value != QM_NO_VALUE)
      status = write_table (executor, &graph->tables[i], error);
  if (status == QM_OK && graph->resizing.value != QM_NO_VALUE)
    status = write_resizing (executor, &graph->resizing, error);
  if (status == QM_OK && graph->diffusion.schedule != QM_NO_VALUE)
    status = write_diffusion (executor, &graph->diffusion, error);
  return status;
}
