/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/cuda-list.h"

#include "kernels/cuda/cuda-blas.h"
#include "kernels/cuda/cuda-support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The version of the driver, as Linux tells it; else the newest CUDA that it
 * knows. */
static void
read_driver (char *text, size_t size)
{
  FILE *file = fopen ("/proc/driver/nvidia/version", "r");
  char line[256] = "";
  int version = 0;

  if (file != NULL)
    {
      if (fgets (line, sizeof line, file) == NULL)
        line[0] = '\0';
      fclose (file);
    }
  for (char *save = NULL, *word = strtok_r (line, " \t\n", &save); word != NULL;
       word = strtok_r (NULL, " \t\n", &save))
    if (strspn (word, "0123456789.") == strlen (word)
        && strchr (word, '.') != NULL)
      {
        snprintf (text, size, "%s", word);
        return;
      }
  cudaDriverGetVersion (&version);
  snprintf (text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

/* How many GPUs there are, and what is the matter where there are none. */
static int
count_cuda_gpus (QmTrouble *trouble,
                 cudaError_t *code,
                 int *driver,
                 int *runtime)
{
  int n = 0;

  *driver = *runtime = 0;
  *trouble = QM_TROUBLE_NONE;
  *code = cudaGetDeviceCount (&n);
  if (*code == cudaSuccess && n > 0)
    return n;
  cudaGetLastError ();
  cudaDriverGetVersion (driver);
  cudaRuntimeGetVersion (runtime);
  if (*code == cudaErrorInsufficientDriver)
    *trouble = *driver == 0 ? QM_TROUBLE_NO_DRIVER : QM_TROUBLE_OLD_DRIVER;
  else if (*code == cudaSuccess || *code == cudaErrorNoDevice)
    *trouble = QM_TROUBLE_NO_GPU;
  else
    *trouble = QM_TROUBLE_BROKEN;
  return 0;
}

QmTrouble
qm_cuda_absence (int *driver, int *runtime)
{
  QmTrouble trouble;
  cudaError_t code;

  count_cuda_gpus (&trouble, &code, driver, runtime);
  return trouble;
}

/* How many GPUs there are; the reason where there are none. */
int
qm_cuda_count (char *why, size_t size)
{
  int driver, runtime, n;
  QmTrouble trouble;
  cudaError_t code;

  n = count_cuda_gpus (&trouble, &code, &driver, &runtime);
  if (trouble == QM_TROUBLE_NO_DRIVER)
    snprintf (why, size, "No NVIDIA driver is installed.");
  else if (trouble == QM_TROUBLE_OLD_DRIVER)
    snprintf (why, size,
              "The NVIDIA driver is for CUDA %d.%d; this program needs one "
              "for CUDA %d.%d.",
              driver / 1000, driver % 1000 / 10, runtime / 1000,
              runtime % 1000 / 10);
  else if (trouble == QM_TROUBLE_NO_GPU)
    snprintf (why, size, "There is no NVIDIA GPU in this machine.");
  else if (trouble != QM_TROUBLE_NONE)
    snprintf (why, size, "The NVIDIA driver does not work: %s.",
              cudaGetErrorString (code));
  return n;
}

QmStatus
qm_cuda_products_find (QmProducts *products, QmError *error)
{
  QmCudaBlas blas;
  QmStatus status = qm_cuda_blas_load (&blas, error);

  qm_cuda_library_name (&qm_cuda_cublaslt, &blas.library, products->name,
                        sizeof products->name);
  snprintf (products->path, sizeof products->path, "%s", blas.library.path);
  snprintf (products->note, sizeof products->note, "%s", blas.library.note);
  return status;
}

/* A library that was named and cannot be used is a trouble of the device. */
static void
find_products (QmDeviceInfo *info)
{
  QmError error;

  if (qm_cuda_products_find (&info->products, &error) == QM_OK
      || info->trouble[0] != '\0')
    return;
  info->cause = QM_TROUBLE_BROKEN;
  snprintf (info->trouble, sizeof info->trouble, "%.190s", error.message);
}

cudaError_t
qm_cuda_describe (int ordinal, QmDeviceInfo *info)
{
  struct cudaDeviceProp properties;
  cudaError_t code = cudaGetDeviceProperties (&properties, ordinal);

  memset (info, 0, sizeof *info);
  if (code != cudaSuccess)
    return code;
  info->target.kind = QM_DEVICE_CUDA;
  info->capability = 10 * properties.major + properties.minor;
  info->target.architecture =
      qm_cuda_architecture (info->capability, QM_CUDA_ARCHITECTURES);
  snprintf (info->id, sizeof info->id, "cuda:%d", ordinal);
  snprintf (info->name, sizeof info->name, "%.*s", (int) sizeof info->name - 1,
            properties.name);
  read_driver (info->driver, sizeof info->driver);
  info->memory_bytes = properties.totalGlobalMem;
  info->processors = properties.multiProcessorCount;
  if (cudaDeviceGetPCIBusId (info->bus, sizeof info->bus, ordinal)
      != cudaSuccess)
    info->bus[0] = '\0';
  cudaDriverGetVersion (&info->driver_cuda);
  cudaRuntimeGetVersion (&info->runtime_cuda);
  qm_cuda_find_trouble (info, QM_CUDA_ARCHITECTURES);
  find_products (info);
  return cudaSuccess;
}

size_t
qm_cuda_list (QmDeviceInfo *infos, size_t max, char *note, size_t note_size)
{
  int n = qm_cuda_count (note, note_size);

  for (int i = 0; i < n && (size_t) i < max; i++)
    {
      cudaError_t code = qm_cuda_describe (i, &infos[i]);

      if (code == cudaSuccess)
        continue;
      cudaGetLastError ();
      infos[i].target.kind = QM_DEVICE_CUDA;
      snprintf (infos[i].id, sizeof infos[i].id, "cuda:%d", i);
      infos[i].cause = QM_TROUBLE_BROKEN;
      snprintf (infos[i].trouble, sizeof infos[i].trouble,
                "cuda:%d cannot be used: %s.", i, cudaGetErrorString (code));
    }
  return (size_t) n;
}

bool
qm_cuda_peers (int from, int to)
{
  int can = 0;

  if (cudaDeviceCanAccessPeer (&can, from, to) != cudaSuccess)
    cudaGetLastError ();
  return can != 0;
}
