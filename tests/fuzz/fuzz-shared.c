/* SPDX-License-Identifier: Apache-2.0 */

/* Results that somebody shares. */

#include "data/shared.h"
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void
require (bool holds)
{
  if (!holds)
    abort ();
}

/* Nothing of it is a path, an address or an escape. */
static bool
is_word (const char *text)
{
  for (; *text != '\0'; text++)
    if (*text < ' ' || *text > '~' || strchr ("/<>@`$\\", *text) != NULL)
      return false;
  return true;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  QmResults *results = qm_results_new ();
  QmError error = { 0 };
  const QmResult *list;
  size_t n;
  QmStatus status;

  require (results != NULL);
  status = qm_shared_parse (results, (const char *) data, size, "shared.jsonl",
                            &error);
  list = qm_results_list (results, &n);
  require (status == QM_OK ? n >= 1 && n <= QM_SHARED_MAX_RESULTS
                           : n == 0 && error.message[0] != '\0');
  for (size_t i = 0; i < n; i++)
    {
      require (list[i].status == QM_RESULT_MEASURED);
      require (list[i].machine[0] == '\0' && list[i].machine_gpus[0] == '\0');
      require (is_word (list[i].model) && is_word (list[i].device)
               && is_word (list[i].version) && is_word (list[i].driver)
               && is_word (list[i].settings) && is_word (list[i].transport));
      require (strstr (list[i].time, "T00:00:00Z") != NULL);
    }
  qm_results_free (results);
  return 0;
}
