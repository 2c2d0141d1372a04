/* SPDX-License-Identifier: Apache-2.0 */

#include "engine/weights.h"

#include <stdlib.h>

static QmStatus
find (const QmGraph *graph,
      const QmParameter *parameter,
      QmSafetensors *file,
      const char *path,
      const QmStoredTensor **stored,
      QmError *error)
{
  const QmTensor *shape = qm_graph_tensor (graph, parameter->value);

  *stored = qm_safetensors_find (file, parameter->name);
  if (*stored == NULL && parameter->alias != NULL)
    *stored = qm_safetensors_find (file, parameter->alias);
  if (*stored == NULL)
    return qm_error_set (error, QM_STATUS_NOT_FOUND, path, 0, 0,
                         "there is no tensor '%s'", parameter->name);
  if (!qm_stored_has_shape (*stored, shape->rank, shape->shape))
    return qm_error_set (error, QM_STATUS_INVALID, path, 0, 0,
                         "tensor '%.100s' does not have the shape that the "
                         "configuration says",
                         (*stored)->name);
  return QM_OK;
}

QmStatus
qm_weights_load (const QmPlan *plan,
                 QmExecutor *executor,
                 QmSafetensors *file,
                 const char *path,
                 const QmStoredTensor **stored,
                 QmError *error)
{
  const QmGraph *graph = plan->graph;
  QmStatus status = QM_OK;

  for (size_t i = 0; i < graph->n_parameters && status == QM_OK; i++)
    status = find (graph, &graph->parameters[i], file, path, &stored[i], error);
  for (size_t i = 0; i < graph->n_parameters && status == QM_OK; i++)
    {
      float *values =
          malloc ((size_t) (stored[i]->elements + 1) * sizeof *values);

      if (values == NULL)
        return qm_error_set (error, QM_STATUS_NO_MEMORY, "", 0, 0,
                             "the host is out of memory");
      status = qm_safetensors_read_floats (file, stored[i], values, error);
      if (status == QM_OK)
        status = qm_executor_write_floats (executor, graph->parameters[i].value,
                                           values, error);
      free (values);
    }
  return status;
}
