/* SPDX-License-Identifier: Apache-2.0 */

/* What `accept` found, as a page for the files and as JSON; the fields are in
 * qm-bench(1). */

#include "config.h"

#include "app/qm-bench-accept.h"

#include "kernels/monitor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 12

/* --- for people --- */

static const char *
unit_of (const QmBenchTrial *trial)
{
  return trial->asked->tokens ? "tokens/s" : "samples/s";
}

static void
print_devices (const QmBenchAcceptance *acceptance)
{
  for (int i = 0; i < acceptance->n_devices; i++)
    {
      const QmDeviceInfo *info = &acceptance->devices[i];

      qm_bench_print ("  %-12s%s (%s)%s%s%s%s", info->id, info->name,
                      acceptance->gpus[i][0] != '\0' ? acceptance->gpus[i]
                                                     : "not in the catalog",
                      info->bus[0] != '\0' ? ", " : "", info->bus,
                      info->driver[0] != '\0' ? ", driver " : "", info->driver);
    }
}

static void
print_throttle (const QmBenchTrial *trial)
{
  const char *words[MAX_WORDS];
  size_t n = qm_throttle_words (trial->throttle, words, MAX_WORDS);

  if (!trial->watched)
    {
      printf ("  %-12snot known: clocks and power could not be read\n",
              "held back");
      return;
    }
  printf ("  %-12s", "held back");
  for (size_t i = 0; i < n && i < MAX_WORDS; i++)
    printf ("%s%s", i > 0 ? ", " : "by: ", words[i]);
  printf ("%s\n", n == 0 ? "no" : "");
}

static const char *
place_in_range (const QmBenchTrial *trial)
{
  return trial->per_second > trial->asked->high  ? "faster than that"
         : trial->per_second < trial->asked->low ? "slower than that"
                                                 : "within it";
}

/* A rate in six digits, large ones in full. */
static const char *
rate (double value, char text[32])
{
  snprintf (text, 32, value < 1e5 ? "%.6g" : "%.0f", value);
  return text;
}

static void
print_trial (const QmBenchAcceptance *acceptance, const QmBenchTrial *trial)
{
  const QmAcceptanceTraining *asked = trial->asked;
  char text[3][32], days[32];

  printf ("\n");
  qm_bench_print ("%s on %d x %s%s%s", asked->model, trial->gpus,
                  asked->gpu[0] != '\0' ? asked->gpu : "what is there",
                  trial->measured ? ", " : "", trial->way);
  printf ("  %-12s%s %s; with the tolerance at least %s\n", "guaranteed",
          rate (asked->guaranteed, text[0]), unit_of (trial),
          rate (qm_acceptance_least (&acceptance->asked, asked), text[1]));
  if (trial->measured)
    {
      printf ("  %-12s%s %s, in %.3g s after as much load; the whole training "
              "takes %s days\n",
              "measured", rate (trial->per_second, text[0]), unit_of (trial),
              trial->seconds, qm_bench_format_days (trial->days, 4, days));
      print_throttle (trial);
    }
  else
    printf ("  %-12sno\n", "measured");
  if (isfinite (asked->predicted))
    printf ("  %-12s%s %s, nine of ten from %s to %s%s%s\n", "predicted",
            rate (asked->predicted, text[0]), unit_of (trial),
            rate (asked->low, text[1]), rate (asked->high, text[2]),
            trial->measured ? ": " : "",
            trial->measured ? place_in_range (trial) : "");
  if (trial->reason[0] != '\0')
    qm_bench_print ("  NOT PASSED: %s.", trial->reason);
  else
    printf ("  PASSED\n");
}

void
qm_bench_print_acceptance (const QmBenchAcceptance *acceptance)
{
  char host[256] = "";

  gethostname (host, sizeof host - 1);
  printf ("Acceptance test by qm-bench %s, begun %s\n", QM_VERSION,
          acceptance->begun);
  qm_bench_print ("  %-12s%s%s%s", "against", acceptance->options->against,
                  acceptance->asked.made_on[0] != '\0' ? ", made on " : "",
                  acceptance->asked.made_on);
  printf ("  %-12s%s\n", "SHA-256", acceptance->digest);
  qm_bench_print ("  %-12s%s", "host", host);
  print_devices (acceptance);
  printf ("  %-12s%.3g %%\n", "tolerance", acceptance->asked.tolerance);
  for (size_t i = 0; i < acceptance->asked.n; i++)
    print_trial (acceptance, &acceptance->trials[i]);
  printf ("\n%s\n\nPlace, day:\n\nBuyer:                         Vendor:\n",
          qm_bench_accepted (acceptance)
              ? "ACCEPTED: all trainings reach what is guaranteed."
              : "NOT ACCEPTED.");
}

/* --- for programs --- */

static json_t *
json_trial (const QmBenchAcceptance *acceptance, const QmBenchTrial *trial)
{
  const QmAcceptanceTraining *asked = trial->asked;
  json_t *object = json_object ();

  json_object_set_new (object, "model", json_string (asked->model));
  json_object_set_new (object, "gpu",
                       asked->gpu[0] != '\0' ? json_string (asked->gpu)
                                             : json_null ());
  qm_bench_json_whole (object, "gpus", asked->gpus > 0 ? asked->gpus : -1);
  json_object_set_new (object, "passed",
                       json_boolean (trial->reason[0] == '\0'));
  json_object_set_new (object, "reason",
                       trial->reason[0] != '\0' ? json_string (trial->reason)
                                                : json_null ());
  json_object_set_new (object, "unit",
                       json_string (asked->tokens ? "tokens" : "samples"));
  qm_bench_json_number (object, "guaranteed_per_second", asked->guaranteed);
  qm_bench_json_number (object, "least_per_second",
                        qm_acceptance_least (&acceptance->asked, asked));
  qm_bench_json_number (object, "predicted_per_second", asked->predicted);
  qm_bench_json_number (object, "predicted_low", asked->low);
  qm_bench_json_number (object, "predicted_high", asked->high);
  qm_bench_json_number (object, "measured_per_second",
                        trial->measured ? trial->per_second : (double) NAN);
  qm_bench_json_number (object, "days",
                        trial->measured ? trial->days : (double) NAN);
  qm_bench_json_number (object, "measured_s",
                        trial->measured ? trial->seconds : (double) NAN);
  json_object_set_new (object, "way",
                       trial->measured ? json_string (trial->way)
                                       : json_null ());
  qm_bench_json_throttle (object, trial->watched ? trial->throttle : -1);
  return object;
}

void
qm_bench_print_acceptance_json (const QmBenchAcceptance *acceptance)
{
  json_t *object = json_object (), *devices = json_array (),
         *trials = json_array ();

  json_object_set_new (object, "accepted",
                       json_boolean (qm_bench_accepted (acceptance)));
  json_object_set_new (object, "version", json_string (QM_VERSION));
  json_object_set_new (object, "begun", json_string (acceptance->begun));
  json_object_set_new (object, "sha256", json_string (acceptance->digest));
  json_object_set_new (object, "tolerance_percent",
                       json_real (acceptance->asked.tolerance));
  for (int i = 0; i < acceptance->n_devices; i++)
    {
      json_t *device = qm_bench_json_device (&acceptance->devices[i]);

      json_object_set_new (device, "gpu",
                           acceptance->gpus[i][0] != '\0'
                               ? json_string (acceptance->gpus[i])
                               : json_null ());
      json_array_append_new (devices, device);
    }
  json_object_set_new (object, "devices", devices);
  for (size_t i = 0; i < acceptance->asked.n; i++)
    json_array_append_new (trials,
                           json_trial (acceptance, &acceptance->trials[i]));
  json_object_set_new (object, "experiments", trials);
  qm_bench_print_json (object);
}
