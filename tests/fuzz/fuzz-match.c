/* SPDX-License-Identifier: Apache-2.0 */

/* Names of GPUs: the first line is a part number, the rest a description. */

#include "tests/fuzz/fuzz-quotes.h"

static void
require_item (const QmCatalog *catalog, const char *id)
{
  require (qm_catalog_gpu (catalog, id) != NULL
           || qm_catalog_machine (catalog, id) != NULL);
}

static void
require_match (const QmCatalog *catalog, const QmMatch *match)
{
  require (match->state != QM_MATCH_CHOSEN && match->gpus >= 0
           && match->gpus <= 16);
  require ((match->state == QM_MATCH_FOUND) == (match->item != NULL));
  require ((match->state == QM_MATCH_AMBIGUOUS) == (match->candidates != NULL));
  if (match->item != NULL)
    require_item (catalog, match->item);
  if (match->candidates != NULL)
    {
      char **ids = g_strsplit (match->candidates, ";", -1);

      require (ids[0] != NULL);
      for (guint i = 0; ids[i] != NULL; i++)
        require_item (catalog, ids[i]);
      g_strfreev (ids);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const QmCatalog *catalog;
  const QmMatcher *matcher = shared_matcher (&catalog);
  char *raw = g_strndup ((const char *) data, size);
  char *text = g_utf8_make_valid (raw, -1);
  char *rest = strchr (text, '\n');
  QmMatch match;

  if (rest != NULL)
    *rest++ = '\0';
  qm_matcher_match (matcher, text, rest, &match);
  require_match (catalog, &match);
  qm_match_clear (&match);
  g_free (text);
  g_free (raw);
  return 0;
}
