/* SPDX-License-Identifier: Apache-2.0 */

/* What is written for a person or a shell on the other machine, in English:
 * whoever reads it there need not be who wrote it. */

#include "config.h"

#include "ui/machine/qm-elsewhere.h"

#include "ui/machine/qm-bench-process.h"

#include <string.h>

/* Seconds that a job needs to begin and to end in order. */
#define SLACK 120

#define GIB (G_GINT64_CONSTANT (1) << 30)

/* Bytes of disk that results and the program's own files may take there. */
#define DISK_KIB 102400

/* Memory of the host that is asked for besides what plans take: the program,
 * the driver's and the library's part of it, files that are read. */
#define SPARE_GIB 16

static void
append_option (GString *text, const char *name, const char *value)
{
  g_autofree char *quoted = g_shell_quote (value);

  g_string_append_printf (text, " \\\n  %s %s", name, quoted);
}

static char *
format_glibc (guint version)
{
  return g_strdup_printf ("%u.%u", version / 1000, version % 1000);
}

static gboolean
uses_gpu (const QmElsewhere *self, const QmElsewhereNeeds *needs)
{
  return needs->gpus && g_strcmp0 (self->device, "cpu") != 0;
}

static void
append_head (GString *text)
{
  g_string_append (
      text,
      "#!/bin/sh\n"
      "# Measures how long models train on this machine.  Started again, it\n"
      "# goes on where it was; what it finds is in the folder \"results\".\n"
      "# --check looks only whether the machine has what it takes.\n"
      "set -eu\n"
      "\n"
      "# Where this script is, whatever that is called.\n"
      "here=$(CDPATH='' cd -- \"$(dirname -- \"$0\")\" && pwd -P && printf x)\n"
      "here=${here%?x}\n"
      "host=$(uname -n | sed 's/[.].*//; s/[^A-Za-z0-9_-]/-/g')\n"
      "\n"
      "export QUARTERMASTER_DATA_DIR=\"$here/data\"\n"
      "export XDG_DATA_HOME=\"$here/state\"\n"
      "export LD_LIBRARY_PATH=\"$here/lib"
      "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n"
      "\n"
      "stop ()\n"
      "{\n"
      "  status=$1\n"
      "  shift\n"
      "  printf 'run.sh: %s\\n' \"$*\" >&2\n"
      "  exit \"$status\"\n"
      "}\n");
}

static void
append_processor_check (GString *text, const QmElsewhereNeeds *needs)
{
  if (needs->machine != NULL)
    g_string_append_printf (
        text,
        "\nmachine=$(uname -m)\n"
        "[ \"$machine\" = %s ] ||\n"
        "  stop %d \"this machine's processor is $machine; the program is for "
        "%s.\"\n",
        needs->machine, QM_ELSEWHERE_OTHER_PROCESSOR, needs->machine);
}

static void
append_libc_check (GString *text, const QmElsewhereNeeds *needs)
{
  g_autofree char *oldest = format_glibc (needs->glibc);

  if (needs->glibc == 0)
    return;
  g_string_append_printf (
      text,
      "\nlibc=$(getconf GNU_LIBC_VERSION 2>/dev/null ||\n"
      "  ldd --version 2>/dev/null || :)\n"
      "libc=$(printf '%%s\\n' \"$libc\" |\n"
      "  sed -n '1s/.*[^0-9.]\\([0-9][0-9]*[.][0-9][0-9]*\\).*/\\1/p')\n"
      "[ -n \"$libc\" ] ||\n"
      "  stop %d \"there is no GNU C library (glibc) here; the program needs "
      "%s "
      "or newer.\"\n"
      "if [ \"${libc%%%%.*}\" -lt %u ] ||\n"
      "  { [ \"${libc%%%%.*}\" -eq %u ] && [ \"${libc#*.}\" -lt %u ]; }; then\n"
      "  stop %d \"the C library is glibc $libc; the program needs %s or "
      "newer.\"\n"
      "fi\n",
      QM_ELSEWHERE_OLD_C_LIBRARY, oldest, needs->glibc / 1000,
      needs->glibc / 1000, needs->glibc % 1000, QM_ELSEWHERE_OLD_C_LIBRARY,
      oldest);
}

static void
append_start_check (GString *text)
{
  g_string_append_printf (
      text,
      "\nproblem=$(\"$here/qm-bench\" --version 2>&1 >/dev/null) ||\n"
      "  stop %d \"the program does not start: $problem\"\n",
      QM_ELSEWHERE_DOES_NOT_START);
}

static void
append_driver_check (GString *text, const QmElsewhereNeeds *needs)
{
  if (needs->driver == 0)
    return;
  g_string_append_printf (
      text,
      "\nfirst_version='1s/^[^.]*[^0-9.]\\([0-9][0-9]*[.][0-9][0-9.]*\\).*/\\1/"
      "p'\n"
      "driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader "
      "2>/dev/null |\n"
      "  sed -n 's/^/ /'\";$first_version\" || :)\n"
      "[ -n \"$driver\" ] ||\n"
      "  driver=$(sed -n \"$first_version\" /proc/driver/nvidia/version "
      "2>/dev/null || :)\n"
      "[ -n \"$driver\" ] ||\n"
      "  stop %d \"no driver of NVIDIA runs here; on a cluster, start this on "
      "a "
      "node with a GPU.\"\n"
      "[ \"${driver%%%%.*}\" -ge %u ] ||\n"
      "  stop %d \"NVIDIA's driver is $driver; the program needs %u or "
      "newer.\"\n",
      QM_ELSEWHERE_NO_DRIVER, needs->driver, QM_ELSEWHERE_OLD_DRIVER,
      needs->driver);
}

/* Only a word: what does not fit is a result as well. */
static void
append_memory_check (GString *text, const QmElsewhereNeeds *needs)
{
  if (needs->host_bytes <= 0)
    return;
  g_string_append_printf (
      text,
      "\nmemory=$(sed -n 's/^MemAvailable: *\\([0-9]*\\) kB/\\1/p' "
      "/proc/meminfo 2>/dev/null || :)\n"
      "[ \"${memory:-0}\" -eq 0 ] || [ \"$memory\" -ge %" G_GINT64_FORMAT
      " ] ||\n"
      "  printf 'run.sh: what is offloaded takes up to %" G_GINT64_FORMAT
      " GiB of the host, and %%s are free;\\n"
      "what does not fit is left out.\\n' \"$((memory / 1048576))\" >&2\n",
      needs->host_bytes / 1024, (needs->host_bytes + GIB - 1) / GIB);
}

static void
append_disk_check (GString *text)
{
  g_string_append_printf (
      text,
      "\nmkdir -p -- \"$here/results\" \"$here/state\" ||\n"
      "  stop %d \"nothing can be written in $here.\"\n"
      "room=$(df -Pk \"$here\" 2>/dev/null |\n"
      "  sed -n 's/.* \\([0-9][0-9]*\\)  *[0-9][0-9]*%% .*/\\1/p' || :)\n"
      "[ \"${room:-%d}\" -ge %d ] ||\n"
      "  stop %d \"there are %d MiB of disk needed in $here, and $((room / "
      "1024)) "
      "are free.\"\n",
      QM_ELSEWHERE_DISK_FULL, DISK_KIB, DISK_KIB, QM_ELSEWHERE_DISK_FULL,
      DISK_KIB / 1024);
}

/* Whether several machines work together. */
static gboolean
is_cluster (const QmElsewhere *self)
{
  return self->slurm && self->nodes > 1;
}

int
qm_elsewhere_count_gpus (const QmElsewhere *self)
{
  const char *colon = self->gpus ? strrchr (self->gpus, ':') : NULL;
  guint64 count = 0;

  if (self->gpus == NULL
      || !g_ascii_string_to_unsigned (colon != NULL ? colon + 1 : self->gpus,
                                      10, 1, 16, &count, NULL))
    return 1;
  return (int) count;
}

static void
append_search (GString *text, const QmElsewhere *self)
{
  g_autofree char *models = g_strjoinv (",", self->models);

  g_string_append (text, "\nif [ \"${1-}\" = --check ]; then\n"
                         "  exec \"$here/qm-bench\" devices\n"
                         "fi\n"
                         "exec \"$here/qm-bench\" search \\\n"
                         "  --results \"$here/results/$host.jsonl\"");
  append_option (text, "--model", models);
  append_option (text, "--methods", self->methods ? self->methods : "all");
  if (is_cluster (self))
    {
      g_autofree char *gpus =
          g_strdup_printf ("%d", qm_elsewhere_count_gpus (self));

      append_option (text, "--gpus", gpus);
    }
  if (self->device != NULL)
    append_option (text, "--device", self->device);
  if (self->time_limit_s > 0)
    {
      g_autofree char *limit =
          g_strdup_printf ("%" G_GINT64_FORMAT "s",
                           self->slurm && self->time_limit_s > 2 * SLACK
                               ? self->time_limit_s - SLACK
                               : self->time_limit_s);

      append_option (text, "--time-limit", limit);
    }
  g_string_append_c (text, '\n');
}

char *
qm_elsewhere_script (const QmElsewhere *self, const QmElsewhereNeeds *needs)
{
  GString *text;

  g_return_val_if_fail (self != NULL && self->models != NULL, NULL);
  g_return_val_if_fail (needs != NULL, NULL);

  text = g_string_new ("");
  append_head (text);
  append_processor_check (text, needs);
  append_libc_check (text, needs);
  append_start_check (text);
  if (uses_gpu (self, needs))
    append_driver_check (text, needs);
  append_memory_check (text, needs);
  append_disk_check (text);
  append_search (text, self);
  return g_string_free (text, FALSE);
}

static void
append_directive (GString *text, const char *name, const char *value)
{
  if (value != NULL)
    g_string_append_printf (text, "#SBATCH --%s=%s\n", name, value);
}

/* GiB of the host's memory to ask for. */
static int
memory_gib (const QmElsewhereNeeds *needs)
{
  return (int) ((needs->host_bytes + GIB - 1) / GIB) + SPARE_GIB;
}

/* A process on each machine; what only they know keeps others out. */
static void
append_srun (GString *text, int nodes, int processors)
{
  g_string_append_printf (
      text,
      "\n"
      "# The processes on the machines meet with a word that nobody guesses.\n"
      "QUARTERMASTER_SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n"
      "export QUARTERMASTER_SECRET\n"
      "exec srun --nodes=%d --ntasks=%d --ntasks-per-node=1 \\\n"
      "  --cpus-per-task=\"${SLURM_CPUS_PER_TASK:-%d}\" --kill-on-bad-exit=1 "
      "\"$run\"\n",
      nodes, nodes, processors);
}

char *
qm_elsewhere_job (const QmElsewhere *self, const QmElsewhereNeeds *needs)
{
  g_autofree char *limit = NULL;
  int nodes = is_cluster (self) ? self->nodes : 1;
  GString *text;

  g_return_val_if_fail (self != NULL && needs != NULL, NULL);

  text = g_string_new ("#!/bin/sh\n"
                       "#SBATCH --job-name=quartermaster\n"
                       "#SBATCH --output=job-%j.log\n");
  g_string_append_printf (text,
                          "#SBATCH --nodes=%d\n"
                          "#SBATCH --ntasks=%d\n",
                          nodes, nodes);
  if (is_cluster (self))
    g_string_append (text, "#SBATCH --ntasks-per-node=1\n");
  append_directive (text, "partition", self->partition);
  append_directive (text, "account", self->account);
  append_directive (text, "gpus-per-node", self->gpus);
  g_string_append_printf (text,
                          "#SBATCH --cpus-per-task=%d\n"
                          "#SBATCH --mem=%dG\n",
                          MAX (needs->processors, 1), memory_gib (needs));
  if (self->time_limit_s > 0)
    {
      gint64 minutes = (self->time_limit_s + 59) / 60;

      limit = g_strdup_printf ("%02d:%02d:00", (int) (minutes / 60),
                               (int) (minutes % 60));
      append_directive (text, "time", limit);
    }
  g_string_append (
      text, "set -eu\n"
            "\n"
            "# Slurm runs a copy of this file from elsewhere: the others "
            "are where it was\n"
            "# submitted.\n"
            "run=\"${SLURM_SUBMIT_DIR:?submit it with sbatch}/run.sh\"\n");
  if (is_cluster (self))
    append_srun (text, nodes, MAX (needs->processors, 1));
  else
    g_string_append (text, "exec \"$run\"\n");
  return g_string_free (text, FALSE);
}

static void
append_how (GString *text, const QmElsewhere *self)
{
  g_string_append (text, "1. Copy this whole folder to the machine, with its "
                         "files as they are.\n");
  if (self->slurm)
    g_string_append (text,
                     "2. Go into the folder there and submit the job:\n\n"
                     "       sbatch job.sbatch\n\n"
                     "   Its log is job-NUMBER.log.  Look at the lines that "
                     "begin with #SBATCH first:\n"
                     "   what they do not say, your cluster decides; memory "
                     "(--mem) is for what is\n"
                     "   offloaded to it, and less of it leaves that out.\n");
  else
    g_string_append (text, "2. Go into the folder there and start it:\n\n"
                           "       ./run.sh\n\n");
  if (is_cluster (self))
    g_string_append_printf (
        text,
        "   It asks for %d machines that work together, and srun starts run.sh "
        "on each of\n"
        "   them; the folder has to be on a disk that all of them see.  The "
        "first writes\n"
        "   results and log.  They meet at a port of the first, between 16384 "
        "and 32767,\n"
        "   which QUARTERMASTER_RENDEZVOUS=HOST:PORT says otherwise; GPUs "
        "exchange through\n"
        "   NCCL, where the machines have it, and as its variables say, else "
        "through sockets.\n"
        "   Where one fails, all end within seconds: submit the job again.\n",
        self->nodes);
  g_string_append (
      text,
      "   Stopped, it goes on where it was when it is started again.\n"
      "3. Copy results/HOST.jsonl back, HOST being the name of the machine, "
      "and "
      "drop it\n"
      "   on Quartermaster's window, or choose Import Results in its menu.\n");
}

static void
append_what_it_takes (GString *text,
                      const QmElsewhere *self,
                      const QmElsewhereNeeds *needs)
{
  g_autofree char *glibc = format_glibc (needs->glibc);

  g_string_append (text, "\nWhat the machine needs\n"
                         "----------------------\n\n");
  g_string_append_printf (text, "- Linux on %s",
                          needs->machine != NULL ? needs->machine
                                                 : "the same processor");
  if (needs->glibc > 0)
    g_string_append_printf (text, " with glibc %s or newer", glibc);
  g_string_append (text, "\n");
  if (uses_gpu (self, needs) && needs->driver > 0)
    g_string_append_printf (text,
                            "- NVIDIA's driver, %u or newer; no CUDA, and "
                            "nothing else\n",
                            needs->driver);
  else if (!needs->gpus)
    g_string_append (text, "- no GPU: this qm-bench was built without CUDA and "
                           "measures processors alone\n");
  g_string_append_printf (text, "- %d GiB of memory%s\n", memory_gib (needs),
                          needs->host_bytes > 0
                              ? "; with less, what is offloaded to it may not "
                                "fit, which is\n  a result as well"
                              : "");
  g_string_append_printf (
      text,
      "\n"
      "run.sh looks for these first (./run.sh --check does only that), and "
      "ends with\n"
      "%d on another processor, %d with an older C library, %d where the "
      "program does not\n"
      "start, %d without a driver, %d with an older one and %d where the disk "
      "is full;\n"
      "else as qm-bench does.  Nothing is installed, and nothing is written "
      "outside of\n"
      "this folder.\n",
      QM_ELSEWHERE_OTHER_PROCESSOR, QM_ELSEWHERE_OLD_C_LIBRARY,
      QM_ELSEWHERE_DOES_NOT_START, QM_ELSEWHERE_NO_DRIVER,
      QM_ELSEWHERE_OLD_DRIVER, QM_ELSEWHERE_DISK_FULL);
}

static void
append_products (GString *text, const QmElsewhere *self)
{
  g_string_append (text, "\nProducts of matrices\n"
                         "--------------------\n\n");
  if (self->library != NULL)
    {
      g_autofree char *name = g_path_get_basename (self->library);

      g_string_append_printf (
          text,
          "lib/%s is NVIDIA's cuBLASLt, which qm-bench uses before any "
          "other.\n"
          "The End User License Agreement of NVIDIA's CUDA Toolkit "
          "(https://docs.nvidia.com/\n"
          "cuda/eula) lists it, in Attachment A, among the files that may be "
          "passed on with\n"
          "a program; it stays under that agreement.\n",
          name);
      return;
    }
  g_string_append (
      text,
      "NVIDIA's library for them, cuBLASLt 13, is not in this folder.  It is "
      "used where the\n"
      "machine has it, with CUDA 13 or with PyTorch for CUDA 13 "
      "(QUARTERMASTER_CUBLASLT\n"
      "may name the file).  Else products of our own do it all.  They take "
      "longer: on an\n"
      "H100 a pass of pythia-160m 1.01 times as long, of pythia-1b 1.00 "
      "times, of vit-large\n"
      "(TF32) 2.54 times; on older GPUs that was not measured.  So the times "
      "are those of a\n"
      "machine without the library; the log and the results say so.\n");
}

char *
qm_elsewhere_readme (const QmElsewhere *self, const QmElsewhereNeeds *needs)
{
  g_autofree char *models = NULL;
  GString *text;

  g_return_val_if_fail (self != NULL && self->models != NULL, NULL);
  g_return_val_if_fail (needs != NULL, NULL);

  models = g_strjoinv (", ", self->models);
  text = g_string_new (
      "A benchmark by Quartermaster, to be run on another machine\n"
      "==========================================================\n\n");
  g_string_append_printf (text, "It measures %s (methods: %s).\n\n", models,
                          self->methods ? self->methods : "all");
  append_how (text, self);
  append_what_it_takes (text, self, needs);
  if (uses_gpu (self, needs))
    append_products (text, self);
  return g_string_free (text, FALSE);
}
