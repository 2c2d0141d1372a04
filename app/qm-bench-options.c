/* SPDX-License-Identifier: Apache-2.0 */

/* The command line, and the help that explains it. */

#include "app/qm-bench.h"

#include "app/qm-options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  ACCEPT = 4096,
  SHARE = 8192,
  WORKER = 16384,
  MODEL = PLAN | RUN | TRAIN,
  ELSEWHERE = EXPORT | FRAMEWORK,
  TOGETHER = RUN | TRAIN | SEARCH | LINKS | WORKER,
  ON_DEVICE = RUN | CHECK | TRAIN | SEARCH | WORKER
};

static const struct
{
  const char *name, *help;
} commands[] = {
  { "devices", "list what can be trained on, and how it is connected" },
  { "plan", "what a training needs of a GPU's memory, without a GPU" },
  { "predict",
    "how long a training takes on a GPU that is not here, or what fits on it" },
  { "calibrate", "what the GPU at hand can do, which predict then takes" },
  { "run", "measure real training steps; how long the whole takes" },
  { "check", "loss and gradients of one pass on given weights and data" },
  { "train", "learn from a text or images, to see the loss fall" },
  { "search", "measure all ways to train; which is the fastest" },
  { "results", "list, check and merge what searches found" },
  { "export", "settings for Transformers or DeepSpeed, from a result or not" },
  { "framework", "measure the same in PyTorch and Transformers" },
  { "links", "how fast devices exchange, with each other and with the host" },
  { "accept", "hold a machine that was delivered against what was ordered" },
  { "share", "give results away, or audit and take what others gave" },
  { "worker", NULL }, /* which users do not call */
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

typedef struct Option
{
  const char *name;
  const char *value; /* what stands for it in the help; NULL: a flag */
  QmOptionKind kind;
  unsigned commands;
  size_t offset;
  const char *help;
  int64_t least; /* of numbers */
} Option;

#define FIELD(name) offsetof (QmBenchOptions, name)

static const Option known[] = {
  { "model", "ID", QM_OPTION_TEXT,
    MODEL | PREDICT | SEARCH | RESULTS | SHARE | ELSEWHERE | LINKS,
    FIELD (model),
    "a model of the catalog, as pythia-1b; of search also several joined by "
    "commas, or all; predict takes all where none is named" },
  { "config", "FILE", QM_OPTION_TEXT,
    MODEL | PREDICT | CHECK | SEARCH | WORKER | ELSEWHERE, FIELD (config),
    "a config.json of Hugging Face" },
  { "recipe", "FILE", QM_OPTION_TEXT,
    MODEL | PREDICT | SEARCH | WORKER | ELSEWHERE, FIELD (recipe),
    "batch size, steps, precision, optimizer (JSON)" },
  { "methods", "naive|free-lunch|all", QM_OPTION_CHOICE,
    SEARCH | PLAN | PREDICT, FIELD (methods),
    "naive settings, free-lunch settings, or both and all that save memory "
    "(of search, all); plan and predict then do each" },
  { "settings", "NAME", QM_OPTION_TEXT, MODEL | CHECK | ELSEWHERE,
    FIELD (settings),
    "naive, compile, kernels, tf32, several joined by +, or all three: "
    "free-lunch (the default)" },
  { "checkpoint", NULL, QM_OPTION_FLAG, MODEL | PREDICT | CHECK | ELSEWHERE,
    FIELD (checkpoint),
    "activation checkpointing: keep the inputs of blocks, make the rest once "
    "more" },
  { "offload", "NAME", QM_OPTION_TEXT, MODEL | PREDICT | ELSEWHERE,
    FIELD (offload),
    "keep optimizer states in the host's memory: zero_1, zero_2, fsdp_2; "
    "weights too: zero_3, fsdp_3" },
  { "micro-batch", "N", QM_OPTION_TEXT, MODEL | PREDICT | ELSEWHERE,
    FIELD (micro_batch),
    "samples of one pass; auto, the default: the most that fit" },
  { "device", "ID", QM_OPTION_TEXT,
    MODEL | PREDICT | CALIBRATE | CHECK | SEARCH | WORKER | FRAMEWORK | LINKS
        | ACCEPT,
    FIELD (device),
    "cpu, cuda:0 (default: the first GPU, else cpu; of accept, all GPUs); with "
    "--gpus, and of accept, also several, joined by commas (default: the first "
    "of them)" },
  { "architecture", "N", QM_OPTION_TEXT,
    MODEL | CALIBRATE | CHECK | SEARCH | WORKER, FIELD (architecture),
    "of the GPU, as 80 for sm_80; on a newer one: use the kernels for that" },
  { "memory", "SIZE", QM_OPTION_TEXT, PLAN | SEARCH, FIELD (memory),
    "of the GPU, as 24GiB; search uses no more" },
  { "host-memory", "SIZE", QM_OPTION_TEXT, MODEL | PREDICT | SEARCH | WORKER,
    FIELD (host_memory),
    "of the host, for what is offloaded (default: what is free; of predict, as "
    "much as it takes)" },
  { "results", "FILE", QM_OPTION_TEXT, SEARCH | FRAMEWORK, FIELD (results),
    "where results go, and of search, what is known already "
    "(measurements/HOST.jsonl in the user's folder)" },
  { "events", NULL, QM_OPTION_FLAG,
    CALIBRATE | RUN | CHECK | TRAIN | SEARCH | FRAMEWORK, FIELD (events),
    "say in JSON lines what happens while it does" },
  { "dry-run", NULL, QM_OPTION_FLAG, SEARCH, FIELD (dry_run),
    "say what would be measured and how long that takes" },
  { "time-limit", "TIME", QM_OPTION_TEXT, SEARCH, FIELD (time_limit),
    "to stop after, as 25min, with the most telling measured first (of several "
    "GPUs, 90 seconds for each model)" },
  { "no-cut", NULL, QM_OPTION_FLAG, SEARCH, FIELD (no_cut),
    "of several GPUs, measure also ways that one pass shows to be much slower "
    "than the fastest so far" },
  { "again", "failed|all", QM_OPTION_CHOICE, SEARCH, FIELD (again),
    "measure again what failed, or everything" },
  { "patience", "N", QM_OPTION_COUNT,
    CALIBRATE | RUN | CHECK | TRAIN | SEARCH | FRAMEWORK, FIELD (patience),
    "seconds without progress to give a measurement up after (search: two "
    "minutes and five times what it should take; others 900, and all but "
    "framework with --events alone)" },
  { "best", NULL, QM_OPTION_FLAG, RESULTS | EXPORT, FIELD (best),
    "of each model on each device the fastest alone; the fastest" },
  { "merge", "FILE", QM_OPTION_TEXT, RESULTS, FIELD (merge),
    "write them all into one file" },
  { "adopt", NULL, QM_OPTION_FLAG, RESULTS, FIELD (adopt),
    "say that those are of this machine that do not say of which they are" },
  { "gpu", "NAME", QM_OPTION_TEXT, PLAN | PREDICT | LINKS, FIELD (gpu),
    "a GPU of the catalog, as rtx4090 (of links, that it predicts for; "
    "default: "
    "the one at hand); of predict, and of plan with --methods, "
    "also several, joined by commas, or all" },
  { "link", "auto|nvlink|pcie", QM_OPTION_CHOICE, PREDICT, FIELD (link),
    "between GPUs (auto: as the GPU has)" },
  { "links", "FILE", QM_OPTION_TEXT, PREDICT | SEARCH, FIELD (links),
    "how fast GPUs exchange, as links --json measured it, for ways that "
    "--sharding, --offload or --methods name; search begins with those that "
    "are the fastest by it" },
  { "level", "NAME", QM_OPTION_TEXT, PREDICT, FIELD (level),
    "of software: tuned (the default: PyTorch, compiled), eager, naive, engine "
    "(this one), cuda (other engines); also several, joined by commas" },
  { "rates", NULL, QM_OPTION_FLAG, PREDICT, FIELD (rates),
    "instead of a training the rates of the catalog, measured and reported, "
    "each "
    "beside what is predicted of it, and whether it is plausible; predictions "
    "are fitted to these rates: that they agree is no proof" },
  { "speeds", "FILE", QM_OPTION_TEXT, PREDICT, FIELD (speeds),
    "what calibrate found on another machine" },
  { "against", "FILE", QM_OPTION_TEXT, ACCEPT, FIELD (against),
    "what was ordered, as quartermaster proposal --acceptance writes it" },
  { "load", "TIME", QM_OPTION_TEXT, ACCEPT, FIELD (load),
    "of full load before each measurement, and of the measurement (10min)" },
  { "operators", NULL, QM_OPTION_FLAG, PLAN, FIELD (operators),
    "each call of a pass, with types and shapes" },
  { "after", "PASS", QM_OPTION_TEXT, PLAN, FIELD (after),
    "the same as it was when the graph had gone through that pass "
    "(fuse-forward, "
    "differentiate, ...); none: as the model has it" },
  { "repeat", "N", QM_OPTION_COUNT, RUN | SEARCH | WORKER, FIELD (repeat),
    "measurements (1)", 1 },
  { "validate", "N", QM_OPTION_COUNT, RUN, FIELD (validate),
    "whole steps to compare with (0)" },
  { "profile", NULL, QM_OPTION_FLAG, RUN, FIELD (profile),
    "time by operator and shape, after the measurement" },
  { "verbose", NULL, QM_OPTION_FLAG, RUN, FIELD (verbose),
    "where the time of the program itself went" },
  { "python", "PROGRAM", QM_OPTION_TEXT, FRAMEWORK, FIELD (python),
    "a Python that has PyTorch and Transformers (python3)" },
  { "format", "NAME", QM_OPTION_TEXT, EXPORT, FIELD (format),
    "transformers (the default) or deepspeed" },
  { "result", "FILE", QM_OPTION_TEXT, EXPORT, FIELD (result),
    "take everything from a result in this file" },
  { "line", "N", QM_OPTION_COUNT, EXPORT, FIELD (line),
    "the one in this line" },
  { "gpus", "N", QM_OPTION_COUNT,
    ELSEWHERE | MODEL | CALIBRATE | LINKS | WORKER, FIELD (gpus),
    "how many work together (1), on each machine where there are several", 1 },
  { "gpus", "N", QM_OPTION_COUNTS, PREDICT | SEARCH, FIELD (gpu_counts),
    "how many work together (1), on each machine where there are several; also "
    "several numbers, joined by commas",
    1 },
  { "nodes", "N", QM_OPTION_COUNT, TOGETHER, FIELD (n_nodes),
    "how many machines work together, each with a process of its own (those "
    "that srun started, else 1)",
    1 },
  { "nodes", "N", QM_OPTION_COUNT, PREDICT, FIELD (n_nodes),
    "how many machines like that work together (1), through --between", 1 },
  { "between", "NAME", QM_OPTION_TEXT, PREDICT, FIELD (between),
    "machines: 1gbe, 10gbe, 25gbe, 100gbe, edr, hdr, 200gbe-roce or ndr; where "
    "each has several adapters, as 8xhdr" },
  { "node", "I", QM_OPTION_COUNT, TOGETHER, FIELD (node),
    "which of them this is, from 0 on, which tells what comes of it" },
  { "rendezvous", "HOST:PORT", QM_OPTION_TEXT, TOGETHER, FIELD (rendezvous),
    "where that of node 0 waits for the others" },
  { "wait", "N", QM_OPTION_COUNT, TOGETHER, FIELD (wait),
    "seconds to wait for the others (120)", 1 },
  { "sharding", "NAME", QM_OPTION_TEXT, MODEL | PREDICT | ELSEWHERE,
    FIELD (sharding),
    "what several GPUs share instead of each having all: optimizer states "
    "(zero_1), gradients too (zero_2, fsdp_2), weights too (zero_3, fsdp_3)" },
  { "no-peer", NULL, QM_OPTION_FLAG, RUN | TRAIN | LINKS | SEARCH | WORKER,
    FIELD (no_peer),
    "exchange through the host's memory, also where GPUs have a faster way" },
  { "transport", "nccl|host", QM_OPTION_CHOICE, WORKER, FIELD (transport),
    "how GPUs exchange (default: as they can, or what a trial shows)" },
  { "weights", "FILE", QM_OPTION_TEXT, CHECK | TRAIN, FIELD (weights),
    "to begin with (safetensors, or the index.json of several)" },
  { "batch", "FILE", QM_OPTION_TEXT, CHECK, FIELD (batch),
    "the data (safetensors)" },
  { "out", "FILE", QM_OPTION_TEXT, CALIBRATE | CHECK | TRAIN | EXPORT | SHARE,
    FIELD (out),
    "where the result goes: loss and gradients, or the weights at the end "
    "(safetensors), or settings, or results to share, or what a GPU can do "
    "(JSON; without it, "
    "speeds/GPU.json in the user's folder)" },
  { "force", NULL, QM_OPTION_FLAG,
    CALIBRATE | CHECK | TRAIN | EXPORT | RESULTS | SHARE, FIELD (force),
    "write in place of a file that is none of those that are written" },
  { "sign-off", NULL, QM_OPTION_FLAG, SHARE, FIELD (sign_off),
    "say that you measured what is in the file, and that everybody may have it "
    "under CC0 1.0" },
  { "audit", NULL, QM_OPTION_FLAG, SHARE, FIELD (audit),
    "read files that were shared: is each result plausible" },
  { "take", "FOLDER", QM_OPTION_TEXT, SHARE, FIELD (take),
    "the same, and keep the results among the measurements in FOLDER if all "
    "are; with --force also those that are doubtful or unknown" },
  { "precision", "NAME", QM_OPTION_TEXT, CHECK, FIELD (precision),
    "fp32 (the default), tf32, fp16, bf16, fp8 or fp8-row" },
  { "averaged", NULL, QM_OPTION_FLAG, TRAIN, FIELD (averaged),
    "write the average of weights, as the recipe's ema_decay has it, and not "
    "the weights" },
  { "text", "FILE", QM_OPTION_TEXT, TRAIN, FIELD (text), "every byte a token" },
  { "tokens", "FILE", QM_OPTION_TEXT, TRAIN, FIELD (tokens),
    "little-endian 16-bit tokens" },
  { "images", "FILE", QM_OPTION_TEXT, TRAIN, FIELD (images),
    "pixel_values and labels, or what else the model needs (safetensors)" },
  { "mask-token", "N", QM_OPTION_TEXT, TRAIN, FIELD (mask_token),
    "that hides what bert and roberta have to tell (the last of the "
    "vocabulary)" },
  { "steps", "N", QM_OPTION_COUNT, TRAIN, FIELD (steps), "to train for (200)" },
  { "batch-size", "N", QM_OPTION_TEXT, TRAIN, FIELD (batch_size),
    "instead of the recipe's" },
  { "learning-rate", "X", QM_OPTION_TEXT, TRAIN, FIELD (learning_rate),
    "instead of the recipe's" },
  { "schedule", "NAME", QM_OPTION_TEXT, TRAIN, FIELD (schedule),
    "of the learning rate: constant (the default), linear or cosine, down to 0 "
    "at the last step" },
  { "warm-up", "N", QM_OPTION_COUNT, TRAIN, FIELD (warm_up),
    "steps in which it grows from 0 (0)" },
  { "seed", "N", QM_OPTION_COUNT, RUN | TRAIN | SEARCH | WORKER | FRAMEWORK,
    FIELD (seed), "of random numbers (0)" },
  { "deterministic", NULL, QM_OPTION_FLAG, ON_DEVICE | FRAMEWORK,
    FIELD (deterministic),
    "equal bits in every run, also where that costs time" },
  { "loss-rows", "N", QM_OPTION_COUNT, MODEL | CHECK, FIELD (loss_rows),
    "rows of logits in memory at a time (of more than 65536 words, but in "
    "naive "
    "settings, 4096; else all)",
    1 },
  { "json", NULL, QM_OPTION_FLAG,
    DEVICES | MODEL | PREDICT | CALIBRATE | CHECK | SEARCH | RESULTS | SHARE
        | ELSEWHERE | LINKS | ACCEPT,
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

bool
qm_bench_is_command (const char *word)
{
  return command_bit (word) != 0;
}

/* What the options of a command are, and where their values go.  The table is
 * the caller's, to be freed with free(). */
static QmOption *
list_options (unsigned bit, QmBenchOptions *options, bool *help, size_t *n)
{
  QmOption *list = calloc (N_KNOWN + 1, sizeof *list);

  *n = 0;
  if (list == NULL)
    {
      qm_bench_say ("the host is out of memory");
      return NULL;
    }
  for (; *n < N_KNOWN; ++*n)
    {
      const Option *option = &known[*n];

      list[*n] = (QmOption){ .name = option->name,
                             .value = option->value,
                             .kind = option->kind,
                             .target = (char *) options + option->offset,
                             .least = option->least,
                             .elsewhere = (option->commands & bit) == 0,
                             .help = option->help };
    }
  list[(*n)++] = (QmOption){ .name = "help",
                             .letter = 'h',
                             .kind = QM_OPTION_FLAG,
                             .target = help,
                             .help = "this text" };
  return list;
}

/* The help of one command. */
static void
print_command (const char *command, unsigned bit)
{
  QmBenchOptions options;
  QmOptionsTable table = { .command = command };
  bool help;
  QmOption *list = list_options (bit, &options, &help, &table.n);

  table.options = list;
  printf ("Usage: qm-bench %s [OPTION]...%s\n\n", command,
          bit == RESULTS || bit == SHARE ? " [FILE]..." : "");
  for (size_t i = 0; i < N_COMMANDS; i++)
    if (bit == 1u << i && commands[i].help != NULL)
      printf ("%s: %s\n\n", command, commands[i].help);
  if (list != NULL)
    qm_options_print_help (&table, stdout);
  free (list);
}

void
qm_bench_print_help (const char *command)
{
  unsigned bit = command != NULL ? command_bit (command) : 0;

  if (bit != 0)
    {
      print_command (command, bit);
      return;
    }
  printf ("Usage: qm-bench COMMAND [OPTION]...\n\n"
          "Runs real pre-training steps and tells how long the whole training "
          "takes.\n\nCommands:\n");
  for (size_t i = 0; i < N_COMMANDS && commands[i].help != NULL; i++)
    qm_options_print_entry (commands[i].name, NULL, commands[i].help, stdout);
  printf (
      "\n  -h, --help          this text; after a command, as after help, its "
      "options\n"
      "  --version           the version\n\n"
      "Exit status: 0 done, 1 a file or value is wrong, 2 the command line "
      "is, 3 out\nof memory, 4 a device failed or is not there, 5 not "
      "supported, 6 a machine\nis not accepted, 130 interrupted.\n");
}

bool
qm_bench_read_count (const char *name, const char *text, int64_t *count)
{
  QmError error = { 0 };

  if (qm_option_count (name, text, 0, QM_OPTION_MOST, NULL, count, &error)
      == QM_OK)
    return true;
  qm_bench_say ("%s", error.message);
  return false;
}

bool
qm_bench_parse (int argc, char **argv, QmBenchOptions *options)
{
  unsigned bit = argc > 1 ? command_bit (argv[1]) : 0;
  bool takes_files = bit == RESULTS || bit == SHARE;
  QmOptionsTable table = { .command = argv[1] };
  char advice[64];
  size_t n_files = 0;
  QmError error = { 0 };
  QmOption *list;
  bool help; /* is looked for before */

  memset (options, 0, sizeof *options);
  options->repeat = 1;
  options->steps = 200;
  options->node = -1;
  if (bit == 0)
    {
      fprintf (stderr, "qm-bench: the first word has to be a command:");
      for (size_t i = 0; i < N_COMMANDS && commands[i].help != NULL; i++)
        fprintf (stderr, "%s %s", i > 0 ? "," : "", commands[i].name);
      fprintf (stderr, "; see qm-bench --help\n");
      return false;
    }
  options->command = argv[1];
  options->files = argv + 1;
  list = list_options (bit, options, &help, &table.n);
  if (list == NULL)
    return false;
  snprintf (advice, sizeof advice, "see qm-bench %s --help", argv[1]);
  table.options = list;
  table.advice = advice;
  qm_options_parse (&table, (const char *const *) argv + 2,
                    takes_files ? (const char **) options->files : NULL,
                    &n_files, &error);
  free (list);
  options->n_files = (int) n_files;
  if (options->gpu_counts.n > 0)
    options->gpus = options->gpu_counts.numbers[0];
  if (error.status != QM_OK)
    qm_bench_say ("%s", error.message);
  return error.status == QM_OK;
}
