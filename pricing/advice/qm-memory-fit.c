/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/advice/qm-memory-fit.h"

#include <string.h>

/* One way to train a model on a GPU type. */
typedef struct
{
  gboolean naive;
  gint64 states;    /* bytes that can be divided */
  gint64 smallest;  /* bytes with a pass of one sample */
  gint64 available; /* bytes that a GPU has */
  gint64 host;      /* bytes in the memory of the host; 0: does not offload */
  gint64 host_available; /* 0: as many as it takes */
} Way;

struct _QmMemoryFit
{
  gatomicrefcount references;
  gboolean pending;
  GHashTable *ways; /* "model gpu" -> GArray of Way */
};

QmMemoryFit *
qm_memory_fit_new (void)
{
  QmMemoryFit *self = g_new0 (QmMemoryFit, 1);

  g_atomic_ref_count_init (&self->references);
  self->ways = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                      (GDestroyNotify) g_array_unref);
  return self;
}

QmMemoryFit *
qm_memory_fit_ref (QmMemoryFit *fit)
{
  g_return_val_if_fail (fit != NULL, NULL);

  g_atomic_ref_count_inc (&fit->references);
  return fit;
}

void
qm_memory_fit_unref (QmMemoryFit *fit)
{
  if (fit == NULL || !g_atomic_ref_count_dec (&fit->references))
    return;
  g_hash_table_unref (fit->ways);
  g_free (fit);
}

/* Ids hold no line breaks. */
static char *
key_of (const char *model, const char *gpu)
{
  return g_strconcat (model, "\n", gpu, NULL);
}

/* A whole number of bytes; FALSE where there is none. */
static gboolean
take_bytes (const json_t *object, const char *name, gint64 *bytes)
{
  const json_t *value = json_object_get (object, name);

  *bytes = json_integer_value (value);
  return json_is_integer (value) && *bytes >= 0;
}

static gboolean
take_states (const json_t *memory, gint64 *states)
{
  static const char *const names[] = { "weights", "master_weights", "gradients",
                                       "optimizer" };

  *states = 0;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      gint64 bytes;

      if (!take_bytes (memory, names[i], &bytes)
          || __builtin_add_overflow (*states, bytes, states))
        return FALSE;
    }
  return TRUE;
}

gboolean
qm_memory_fit_add (QmMemoryFit *fit, const char *model, const json_t *line)
{
  const char *gpu = json_string_value (json_object_get (line, "gpu_id"));
  const char *settings = json_string_value (json_object_get (line, "settings"));
  const json_t *memory = json_object_get (line, "memory_bytes");
  g_autofree char *key = NULL;
  GArray *ways;
  Way way;

  g_return_val_if_fail (fit != NULL && model != NULL, FALSE);

  if (gpu == NULL || settings == NULL || !take_states (memory, &way.states)
      || !take_bytes (line, "smallest_bytes", &way.smallest)
      || !take_bytes (line, "available_bytes", &way.available)
      || !take_bytes (memory, "host", &way.host) || way.smallest < way.states)
    return FALSE;
  if (!take_bytes (line, "host_available_bytes", &way.host_available))
    way.host_available = 0;
  way.naive = strcmp (settings, "naive") == 0;
  key = key_of (model, gpu);
  ways = g_hash_table_lookup (fit->ways, key);
  if (ways == NULL)
    {
      ways = g_array_new (FALSE, FALSE, sizeof (Way));
      g_hash_table_insert (fit->ways, g_steal_pointer (&key), ways);
    }
  g_array_append_val (ways, way);
  return TRUE;
}

void
qm_memory_fit_set_pending (QmMemoryFit *fit, gboolean pending)
{
  g_return_if_fail (fit != NULL);

  fit->pending = pending;
}

gboolean
qm_memory_fit_is_pending (const QmMemoryFit *fit)
{
  return fit != NULL && fit->pending;
}

static gboolean
way_fits (const Way *way, int gpus)
{
  gint64 parts = way->naive ? 1 : gpus;
  gint64 states = way->states / parts + (way->states % parts != 0);

  return way->smallest - way->states + states <= way->available
         && (way->host_available == 0 || way->host <= way->host_available);
}

QmFit
qm_memory_fit_look (const QmMemoryFit *fit,
                    const char *model,
                    const QmGpu *gpu,
                    int gpus,
                    QmSettings settings,
                    gint64 *host_bytes)
{
  g_autofree char *key = NULL;
  const GArray *ways;
  gint64 host = -1;
  gboolean planned = FALSE;

  g_return_val_if_fail (model != NULL && gpu != NULL, QM_FIT_UNKNOWN);
  g_return_val_if_fail (gpus > 0, QM_FIT_UNKNOWN);

  if (host_bytes != NULL)
    *host_bytes = 0;
  if (fit == NULL)
    return QM_FIT_UNKNOWN;
  key = key_of (model, gpu->id);
  ways = g_hash_table_lookup (fit->ways, key);
  for (guint i = 0; ways != NULL && i < ways->len; i++)
    {
      const Way *way = &g_array_index (ways, Way, i);

      if (way->naive != (settings == QM_SETTINGS_NAIVE))
        continue;
      planned = TRUE;
      if (!way_fits (way, gpus))
        continue;
      if (way->host == 0)
        return QM_FIT_WELL;
      host = host < 0 ? way->host : MIN (host, way->host);
    }
  if (host < 0)
    return planned ? QM_FIT_NOT : QM_FIT_UNKNOWN;
  if (host_bytes != NULL)
    *host_bytes = host;
  return QM_FIT_OFFLOADING;
}

const char *
qm_fit_name (QmFit fit)
{
  static const char *const names[] = { "unknown", "no", "offloading", "yes" };

  g_return_val_if_fail ((guint) fit < G_N_ELEMENTS (names), NULL);

  return names[fit];
}
