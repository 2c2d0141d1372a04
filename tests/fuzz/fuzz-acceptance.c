/* SPDX-License-Identifier: Apache-2.0 */

/* Files of what delivered machines are held against. */

#include "data/acceptance.h"
#include "data/text.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void
require (bool holds)
{
  if (!holds)
    abort ();
}

static void
check (const QmAcceptance *acceptance)
{
  require (acceptance->n >= 1 && acceptance->n <= QM_ACCEPTANCE_MAX);
  require (acceptance->tolerance >= 0
           && acceptance->tolerance <= QM_ACCEPTANCE_MOST_TOLERANCE);
  for (size_t i = 0; i < acceptance->n; i++)
    {
      const QmAcceptanceTraining *training = &acceptance->trainings[i];

      require (training->model[0] != '\0' && qm_text_is_line (training->model));
      require (training->guaranteed > 0 && isfinite (training->guaranteed));
      require (qm_acceptance_least (acceptance, training) > 0);
      require (training->gpus >= 0
               && training->gpus <= QM_ACCEPTANCE_MOST_GPUS);
      require (isnan (training->predicted)
               || (training->low > 0 && training->low <= training->high));
      require (!training->has_way || training->settings[0] != '\0');
    }
}

/* What was read is written so that it is read once more. */
static void
read_again (const QmAcceptance *acceptance)
{
  char *text = qm_acceptance_format (acceptance);
  QmAcceptance again;
  QmError error = { 0 };

  require (text != NULL);
  require (qm_acceptance_parse (text, strlen (text), "again", &again, &error)
           == QM_OK);
  require (again.n == acceptance->n);
  free (text);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  char *text = malloc (size > 0 ? size : 1);
  QmAcceptance acceptance;
  QmError error = { 0 };

  require (text != NULL);
  if (size > 0)
    memcpy (text, data, size);
  if (qm_acceptance_parse (text, size, "acceptance.json", &acceptance, &error)
      == QM_OK)
    {
      check (&acceptance);
      read_again (&acceptance);
    }
  else
    require (error.message[0] != '\0');
  free (text);
  return 0;
}
