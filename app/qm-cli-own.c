/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "app/qm-cli-own.h"

#include "app/qm-cli-output.h"
#include "data/datadir.h"

#include <limits.h>

static void
warn (const GArray *problems, guint from)
{
  for (guint i = from; i < problems->len; i++)
    qm_cli_warn (&g_array_index (problems, QmError, i));
}

QmPageRules *
qm_cli_own_rules (GArray *problems)
{
  g_autoptr (GArray) all = problems != NULL
                               ? g_array_ref (problems)
                               : g_array_new (FALSE, FALSE, sizeof (QmError));
  guint before = all->len;
  QmPageRules *rules = qm_page_rules_load_default (all);

  warn (all, before);
  return rules;
}

QmMatcher *
qm_cli_own_matcher (const QmCatalog *catalog)
{
  g_autoptr (GArray) problems = g_array_new (FALSE, FALSE, sizeof (QmError));
  char shipped[PATH_MAX], own[PATH_MAX];
  QmMatcher *matcher = qm_matcher_new (
      catalog, qm_data_dir (shipped, sizeof shipped) ? shipped : NULL,
      qm_user_data_dir (own, sizeof own) ? own : NULL, problems);

  warn (problems, 0);
  return matcher;
}
