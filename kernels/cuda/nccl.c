/* SPDX-License-Identifier: Apache-2.0 */

#include "kernels/cuda/nccl.h"

#include "kernels/communicator.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

QmStatus
qm_nccl_load (QmNccl *nccl, QmError *error)
{
  const QmCudaSymbol symbols[] = {
    { "ncclGetUniqueId", &nccl->get_unique_id },
    { "ncclCommInitRankConfig", &nccl->init },
    { "ncclCommFinalize", &nccl->finalize },
    { "ncclCommDestroy", &nccl->destroy },
    { "ncclCommAbort", &nccl->abort },
    { "ncclCommGetAsyncError", &nccl->async_error },
    { "ncclGetErrorString", &nccl->error_string },
    { "ncclGetLastError", &nccl->last_error },
    { "ncclAllReduce", &nccl->all_reduce },
    { "ncclReduceScatter", &nccl->reduce_scatter },
    { "ncclAllGather", &nccl->all_gather },
  };
  QmCudaPlaces places;
  char program[PATH_MAX];

  memset (nccl, 0, sizeof *nccl);
  qm_cuda_places_here (&qm_cuda_nccl, &places, program, sizeof program);
  return qm_cuda_library_find (&qm_cuda_nccl, &places, symbols,
                               sizeof symbols / sizeof symbols[0],
                               &nccl->library, error);
}

bool
qm_nccl_find (char *note, size_t size)
{
  QmNccl nccl;
  QmError error = { 0 };
  char name[32];

  if (qm_nccl_load (&nccl, &error) != QM_OK)
    {
      snprintf (note, size, "%s", error.message);
      return false;
    }
  if (nccl.library.handle == NULL)
    {
      snprintf (note, size, "%s", nccl.library.note);
      return false;
    }
  qm_cuda_library_name (&qm_cuda_nccl, &nccl.library, name, sizeof name);
  snprintf (note, size, "%s (%s)", name, nccl.library.path);
  return true;
}
