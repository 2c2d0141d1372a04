/* SPDX-License-Identifier: Apache-2.0 */

/* Which measurement a result is of: GPUs that exchange through the host are
 * another one, CPUs are not; what was cut takes the place of nothing that was
 * measured. */

#include "data/results.h"
#include "tests/data/check.h"

#include <string.h>

static void
test_transport (void)
{
  QmResult a = qm_result_nothing (), b = qm_result_nothing ();
  char keys[2][QM_RESULT_KEY_BYTES];

  a.gpus = b.gpus = 2;
  a.transport = "nccl";
  b.transport = "host";
  for (int architecture = 0; architecture < 100; architecture += 90)
    {
      a.architecture = b.architecture = architecture;
      CHECK (qm_result_key (&a, keys[0]) && qm_result_key (&b, keys[1]));
      CHECK ((strcmp (keys[0], keys[1]) == 0) == (architecture == 0));
    }
  /* Older lines do not say. */
  a.transport = "";
  b.transport = "nccl";
  CHECK (qm_result_key (&a, keys[0]) && qm_result_key (&b, keys[1]));
  CHECK_STRING (keys[0], keys[1]);
}

static void
test_cut (void)
{
  QmResult a = qm_result_nothing (), b = qm_result_nothing ();

  CHECK_STRING (qm_result_status_name (QM_RESULT_CUT), "cut");
  a.status = QM_RESULT_CUT;
  b.status = QM_RESULT_MEASURED;
  a.time = "2026-11-22T00:00:00Z";
  b.time = "2026-11-21T00:00:00Z";
  CHECK (!qm_result_replaces (&a, &b));
  CHECK (qm_result_replaces (&b, &a));
  b.status = QM_RESULT_FAILED;
  CHECK (qm_result_replaces (&a, &b));
}

int
main (void)
{
  test_transport ();
  test_cut ();
  return check_report ();
}
