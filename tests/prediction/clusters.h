/* SPDX-License-Identifier: Apache-2.0 */

/* Clusters of several machines: what is predicted of those that somebody
 * measured (clusters.csv), which no fit knows of, and of those that BERT was
 * trained on in 12 days. */

#ifndef QM_TESTS_CLUSTERS_H
#define QM_TESTS_CLUSTERS_H

#include "tests/prediction/rates.h"

#include <stdio.h>

#define MAX_CLUSTERS 64

/* A row of clusters.csv. */
typedef struct Cluster
{
  QmTrainingRate rate; /* gpus: of all machines */
  const char *between; /* empty: there is one machine */
  int gpus, nodes;     /* of a machine; machines */
  double predicted;    /* samples/s */
  double exchange;     /* share of a step that nothing hides, predicted */
} Cluster;

typedef struct Clusters
{
  Cluster rows[MAX_CLUSTERS];
  size_t n;
  QmPool strings;
} Clusters;

/* Reads HERE/clusters.csv and predicts each; false, with a word on stderr, on
 * failure. */
bool clusters_load (const char *here,
                    const QmCatalog *catalog,
                    const QmCalibration *calibration,
                    Clusters *clusters);
void clusters_clear (Clusters *clusters);

/* How far off the prediction of a row is, as a logarithm; with `beside`, when
 * the row of the same model on one machine is put right. */
double cluster_error (const Clusters *clusters, size_t row, bool beside);

/* The middle and the largest of these sizes over all rows of several machines,
 * as shares. */
void clusters_summarize (const Clusters *clusters,
                         bool beside,
                         double *half,
                         double *most);

/* The tables of pricing/PREDICTION.md. */
void clusters_write (FILE *out, const Clusters *clusters);
bool clusters_write_bert (FILE *out,
                          const QmCatalog *catalog,
                          const QmCalibration *calibration);

#endif
