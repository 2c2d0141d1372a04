/* SPDX-License-Identifier: Apache-2.0 */

/* What delivered machines are held against: what is written is read, and what
 * somebody broke is refused with its place. */

#include "data/acceptance.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const QmAcceptance some = {
  .made_on = "2026-11-26",
  .tolerance = 3,
  .trainings = { { .model = "pythia-1b",
                   .key = "0123456789abcdef",
                   .gpu = "h100-80gb-sxm",
                   .gpus = 8,
                   .has_way = true,
                   .settings = "free-lunch",
                   .checkpointing = true,
                   .offloading = true,
                   .sharding = "zero_2",
                   .tokens = true,
                   .predicted = 120000,
                   .low = 110000,
                   .high = 130000,
                   .guaranteed = 100000 },
                 { .model = "vit-large",
                   .key = "fedcba9876543210",
                   .predicted = NAN,
                   .low = NAN,
                   .high = NAN,
                   .guaranteed = 1500 } },
  .n = 2,
};

static void
test_round_trip (void)
{
  char *text = qm_acceptance_format (&some), *again;
  const QmAcceptanceTraining *training;
  QmAcceptance read;
  QmError error = { 0 };

  CHECK (text != NULL);
  CHECK_INT (qm_acceptance_parse (text, strlen (text), "f", &read, &error),
             QM_OK);
  CHECK_STRING (read.made_on, some.made_on);
  CHECK_INT (read.n, 2);
  training = &read.trainings[0];
  CHECK_STRING (training->model, "pythia-1b");
  CHECK_STRING (training->key, "0123456789abcdef");
  CHECK_STRING (training->gpu, "h100-80gb-sxm");
  CHECK_INT (training->gpus, 8);
  CHECK (training->has_way && training->checkpointing && training->offloading);
  CHECK_STRING (training->settings, "free-lunch");
  CHECK_STRING (training->sharding, "zero_2");
  CHECK (training->tokens && training->predicted == 120000
         && training->low == 110000 && training->high == 130000);
  CHECK_NEAR (qm_acceptance_least (&read, training), 97000, 1e-12);
  training = &read.trainings[1];
  CHECK (!training->has_way && !training->tokens && training->gpus == 0
         && training->gpu[0] == '\0' && isnan (training->predicted));
  CHECK (training->guaranteed == 1500);
  again = qm_acceptance_format (&read);
  CHECK_STRING (again, text);
  free (again);
  free (text);
}

static void
test_broken (void)
{
  static const struct
  {
    const char *from, *to, *message;
    QmStatus status;
  } changes[] = {
    { "{", "[", "", QM_STATUS_PARSE },
    { "acceptance-1", "acceptance-2", "format", QM_STATUS_INVALID },
    { "quartermaster-acceptance-1", "quartermaster-quotes", "format",
      QM_STATUS_INVALID },
    { "3.0", "-1", "tolerance_percent", QM_STATUS_INVALID },
    { "3.0", "51", "tolerance_percent", QM_STATUS_INVALID },
    { "tolerance_percent", "tolerance", "tolerance", QM_STATUS_UNSUPPORTED },
    { "\"pythia-1b\"", "\"../pythia\"", "experiments", QM_STATUS_INVALID },
    { "\"h100-80gb-sxm\"", "\"H100\\u0007\"", "gpu", QM_STATUS_INVALID },
    { "\"key\"", "\"no\"", "key", QM_STATUS_INVALID },
    { "\"gpus\": 8", "\"gpus\": 0", "gpus", QM_STATUS_INVALID },
    { "\"gpus\": 8", "\"gpus\": 17", "gpus", QM_STATUS_INVALID },
    { "\"tokens\"", "\"words\"", "unit", QM_STATUS_INVALID },
    { "100000.0", "0", "guaranteed_per_second", QM_STATUS_INVALID },
    { "100000.0", "1e300", "guaranteed_per_second", QM_STATUS_INVALID },
    { "120000.0", "140000", "per_second", QM_STATUS_INVALID },
    { "\"zero_2\"", "null", "offloading", QM_STATUS_INVALID },
    { "\"free-lunch\"", "\"\"", "settings", QM_STATUS_INVALID },
    { "{", "{\"experiments\": {},", "", QM_STATUS_PARSE },
  };
  char *text = qm_acceptance_format (&some);

  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    {
      char *broken = check_replaced (text, changes[i].from, changes[i].to);
      QmAcceptance read;
      QmError error = { 0 };

      check_case (changes[i].to);
      CHECK_INT (qm_acceptance_parse (broken, strlen (broken), "f", &read,
                                      &error),
                 changes[i].status);
      CHECK_STRING (error.file, "f");
      CHECK_CONTAINS (error.message, changes[i].message);
      free (broken);
    }
  check_case ("");
  free (text);
}

/* As many as there may be, and one more. */
static void
test_most (void)
{
  QmAcceptance many = some, read;
  QmError error = { 0 };
  char *text;
  char *more;

  many.n = QM_ACCEPTANCE_MAX;
  for (size_t i = 0; i < many.n; i++)
    {
      many.trainings[i] = some.trainings[1];
      many.trainings[i].model[0] = (char) ('a' + i % 26);
      many.trainings[i].model[1] = (char) ('a' + i / 26);
    }
  text = qm_acceptance_format (&many);
  CHECK_INT (qm_acceptance_parse (text, strlen (text), "f", &read, &error),
             QM_OK);
  CHECK_INT (read.n, QM_ACCEPTANCE_MAX);
  more = check_replaced (text, "\"experiments\": {",
                         "\"experiments\": {\"zz\": {\"key\": \"k\", \"unit\": "
                         "\"samples\", \"guaranteed_per_second\": 1},");
  CHECK_INT (qm_acceptance_parse (more, strlen (more), "f", &read, &error),
             QM_STATUS_INVALID);
  CHECK_CONTAINS (error.message, "one too many");
  free (more);
  free (text);
}

int
main (void)
{
  test_round_trip ();
  test_broken ();
  test_most ();
  return check_report ();
}
