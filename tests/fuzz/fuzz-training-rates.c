/* SPDX-License-Identifier: Apache-2.0 */

/* Files of training rates. */

#include "data/training-rates.h"
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
check (const QmTrainingRate *rate)
{
  require (rate->id[0] != '\0' && rate->model[0] != '\0');
  require (rate->gpu[0] != '\0' && rate->level[0] != '\0');
  require (rate->source[0] != '\0' && rate->batch >= 1 && rate->gpus >= 1);
  require (rate->sequence >= 0 && rate->image >= 0 && rate->micro_batch >= 0);
  require (rate->samples_per_s > 0 && isfinite (rate->samples_per_s));
  require (isnan (rate->sm_mhz) || rate->sm_mhz >= 100);
  require (strlen (rate->config) + strlen (rate->link) + strlen (rate->software)
               + strlen (rate->settings) + strlen (rate->defect)
               + strlen (rate->notes)
           < (size_t) 1 << 24);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  /* As a file is read: with a zero byte behind it. */
  char *text = calloc (size + 1, 1);
  QmTrainingRates *rates;
  QmError error = { 0 };
  size_t n;
  const QmTrainingRate *list;

  require (text != NULL);
  if (size > 0)
    memcpy (text, data, size);
  if (qm_training_rates_parse (text, size, "rates.csv", &rates, &error)
      == QM_OK)
    {
      list = qm_training_rates_list (rates, &n);
      for (size_t i = 0; i < n; i++)
        check (&list[i]);
      qm_training_rates_free (rates);
    }
  else
    require (rates == NULL && error.message[0] != '\0');
  free (text);
  return 0;
}
