/* SPDX-License-Identifier: Apache-2.0 */

/* Model files, and bare configurations. */

#include "data/catalog-private.h"
#include "data/flops.h"
#include "data/text.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void
require (bool holds)
{
  if (!holds)
    abort ();
}

static void
check_model (const QmModel *model)
{
  double flops = qm_flops_train (&model->config, &model->recipe);

  require (qm_id_problem (model->id) == NULL);
  require (model->name[0] != '\0' && model->source[0] != '\0');
  require (qm_parameter_count (&model->config) > 0);
  require (flops > 0 && isfinite (flops));
}

static void
read_config (const char *text, size_t length)
{
  QmError error = { 0 };
  QmModelConfig config;
  QmStatus status =
      qm_model_config_parse (text, length, "config.json", &config, &error);

  if (status == QM_OK)
    require (qm_parameter_count (&config) > 0);
  else
    require (error.status == status && error.line > 0 && error.column > 0
             && error.message[0] != '\0');
}

static void
read_file (const char *text, size_t length)
{
  QmError error = { 0 };
  QmBatch nothing, batch;
  QmStatus status;

  qm_batch_init (&nothing, NULL, "", false);
  qm_batch_init (&batch, &nothing.entries, "model.json", true);
  status = qm_batch_read_model (&batch, text, length, &error);
  if (status == QM_OK)
    {
      require (batch.entries.models.n == 1);
      check_model (qm_list_item (&batch.entries.models, 0));
    }
  else
    require (error.status == status && error.line > 0 && error.column > 0
             && error.message[0] != '\0');
  qm_batch_clear (&batch);
  qm_batch_clear (&nothing);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *text = malloc (size > 0 ? size : 1);

  require (text != NULL);
  if (size > 0)
    memcpy (text, data, size);
  if (qm_text_check (text, size, "", NULL) == QM_OK)
    {
      read_file (text, size);
      read_config (text, size);
    }
  free (text);
  return 0;
}
