/* SPDX-License-Identifier: Apache-2.0 */

/* What is left out of a results file's lines before they are parsed, and that
 * nothing is missed by it. */

#include "data/json-skim.h"
#include "data/results.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const QmJsonPart parts[] = {
  { "a", { "x", "yy" } },
  { "gone", { NULL } },
};

static void
check_skim (const char *text, const char *expected)
{
  char out[1024];
  size_t n = qm_json_skim (text, strlen (text), parts, 2, out);

  CHECK (n <= strlen (text));
  out[n] = '\0';
  CHECK_STRING (out, expected);
}

static void
check_left_out (void)
{
  check_skim ("{\"b\":1}", "{\"b\":1}");
  check_skim (" { \"b\" : [1, {\"gone\": 2}] } \r",
              "{\"b\":[1, {\"gone\": 2}]}");
  check_skim ("{\"gone\":[{\"p\":-1.5e-3},true,null,[],{},\"\"],\"b\":false}",
              "{\"b\":false}");
  check_skim ("{\"b\":0,\"gone\":0}", "{\"b\":0}");
  check_skim ("{\"gone\":0}", "{}");
  check_skim ("{\"a\":{\"x\":1,\"y\":2,\"yy\":{\"x\":3},\"yyy\":4},\"b\":5}",
              "{\"a\":{\"x\":1,\"yy\":{\"x\":3}},\"b\":5}");
  check_skim ("{\"a\":{\"y\":2}}", "{\"a\":{}}");
  check_skim ("{\"a\":{},\"\":1}", "{\"a\":{},\"\":1}");
  /* What is no object is wrong, which the parser has to say. */
  check_skim ("{\"a\":[1],\"aa\":2}", "{\"a\":[1],\"aa\":2}");
}

/* For the parser, as a whole. */
static void
check_left_alone (void)
{
  static const char *const texts[] = {
    "",
    "{",
    "{}",
    "[]",
    "{\"b\":1",
    "{\"b\":1}}",
    "{\"b\":1,}",
    "{\"b\" 1}",
    "{b:1}",
    "{\"gone\":01}",
    "{\"gone\":1.}",
    "{\"gone\":.5}",
    "{\"gone\":-}",
    "{\"gone\":1e400}",
    "{\"gone\":12345678901234567890}",
    "{\"gone\":tru}",
    "{\"gone\":\"\\u0000\"}",
    "{\"gone\":\"\x01\"}",
    "{\"gone\":\"\xc3\x28\"}",
    "{\"gone\":\"}",
    "{\"gone\":[1,]}",
    "{\"gone\":[1}",
    "{\"gone\":{\"p\":1,}}",
    "{\"gone\":{\"p\":1,\"p\":2}}",
    "{\"gone\":1,\"gone\":2}",
    "{\"a\":{\"y\":1,\"y\":2}}",
    "{\"a\":{\"y\":1,}}",
    "{\"a\":{\"y\":1]}",
    "{\"gone\":[[[[[[[[[[0]]]]]]]]]]}",
  };

  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    check_skim (texts[i], "");
}

static bool
same_number (double a, double b)
{
  return memcmp (&a, &b, sizeof a) == 0;
}

static void
check_same (const QmResult *a, const QmResult *b)
{
  CHECK_STRING (a->key, b->key);
  CHECK_STRING (a->machine, b->machine);
  CHECK_STRING (a->machine_gpus, b->machine_gpus);
  CHECK_STRING (a->time, b->time);
  CHECK_STRING (a->gpu, b->gpu);
  CHECK_STRING (a->model, b->model);
  CHECK_STRING (a->precision, b->precision);
  CHECK_STRING (a->reason, b->reason);
  CHECK_INT (a->status, b->status);
  CHECK_INT (a->accumulation, b->accumulation);
  CHECK_INT (a->planned_bytes, b->planned_bytes);
  CHECK_INT (a->host_bytes, b->host_bytes);
  CHECK_INT (a->used_bytes, b->used_bytes);
  CHECK_INT (a->memory_bytes, b->memory_bytes);
  CHECK_INT (a->needs_bytes, b->needs_bytes);
  CHECK_INT (a->available_bytes, b->available_bytes);
  CHECK (a->host_is_short == b->host_is_short);
  CHECK (same_number (a->days, b->days) && same_number (a->step, b->step));
  CHECK (same_number (a->pass, b->pass) && same_number (a->update, b->update));
  CHECK (same_number (a->tflops, b->tflops) && same_number (a->mfu, b->mfu));
  CHECK (same_number (a->watts, b->watts));
  CHECK (same_number (a->training_kwh, b->training_kwh));
  CHECK (same_number (a->cost, b->cost));
}

/* Every line says the same where it has something that has it parsed as a
 * whole. */
static void
check_file (const char *path)
{
  QmResults *skimmed = qm_results_new (), *whole = qm_results_new ();
  const QmResult *list;
  size_t length, n, used, left_out = 0;
  char *text;
  QmError error;

  CHECK_INT (qm_text_read_file (path, &text, &length, &error), QM_OK);
  CHECK_INT (qm_results_parse (skimmed, text, length, path, &used, &error),
             QM_OK);
  list = qm_results_list (skimmed, &n);
  for (size_t i = 0; i < n; i++)
    {
      size_t bytes = strlen (list[i].text);
      char *line = malloc (bytes + 20);
      const QmResult *result;

      if (line == NULL)
        abort ();
      sprintf (line, "{\"\\u007a\":0,%s\n", list[i].text + 1);
      CHECK_INT (qm_results_parse (whole, line, strlen (line), path, &used,
                                   &error),
                 QM_OK);
      result = qm_results_find (whole, list[i].key);
      CHECK (result != NULL);
      if (result != NULL)
        check_same (&list[i], result);
      left_out += qm_json_skim (list[i].text, bytes, NULL, 0, line) > 0;
      free (line);
    }
  /* Or else this has compared nothing. */
  CHECK (n > 0 && left_out > n / 2);
  qm_results_free (skimmed);
  qm_results_free (whole);
  free (text);
}

static void
check_shipped (void)
{
  const char *data = getenv ("QM_SHIPPED_DATA_DIR");
  char folder[2048];
  DIR *directory;
  const struct dirent *entry;
  int n_files = 0;

  snprintf (folder, sizeof folder, "%s/measurements", data != NULL ? data : "");
  directory = opendir (folder);
  CHECK (directory != NULL);
  while (directory != NULL && (entry = readdir (directory)) != NULL)
    {
      const char *ending = strrchr (entry->d_name, '.');
      char path[4096];

      if (ending == NULL || strcmp (ending, ".jsonl") != 0)
        continue;
      snprintf (path, sizeof path, "%s/%s", folder, entry->d_name);
      check_file (path);
      n_files++;
    }
  if (directory != NULL)
    closedir (directory);
  CHECK (n_files > 0);
}

int
main (void)
{
  check_left_out ();
  check_left_alone ();
  check_shipped ();
  return check_report ();
}
