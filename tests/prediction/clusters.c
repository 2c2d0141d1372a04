/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/clusters.h"

#include "data/csv-table.h"
#include "data/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
  COLUMN_ID,
  COLUMN_MODEL,
  COLUMN_CONFIG,
  COLUMN_SEQUENCE,
  COLUMN_BATCH,
  COLUMN_MICRO_BATCH,
  COLUMN_CHECKPOINTING,
  COLUMN_PRECISION,
  COLUMN_GPU,
  COLUMN_GPUS,
  COLUMN_NODES,
  COLUMN_BETWEEN,
  COLUMN_LEVEL,
  COLUMN_SETTINGS,
  COLUMN_SAMPLES_PER_S,
  COLUMN_SOURCE,
  N_COLUMNS
};

static const QmCsvColumn columns[N_COLUMNS] = {
  { "id", true },
  { "model", true },
  { "config", true },
  { "sequence", true },
  { "batch", true },
  { "micro_batch", true },
  { "checkpointing", true },
  { "precision", true },
  { "gpu", true },
  { "gpus", true },
  { "nodes", true },
  { "between", true },
  { "level", true },
  { "settings", true },
  { "samples_per_s", true },
  { "source", true },
};

static void
read_row (QmCsvRow *row, void *data)
{
  static const char *const yes[] = { "", "yes" };
  static const char *const precisions[] = { "fp16", "bf16" };
  Clusters *clusters = data;
  Cluster *cluster = &clusters->rows[clusters->n];

  if (clusters->n == MAX_CLUSTERS)
    {
      qm_csv_fail (row, COLUMN_ID, QM_STATUS_INVALID, "is one too many");
      return;
    }
  cluster->gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 1, 64, -1);
  cluster->nodes = (int) qm_csv_integer (row, COLUMN_NODES, 1, 4096, -1);
  cluster->between = qm_csv_text (row, COLUMN_BETWEEN, false);
  cluster->rate = (QmTrainingRate){
    .id = qm_csv_id (row, COLUMN_ID),
    .reported = true,
    .model = qm_csv_text (row, COLUMN_MODEL, true),
    .config = qm_csv_text (row, COLUMN_CONFIG, true),
    .sequence = qm_csv_integer (row, COLUMN_SEQUENCE, 1, 1 << 20, -1),
    .batch = qm_csv_integer (row, COLUMN_BATCH, 1, 1 << 20, -1),
    .precision = qm_csv_word (row, COLUMN_PRECISION, precisions, 2, -1) == 0
                     ? QM_PRECISION_FP16
                     : QM_PRECISION_BF16,
    .gpu = qm_csv_id (row, COLUMN_GPU),
    .gpus = cluster->gpus * cluster->nodes,
    .link = "",
    .level = qm_csv_id (row, COLUMN_LEVEL),
    .settings = qm_csv_text (row, COLUMN_SETTINGS, false),
    .micro_batch = qm_csv_integer (row, COLUMN_MICRO_BATCH, 1, 1 << 20, 0),
    .checkpointing = qm_csv_word (row, COLUMN_CHECKPOINTING, yes, 2, 0) == 1,
    .samples_per_s = qm_csv_number (row, COLUMN_SAMPLES_PER_S, 1e-9, 1e9),
    .source = qm_csv_text (row, COLUMN_SOURCE, true),
  };
  clusters->n++;
}

/* A step of what was planned on machines with so many GPUs each. */
static bool
predict (const QmTrained *trained,
         const QmCalibration *calibration,
         int gpus,
         int nodes,
         const char *between,
         bool sharded,
         QmPrediction *prediction)
{
  const QmLevel *level = qm_calibration_level (calibration, trained->level);
  int adapters;
  const QmNetwork *network = qm_network_parse (between, &adapters);
  QmError error = { 0 };
  QmSpeeds speeds;

  if (level == NULL || (nodes > 1 && network == NULL)
      || qm_speeds_of_gpu (calibration, trained->gpu, gpus,
                           QM_INTERCONNECT_OF_GPU, &speeds, &error)
             != QM_OK)
    return false;
  if (nodes > 1)
    qm_speeds_join (&speeds, nodes, network, adapters);
  speeds.sharded = sharded;
  return qm_predict (trained->work, &speeds, level, prediction, &error)
         == QM_OK;
}

/* All rows divide all that they keep over all GPUs (FULL_SHARD). */
static bool
predict_row (Cluster *cluster,
             const QmCatalog *catalog,
             const QmCalibration *calibration)
{
  QmTrained trained;
  QmError error = { 0 };
  QmPrediction prediction;
  bool good =
      qm_trained_read (&cluster->rate, catalog, &trained, &error) == QM_OK
      && qm_trained_plan (&trained, &error) == QM_OK;

  if (good)
    {
      good = predict (&trained, calibration, cluster->gpus, cluster->nodes,
                      cluster->between, true, &prediction);
      cluster->predicted =
          trained.work->samples * cluster->rate.gpus / prediction.step;
      cluster->exchange = prediction.exchange / prediction.step;
      qm_trained_clear (&trained);
    }
  if (!good)
    fprintf (stderr, "%s: %s\n", cluster->rate.id, error.message);
  return good;
}

bool
clusters_load (const char *here,
               const QmCatalog *catalog,
               const QmCalibration *calibration,
               Clusters *clusters)
{
  char path[PATH_MAX], *text = NULL;
  QmError error = { 0 };
  size_t length;
  QmStatus status;
  bool good = true;

  memset (clusters, 0, sizeof *clusters);
  snprintf (path, sizeof path, "%s/clusters.csv", here);
  status = qm_text_read_file (path, &text, &length, &error);
  if (status == QM_OK)
    status = qm_csv_read (text, length, path, columns, N_COLUMNS,
                          &clusters->strings, read_row, clusters, &error);
  free (text);
  if (status != QM_OK)
    fprintf (stderr, "%s:%d: %s\n", error.file, error.line, error.message);
  for (size_t i = 0; status == QM_OK && i < clusters->n; i++)
    good = predict_row (&clusters->rows[i], catalog, calibration) && good;
  return status == QM_OK && good;
}

void
clusters_clear (Clusters *clusters)
{
  qm_pool_clear (&clusters->strings);
}

double
cluster_error (const Clusters *clusters, size_t row, bool beside)
{
  const Cluster *cluster = &clusters->rows[row];
  double error = log (cluster->rate.samples_per_s / cluster->predicted);

  for (size_t i = 0; beside && i < clusters->n; i++)
    if (clusters->rows[i].nodes == 1
        && strcmp (clusters->rows[i].rate.model, cluster->rate.model) == 0)
      return error - cluster_error (clusters, i, false);
  return beside ? NAN : error;
}

static int
compare (const void *a, const void *b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

void
clusters_summarize (const Clusters *clusters,
                    bool beside,
                    double *half,
                    double *most)
{
  double sizes[MAX_CLUSTERS];
  size_t n = 0;

  for (size_t i = 0; i < clusters->n; i++)
    if (clusters->rows[i].nodes > 1)
      sizes[n++] = fabs (expm1 (cluster_error (clusters, i, beside)));
  qsort (sizes, n, sizeof *sizes, compare);
  *half = n > 0 ? sizes[n / 2] : NAN;
  *most = n > 0 ? sizes[n - 1] : NAN;
}

void
clusters_write (FILE *out, const Clusters *clusters)
{
  fputs ("| model | machines, GPUs of each | micro-batch, passes | samples/s | "
         "predicted | time off, % | beside one machine | exchange, % |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
         out);
  for (size_t i = 0; i < clusters->n; i++)
    {
      const Cluster *c = &clusters->rows[i];

      fprintf (out, "| %s | %d x %d | %lld, %lld | %.4g | %.4g | %+.1f |",
               c->rate.model, c->nodes, c->gpus,
               (long long) c->rate.micro_batch,
               (long long) (c->rate.batch / c->rate.gpus / c->rate.micro_batch),
               c->rate.samples_per_s, c->predicted,
               100 * expm1 (cluster_error (clusters, i, false)));
      if (c->nodes > 1)
        fprintf (out, " %+.1f |",
                 100 * expm1 (cluster_error (clusters, i, true)));
      else
        fputs (" |", out);
      fprintf (out, " %.1f |\n", 100 * c->exchange);
    }
  for (int beside = 0; beside < 2; beside++)
    {
      double half, most;

      clusters_summarize (clusters, beside == 1, &half, &most);
      fprintf (out, "%s %.1f, %.1f |",
               beside == 0 ? "| several machines: half, worst | | | | |" : "",
               100 * half, 100 * most);
    }
  fputs (" |\n", out);
}

/* --- BERT --- */

/* Both phases of BERT-large as NVIDIA trains it with LAMB, of the catalog. */
static const char *const phases[] = { "bert-large-phase1",
                                      "bert-large-phase2" };

/* That pre-training BERT took on "an academic-size cluster of widely available
 * GPUs" (arXiv 2008.00177), of which the abstract says no more. */
#define BERT_DAYS 12

#define BERT_GPU  "t4"
#define BERT_GPUS 8

static QmTrainingRate
rate_of_bert (const QmModel *model, int nodes)
{
  return (QmTrainingRate){ .id = "bert",
                           .model = model->id,
                           .config = "",
                           .sequence = model->recipe.sequence_length,
                           .batch = model->recipe.batch_size,
                           .precision = model->recipe.precision,
                           .gpu = BERT_GPU,
                           .gpus = BERT_GPUS * nodes,
                           .link = "",
                           .level = "eager",
                           .settings = "unfused-attention+narrow" };
}

/* Days of both phases; NaN: it is not predicted. */
static double
days_of_bert (const QmCatalog *catalog,
              const QmCalibration *calibration,
              int nodes,
              const char *between,
              int64_t micro_batches[2],
              double *exchange)
{
  double seconds = 0, exposed = 0;

  for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++)
    {
      const QmModel *model = qm_catalog_model (catalog, phases[i]);
      QmTrainingRate rate;
      QmTrained trained;
      QmError error = { 0 };
      QmPrediction prediction = { .step = NAN };

      if (model == NULL || model->recipe.optimizer != QM_OPTIMIZER_LAMB)
        {
          fprintf (stderr, "there is no %s with LAMB\n", phases[i]);
          return NAN;
        }
      rate = rate_of_bert (model, nodes);
      if (qm_trained_read (&rate, catalog, &trained, &error) != QM_OK
          || qm_trained_plan (&trained, &error) != QM_OK)
        {
          fprintf (stderr, "BERT: %s\n", error.message);
          return NAN;
        }
      micro_batches[i] = trained.options.micro_batch;
      if (!predict (&trained, calibration, BERT_GPUS, nodes, between, false,
                    &prediction))
        prediction.step = NAN;
      seconds += prediction.step * (double) model->recipe.steps;
      exposed += prediction.exchange * (double) model->recipe.steps;
      qm_trained_clear (&trained);
    }
  *exchange = exposed / seconds;
  return seconds / 86400;
}

bool
clusters_write_bert (FILE *out,
                     const QmCatalog *catalog,
                     const QmCalibration *calibration)
{
  static const char *const networks[] = { "1gbe", "10gbe", "25gbe", "100gbe",
                                          "hdr" };
  static const int nodes[] = { 1, 8, 16, 32, 64 };
  bool good = true;

  fputs ("| machines of 8 T4 | micro-batches |", out);
  for (size_t j = 0; j < sizeof networks / sizeof networks[0]; j++)
    fprintf (out, " %s |", networks[j]);
  fputs ("\n| --- | --- | --- | --- | --- | --- | --- |\n", out);
  for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
    {
      int64_t micro_batches[2];

      for (size_t j = 0; j < sizeof networks / sizeof networks[0]; j++)
        {
          double exchange,
              days = days_of_bert (catalog, calibration, nodes[i], networks[j],
                                   micro_batches, &exchange);

          if (j == 0)
            fprintf (out, "| %d | %lld, %lld |", nodes[i],
                     (long long) micro_batches[0],
                     (long long) micro_batches[1]);
          good = good && days > 0;
          fprintf (out, " %.3g (%.0f %%) |", days, 100 * exchange);
        }
      fputs ("\n", out);
    }
  fprintf (out,
           "| measured, on machines that are not said | not said | %d, "
           "network not said | | | | |\n",
           BERT_DAYS);
  return good;
}
