/* SPDX-License-Identifier: Apache-2.0 */

/* Results files. */

#include "data/results.h"
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

static bool
is_line (const char *text)
{
  for (; *text != '\0'; text++)
    if ((unsigned char) *text < 0x20 || *text == 0x7f)
      return false;
  return true;
}

static void
check_result (const QmResults *results, const QmResult *r)
{
  char key[QM_RESULT_KEY_BYTES];

  require (qm_result_key (r, key) && strcmp (key, r->key) == 0);
  require (qm_results_find (results, r->key) == r);
  require (qm_result_compare (r, r) == 0);
  require (is_line (r->model) && is_line (r->device) && is_line (r->version)
           && is_line (r->reason) && is_line (r->gpu));
  require (strlen (r->time) == 20 && r->measured_on.year >= 1970);
  require (r->micro_batch >= 1 && r->gpus >= 1 && r->line >= 1);
  if (r->status == QM_RESULT_MEASURED)
    require (r->days > 0 && isfinite (r->days) && r->step > 0);
  if (r->status == QM_RESULT_INFEASIBLE)
    require (r->needs_bytes >= 0 && r->available_bytes >= 0);
}

/* What is left out of a line is no reason to refuse it: with a name that has it
 * parsed as a whole it is the same measurement. */
static void
check_whole (const QmResult *r)
{
  static const char mark[] = "{\"\\u007awhole\":0,";
  const char *begin = strchr (r->text, '{');
  size_t length, used;
  QmResults *again = qm_results_new ();
  const QmResult *found;
  char *line;

  require (begin != NULL && again != NULL);
  length = strlen (begin);
  line = malloc (sizeof mark + length);
  require (line != NULL);
  memcpy (line, mark, sizeof mark - 1);
  memcpy (line + sizeof mark - 1, begin + 1, length);
  require (qm_results_parse (again, line, sizeof mark - 2 + length, "whole",
                             &used, NULL)
           == QM_OK);
  found = qm_results_find (again, r->key);
  require (found != NULL && strcmp (found->time, r->time) == 0
           && found->used_bytes == r->used_bytes
           && memcmp (&found->days, &r->days, sizeof r->days) == 0);
  free (line);
  qm_results_free (again);
}

/* What was read is read again from its own lines. */
static void
check_lines (const QmResult *list, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      QmResults *again = qm_results_new ();
      size_t whole, one;

      require (again != NULL);
      require (qm_results_parse (again, list[i].text, strlen (list[i].text),
                                 "again", &whole, NULL)
               == QM_OK);
      qm_results_list (again, &one);
      require (one == 1 && whole == strlen (list[i].text));
      qm_results_free (again);
      check_whole (&list[i]);
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  QmResults *results = qm_results_new ();
  QmError error = { 0 };
  const QmResult *list;
  size_t n, whole = 0;
  QmStatus status;

  require (results != NULL);
  status = qm_results_parse (results, (const char *) data, size, "r.jsonl",
                             &whole, &error);
  list = qm_results_list (results, &n);
  if (status == QM_OK)
    {
      require (whole <= size);
      for (size_t i = 0; i < n; i++)
        check_result (results, &list[i]);
      check_lines (list, n);
    }
  else
    require (n == 0 && error.status == status && error.line > 0
             && error.column > 0 && error.message[0] != '\0');
  qm_results_free (results);
  return 0;
}
