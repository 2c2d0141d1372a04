/* SPDX-License-Identifier: Apache-2.0 */

/* The command line, and the help that explains it. */

#include "app/qm-bench.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind
{
  TEXT,
  COUNT,
  COUNTS, /* of GPUs, joined by commas */
  FLAG
} Kind;

/* Which commands take an option. */
enum
{
  DEVICES = 1,
  PLAN = 2,
  PREDICT = 4,
  CALIBRATE = 8,
  RUN = 16,
  CHECK = 32,
  TRAIN = 64,
  SEARCH = 128,
  RESULTS = 256,
  EXPORT = 512,
  FRAMEWORK = 1024,
  LINKS = 2048,
  WORKER = 4096,
  MODEL = PLAN | RUN | TRAIN,
  ELSEWHERE = EXPORT | FRAMEWORK,
  ON_DEVICE = RUN | CHECK | TRAIN | SEARCH | WORKER
};

static const struct
{
  const char *name, *help;
} commands[] = {
  { "devices", "list what can be trained on, and how it is connected" },
  { "plan", "what a training needs of a GPU's memory, without a GPU" },
  { "predict", "how long a training takes on a GPU that is not here" },
  { "calibrate", "what the GPU at hand can do, which predict then takes" },
  { "run", "measure real training steps; how long the whole takes" },
  { "check", "loss and gradients of one pass on given weights and data" },
  { "train", "learn from a text or images, to see the loss fall" },
  { "search", "measure all ways to train; which is the fastest" },
  { "results", "list, check and merge what searches found" },
  { "export", "settings for Transformers or DeepSpeed, from a result or not" },
  { "framework", "measure the same in PyTorch and Transformers" },
  { "links", "how fast devices exchange, with each other and with the host" },
  { "worker", NULL }, /* which users do not call */
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

typedef struct Option
{
  const char *name;
  const char *value; /* what stands for it in the help; NULL: a flag */
  Kind kind;
  unsigned commands;
  size_t offset;
  const char *help;
} Option;

#define FIELD(name) offsetof (QmBenchOptions, name)

static const Option known[] = {
  { "--model", "ID", TEXT, MODEL | PREDICT | SEARCH | RESULTS | ELSEWHERE,
    FIELD (model),
    "a model of the catalog, as pythia-1b; of search also several joined by "
    "commas, or all" },
  { "--config", "FILE", TEXT,
    MODEL | PREDICT | CHECK | SEARCH | WORKER | ELSEWHERE, FIELD (config),
    "a config.json of Hugging Face" },
  { "--recipe", "FILE", TEXT, MODEL | PREDICT | SEARCH | WORKER | ELSEWHERE,
    FIELD (recipe), "batch size, steps, precision, optimizer (JSON)" },
  { "--methods", "naive|free-lunch|all", TEXT, SEARCH | PLAN, FIELD (methods),
    "naive settings, free-lunch settings, or both and all that save memory "
    "(of search, all); plan then plans each" },
  { "--settings", "NAME", TEXT, MODEL | CHECK | ELSEWHERE, FIELD (settings),
    "naive, compile, kernels, tf32, several joined by +, or all three: "
    "free-lunch (the default)" },
  { "--checkpoint", NULL, FLAG, MODEL | PREDICT | CHECK | ELSEWHERE,
    FIELD (checkpoint),
    "activation checkpointing: keep the inputs of blocks, make the rest once "
    "more" },
  { "--offload", "NAME", TEXT, MODEL | ELSEWHERE, FIELD (offload),
    "keep optimizer states in the host's memory: zero_1, zero_2, fsdp_2; "
    "weights too: zero_3, fsdp_3" },
  { "--micro-batch", "N", TEXT, MODEL | PREDICT | ELSEWHERE,
    FIELD (micro_batch),
    "samples of one pass; auto, the default: the most that fit" },
  { "--device", "ID", TEXT,
    MODEL | CALIBRATE | CHECK | SEARCH | WORKER | FRAMEWORK | LINKS,
    FIELD (device),
    "cpu, cuda:0 (default: the first GPU, else cpu); with --gpus also several, "
    "joined by commas (default: the first of them)" },
  { "--architecture", "N", TEXT, MODEL | CALIBRATE | CHECK | SEARCH | WORKER,
    FIELD (architecture),
    "of the GPU, as 80 for sm_80; on a newer one: use the kernels for that" },
  { "--memory", "SIZE", TEXT, PLAN | SEARCH, FIELD (memory),
    "of the GPU, as 24GiB; search uses no more" },
  { "--host-memory", "SIZE", TEXT, MODEL | PREDICT | SEARCH | WORKER,
    FIELD (host_memory),
    "of the host, for what is offloaded (default: what is free; of predict, as "
    "much as it takes)" },
  { "--results", "FILE", TEXT, SEARCH | FRAMEWORK, FIELD (results),
    "where results go, and of search, what is known already "
    "(measurements/HOST.jsonl in the user's folder)" },
  { "--events", NULL, FLAG,
    CALIBRATE | RUN | CHECK | TRAIN | SEARCH | FRAMEWORK, FIELD (events),
    "say in JSON lines what happens while it does" },
  { "--dry-run", NULL, FLAG, SEARCH, FIELD (dry_run),
    "say what would be measured and how long that takes" },
  { "--time-limit", "TIME", TEXT, SEARCH, FIELD (time_limit),
    "to stop after, as 25min, with the most telling measured first" },
  { "--again", "failed|all", TEXT, SEARCH, FIELD (again),
    "measure again what failed, or everything" },
  { "--patience", "N", COUNT,
    CALIBRATE | RUN | CHECK | TRAIN | SEARCH | FRAMEWORK, FIELD (patience),
    "seconds without progress to give a measurement up after (search: two "
    "minutes and five times what it should take; others 900, and all but "
    "framework with --events alone)" },
  { "--best", NULL, FLAG, RESULTS | EXPORT, FIELD (best),
    "of each model on each device the fastest alone; the fastest" },
  { "--merge", "FILE", TEXT, RESULTS, FIELD (merge),
    "write them all into one file" },
  { "--adopt", NULL, FLAG, RESULTS, FIELD (adopt),
    "say that those are of this machine that do not say of which they are" },
  { "--gpu", "NAME", TEXT, PLAN | PREDICT, FIELD (gpu),
    "a GPU of the catalog, as rtx4090; of predict, and of plan with --methods, "
    "also several, joined by commas, or all" },
  { "--link", "auto|nvlink|pcie", TEXT, PREDICT, FIELD (link),
    "between GPUs (auto: as the GPU has)" },
  { "--level", "NAME", TEXT, PREDICT, FIELD (level),
    "of software: tuned (the default: PyTorch, compiled), eager, naive, engine "
    "(this one), cuda (other engines); also several, joined by commas" },
  { "--rates", NULL, FLAG, PREDICT, FIELD (rates),
    "instead of a training the rates of the catalog, measured and reported, "
    "each "
    "beside what is predicted of it, and whether it is plausible; predictions "
    "are fitted to these rates: that they agree is no proof" },
  { "--speeds", "FILE", TEXT, PREDICT, FIELD (speeds),
    "what calibrate found on another machine" },
  { "--operators", NULL, FLAG, PLAN, FIELD (operators),
    "each call of a pass, with types and shapes" },
  { "--repeat", "N", COUNT, RUN | SEARCH | WORKER, FIELD (repeat),
    "measurements (1)" },
  { "--validate", "N", COUNT, RUN, FIELD (validate),
    "whole steps to compare with (0)" },
  { "--profile", NULL, FLAG, RUN, FIELD (profile),
    "time by operator and shape, after the measurement" },
  { "--verbose", NULL, FLAG, RUN, FIELD (verbose),
    "where the time of the program itself went" },
  { "--python", "PROGRAM", TEXT, FRAMEWORK, FIELD (python),
    "a Python that has PyTorch and Transformers (python3)" },
  { "--format", "NAME", TEXT, EXPORT, FIELD (format),
    "transformers (the default) or deepspeed" },
  { "--result", "FILE", TEXT, EXPORT, FIELD (result),
    "take everything from a result in this file" },
  { "--line", "N", COUNT, EXPORT, FIELD (line), "the one in this line" },
  { "--gpus", "N", COUNTS, EXPORT | PREDICT | MODEL | SEARCH | LINKS | WORKER,
    FIELD (gpus),
    "how many work together (1); of predict and search also several, joined by "
    "commas" },
  { "--sharding", "NAME", TEXT, MODEL, FIELD (sharding),
    "what several GPUs share instead of each having all: optimizer states "
    "(zero_1), gradients too (zero_2, fsdp_2), weights too (zero_3, fsdp_3)" },
  { "--no-peer", NULL, FLAG, RUN | TRAIN | LINKS, FIELD (no_peer),
    "exchange through the host's memory, as GPUs do that may not read each "
    "other's" },
  { "--weights", "FILE", TEXT, CHECK | TRAIN, FIELD (weights),
    "to begin with (safetensors, or the index.json of several)" },
  { "--batch", "FILE", TEXT, CHECK, FIELD (batch), "the data (safetensors)" },
  { "--out", "FILE", TEXT, CALIBRATE | CHECK | TRAIN | EXPORT, FIELD (out),
    "where the result goes: loss and gradients, or the weights at the end "
    "(safetensors), or settings, or what a GPU can do (JSON; without it, "
    "speeds/GPU.json in the user's folder)" },
  { "--precision", "NAME", TEXT, CHECK, FIELD (precision),
    "fp32 (the default), tf32, fp16 or bf16" },
  { "--text", "FILE", TEXT, TRAIN, FIELD (text), "every byte a token" },
  { "--tokens", "FILE", TEXT, TRAIN, FIELD (tokens),
    "little-endian 16-bit tokens" },
  { "--images", "FILE", TEXT, TRAIN, FIELD (images),
    "pixel_values and labels (safetensors)" },
  { "--mask-token", "N", TEXT, TRAIN, FIELD (mask_token),
    "that hides what bert and roberta have to tell (the last of the "
    "vocabulary)" },
  { "--steps", "N", COUNT, TRAIN, FIELD (steps), "to train for (200)" },
  { "--batch-size", "N", TEXT, TRAIN, FIELD (batch_size),
    "instead of the recipe's" },
  { "--learning-rate", "X", TEXT, TRAIN, FIELD (learning_rate),
    "instead of the recipe's" },
  { "--schedule", "NAME", TEXT, TRAIN, FIELD (schedule),
    "of the learning rate: constant (the default), linear or cosine, down to 0 "
    "at the last step" },
  { "--warm-up", "N", COUNT, TRAIN, FIELD (warm_up),
    "steps in which it grows from 0 (0)" },
  { "--seed", "N", COUNT, RUN | TRAIN | SEARCH | WORKER | FRAMEWORK,
    FIELD (seed), "of random numbers (0)" },
  { "--deterministic", NULL, FLAG, ON_DEVICE | FRAMEWORK, FIELD (deterministic),
    "equal bits in every run, also where that costs time" },
  { "--json", NULL, FLAG,
    DEVICES | MODEL | PREDICT | CALIBRATE | CHECK | SEARCH | RESULTS | ELSEWHERE
        | LINKS,
    FIELD (json), "JSON, one object a line, instead of text" },
};

#define N_KNOWN (sizeof known / sizeof known[0])

static unsigned
command_bit (const char *command)
{
  for (unsigned i = 0; i < N_COMMANDS; i++)
    if (strcmp (commands[i].name, command) == 0)
      return 1u << i;
  return 0;
}

#define HELP_COLUMN 22
#define HELP_WIDTH  80

/* Prints words, wrapped, from a column on that the line has reached. */
static void
print_wrapped (const char *text)
{
  int column = HELP_COLUMN;

  while (*text != '\0')
    {
      int length = (int) strcspn (text, " ");

      if (column + 1 + length >= HELP_WIDTH)
        column = printf ("\n%*s", HELP_COLUMN, "") - 1;
      else if (column > HELP_COLUMN)
        column += printf (" ");
      column += printf ("%.*s", length, text);
      text += length + (text[length] != '\0');
    }
  printf ("\n");
}

static void
print_entry (const char *name, const char *value, const char *help)
{
  int column = printf ("  %s%s%s", name, value != NULL ? " " : "",
                       value != NULL ? value : "");

  if (column + 2 > HELP_COLUMN)
    column = printf ("\n") - 1;
  printf ("%*s", HELP_COLUMN - column, "");
  print_wrapped (help);
}

static void
print_options (unsigned bit)
{
  for (size_t i = 0; i < N_KNOWN; i++)
    if ((known[i].commands & bit) != 0)
      print_entry (known[i].name, known[i].value, known[i].help);
  print_entry ("-h, --help", NULL, "this text");
}

void
qm_bench_print_help (const char *command)
{
  unsigned bit = command != NULL ? command_bit (command) : 0;

  if (bit != 0)
    {
      printf ("Usage: qm-bench %s [OPTION]...%s\n\n", command,
              bit == RESULTS ? " [FILE]..." : "");
      for (size_t i = 0; i < N_COMMANDS; i++)
        if (bit == 1u << i && commands[i].help != NULL)
          printf ("%s: %s\n\n", command, commands[i].help);
      print_options (bit);
      return;
    }
  printf ("Usage: qm-bench COMMAND [OPTION]...\n\n"
          "Runs real pre-training steps and tells how long the whole training "
          "takes.\n\nCommands:\n");
  for (size_t i = 0; i < N_COMMANDS && commands[i].help != NULL; i++)
    print_entry (commands[i].name, NULL, commands[i].help);
  printf ("\n  -h, --help          this text; after a command, its options\n"
          "  --version           the version\n\n"
          "Exit status: 0 done, 1 a file or value is wrong, 2 the command line "
          "is, 3 out\nof memory, 4 a device failed or is not there, 5 not "
          "supported, 130 interrupted.\n");
}

bool
qm_bench_read_count (const char *name, const char *text, int64_t *count)
{
  const long long most = 1000000000;
  char *end;
  long long value;

  errno = 0;
  value = strtoll (text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < 0 || value > most)
    {
      qm_bench_say ("%s: '%.32s' is no whole number up to %lld", name, text,
                    most);
      return false;
    }
  *count = value;
  return true;
}

/* Reads numbers joined by commas; one where the command takes no more. */
static bool
read_counts (const Option *option, const char *text, QmBenchOptions *options)
{
  bool several = (command_bit (options->command) & (PREDICT | SEARCH)) != 0;

  options->n_gpu_counts = 0;
  for (;;)
    {
      size_t length = several ? strcspn (text, ",") : strlen (text);
      char one[32];

      if (options->n_gpu_counts == QM_BENCH_COUNTS_OF_GPUS)
        {
          qm_bench_say ("%s: that are more than %d numbers", option->name,
                        QM_BENCH_COUNTS_OF_GPUS);
          return false;
        }
      snprintf (one, sizeof one, "%.*s",
                (int) (length < sizeof one ? length : sizeof one - 1), text);
      if (!qm_bench_read_count (option->name, one,
                                &options->gpu_counts[options->n_gpu_counts++]))
        return false;
      if (text[length] == '\0')
        break;
      text += length + 1;
    }
  options->gpus = options->gpu_counts[0];
  return true;
}

static const Option *
find_option (const char *argument, size_t length)
{
  for (size_t i = 0; i < N_KNOWN; i++)
    if (strlen (known[i].name) == length
        && strncmp (known[i].name, argument, length) == 0)
      return &known[i];
  return NULL;
}

/* Handles argv[*at], and moves *at over what it took. */
static bool
read_option (int argc, char **argv, int *at, QmBenchOptions *options)
{
  const char *argument = argv[*at];
  size_t length = strcspn (argument, "=");
  const Option *option = find_option (argument, length);
  const char *value = NULL;
  char *field;

  if (option == NULL
      || (option->commands & command_bit (options->command)) == 0)
    {
      qm_bench_say ("%s takes no %.*s; see qm-bench %s --help",
                    options->command, (int) (length < 48 ? length : 48),
                    argument, options->command);
      return false;
    }
  field = (char *) options + option->offset;
  if (option->kind != FLAG)
    value = argument[length] == '=' ? argument + length + 1
            : *at + 1 < argc        ? argv[++*at]
                                    : NULL;
  if ((value == NULL) != (option->kind == FLAG)
      || (option->kind == FLAG && argument[length] == '='))
    {
      qm_bench_say ("%s %s", option->name,
                    option->kind == FLAG ? "takes no value" : "needs a value");
      return false;
    }
  switch (option->kind)
    {
    case TEXT:
      *(const char **) (void *) field = value;
      return true;
    case COUNT:
      return qm_bench_read_count (option->name, value,
                                  (int64_t *) (void *) field);
    case COUNTS:
      return read_counts (option, value, options);
    case FLAG:
      *(bool *) field = true;
      return true;
    }
  return false;
}

bool
qm_bench_parse (int argc, char **argv, QmBenchOptions *options)
{
  memset (options, 0, sizeof *options);
  options->repeat = 1;
  options->steps = 200;
  if (argc < 2 || command_bit (argv[1]) == 0)
    {
      fprintf (stderr,
               "qm-bench: the first word has to be a command: devices, plan, "
               "predict, calibrate, run, check, train, search, results, "
               "export, framework or links; see qm-bench --help\n");
      return false;
    }
  options->command = argv[1];
  options->files = argv + 1;
  for (int i = 2; i < argc; i++)
    if (argv[i][0] != '-' && command_bit (options->command) == RESULTS)
      options->files[options->n_files++] = argv[i];
    else if (!read_option (argc, argv, &i, options))
      return false;
  if (options->repeat < 1)
    {
      fprintf (stderr, "qm-bench: --repeat has to be at least 1\n");
      return false;
    }
  return true;
}
