/* SPDX-License-Identifier: Apache-2.0 */

/* A benchmark for another machine is written, run there with nothing in its
 * environment, and its results come back. */

#include "config.h"

#include "data/results-file.h"
#include "ui/machine/qm-elsewhere.h"
#include "ui/machine/qm-results-import.h"
#include "ui/machine/qm-results-stamp.h"

#include <glib/gstdio.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#define MODEL                                                               \
  "{\"id\": \"tiny\", \"name\": \"Tiny\", \"source\": \"a test\", "         \
  "\"config\": {\"model_type\": \"gpt_neox\", \"vocab_size\": 64, "         \
  "\"hidden_size\": 16, \"num_hidden_layers\": 1, "                         \
  "\"num_attention_heads\": 2, \"intermediate_size\": 32}, "                \
  "\"recipe\": {\"batch_size\": 2, \"steps\": 10, \"sequence_length\": 8, " \
  "\"precision\": \"fp32\", \"optimizer\": \"adam\", "                      \
  "\"learning_rate\": 0.001, \"beta1\": 0.9, \"beta2\": 0.95, "             \
  "\"epsilon\": 1e-8, \"weight_decay\": 0}}"

#define GPUS                                                        \
  "id,name,vendor,form_factor,memory_gib,fp16_tflops,bf16,source\n" \
  "mine,Mine 1000,NVIDIA,PCIe,12,50,yes,a test\n"

/* What a folder may be called. */
#define HOSTILE "it's a \"folder\"\n$(touch pwned) `touch pwned` *; \\ ü"

static char *home;

static QmElsewhere *
tiny_on_cpu (void)
{
  QmElsewhere *elsewhere = qm_elsewhere_new ();

  elsewhere->models = g_strsplit ("tiny", ",", -1);
  elsewhere->methods = g_strdup ("naive");
  elsewhere->device = g_strdup ("cpu");
  return elsewhere;
}

/* Runs a program from the root folder with an environment of nothing. */
static void
run_bare (const char *program, const char *argument)
{
  char *argv[] = { (char *) program, (char *) argument, NULL };
  char *nothing[] = { NULL };
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_assert_true (g_spawn_sync ("/", argv, nothing, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, &err, &status, &error));
  g_assert_no_error (error);
  g_test_message ("%s%s", out, err);
  g_assert_true (g_spawn_check_wait_status (status, &error));
}

static void
imported_cb (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static gboolean
import (const char *path, QmResultsImport *done, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GAsyncResult) result = NULL;

  memset (done, 0, sizeof *done);
  qm_results_import_async (file, NULL, imported_cb, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  return qm_results_import_finish (result, done, error);
}

/* The one file that the benchmark wrote.  (transfer full) */
static char *
find_results (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "results", NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  name = g_dir_read_name (dir);
  g_assert_nonnull (name);
  g_assert_true (g_str_has_suffix (name, ".jsonl"));
  return g_build_filename (path, name, NULL);
}

static void
check_import (const char *results)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *stored = NULL;
  g_autofree char *broken = g_build_filename (home, "broken.jsonl", NULL);
  QmResultsImport done;

  g_assert_true (import (results, &done, &error));
  g_assert_cmpuint (done.added, ==, 1);
  g_assert_cmpuint (done.present, ==, 0);
  stored = g_strdup_printf ("%s/quartermaster/measurements/%s.jsonl", home,
                            done.host);
  g_assert_true (g_file_test (stored, G_FILE_TEST_EXISTS));
  g_free (done.host);

  g_assert_true (import (results, &done, &error));
  g_assert_cmpuint (done.added, ==, 0);
  g_assert_cmpuint (done.present, ==, 1);
  g_free (done.host);

  g_assert_true (
      g_file_set_contents (broken, "{\"schema\": 1}\n{\n", -1, NULL));
  g_assert_false (import (broken, &done, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA);
  g_assert_nonnull (strstr (error->message, "line 1"));
}

static void
test_round_trip (void)
{
  g_autoptr (QmElsewhere) elsewhere = tiny_on_cpu ();
  g_autofree char *folder = g_build_filename (home, HOSTILE, NULL);
  g_autofree char *script = g_build_filename (folder, "run.sh", NULL);
  g_autofree char *readme = g_build_filename (folder, "README", NULL);
  g_autofree char *job = g_build_filename (folder, "job.sbatch", NULL);
  g_autofree char *library =
      g_build_filename (folder, "lib", "libjansson.so.4", NULL);
  g_autofree char *gpus =
      g_build_filename (folder, "state", "quartermaster", "gpus.csv", NULL);
  g_autofree char *results = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (
      qm_elsewhere_write (elsewhere, folder, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_test (library, G_FILE_TEST_IS_REGULAR));
  g_assert_true (g_file_test (readme, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (gpus, G_FILE_TEST_IS_REGULAR));
  g_assert_false (g_file_test (job, G_FILE_TEST_EXISTS));

  /* It is not written over. */
  g_assert_false (
      qm_elsewhere_write (elsewhere, folder, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_EXISTS);

  run_bare (script, NULL);
  g_assert_false (g_file_test ("/pwned", G_FILE_TEST_EXISTS));
  results = find_results (folder);
  check_import (results);
}

static void
assert_refused (QmElsewhere *elsewhere)
{
  g_autofree char *folder = g_build_filename (home, "never", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (
      qm_elsewhere_write (elsewhere, folder, NULL, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
}

/* Nothing gets into a batch script that could be another line or option. */
static void
test_hostile_words (void)
{
  static const char *const bad[] = {
    "",          "a b",      "a\n#SBATCH --wrap=reboot",
    "$(reboot)", "`reboot`", "a'b",
    "a\"b",      "a;b",      "-A",
    "a/b",       "ü",        "a\\",
    "a\tb"
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (QmElsewhere) elsewhere = tiny_on_cpu ();

      g_assert_false (qm_elsewhere_is_word (bad[i]));
      elsewhere->slurm = TRUE;
      elsewhere->partition = g_strdup (bad[i]);
      assert_refused (elsewhere);
      g_clear_pointer (&elsewhere->partition, g_free);
      elsewhere->gpus = g_strdup (bad[i]);
      assert_refused (elsewhere);
      g_clear_pointer (&elsewhere->gpus, g_free);
      g_clear_pointer (&elsewhere->models, g_strfreev);
      elsewhere->models = g_new0 (char *, 2);
      elsewhere->models[0] = g_strdup (bad[i]);
      if (strcmp (bad[i], "-A") != 0)
        assert_refused (elsewhere);
    }
}

/* What shellcheck would say of a script. */
static void
check_shell (const char *script)
{
  g_autofree char *shellcheck = g_find_program_in_path ("shellcheck");
  g_autofree char *path = g_build_filename (home, "checked.sh", NULL);
  g_autofree char *out = NULL;
  char *argv[] = { shellcheck, path, NULL };
  int status;

  if (shellcheck == NULL)
    {
      g_test_message ("there is no shellcheck here");
      return;
    }
  g_assert_true (g_file_set_contents (path, script, -1, NULL));
  g_assert_true (g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL,
                               &out, NULL, &status, NULL));
  g_test_message ("%s", out);
  g_assert_true (g_spawn_check_wait_status (status, NULL));
}

static void
test_scripts (void)
{
  g_autoptr (QmElsewhere) elsewhere = tiny_on_cpu ();
  const QmElsewhereNeeds needs = { .machine = "x86_64",
                                   .glibc = 2034,
                                   .driver = 580,
                                   .gpus = TRUE,
                                   .host_bytes = G_GINT64_CONSTANT (5) << 30,
                                   .processors = 16 };
  g_autofree char *bare = NULL;
  g_autofree char *job = NULL;
  g_autofree char *script = NULL;
  g_autofree char *several = NULL;
  g_autofree char *measures = NULL;
  g_autofree char *readme = NULL;

  elsewhere->slurm = TRUE;
  bare = qm_elsewhere_job (elsewhere, &needs);
  g_assert_null (strstr (bare, "--partition"));
  g_assert_null (strstr (bare, "--account"));
  g_assert_null (strstr (bare, "--time"));

  elsewhere->partition = g_strdup ("gpu-a100");
  elsewhere->account = g_strdup ("ab_123");
  elsewhere->gpus = g_strdup ("a100:1");
  elsewhere->time_limit_s = 5400;
  job = qm_elsewhere_job (elsewhere, &needs);
  g_assert_nonnull (strstr (job, "\n#SBATCH --nodes=1\n"));
  g_assert_null (strstr (job, "srun"));
  g_assert_nonnull (strstr (job, "\n#SBATCH --partition=gpu-a100\n"));
  g_assert_nonnull (strstr (job, "\n#SBATCH --account=ab_123\n"));
  g_assert_nonnull (strstr (job, "\n#SBATCH --gpus-per-node=a100:1\n"));
  g_assert_nonnull (strstr (job, "\n#SBATCH --time=01:30:00\n"));
  g_assert_nonnull (strstr (job, "\n#SBATCH --mem=21G\n"));
  g_assert_nonnull (strstr (job, "\n#SBATCH --cpus-per-task=16\n"));
  script = qm_elsewhere_script (elsewhere, &needs);
  /* It ends before Slurm ends it. */
  g_assert_nonnull (strstr (script, "--time-limit '5280s'"));
  check_shell (job);
  check_shell (script);
  check_shell (bare);

  /* On several machines a process each, with all of their GPUs. */
  elsewhere->nodes = 3;
  g_free (elsewhere->gpus);
  elsewhere->gpus = g_strdup ("a100:4");
  several = qm_elsewhere_job (elsewhere, &needs);
  g_assert_nonnull (strstr (several, "\n#SBATCH --nodes=3\n"));
  g_assert_nonnull (strstr (several, "\n#SBATCH --ntasks=3\n"));
  g_assert_nonnull (strstr (several, "\n#SBATCH --gpus-per-node=a100:4\n"));
  g_assert_nonnull (
      strstr (several, "srun --nodes=3 --ntasks=3 --ntasks-per-node=1 "));
  g_assert_nonnull (strstr (several, "\nexport QUARTERMASTER_SECRET\n"));
  measures = qm_elsewhere_script (elsewhere, &needs);
  g_assert_nonnull (strstr (measures, "--gpus '4'"));
  g_assert_null (strstr (script, "--gpus"));
  readme = qm_elsewhere_readme (elsewhere, &needs);
  g_assert_nonnull (strstr (readme, "3 machines that work together"));
  check_shell (several);
  check_shell (measures);
}

/* A stand-in for a program that run.sh calls; NULL: there is none. */
static void
stand_in (const char *folder, const char *name, const char *script)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *text = NULL;

  if (script == NULL)
    {
      g_unlink (path);
      return;
    }
  text = g_strconcat ("#!/bin/sh\n", script, "\n", NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_chmod (path, 0755), ==, 0);
}

typedef struct
{
  const char *what;
  const char *uname, *getconf, *ldd, *nvidia_smi, *df, *bench;
  int status;
  const char *said;
} Machine;

#define LIBC(version) "echo glibc " version
#define DF(free)                                                      \
  "echo 'Filesystem 1024-blocks Used Available Capacity Mounted on';" \
  "echo 'a b 9000000 100 " free " 1% /some where'"

/* What run.sh finds before it measures. */
static const Machine machines[] = {
  { "all is well", NULL, LIBC ("2.34"), NULL, "echo 580.65.06", DF ("102400"),
    NULL, 0, "searched" },
  { "newer", NULL, LIBC ("3.0"), NULL, "echo 610.1; echo 610.1",
    DF ("999999999"), NULL, 0, "searched" },
  { "another processor", "echo aarch64", LIBC ("2.40"), NULL, "echo 580.1",
    DF ("999999"), NULL, QM_ELSEWHERE_OTHER_PROCESSOR, "is aarch64" },
  { "an older C library", NULL, LIBC ("2.31"), NULL, "echo 580.1",
    DF ("999999"), NULL, QM_ELSEWHERE_OLD_C_LIBRARY,
    "glibc 2.31; the program needs 2.34" },
  { "a much older C library", NULL, LIBC ("1.99"), NULL, "echo 580.1",
    DF ("999999"), NULL, QM_ELSEWHERE_OLD_C_LIBRARY, "glibc 1.99" },
  { "a C library that ldd tells", NULL, "exit 1",
    "echo 'ldd (Ubuntu GLIBC 2.31-0ubuntu9.16) 2.31'", "echo 580.1",
    DF ("999999"), NULL, QM_ELSEWHERE_OLD_C_LIBRARY, "glibc 2.31;" },
  { "another C library", NULL, "exit 1", "echo musl libc >&2; exit 1",
    "echo 580.1", DF ("999999"), NULL, QM_ELSEWHERE_OLD_C_LIBRARY,
    "no GNU C library" },
  { "a program that does not start", NULL, LIBC ("2.36"), NULL, "echo 580.1",
    DF ("999999"), "echo libfoo.so.1: cannot open >&2; exit 127",
    QM_ELSEWHERE_DOES_NOT_START, "libfoo.so.1" },
  { "no driver", NULL, LIBC ("2.36"), NULL, "exit 9", DF ("999999"), NULL,
    QM_ELSEWHERE_NO_DRIVER, "no driver of NVIDIA" },
  { "a driver that fails", NULL, LIBC ("2.36"), NULL,
    "echo 'NVIDIA-SMI has failed because it could not communicate'; exit 9",
    DF ("999999"), NULL, QM_ELSEWHERE_NO_DRIVER, "no driver of NVIDIA" },
  { "an older driver", NULL, LIBC ("2.36"), NULL, "echo 535.288.01",
    DF ("999999"), NULL, QM_ELSEWHERE_OLD_DRIVER,
    "driver is 535.288.01; the program needs 580" },
  { "a full disk", NULL, LIBC ("2.36"), NULL, "echo 580.1", DF ("2048"), NULL,
    QM_ELSEWHERE_DISK_FULL, "and 2 are free" },
  { "a df that says nothing", NULL, LIBC ("2.36"), NULL, "echo 580.1", "exit 1",
    NULL, 0, "searched" },
};

/* Runs run.sh in a folder, the programs in `tools` coming first. */
static int
run_script (const char *folder,
            const char *tools,
            const char *argument,
            char **said)
{
  g_autofree char *script = g_build_filename (folder, "run.sh", NULL);
  g_autofree char *path = g_strconcat ("PATH=", tools, ":/usr/bin:/bin", NULL);
  char *argv[] = { script, (char *) argument, NULL };
  char *environment[] = { path, NULL };
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  g_assert_true (g_spawn_sync ("/", argv, environment, G_SPAWN_DEFAULT, NULL,
                               NULL, &out, &err, &status, &error));
  *said = g_strconcat (out, err, NULL);
  return WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}

static void
test_machines (void)
{
  const QmElsewhereNeeds needs = { .machine = "x86_64",
                                   .glibc = 2034,
                                   .driver = 580,
                                   .gpus = TRUE,
                                   .host_bytes = 1,
                                   .processors = 4 };
  g_autoptr (QmElsewhere) elsewhere = tiny_on_cpu ();
  g_autofree char *folder = g_build_filename (home, "machine's", NULL);
  g_autofree char *tools = g_build_filename (home, "tools", NULL);
  g_autofree char *path = g_build_filename (folder, "run.sh", NULL);
  g_autofree char *script = NULL;

  g_clear_pointer (&elsewhere->device, g_free);
  script = qm_elsewhere_script (elsewhere, &needs);
  check_shell (script);
  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (tools, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, script, -1, NULL));
  g_assert_cmpint (g_chmod (path, 0755), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (machines); i++)
    {
      const Machine *machine = &machines[i];
      g_autofree char *said = NULL;
      int status;

      stand_in (tools, "uname",
                machine->uname ? machine->uname
                               : "[ \"$1\" = -n ] && echo node1 || echo "
                                 "x86_64");
      stand_in (tools, "getconf", machine->getconf);
      stand_in (tools, "ldd", machine->ldd);
      stand_in (tools, "nvidia-smi", machine->nvidia_smi);
      stand_in (tools, "df", machine->df);
      stand_in (folder, "qm-bench",
                machine->bench ? machine->bench : "echo \"searched $*\"");
      status = run_script (folder, tools, NULL, &said);
      g_test_message ("%s: %d: %s", machine->what, status, said);
      g_assert_cmpint (status, ==, machine->status);
      g_assert_nonnull (strstr (said, machine->said));
      /* It says so too without measuring. */
      g_clear_pointer (&said, g_free);
      g_assert_cmpint (run_script (folder, tools, "--check", &said), ==,
                       machine->status);
      g_assert_null (strstr (said, "--results"));
    }
}

/* The batch script asks for what the plans take. */
static void
test_needs (void)
{
  g_autoptr (QmElsewhere) elsewhere = tiny_on_cpu ();
  g_autofree char *plain = NULL;
  g_autofree char *readme = NULL;
  g_autoptr (GError) error = NULL;
  QmElsewhereNeeds naive, all;

  g_assert_true (qm_elsewhere_find_needs (elsewhere, &naive, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (naive.host_bytes, ==, 0);
  g_assert_cmpuint (naive.glibc, >=, 2002);
  g_assert_nonnull (naive.machine);
  plain = qm_elsewhere_job (elsewhere, &naive);
  g_assert_nonnull (strstr (plain, "\n#SBATCH --mem=16G\n"));
  g_assert_nonnull (strstr (plain, "\n#SBATCH --cpus-per-task=4\n"));

  g_free (elsewhere->methods);
  elsewhere->methods = g_strdup ("all");
  g_assert_true (qm_elsewhere_find_needs (elsewhere, &all, NULL, &error));
  /* Weights in fp32 and both moments of Adam at the least. */
  g_assert_cmpint (all.host_bytes, >, 12 * 64 * 16);
  g_assert_cmpint (all.processors, >, naive.processors);
  all.host_bytes = (G_GINT64_CONSTANT (100) << 30) + 1;
  all.gpus = TRUE;
  all.driver = 580;
  g_clear_pointer (&elsewhere->device, g_free);
  elsewhere->library = g_strdup ("/x/libcublasLt.so.13");
  g_free (plain);
  plain = qm_elsewhere_job (elsewhere, &all);
  g_assert_nonnull (strstr (plain, "\n#SBATCH --mem=117G\n"));
  readme = qm_elsewhere_readme (elsewhere, &all);
  g_assert_nonnull (strstr (readme, "driver, 580 or newer"));
  g_assert_nonnull (strstr (readme, "with glibc 2."));
  g_assert_nonnull (strstr (readme, "lib/libcublasLt.so.13"));
  g_assert_nonnull (strstr (readme, "Attachment A"));
  g_assert_cmpuint (qm_elsewhere_oldest_driver (13010), ==, 580);
  g_assert_cmpuint (qm_elsewhere_oldest_driver (0), ==, 0);
}

static void
count_cb (guint64 done, guint64 of, gpointer data)
{
  guint64 *most = data;

  g_assert_cmpuint (of, >, 0);
  g_assert_cmpuint (done, >=, *most);
  *most = done;
}

/* A library that is taken along, how far that is, and that it can be stopped.
 */
static void
test_library (void)
{
  g_autoptr (QmElsewhere) elsewhere = tiny_on_cpu ();
  g_autofree char *folder = g_build_filename (home, "with", NULL);
  g_autofree char *copy =
      g_build_filename (folder, "lib", "libcublasLt.so.13", NULL);
  g_autofree char *library = g_build_filename (home, "libcublasLt.so.13", NULL);
  g_autofree char *bytes = NULL;
  g_autofree char *part = g_strconcat (folder, ".part", NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  guint64 most = 0, without = qm_elsewhere_measure (elsewhere);
  gsize size;

  /* Any program is as good: it is not loaded here. */
  g_assert_true (g_file_get_contents ("/proc/self/exe", &bytes, &size, NULL));
  g_assert_true (g_file_set_contents (library, bytes, (gssize) size, NULL));
  elsewhere->library = g_strdup (library);
  g_assert_cmpuint (qm_elsewhere_measure (elsewhere), >=, without + size);

  g_cancellable_cancel (cancellable);
  g_assert_false (qm_elsewhere_write (elsewhere, folder, count_cb, &most,
                                      cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (part, G_FILE_TEST_EXISTS));
  g_clear_error (&error);

  g_assert_true (
      qm_elsewhere_write (elsewhere, folder, count_cb, &most, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_test (copy, G_FILE_TEST_IS_REGULAR));
  g_assert_cmpuint (most, >=, without + size);

  g_free (elsewhere->library);
  elsewhere->library = g_strdup ("/nowhere/libcublasLt.so.13");
  g_free (folder);
  folder = g_build_filename (home, "without", NULL);
  g_assert_false (
      qm_elsewhere_write (elsewhere, folder, NULL, NULL, NULL, &error));
  g_assert_nonnull (error);
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
}

static void
test_hosts (void)
{
  static const char *const cases[][2] = { { "node1.jsonl", "node1" },
                                          { "gpu-07.cluster.jsonl", "gpu-07" },
                                          { "../x y.jsonl", "" },
                                          { "a b$.jsonl", "a-b-" },
                                          { ".jsonl", "" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *host = qm_results_import_host (cases[i][0]);

      g_assert_cmpstr (host, ==, cases[i][1]);
    }
}

static void
write_model (void)
{
  g_autofree char *folder =
      g_build_filename (home, "quartermaster", "models", NULL);
  /* A file need not be called as its model is. */
  g_autofree char *path = g_build_filename (folder, "another.json", NULL);
  g_autofree char *gpus =
      g_build_filename (home, "quartermaster", "gpus.csv", NULL);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, MODEL, -1, NULL));
  g_assert_true (g_file_set_contents (gpus, GPUS, -1, NULL));
}

static void
write_results (const char *path, const char *text)
{
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

/* Results of others are noticed, those of this machine and other files not. */
static void
test_stamp (void)
{
  g_autofree char *folder =
      g_build_filename (home, "quartermaster", "measurements", NULL);
  g_autofree char *other = g_build_filename (folder, "node9.jsonl", NULL);
  g_autofree char *note = g_build_filename (folder, "note.txt", NULL);
  guint64 before, with, longer;
  char own[PATH_MAX];

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (qm_results_default_path (own, sizeof own));
  before = qm_results_stamp ();
  write_results (own, "own\n");
  write_results (note, "note\n");
  g_assert_cmpuint (qm_results_stamp (), ==, before);
  write_results (other, "one\n");
  with = qm_results_stamp ();
  g_assert_cmpuint (with, !=, before);
  g_assert_cmpuint (qm_results_stamp (), ==, with);
  write_results (other, "one\ntwo\n");
  longer = qm_results_stamp ();
  g_assert_cmpuint (longer, !=, with);
  g_unlink (other);
  g_assert_cmpuint (qm_results_stamp (), ==, before);
  g_unlink (own);
  g_unlink (note);
}

int
main (int argc, char **argv)
{
  home = g_dir_make_tmp ("qm-elsewhere-XXXXXX", NULL);
  g_setenv ("XDG_DATA_HOME", home, TRUE);
  g_test_init (&argc, &argv, NULL);
  write_model ();
  g_test_add_func ("/elsewhere/round-trip", test_round_trip);
  g_test_add_func ("/elsewhere/hostile-words", test_hostile_words);
  g_test_add_func ("/elsewhere/scripts", test_scripts);
  g_test_add_func ("/elsewhere/machines", test_machines);
  g_test_add_func ("/elsewhere/needs", test_needs);
  g_test_add_func ("/elsewhere/library", test_library);
  g_test_add_func ("/elsewhere/hosts", test_hosts);
  g_test_add_func ("/elsewhere/stamp", test_stamp);
  return g_test_run ();
}
