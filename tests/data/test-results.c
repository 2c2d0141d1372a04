/* SPDX-License-Identifier: Apache-2.0 */

/* Results files: what is read, what is refused, and that nothing is lost. */

#include "data/results-file.h"

#include "tests/data/check.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Fields that every result has; a line is "{" COMMON MEASURED "}". */
#define COMMON                                                                \
  "\"schema\":1,\"model\":\"tiny\",\"model_key\":\"0123456789abcdef\","       \
  "\"device\":{\"name\":\"H200\",\"driver\":\"580.1\",\"architecture\":90,"   \
  "\"memory_bytes\":150000000000,\"new\":[1,{}]},\"gpu\":\"h200-141gb-sxm\"," \
  "\"gpus\":1,\"settings\":\"free-lunch\",\"checkpointing\":false,"           \
  "\"sharding\":\"none\",\"offloading\":false,\"precision\":\"bf16\","        \
  "\"unknown\":{\"a\":1},"
#define ENGINE "\"engine\":\"quartermaster\",\"version\":\"0.1.0\","
#define TIMES                                                                \
  "\"status\":\"measured\",\"days\":2.5,\"step\":{\"mean_s\":1.5},"          \
  "\"pass\":{\"mean_s\":0.25},\"memory_bytes\":{\"total\":5000,\"host\":7}," \
  "\"energy\":{\"watts\":600.5},\"mfu\":null,\"accumulation\":4,"
#define SHORT                                                                \
  "\"status\":\"infeasible\",\"reason\":\"too little\",\"memory\":\"host\"," \
  "\"needs_bytes\":20,\"available_bytes\":10,"
#define AT(time) "\"time\":\"2026-11-21T" time "Z\","
#define MEASURED COMMON ENGINE TIMES

static QmResults *
parse (const char *text, size_t length, size_t *whole, QmError *error)
{
  QmResults *results = qm_results_new ();

  memset (error, 0, sizeof *error);
  if (qm_results_parse (results, text, length, "r.jsonl", whole, error)
      == QM_OK)
    return results;
  qm_results_free (results);
  return NULL;
}

static void
refused (const char *line, QmStatus status, const char *message)
{
  static const char good[] =
      "{" MEASURED AT ("06:40:00") "\"micro_batch\":8}\n\n";
  char text[4096];
  QmError error;
  size_t whole;
  QmResults *results;

  snprintf (text, sizeof text, "%s%s\n", good, line);
  results = parse (text, strlen (text), &whole, &error);
  CHECK (results == NULL);
  CHECK_INT (error.status, status);
  CHECK_INT (error.line, 3);
  CHECK_STRING (error.file, "r.jsonl");
  CHECK_CONTAINS (error.message, message);
  qm_results_free (results);
}

static void
check_fields (void)
{
  static const char text[] = "{" MEASURED AT (
      "06:40:00") "\"micro_batch\":8}\n"
                  "{" COMMON SHORT AT (
                      "06:41:00") "\"micro_batch\":1,"
                                  "\"host_limit_bytes\":10,"
                                  "\"engine\":\"pytorch\",\"framework\":{"
                                  "\"torch\":\"2.11.0\","
                                  "\"transformers\":\"5.17.0\",\"cuda\":\"13."
                                  "0\",\"x\":1}}\r\n";
  QmError error;
  size_t n, whole;
  QmResults *results = parse (text, sizeof text - 1, &whole, &error);
  const QmResult *list;

  check_case ("fields");
  CHECK (results != NULL);
  if (results == NULL)
    return;
  CHECK_INT ((int64_t) whole, sizeof text - 1);
  list = qm_results_list (results, &n);
  CHECK_INT ((int64_t) n, 2);
  CHECK_INT (list[0].status, QM_RESULT_MEASURED);
  CHECK_STRING (list[0].device, "H200");
  CHECK_STRING (list[0].gpu, "h200-141gb-sxm");
  CHECK_INT (list[0].architecture, 90);
  CHECK_INT (list[0].measured_on.day, 21);
  CHECK_NEAR (list[0].days, 2.5, 1e-12);
  CHECK_NEAR (list[0].pass, 0.25, 1e-12);
  CHECK_NEAR (list[0].watts, 600.5, 1e-12);
  CHECK (isnan (list[0].update) && isnan (list[0].mfu));
  CHECK_INT (list[0].planned_bytes, 5000);
  CHECK_INT (list[0].host_bytes, 7);
  CHECK_INT (list[0].accumulation, 4);
  CHECK_INT (list[1].status, QM_RESULT_INFEASIBLE);
  CHECK (list[1].host_is_short);
  CHECK_INT (list[1].needs_bytes, 20);
  CHECK_INT (list[1].memory_limit, -1);
  CHECK_INT (list[1].host_limit, 10);
  CHECK_STRING (list[1].version,
                "torch 2.11.0, transformers 5.17.0, cuda 13.0");
  CHECK_INT (list[1].line, 2);
  CHECK (qm_results_find (results, list[1].key) == &list[1]);
  CHECK (qm_results_find (results, "x") == NULL);
  CHECK (qm_result_compare (&list[0], &list[1]) != 0);
  CHECK_INT (qm_result_compare (&list[0], &list[0]), 0);
  qm_results_free (results);
}

/* What was measured without the library of products is another result, what was
 * measured with any version of it, or is of before that was told, is not. */
static void
check_products (void)
{
  static const char plain[] = "{" MEASURED AT ("06:40:00") "\"micro_batch\":8}";
  static const char *const products[] = { "", "cuBLASLt 13.1.0", "own" };
  const char *place = strstr (plain, "\"architecture\"");
  char text[8192] = "";
  size_t n, whole;
  const QmResult *list;
  QmResults *results;
  QmError error;

  check_case ("products");
  for (size_t i = 0; i < 3; i++)
    snprintf (text + strlen (text), sizeof text - strlen (text),
              "%.*s\"products\":\"%s\",%s\n", (int) (place - plain), plain,
              products[i], place);
  results = parse (text, strlen (text), &whole, &error);
  CHECK (results != NULL);
  if (results == NULL)
    return;
  list = qm_results_list (results, &n);
  CHECK_INT ((int64_t) n, 2);
  CHECK_STRING (list[0].version, "0.1.0");
  CHECK_STRING (list[n - 1].version, "0.1.0, without cuBLASLt");
  CHECK (n == 2 && strcmp (list[0].key, list[1].key) != 0);
  CHECK (n == 2 && qm_result_compare (&list[0], &list[1]) != 0);
  qm_results_free (results);
}

static void
check_refusals (void)
{
  check_case ("refusals");
  refused ("{", QM_STATUS_PARSE, "");
  refused ("[]", QM_STATUS_PARSE, "object");
  refused ("{} {}", QM_STATUS_PARSE, "");
  refused ("\xff", QM_STATUS_PARSE, "UTF-8");
  refused ("{}", QM_STATUS_INVALID, "schema: is missing");
  refused ("{\"schema\":2}", QM_STATUS_UNSUPPORTED, "schema");
  refused ("{" MEASURED AT ("06:40:00") "\"micro_batch\":0}", QM_STATUS_INVALID,
           "micro_batch");
  refused ("{" MEASURED AT ("06:40:00") "\"micro_batch\":1,\"gpus\":1}",
           QM_STATUS_PARSE, "duplicate");
  refused ("{" MEASURED "\"micro_batch\":1,\"time\":\"2026-02-30T00:00:00Z\"}",
           QM_STATUS_INVALID, "time");
  refused ("{" MEASURED AT ("24:00:00") "\"micro_batch\":1}", QM_STATUS_INVALID,
           "time");
  refused ("{" MEASURED "\"micro_batch\":1,\"time\":\"2026\"}",
           QM_STATUS_INVALID, "time");
  refused ("{" COMMON TIMES AT (
               "06:40:00") "\"micro_batch\":1,"
                           "\"version\":\"1\",\"engine\":\"a\\u001b[2J\"}",
           QM_STATUS_INVALID, "control character");
  refused ("{" COMMON TIMES AT (
               "06:40:00") "\"micro_batch\":1,"
                           "\"engine\":\"pytorch\",\"framework\":{}}",
           QM_STATUS_INVALID, "framework.torch");
  refused ("{" COMMON ENGINE AT ("06:40:00") "\"micro_batch\":1,"
                                             "\"status\":\"measured\",\"days\":"
                                             "-1,\"step\":{\"mean_s\":1}}",
           QM_STATUS_INVALID, "days");
  refused ("{" COMMON ENGINE AT (
               "06:40:00") "\"micro_batch\":1,"
                           "\"status\":\"measured\",\"days\":1,\"step\":{}}",
           QM_STATUS_INVALID, "step.mean_s");
  refused ("{" COMMON ENGINE AT (
               "06:40:00") "\"micro_batch\":1,"
                           "\"status\":\"infeasible\",\"reason\":\"\","
                           "\"memory\":\"swap\"}",
           QM_STATUS_INVALID, "'swap'");
  refused ("{" COMMON ENGINE AT ("06:40:00") "\"micro_batch\":1,"
                                             "\"status\":\"perhaps\"}",
           QM_STATUS_INVALID, "'perhaps'");
}

static void
check_newest (void)
{
  static const char text[] = "{" MEASURED AT (
      "06:40:00") "\"micro_batch\":8,\"n\":1}\n"
                  "{" MEASURED AT (
                      "06:39:00") "\"micro_batch\":8,\"n\":2}\n"
                                  "{" MEASURED AT (
                                      "06:40:00") "\"micro_batch\":8,\"n\":3}\n"
                                                  "{" COMMON ENGINE AT (
                                                      "06:50:00") "\"micro_"
                                                                  "batch\":8,"
                                                                  "\"status\":"
                                                                  "\"failed\","
                                                                  "\"reason\":"
                                                                  "\"the GPU "
                                                                  "was "
                                                                  "lost\"}\n"
                                                                  "{" MEASURED AT (
                                                                      "06:30:"
                                                                      "00") "\""
                                                                            "mi"
                                                                            "cr"
                                                                            "o_"
                                                                            "ba"
                                                                            "tc"
                                                                            "h"
                                                                            "\""
                                                                            ":4"
                                                                            ","
                                                                            "\""
                                                                            "n"
                                                                            "\""
                                                                            ":5"
                                                                            "}"
                                                                            "\n";
  QmError error;
  size_t n, whole;
  QmResults *results = parse (text, sizeof text - 1, &whole, &error);
  const QmResult *list = qm_results_list (results, &n);

  check_case ("newest");
  CHECK_INT ((int64_t) n, 2);
  CHECK_INT (list[0].status, QM_RESULT_MEASURED);
  CHECK_INT (list[0].line, 3);
  CHECK_CONTAINS (list[0].text, "\"n\":3");
  CHECK (qm_result_compare (&list[0], &list[1]) < 0);
  qm_results_free (results);
}

static QmStatus
parse_into (QmResults *results, const char *file, const char *line)
{
  size_t whole;

  return qm_results_parse (results, line, strlen (line), file, &whole, NULL);
}

/* Of two files the later time counts, and of the same second the file that is
 * read later. */
static void
check_files (void)
{
  static const char early[] =
      "{" MEASURED AT ("06:39:59") "\"micro_batch\":8,\"n\":1}\n";
  static const char first[] =
      "{" MEASURED AT ("06:40:00") "\"micro_batch\":8,\"n\":2}\n";
  static const char second[] =
      "{" MEASURED AT ("06:40:00") "\"micro_batch\":8,\"n\":3}\n";
  QmResults *results = qm_results_new ();
  const QmResult *list;
  size_t n;

  check_case ("files");
  CHECK_INT (parse_into (results, "a.jsonl", first), QM_OK);
  CHECK_INT (parse_into (results, "b.jsonl", early), QM_OK);
  list = qm_results_list (results, &n);
  CHECK_INT ((int64_t) n, 1);
  CHECK_CONTAINS (list[0].text, "\"n\":2");
  CHECK_INT (parse_into (results, "c.jsonl", second), QM_OK);
  list = qm_results_list (results, &n);
  CHECK_INT ((int64_t) n, 1);
  CHECK_CONTAINS (list[0].text, "\"n\":3");
  CHECK_STRING (list[0].file, "c.jsonl");
  qm_results_free (results);
}

/* Cut anywhere, a file is as if its last line had never been begun, or is
 * whole. */
static void
check_cut (void)
{
  static const char text[] = "{" MEASURED AT (
      "06:40:00") "\"micro_batch\":8}\n"
                  "{" MEASURED AT ("06:41:00") "\"micro_batch\":4}\n";
  const size_t first = strlen (strchr (text, '\n') + 1);
  QmError error;
  size_t n, whole;

  check_case ("cut");
  for (size_t length = 0; length < sizeof text; length++)
    {
      QmResults *results = parse (text, length, &whole, &error);

      CHECK (results != NULL);
      qm_results_list (results, &n);
      CHECK_INT ((int64_t) n,
                 (length >= first - 1) + (length >= 2 * first - 1));
      CHECK (whole == length || whole == (length < first ? 0 : first));
      qm_results_free (results);
    }
}

static json_t *
result_of (int micro_batch)
{
  char text[2048];

  snprintf (text, sizeof text,
            "{" MEASURED AT ("06:40:00") "\"micro_batch\":%d}", micro_batch);
  return json_loads (text, 0, NULL);
}

static QmStatus
append (QmResultsFile *file, int micro_batch, QmError *error)
{
  json_t *object = result_of (micro_batch);
  QmStatus status = qm_results_append (file, object, error);

  json_decref (object);
  return status;
}

static size_t
count (const char *path)
{
  QmResults *results = qm_results_new ();
  QmError error = { 0 };
  size_t n, whole, length;

  CHECK_INT (qm_results_read (results, path, &whole, &length, &error), QM_OK);
  CHECK_INT ((int64_t) whole, (int64_t) length);
  qm_results_list (results, &n);
  qm_results_free (results);
  return n;
}

static void
check_writing (void)
{
  char path[4096];
  QmResultsFile *file, *second;
  QmError error = { 0 };
  json_t *bad = json_pack ("{s:i}", "schema", 1);
  bool busy;
  FILE *torn;

  check_case ("writing");
  snprintf (path, sizeof path, "%s", scratch_path ("new/folder/r.jsonl"));
  CHECK_INT (qm_results_open (path, false, false, &busy, &file, &error),
             QM_STATUS_IO);
  CHECK_INT (qm_results_open (path, true, false, &busy, &file, &error), QM_OK);
  CHECK_INT (append (file, 1, &error), QM_OK);
  CHECK_INT (qm_results_append (file, bad, &error), QM_STATUS_INVALID);
  CHECK_INT (qm_results_open (path, true, false, &busy, &second, &error),
             QM_STATUS_IO);
  CHECK (busy);
  CHECK_CONTAINS (error.message, "another program");
  CHECK_INT (qm_results_write (path, NULL, 0, &error), QM_STATUS_IO);
  qm_results_close (file);
  CHECK_INT ((int64_t) count (path), 1);

  torn = fopen (path, "a");
  fputs ("{\"schema\":1,", torn);
  fclose (torn);
  CHECK_INT (qm_results_open (path, false, false, &busy, &file, &error), QM_OK);
  CHECK (!busy);
  CHECK_INT ((int64_t) qm_results_file_repaired (file), 12);
  CHECK_INT (append (file, 2, &error), QM_OK);
  qm_results_close (file);
  CHECK_INT ((int64_t) count (path), 2);

  CHECK_INT (truncate (path, 0), 0);
  CHECK_INT (qm_results_open ("/dev/full", false, false, &busy, &file, &error),
             QM_STATUS_IO);
  CHECK_INT (qm_results_open (scratch_path ("new"), false, false, &busy, &file,
                              &error),
             QM_STATUS_IO);
  json_decref (bad);
}

/* Somebody who asks for no lock. */
static void
write_file (const char *path, const char *text)
{
  FILE *file = fopen (path, "w");

  CHECK (file != NULL);
  if (file == NULL)
    return;
  fputs (text, file);
  fclose (file);
}

/* Opens a new file in a folder of its own with two results. */
static QmResultsFile *
open_two (const char *folder, char path[4096])
{
  QmResultsFile *file;
  QmError error = { 0 };
  bool busy;
  char name[64];

  check_case (folder);
  snprintf (name, sizeof name, "%s/r.jsonl", folder);
  snprintf (path, 4096, "%s", scratch_path (name));
  CHECK_INT (qm_results_open (path, true, false, &busy, &file, &error), QM_OK);
  CHECK_INT (append (file, 1, &error), QM_OK);
  CHECK_INT (append (file, 2, &error), QM_OK);
  CHECK_INT (qm_results_file_change (file), QM_RESULTS_UNCHANGED);
  return file;
}

/* After what was done to it: one more, and all of them are there. */
static void
close_all (QmResultsFile *file,
           const char *path,
           QmResultsChange change,
           size_t n)
{
  QmError error = { 0 };

  CHECK_INT (append (file, 3, &error), QM_OK);
  CHECK_INT (qm_results_file_change (file), change);
  CHECK_INT (qm_results_file_change (file), QM_RESULTS_UNCHANGED);
  CHECK_INT ((int64_t) count (path), (int64_t) n);
  CHECK_INT (qm_results_secure (file, &error), QM_OK);
  CHECK_INT (qm_results_file_change (file), QM_RESULTS_UNCHANGED);
  qm_results_close (file);
  CHECK_INT ((int64_t) count (path), (int64_t) n);
}

/* Of two results of one measurement the later counts. */
static void
check_counts (const char *path)
{
  QmResults *results = qm_results_new ();
  size_t n;
  const QmResult *list;

  CHECK_INT (qm_results_read (results, path, NULL, NULL, NULL), QM_OK);
  list = qm_results_list (results, &n);
  for (size_t i = 0; i < n; i++)
    if (list[i].micro_batch == 2)
      CHECK_CONTAINS (list[i].time, "2026-11-22");
  qm_results_free (results);
}

/* What becomes of a file while it is open. */
static void
check_changes (void)
{
  static const char newer[] =
      "{" COMMON ENGINE TIMES "\"time\":\"2026-11-22T00:00:00Z\","
      "\"micro_batch\":2,\"seed\":7}\n";
  static const char other[] =
      "{" MEASURED AT ("06:41:00") "\"micro_batch\":9}\n";
  char path[4096], place[4096];
  QmResultsFile *file;
  struct stat info;
  FILE *stream;

  file = open_two ("deleted", path);
  CHECK_INT (unlink (path), 0);
  close_all (file, path, QM_RESULTS_GONE, 3);

  file = open_two ("gone", path);
  CHECK_INT (unlink (path), 0);
  snprintf (place, sizeof place, "%s", scratch_path ("gone"));
  CHECK_INT (rmdir (place), 0);
  CHECK_INT (qm_results_secure (file, NULL), QM_OK);
  CHECK_INT ((int64_t) count (path), 2);
  CHECK_INT (qm_results_file_change (file), QM_RESULTS_GONE);
  close_all (file, path, QM_RESULTS_UNCHANGED, 3);

  file = open_two ("replaced", path);
  snprintf (place, sizeof place, "%s", scratch_path ("replaced/new"));
  write_file (place, newer);
  CHECK_INT (rename (place, path), 0);
  close_all (file, path, QM_RESULTS_REPLACED, 3);
  CHECK (stat (path, &info) == 0
         && (size_t) info.st_size > 2 * (sizeof newer - 1));
  check_counts (path);

  file = open_two ("emptied", path);
  CHECK_INT (truncate (path, 0), 0);
  close_all (file, path, QM_RESULTS_CUT, 3);

  file = open_two ("cut", path);
  CHECK (stat (path, &info) == 0);
  CHECK_INT (truncate (path, info.st_size - 20), 0);
  close_all (file, path, QM_RESULTS_CUT, 3);

  file = open_two ("grown", path);
  stream = fopen (path, "a");
  fputs (other, stream);
  fclose (stream);
  close_all (file, path, QM_RESULTS_GROWN, 4);
}

/* The path of what was kept beside a file, which the error names. */
static size_t
count_kept (const char *path, const QmError *error)
{
  const char *name = strrchr (error->message, ' ');
  char kept[4200];

  CHECK_CONTAINS (error->message,
                  "what was found is beside it, in r.jsonl.kept-");
  if (name == NULL)
    return 0;
  snprintf (kept, sizeof kept, "%.*s%s", (int) (strrchr (path, '/') + 1 - path),
            path, name + 1);
  return count (kept);
}

/* What cannot be regained is kept under another name, and nobody's file is
 * overwritten. */
static void
check_keeping (void)
{
  static const char mine[] = "not a results file\n";
  char path[4096], text[64] = "";
  QmResultsFile *file = open_two ("taken", path), *second;
  struct stat info, after;
  QmError error = { 0 };
  bool busy;
  FILE *stream;

  /* As long as the file was, so that its length tells nothing. */
  CHECK (stat (path, &info) == 0);
  CHECK_INT (unlink (path), 0);
  write_file (path, mine);
  CHECK_INT (truncate (path, info.st_size), 0);
  CHECK_INT (append (file, 3, &error), QM_STATUS_PARSE);
  CHECK_INT ((int64_t) count_kept (path, &error), 3);
  stream = fopen (path, "r");
  CHECK (fgets (text, sizeof text, stream) != NULL);
  fclose (stream);
  CHECK_STRING (text, mine);
  CHECK_INT (append (file, 4, &error), QM_STATUS_PARSE);
  CHECK_INT (qm_results_secure (file, &error), QM_STATUS_PARSE);
  qm_results_close (file);
  CHECK (stat (path, &after) == 0 && after.st_size == info.st_size);

  file = open_two ("in use", path);
  CHECK_INT (unlink (path), 0);
  CHECK_INT (qm_results_open (path, false, false, &busy, &second, &error),
             QM_OK);
  CHECK_INT (qm_results_secure (file, &error), QM_STATUS_IO);
  CHECK_CONTAINS (error.message, "another program");
  CHECK_INT ((int64_t) count_kept (path, &error), 2);
  qm_results_close (second);
  close_all (file, path, QM_RESULTS_REPLACED, 3);
}

/* Waits until a process sleeps, which it does in the call for the lock alone.
 */
static void
wait_until_asleep (pid_t pid)
{
  const struct timespec moment = { .tv_nsec = 10000000 };
  char path[64], state = 0;
  int asleep = 0;

  snprintf (path, sizeof path, "/proc/%d/stat", (int) pid);
  for (int i = 0; i < 2000 && asleep < 10; i++)
    {
      FILE *file = fopen (path, "r");

      if (file == NULL || fscanf (file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
      if (file != NULL)
        fclose (file);
      asleep = state == 'S' ? asleep + 1 : 0;
      nanosleep (&moment, NULL);
    }
  CHECK (asleep > 0);
}

/* A file that takes the place of the one whose lock is waited for. */
static void
check_waiting (void)
{
  char path[4096], place[4096];
  QmResultsFile *file = open_two ("waited", path), *second;
  QmError error = { 0 };
  bool busy;
  int end = 0;
  pid_t child;

  snprintf (place, sizeof place, "%s", scratch_path ("waited/new"));
  child = fork ();
  if (child == 0)
    {
      /* What was inherited holds the lock as well. */
      qm_results_close (file);
      end = qm_results_open (path, false, true, &busy, &second, &error) == QM_OK
            && append (second, 5, &error) == QM_OK
            && qm_results_file_change (second) == QM_RESULTS_UNCHANGED;
      _exit (end ? 0 : 1);
    }
  CHECK (child > 0);
  wait_until_asleep (child);
  write_file (place, "");
  CHECK_INT (rename (place, path), 0);
  qm_results_close (file);
  CHECK (waitpid (child, &end, 0) == child);
  CHECK (WIFEXITED (end) && WEXITSTATUS (end) == 0);
  CHECK_INT ((int64_t) count (path), 1);
}

/* A disk that is full in the middle of a line. */
static void
check_full (void)
{
  struct rlimit before, little;
  char path[4096];
  QmResultsFile *file;
  QmError error = { 0 };
  struct stat info;
  bool busy;

  check_case ("full");
  snprintf (path, sizeof path, "%s", scratch_path ("full.jsonl"));
  CHECK_INT (qm_results_open (path, false, false, &busy, &file, &error), QM_OK);
  CHECK_INT (append (file, 1, &error), QM_OK);
  CHECK_INT (stat (path, &info), 0);
  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &before);
  little = before;
  little.rlim_cur = (rlim_t) info.st_size + 100;
  setrlimit (RLIMIT_FSIZE, &little);
  CHECK_INT (append (file, 2, &error), QM_STATUS_IO);
  CHECK_CONTAINS (error.message, "cannot be written");
  setrlimit (RLIMIT_FSIZE, &before);
  CHECK_INT ((int64_t) count (path), 1);
  CHECK_INT (append (file, 2, &error), QM_OK);
  qm_results_close (file);
  CHECK_INT ((int64_t) count (path), 2);
}

/* A last line that is whole, but for its end, counts, and what is appended
 * stands behind it. */
static void
check_unended (void)
{
  char path[4096];
  QmResultsFile *file;
  QmError error = { 0 };
  struct stat info;
  bool busy;

  check_case ("unended");
  snprintf (path, sizeof path, "%s", scratch_path ("unended.jsonl"));
  CHECK_INT (qm_results_open (path, false, false, &busy, &file, &error), QM_OK);
  CHECK_INT (append (file, 1, &error), QM_OK);
  qm_results_close (file);
  CHECK_INT (stat (path, &info), 0);
  CHECK_INT (truncate (path, info.st_size - 1), 0);
  CHECK_INT (qm_results_open (path, false, false, &busy, &file, &error), QM_OK);
  CHECK_INT ((int64_t) qm_results_file_repaired (file), 0);
  for (int i = 2; i <= 4; i++)
    CHECK_INT (append (file, i, &error), QM_OK);
  qm_results_close (file);
  CHECK_INT ((int64_t) count (path), 4);
}

static int
mode_of (const char *path)
{
  struct stat info = { 0 };

  CHECK_INT (stat (path, &info), 0);
  return (int) (info.st_mode & 07777);
}

static void
check_replacing (void)
{
  char path[4096];
  const mode_t mask = umask (027);
  QmResultsFile *file;
  QmError error = { 0 };
  const QmResult *list, *sorted[2];
  size_t n;
  bool busy;

  check_case ("replacing");
  snprintf (path, sizeof path, "%s", scratch_path ("merge.jsonl"));
  CHECK_INT (qm_results_open (path, false, false, &busy, &file, &error), QM_OK);
  CHECK_INT (append (file, 2, &error), QM_OK);
  CHECK_INT (append (file, 8, &error), QM_OK);
  list = qm_results_list (qm_results_file_content (file), &n);
  CHECK_INT ((int64_t) n, 2);
  sorted[0] = &list[1];
  sorted[1] = &list[0];
  CHECK_INT (qm_results_write (scratch_path ("out.jsonl"), sorted, 2, &error),
             QM_OK);
  CHECK_INT ((int64_t) count (scratch_path ("out.jsonl")), 2);
  CHECK_INT (mode_of (scratch_path ("out.jsonl")), 0640);
  /* Who may read it stays as it is. */
  CHECK_INT (chmod (scratch_path ("out.jsonl"), 0664), 0);
  CHECK_INT (qm_results_write (scratch_path ("out.jsonl"), sorted, 1, &error),
             QM_OK);
  CHECK_INT ((int64_t) count (scratch_path ("out.jsonl")), 1);
  CHECK_INT (mode_of (scratch_path ("out.jsonl")), 0664);
  CHECK_INT (qm_results_write (scratch_path ("absent/out.jsonl"), sorted, 2,
                               &error),
             QM_STATUS_IO);
  qm_results_close (file);
  umask (mask);
}

static void
check_paths (void)
{
  static const char folder[] = "/data/quartermaster/measurements/";
  static const char host[] = "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  char path[4096], now[QM_RESULTS_TIME_BYTES];

  check_case ("paths");
  setenv ("XDG_DATA_HOME", "/data", 1);
  CHECK (qm_results_default_path (path, sizeof path));
  CHECK (strncmp (path, folder, sizeof folder - 1) == 0);
  CHECK (strcmp (path + strlen (path) - 6, ".jsonl") == 0);
  CHECK (strlen (path) > sizeof folder - 1 + 6);
  CHECK (strspn (path + sizeof folder - 1, host)
         == strlen (path) - (sizeof folder - 1) - 6);
  CHECK (!qm_results_default_path (path, 30));
  qm_results_now (now);
  CHECK_INT ((int64_t) strlen (now), 20);
  CHECK (now[10] == 'T' && now[19] == 'Z');
}

/* Results of one place stand together: machines and how GPUs exchanged come
 * before the settings. */
static void
check_order (void)
{
  QmResult one = qm_result_nothing (), other;

  check_case ("order");
  one.gpus = 4;
  one.architecture = 90;
  one.settings = "free-lunch";
  other = one;
  other.settings = "naive";
  CHECK (qm_result_compare (&one, &other) > 0);
  other.nodes = 2;
  CHECK (qm_result_compare (&one, &other) < 0);
  other.nodes = 1;
  other.path = QM_PATH_FORCED;
  CHECK (qm_result_compare (&one, &other) < 0);
  other.path = QM_PATH_OWN;
  other.transport = "host";
  CHECK (qm_result_through_host (&other) && !qm_result_through_host (&one));
  CHECK (qm_result_compare (&one, &other) < 0);
}

int
main (void)
{
  scratch_begin ();
  check_order ();
  check_fields ();
  check_products ();
  check_refusals ();
  check_newest ();
  check_files ();
  check_cut ();
  check_writing ();
  check_changes ();
  check_keeping ();
  check_waiting ();
  check_full ();
  check_unended ();
  check_replacing ();
  check_paths ();
  scratch_end ();
  return check_report ();
}
