/* SPDX-License-Identifier: Apache-2.0 */

/* Which measurement a result is of, and in which order results are shown. */

#include "data/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

QmResult
qm_result_nothing (void)
{
  return (QmResult){ .model = "",
                     .model_key = "",
                     .device = "",
                     .driver = "",
                     .engine = "",
                     .version = "",
                     .gpus = 1,
                     .nodes = 1,
                     .transport = "",
                     .sums = "",
                     .settings = "",
                     .sharding = "none",
                     .micro_batch = 1,
                     .memory_limit = -1,
                     .host_limit = -1,
                     .machine = "",
                     .machine_gpus = "",
                     .time = "",
                     .gpu = "",
                     .precision = "",
                     .fp8_scales = "",
                     .fp8_amax = "",
                     .fp8_gradients = "",
                     .accumulation = 1,
                     .days = NAN,
                     .step = NAN,
                     .pass = NAN,
                     .update = NAN,
                     .tflops = NAN,
                     .mfu = NAN,
                     .watts = NAN,
                     .training_kwh = NAN,
                     .cost = NAN,
                     .planned_bytes = -1,
                     .host_bytes = -1,
                     .used_bytes = -1,
                     .memory_bytes = -1,
                     .reason = "",
                     .needs_bytes = -1,
                     .available_bytes = -1,
                     .file = "",
                     .text = "",
                     .key = "" };
}

/* CPUs always do. */
bool
qm_result_through_host (const QmResult *r)
{
  return r->gpus > 1 && r->architecture > 0
         && (strcmp (r->transport, "host") == 0
             || strcmp (r->transport, "sockets") == 0);
}

/* What NCCL was told that it may not do. */
static const struct
{
  const char *name;
  const char *values[3]; /* that do so; none: all */
  QmResultPath path;
} variables[] = {
  { "NCCL_P2P_DISABLE", { "1" }, QM_PATH_HOST },
  { "NCCL_P2P_LEVEL", { "LOC", "0" }, QM_PATH_HOST },
  { "NCCL_SHM_DISABLE", { "1" }, QM_PATH_FORCED },
  { "NCCL_MAX_NCHANNELS", { NULL }, QM_PATH_FORCED },
  { "NCCL_MAX_CTAS", { NULL }, QM_PATH_FORCED },
};

QmResultPath
qm_result_variable_path (const char *name, const char *value)
{
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    {
      const char *const *one = variables[i].values;

      if (strcmp (variables[i].name, name) != 0)
        continue;
      if (*one == NULL)
        return variables[i].path;
      for (; *one != NULL; one++)
        if (strcmp (*one, value) == 0)
          return variables[i].path;
    }
  return QM_PATH_OWN;
}

/* The strings have no control characters, so that one may stand between them.
 */
bool
qm_result_key (const QmResult *r, char key[QM_RESULT_KEY_BYTES])
{
  int length =
      snprintf (key, QM_RESULT_KEY_BYTES,
                "%s\x1f%s\x1f%s\x1f%s\x1f%d\x1f%s\x1f%s\x1f%d\x1f%s\x1f%d\x1f%s"
                "\x1f%d\x1f%lld\x1f%d\x1f%lld\x1f%lld\x1f%d%s",
                r->model, r->model_key, r->device, r->driver, r->architecture,
                r->engine, r->version, r->gpus, r->settings, r->checkpointing,
                r->sharding, r->offloading, (long long) r->micro_batch,
                r->deterministic, (long long) r->memory_limit,
                (long long) r->host_limit, r->nodes,
                qm_result_through_host (r) ? "\x1fthrough the host"
                : r->path != QM_PATH_OWN   ? "\x1fslowed"
                                           : "");

  return length >= 0 && length < QM_RESULT_KEY_BYTES;
}

/* Naive settings first, as the way begins there. */
static int
settings_rank (const char *settings)
{
  return strcmp (settings, "naive") == 0        ? 0
         : strcmp (settings, "free-lunch") == 0 ? 1
                                                : 2;
}

static int
sharding_rank (const char *sharding)
{
  return strcmp (sharding, "none") == 0 ? 0 : 1;
}

static int
compare_whole (int64_t a, int64_t b)
{
  return (a > b) - (a < b);
}

int
qm_result_compare (const QmResult *a, const QmResult *b)
{
  const int orders[] = {
    strcmp (a->model, b->model),
    strcmp (a->model_key, b->model_key),
    strcmp (a->device, b->device),
    strcmp (a->driver, b->driver),
    compare_whole (a->architecture, b->architecture),
    strcmp (a->engine, b->engine),
    strcmp (a->version, b->version),
    compare_whole (a->gpus, b->gpus),
    compare_whole (a->nodes, b->nodes),
    compare_whole (qm_result_through_host (a), qm_result_through_host (b)),
    compare_whole (a->path, b->path),
    compare_whole (a->deterministic, b->deterministic),
    compare_whole (settings_rank (a->settings), settings_rank (b->settings)),
    strcmp (a->settings, b->settings),
    compare_whole (sharding_rank (a->sharding), sharding_rank (b->sharding)),
    strcmp (a->sharding, b->sharding),
    compare_whole (a->offloading, b->offloading),
    compare_whole (a->checkpointing, b->checkpointing),
    compare_whole (b->micro_batch, a->micro_batch),
  };

  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
    if (orders[i] != 0)
      return orders[i];
  return strcmp (a->key, b->key);
}

const char *
qm_result_status_name (QmResultStatus status)
{
  static const char *const names[] = { "measured", "infeasible", "failed",
                                       "cut" };

  return names[status];
}
