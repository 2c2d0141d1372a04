/* SPDX-License-Identifier: Apache-2.0 */

/* Questions as files.  What was read is written so that it is read back equal,
 * as the same bytes. */

#include "pricing/advice/qm-asked.h"
#include "tests/fuzz/fuzz-quotes.h"

#include <string.h>

/* Whatever is asked, money of it can be counted. */
static void
count (QmPurse purse)
{
  require (qm_purse_to_usd (&purse, purse.budget_minor) >= -1);
  require (qm_purse_from_usd (&purse, 100, TRUE) > 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *copy = copy_input (data, size);
  GError *error = NULL;
  QmAsked *asked = qm_asked_read (copy, size, "input", &error);

  require_outcome (asked != NULL, error);
  if (asked != NULL)
    {
      char *first = qm_asked_write (asked), *second;
      QmAsked *again = qm_asked_read (first, strlen (first), "again", NULL);

      require (again != NULL);
      second = qm_asked_write (again);
      require (strcmp (first, second) == 0);
      count (asked->question->purse);
      qm_asked_free (again);
      g_free (second);
      g_free (first);
      qm_asked_free (asked);
    }
  free (copy);
  return 0;
}
