/* SPDX-License-Identifier: Apache-2.0 */

/* Files of tensors. */

#include "engine/safetensors.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void
require (bool holds)
{
  if (!holds)
    abort ();
}

/* No more elements than a file of bytes can have. */
static void
read_tensor (QmSafetensors *file, const QmStoredTensor *tensor, size_t size)
{
  float *floats = calloc ((size_t) tensor->elements + 1, sizeof *floats);
  int32_t *ints = calloc ((size_t) tensor->elements + 1, sizeof *ints);

  require (floats != NULL && ints != NULL);
  require (tensor->bytes <= size && (uint64_t) tensor->elements <= size);
  require (qm_safetensors_find (file, tensor->name) == tensor);
  qm_safetensors_read_floats (file, tensor, floats, NULL);
  if (qm_safetensors_read_ints (file, tensor, -5, 5, ints, NULL) == QM_OK)
    for (int64_t i = 0; i < tensor->elements; i++)
      require (ints[i] >= -5 && ints[i] <= 5);
  free (floats);
  free (ints);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FILE *stream = size > 0 ? fmemopen ((void *) data, size, "rb") : NULL;
  QmError error = { 0 };
  QmSafetensors *file;
  QmStatus status;
  size_t n;

  if (stream == NULL)
    return 0;
  status = qm_safetensors_open_stream (stream, size, "fuzz", &file, &error);
  require ((status == QM_OK) == (file != NULL));
  if (status != QM_OK)
    {
      require (error.status == status && error.message[0] != '\0');
      return 0;
    }
  for (size_t i = 0; i < (qm_safetensors_all (file, &n), n); i++)
    read_tensor (file, &qm_safetensors_all (file, &n)[i], size);
  qm_safetensors_close (file);
  return 0;
}
