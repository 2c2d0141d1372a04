/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench: real training steps on this machine, and what they tell. */

#include "config.h"

#include "app/qm-bench.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

static const char help[] =
    "Usage: qm-bench COMMAND [OPTION]...\n"
    "\n"
    "Runs real pre-training steps and tells how long the whole training "
    "takes.\n"
    "\n"
    "Commands:\n"
    "  devices  list what can be trained on\n"
    "  plan     what a configuration needs; without a GPU\n"
    "  run      measure\n"
    "  check    loss and gradients of one pass on given weights and data\n"
    "  train    learn from a text\n"
    "\n"
    "What is trained (plan, run, train):\n"
    "  --model ID             a model of the catalog, as pythia-1b\n"
    "  --config FILE          a config.json of Hugging Face\n"
    "  --recipe FILE          batch size, steps, precision, optimizer (JSON)\n"
    "  --settings NAME        naive, compile, kernels, tf32, or free-lunch, "
    "which\n"
    "                         is all three (and the default); compile+kernels\n"
    "  --checkpoint           activation checkpointing: keep the inputs of "
    "blocks,\n"
    "                         make the rest once more (check, too)\n"
    "  --micro-batch N|auto   samples of one pass; auto: the most that fit\n"
    "  --device ID            cpu, cuda:0 (default: the first GPU, else cpu)\n"
    "\n"
    "plan:\n"
    "  --memory SIZE          of the GPU, as 24GiB\n"
    "  --architecture N       of the GPU, as 90 for sm_90 (the default)\n"
    "  --operators            each call of a pass, with types and shapes\n"
    "run:\n"
    "  --repeat N             measurements (1)\n"
    "  --validate N           whole steps to compare with (0)\n"
    "  --seed N               of random numbers (0)\n"
    "check:\n"
    "  --weights FILE --batch FILE --out FILE    safetensors\n"
    "  --precision P          fp32, tf32, fp16 or bf16\n"
    "train:\n"
    "  --text FILE            every byte a token\n"
    "  --tokens FILE          little-endian 16-bit tokens\n"
    "  --steps N              (200)\n"
    "  --batch-size N, --learning-rate X    instead of the recipe's\n"
    "  --weights FILE         to begin with (safetensors); else random\n"
    "\n"
    "  --json                 one JSON object a line on standard output\n"
    "  --version, --help\n"
    "\n"
    "Exit status: 0 done, 1 a file or value is wrong, 2 the command line is,\n"
    "3 out of memory, 4 a device failed or is not there, 5 not supported,\n"
    "130 interrupted.\n";

static void
on_interrupt (int number)
{
  interrupted = 1;
}

/* The first interrupt is obeyed between two passes, the second at once. */
static void
catch_interrupts (void)
{
  struct sigaction action = { .sa_handler = on_interrupt,
                              .sa_flags = (int) SA_RESETHAND };

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
}

bool
qm_bench_interrupted (void)
{
  return interrupted != 0;
}

int
qm_bench_fail (const QmError *error)
{
  if (error->file[0] != '\0' && error->line > 0)
    fprintf (stderr, "qm-bench: %s:%d:%d: %s\n", error->file, error->line,
             error->column, error->message);
  else if (error->file[0] != '\0')
    fprintf (stderr, "qm-bench: %s: %s\n", error->file, error->message);
  else
    fprintf (stderr, "qm-bench: %s\n", error->message);
  switch (error->status)
    {
    case QM_STATUS_NO_MEMORY:
    case QM_STATUS_DEVICE_FULL:
      return QM_BENCH_FULL;
    case QM_STATUS_DEVICE:
      return QM_BENCH_DEVICE;
    case QM_STATUS_UNSUPPORTED:
      return QM_BENCH_UNSUPPORTED;
    case QM_STATUS_INTERRUPTED:
      return QM_BENCH_INTERRUPTED;
    case QM_OK:
    case QM_STATUS_IO:
    case QM_STATUS_PARSE:
    case QM_STATUS_INVALID:
    case QM_STATUS_NOT_FOUND:
      break;
    }
  return QM_BENCH_FAILED;
}

static int
run_command (const QmBenchOptions *options)
{
  static const struct
  {
    const char *name;
    int (*run) (const QmBenchOptions *options);
  } commands[] = {
    { "devices", qm_bench_devices }, { "plan", qm_bench_plan },
    { "run", qm_bench_run },         { "check", qm_bench_check },
    { "train", qm_bench_train },
  };

  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (strcmp (commands[i].name, options->command) == 0)
      return commands[i].run (options);
  fprintf (stderr, "qm-bench: there is no command '%.32s'; see --help\n",
           options->command);
  return QM_BENCH_USAGE;
}

int
main (int argc, char **argv)
{
  QmBenchOptions options;
  int status;

  for (int i = 1; i < argc; i++)
    {
      if (strcmp (argv[i], "--help") == 0 || strcmp (argv[i], "-h") == 0)
        return fputs (help, stdout) < 0;
      if (strcmp (argv[i], "--version") == 0)
        return printf ("qm-bench %s\n", QM_VERSION) < 0;
    }
  if (!qm_bench_parse (argc, argv, &options))
    return QM_BENCH_USAGE;
  catch_interrupts ();
  status = run_command (&options);
  if (fflush (stdout) != 0 && status == QM_BENCH_OK)
    {
      perror ("qm-bench: standard output");
      return QM_BENCH_FAILED;
    }
  return status;
}
