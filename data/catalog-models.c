/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog-private.h"

#include "data/model-config.h"
#include "data/text.h"

static const char *
read_text (QmJsonObject *object, const char *name, QmPool *pool)
{
  const char *text = qm_json_string (object, name, true);
  const char *copy;

  if (text == NULL)
    return "";
  if (*text == '\0')
    qm_json_fail (object, name, QM_STATUS_INVALID, "must not be empty");
  if (!qm_text_is_line (text))
    qm_json_fail (object, name, QM_STATUS_INVALID, "must be a single line");
  copy = qm_pool_string (pool, text);
  if (copy == NULL)
    {
      qm_json_fail (object, name, QM_STATUS_NO_MEMORY, "out of memory");
      return "";
    }
  return copy;
}

static const char *
read_id (QmJsonObject *object, QmPool *pool)
{
  const char *id = read_text (object, "id", pool);
  const char *problem = qm_id_problem (id);
  char quoted[QM_QUOTE_BYTES];

  if (problem != NULL)
    qm_json_fail (object, "id", QM_STATUS_INVALID, "%s %s",
                  qm_text_quote (id, quoted), problem);
  return id;
}

/* Reads the model into the batch. */
static QmStatus
read_model (QmBatch *batch, QmJsonObject *top)
{
  static const char *const none[] = { NULL };
  QmPool *pool = &batch->entries.pool;
  QmModel model = { 0 };
  QmJsonObject config, recipe;
  QmModel *entry;

  model.id = read_id (top, pool);
  model.name = read_text (top, "name", pool);
  model.source = read_text (top, "source", pool);
  qm_json_enter (top, "config", &config);
  if (top->status == QM_OK)
    top->status = qm_model_config_read (&config, &model.config);
  qm_json_enter (top, "recipe", &recipe);
  if (top->status == QM_OK)
    top->status = qm_recipe_read (&recipe, &model.recipe);
  if (top->status == QM_OK)
    top->status = qm_recipe_apply (&recipe, &model.recipe, &model.config);
  if (qm_json_finish (top, none) != QM_OK)
    return top->status;

  entry = qm_list_add (&batch->entries.models, model.id);
  if (entry == NULL)
    qm_json_fail (top, "id", QM_STATUS_NO_MEMORY, "out of memory");
  else
    *entry = model;
  return top->status;
}

QmStatus
qm_batch_read_model (QmBatch *batch,
                     const char *text,
                     size_t length,
                     QmError *error)
{
  const QmJsonText source = { text, length, batch->file };
  QmJsonObject top;
  json_t *root;
  QmStatus status = qm_json_parse (&source, &root, error);

  if (status != QM_OK)
    return status;
  qm_json_begin (&top, &source, root, error);
  status = read_model (batch, &top);
  json_decref (root);
  return status;
}
