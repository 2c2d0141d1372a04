/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog-private.h"

#include "data/model-file.h"

#include <stdlib.h>

/* Adds the model to the batch, with copies of its names. */
static QmStatus
add_model_file (QmBatch *batch, const QmModelFile *file, QmError *error)
{
  QmPool *pool = &batch->entries.pool;
  QmModel model = { .id = qm_pool_string (pool, file->id),
                    .name = qm_pool_string (pool, file->name),
                    .source = qm_pool_string (pool, file->source),
                    .group = file->group,
                    .config = file->config,
                    .recipe = file->recipe };
  QmModel *entry = NULL;

  if (model.id != NULL && model.name != NULL && model.source != NULL)
    entry = qm_list_add (&batch->entries.models, model.id);
  if (entry == NULL)
    return qm_error_set (error, QM_STATUS_NO_MEMORY, batch->file, 0, 0,
                         "out of memory");
  *entry = model;
  return QM_OK;
}

QmStatus
qm_batch_read_model (QmBatch *batch,
                     const char *text,
                     size_t length,
                     QmError *error)
{
  QmModelFile file;
  QmStatus status =
      qm_model_file_parse (text, length, batch->file, &file, error);

  if (status != QM_OK)
    return status;
  status = add_model_file (batch, &file, error);
  qm_model_file_clear (&file);
  return status;
}

static int
compare_models (const void *a, const void *b)
{
  return qm_model_compare (*(const QmModel *const *) a,
                           *(const QmModel *const *) b);
}

const QmModel **
qm_catalog_models_sorted (const QmCatalog *catalog, size_t *n)
{
  const QmModel *models = qm_catalog_models (catalog, n);
  const QmModel **sorted = malloc ((*n + 1) * sizeof *sorted);

  if (sorted == NULL)
    return NULL;
  for (size_t i = 0; i < *n; i++)
    sorted[i] = &models[i];
  qsort (sorted, *n, sizeof *sorted, compare_models);
  return sorted;
}
