/* SPDX-License-Identifier: Apache-2.0 */

/* survey.csv and original-runs.csv: what is read, what is refused, and what
 * came with the program. */

#include "data/study.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SURVEY "id,value,source\n"
#define RUNS   "model,gpus,gpu,days,source\n"

static void
test_read (void)
{
  QmStudy *study = NULL;
  QmError error = { 0 };
  const QmOriginalRun *runs;
  size_t n;

  check_case ("read");
  scratch_begin ();
  CHECK_INT (qm_study_load (scratch_path (""), &study, &error), QM_OK);
  qm_study_runs (study, &n);
  CHECK_INT (n, 0);
  CHECK (qm_study_surveyed (study, "respondents") == NULL);
  qm_study_free (study);
  scratch_write_text ("survey.csv", SURVEY "asked,50,here\n");
  scratch_write_text ("original-runs.csv",
                      RUNS "a,32,an A100,1.5,here\nb,,another,,there\n");
  CHECK_INT (qm_study_load (scratch_path (""), &study, &error), QM_OK);
  CHECK (qm_study_surveyed (study, "asked")->value == 50);
  CHECK (qm_study_surveyed (study, "answered") == NULL);
  runs = qm_study_runs (study, &n);
  CHECK_INT (n, 2);
  CHECK (runs[0].gpus == 32 && runs[0].days == 1.5);
  CHECK_STRING (runs[0].gpu, "an A100");
  CHECK (isnan (runs[1].gpus) && isnan (runs[1].days));
  qm_study_free (study);
  scratch_end ();
}

static void
test_broken (void)
{
  static const struct
  {
    const char *file, *text, *message;
  } broken[] = {
    { "survey.csv", "id,value\na,1\n", "source" },
    { "survey.csv", SURVEY "a,1,here\na,2,here\n", "twice" },
    { "survey.csv", SURVEY "a,-1,here\n", "value" },
    { "survey.csv", SURVEY "a,1,\n", "source" },
    { "original-runs.csv", RUNS "A B,1,x,1,here\n", "model" },
    { "original-runs.csv", RUNS "a,0,x,1,here\n", "gpus" },
    { "original-runs.csv", RUNS "a,1,,1,here\n", "gpu" },
    { "original-runs.csv", RUNS "a,1,x,many,here\n", "days" },
  };

  for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
    {
      QmStudy *study = NULL;
      QmError error = { 0 };

      check_case (broken[i].text);
      scratch_begin ();
      scratch_write_text (broken[i].file, broken[i].text);
      CHECK (qm_study_load (scratch_path (""), &study, &error) != QM_OK);
      CHECK (study == NULL);
      CHECK_CONTAINS (error.file, broken[i].file);
      CHECK_CONTAINS (error.message, broken[i].message);
      scratch_end ();
    }
}

static void
test_shipped (void)
{
  QmStudy *study = NULL;
  QmError error = { 0 };
  const QmOriginalRun *runs;
  size_t n;

  check_case ("shipped");
  CHECK_INT (qm_study_load (getenv ("QM_SHIPPED_DATA_DIR"), &study, &error),
             QM_OK);
  CHECK (qm_study_surveyed (study, "no_cloud_percent")->value == 85);
  runs = qm_study_runs (study, &n);
  CHECK_INT (n, 9);
  CHECK_STRING (runs[2].model, "pythia-1b");
  CHECK (runs[2].gpus * runs[2].days == 192);
  qm_study_free (study);
}

int
main (void)
{
  test_read ();
  test_broken ();
  test_shipped ();
  return check_report ();
}
