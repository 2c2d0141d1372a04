/* SPDX-License-Identifier: Apache-2.0 */

/* rates.csv: every column is read, and what is wrong is told with its place. */

#include "data/training-rates.h"
#include "tests/data/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER                                                               \
  "id,provenance,model,config,sequence,image,batch,precision,gpu,gpus,link," \
  "software,level,settings,micro_batch,checkpointing,samples_per_s,"         \
  "rounding,sm_mhz,measured_on,source,defect,notes\n"

/* A row that says all that one can say, and one that says the least. */
#define FULL                                                                  \
  "r1,reported,Own,\"{\"\"a\"\": 1}\",512,224,64,bf16,a40,8,pcie,Theirs 1.2," \
  "tuned,narrow+zero_2,4,yes,12.5,0.125,1400,2026-11-28,"                     \
  "https://example.org/a,too warm,seen\n"
#define BARE \
  "m1,measured,vit-large,,,,64,fp32,a40,1,,,engine,,,,0.25,,,,here,,\n"

static void
test_read (void)
{
  QmTrainingRates *rates = NULL;
  QmError error = { 0 };
  const QmTrainingRate *list;
  size_t n;

  check_case ("read");
  scratch_begin ();
  scratch_write_text ("rates.csv", HEADER FULL BARE);
  CHECK_INT (qm_training_rates_load (scratch_path (""), &rates, &error), QM_OK);
  list = qm_training_rates_list (rates, &n);
  CHECK_INT (n, 2);
  CHECK (list[0].reported && list[0].checkpointing && !list[1].reported);
  CHECK_STRING (list[0].id, "r1");
  CHECK_STRING (list[0].model, "Own");
  CHECK_STRING (list[0].config, "{\"a\": 1}");
  CHECK_INT (list[0].sequence, 512);
  CHECK_INT (list[0].image, 224);
  CHECK_INT (list[0].batch, 64);
  CHECK_INT (list[0].precision, QM_PRECISION_BF16);
  CHECK_STRING (list[0].gpu, "a40");
  CHECK_INT (list[0].gpus, 8);
  CHECK_STRING (list[0].link, "pcie");
  CHECK_STRING (list[0].software, "Theirs 1.2");
  CHECK_STRING (list[0].level, "tuned");
  CHECK_STRING (list[0].settings, "narrow+zero_2");
  CHECK_INT (list[0].micro_batch, 4);
  CHECK_NEAR (list[0].samples_per_s, 12.5, 1e-12);
  CHECK_NEAR (list[0].rounding, 0.125, 1e-12);
  CHECK (list[1].rounding == 0);
  CHECK_NEAR (list[0].sm_mhz, 1400, 1e-12);
  CHECK_INT (qm_date_compare (list[0].measured_on, (QmDate){ 2026, 11, 28 }),
             0);
  CHECK_INT (list[1].measured_on.year, 0);
  CHECK_STRING (list[0].source, "https://example.org/a");
  CHECK_STRING (list[0].defect, "too warm");
  CHECK_STRING (list[0].notes, "seen");
  CHECK_STRING (list[1].config, "");
  CHECK_STRING (list[1].link, "");
  CHECK_STRING (list[1].defect, "");
  CHECK (isnan (list[1].sm_mhz) && !list[1].checkpointing);
  CHECK_INT (list[1].sequence + list[1].image + list[1].micro_batch, 0);
  CHECK_INT (list[1].precision, QM_PRECISION_FP32);
  qm_training_rates_free (rates);
  scratch_end ();
}

static void
test_none (void)
{
  QmTrainingRates *rates = NULL;
  QmError error = { 0 };
  size_t n = 1;

  check_case ("none");
  scratch_begin ();
  CHECK_INT (qm_training_rates_load (scratch_path (""), &rates, &error), QM_OK);
  qm_training_rates_list (rates, &n);
  CHECK_INT (n, 0);
  qm_training_rates_free (rates);
  scratch_end ();
}

static void
test_broken (void)
{
  static const struct
  {
    const char *from, *to, *message;
  } changes[] = {
    { "r1", "m1", "id: is there twice" },
    { "reported", "told", "provenance: 'told' is not" },
    { "Own", "", "model: must not be empty" },
    { ",64,bf16", ",,bf16", "batch: must not be empty" },
    { "bf16", "fp8", "precision: 'fp8' is not" },
    { ",8,pcie", ",0,pcie", "gpus: '0' is not between" },
    { "pcie", "rope", "link: 'rope' is not" },
    { "yes", "maybe", "checkpointing: 'maybe' is not" },
    { "12.5", "", "samples_per_s: must not be empty" },
    { "12.5", "fast", "samples_per_s: 'fast' is not a number" },
    { "1400", "1e9", "sm_mhz: " },
    { "2026-11-28", "2026-11-31", "measured_on: '2026-11-31' is not" },
    { "https://example.org/a", "", "source: must not be empty" },
  };

  check_case ("broken");
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    {
      char text[sizeof HEADER FULL BARE + 16];
      const char *at = strstr (FULL, changes[i].from);
      QmTrainingRates *rates;
      QmError error = { 0 };

      snprintf (text, sizeof text, "%s%s%.*s%s%s", HEADER, BARE,
                (int) (at - FULL), FULL, changes[i].to,
                at + strlen (changes[i].from));
      CHECK_INT (qm_training_rates_parse (text, strlen (text), "rates.csv",
                                          &rates, &error),
                 QM_STATUS_INVALID);
      CHECK (rates == NULL);
      CHECK_INT (error.line, 3);
      CHECK_STRING (error.file, "rates.csv");
      CHECK_CONTAINS (error.message, changes[i].message);
    }
}

/* A file of before there were days. */
static void
test_without_days (void)
{
  static const char text[] =
      "id,provenance,model,config,sequence,image,batch,precision,gpu,gpus,link,"
      "software,level,settings,micro_batch,checkpointing,samples_per_s,sm_mhz,"
      "source,defect,notes\n"
      "m1,measured,vit-large,,,,64,fp32,a40,1,,,engine,,,,0.25,,here,,\n";
  QmTrainingRates *rates = NULL;
  const QmTrainingRate *list;
  size_t n;

  check_case ("without days");
  CHECK_INT (qm_training_rates_parse (text, strlen (text), "rates.csv", &rates,
                                      NULL),
             QM_OK);
  list = qm_training_rates_list (rates, &n);
  CHECK_INT (n, 1);
  CHECK_STRING (list[0].source, "here");
  CHECK_INT (list[0].measured_on.year, 0);
  qm_training_rates_free (rates);
}

/* Those that came with the program.  A day is what the source says, too. */
static void
test_shipped (void)
{
  QmTrainingRates *rates = NULL;
  QmError error = { 0 };
  const QmTrainingRate *list;
  size_t n = 0, reported = 0;

  check_case ("shipped");
  CHECK_INT (qm_training_rates_load (getenv ("QM_SHIPPED_DATA_DIR"), &rates,
                                     &error),
             QM_OK);
  CHECK_STRING (error.message, "");
  list = qm_training_rates_list (rates, &n);
  for (size_t i = 0; i < n; i++)
    {
      QmModelConfig config;
      const QmDate *day = &list[i].measured_on;
      char source[64];

      CHECK (list[i].reported == (day->year == 0));
      snprintf (source, sizeof source, "measured on %04d-%02d-%02d", day->year,
                day->month, day->day);
      if (!list[i].reported)
        CHECK_CONTAINS (list[i].source, source);
      reported += list[i].reported;
      /* None stands for a model of another family. */
      CHECK (strstr (list[i].config, "gpt_neox") == NULL
             || strstr (list[i].model, "qwen") == NULL);
      if (list[i].config[0] != '\0')
        CHECK_INT (qm_model_config_parse (list[i].config,
                                          strlen (list[i].config), list[i].id,
                                          &config, &error),
                   QM_OK);
    }
  CHECK (n >= 190 && reported >= 80 && reported <= n - 80);
  qm_training_rates_free (rates);
}

int
main (void)
{
  test_read ();
  test_none ();
  test_broken ();
  test_without_days ();
  test_shipped ();
  return check_report ();
}
