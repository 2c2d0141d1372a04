/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPU of the catalog a device is: "NVIDIA A100-SXM4-80GB" of a driver is
 * "A100 SXM4 80GB" of the catalog, "NVIDIA H200" is "H200 SXM 141GB". */

#include "app/qm-bench.h"

#include "data/architecture.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_WORDS 16

typedef struct Words
{
  char word[MAX_WORDS][24];
  size_t n;
} Words;

/* Splits at everything but letters and digits. */
static void
split (const char *name, Words *words)
{
  words->n = 0;
  while (words->n < MAX_WORDS)
    {
      size_t length = 0;

      while (*name != '\0' && !isalnum ((unsigned char) *name))
        name++;
      while (isalnum ((unsigned char) name[length]))
        length++;
      if (length == 0)
        return;
      snprintf (words->word[words->n++], sizeof words->word[0], "%.*s",
                (int) length, name);
      name += length;
    }
}

static bool
has_word_of (const Words *words, const char *word)
{
  for (size_t i = 0; i < words->n; i++)
    if (strcasecmp (words->word[i], word) == 0)
      return true;
  return false;
}

/* A word that tells one model from another has letters and digits, and is no
 * size ("80GB") or socket ("SXM4"). */
static bool
is_model (const char *word)
{
  size_t length = strlen (word);

  return strpbrk (word, "0123456789") != NULL
         && (length < 2 || strcasecmp (word + length - 2, "GB") != 0)
         && strncasecmp (word, "SXM", 3) != 0
         && strncasecmp (word, "HBM", 3) != 0;
}

/* Whether a word makes a lesser part of the same number of it: the "RTX 4090 D"
 * has fewer processors. */
static bool
is_lesser (const char *word)
{
  static const char *const words[] = { "D", "Laptop", "Max", "Mobile" };

  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcasecmp (word, words[i]) == 0)
      return true;
  return false;
}

/* Words that both have less those that only one has; 0 where a model differs or
 * the memory is another. */
static int
likeness (const Words *device, const QmGpu *gpu, double memory_gib)
{
  Words words;
  int score = MAX_WORDS;

  split (gpu->name, &words);
  for (size_t i = 0; i < words.n; i++)
    {
      bool common = has_word_of (device, words.word[i]);

      if (is_model (words.word[i]) && !common)
        return 0;
      /* Drivers name PCIe where it is so, and SXM not always. */
      if (!common && strcasecmp (words.word[i], "PCIe") == 0)
        score -= 2;
      score += common ? 2 : -1;
    }
  for (size_t i = 0; i < device->n; i++)
    if ((is_model (device->word[i]) || is_lesser (device->word[i]))
        && !has_word_of (&words, device->word[i]))
      return 0;
  /* Drivers keep a part to themselves. */
  if (fabs (memory_gib / gpu->memory_gib - 1) > 0.12)
    return 0;
  return score;
}

const QmGpu *
qm_bench_find_gpu (const QmCatalog *catalog, const QmDeviceInfo *info)
{
  size_t n;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n), *best = NULL;
  double memory_gib = (double) info->memory_bytes / 0x1p30;
  int most = 0;
  Words device;

  if (!qm_target_is_gpu (&info->target))
    return NULL;
  split (info->name, &device);
  for (size_t i = 0; i < n; i++)
    {
      int score = likeness (&device, &gpus[i], memory_gib);

      if (score > most)
        {
          most = score;
          best = &gpus[i];
        }
    }
  return best;
}

/* Copies letters and digits in lower case. */
static void
fold (const char *text, char *folded, size_t size)
{
  size_t n = 0;

  for (; *text != '\0' && n + 1 < size; text++)
    if (isalnum ((unsigned char) *text))
      folded[n++] = (char) tolower ((unsigned char) *text);
  folded[n] = '\0';
}

QmStatus
qm_bench_named_gpu (const QmCatalog *catalog,
                    const char *name,
                    const QmGpu **gpu,
                    QmError *error)
{
  size_t n, found = 0;
  const QmGpu *gpus = qm_catalog_gpus (catalog, &n);
  char wanted[64], id[64], title[64];
  QmBenchNames names = { .more = 0 }, all = { .more = 0 };

  *gpu = NULL;
  fold (name, wanted, sizeof wanted);
  for (size_t i = 0; i < n; i++)
    {
      fold (gpus[i].id, id, sizeof id);
      fold (gpus[i].name, title, sizeof title);
      if (strcmp (id, wanted) == 0 || strcmp (title, wanted) == 0)
        {
          *gpu = &gpus[i];
          return QM_OK;
        }
      if (wanted[0] == '\0'
          || (strncmp (id, wanted, strlen (wanted)) != 0
              && strstr (title, wanted) == NULL))
        continue;
      *gpu = &gpus[i];
      qm_bench_names_add (&names, gpus[i].id);
      found++;
    }
  if (found == 1)
    return QM_OK;
  *gpu = NULL;
  if (found > 1)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "--gpu %.32s may be one of %s", name,
                         qm_bench_names_text (&names));
  for (size_t i = 0; i < n; i++)
    qm_bench_names_add (&all, gpus[i].id);
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       "there is no GPU '%.32s'; there are %s", name,
                       qm_bench_names_text (&all));
}

QmStatus
qm_bench_gpu_architecture (const QmGpu *gpu, int *architecture, QmError *error)
{
  *architecture = qm_gpu_architecture (gpu);
  if (strcasecmp (gpu->vendor, "NVIDIA") != 0)
    return qm_error_set (error, QM_STATUS_UNSUPPORTED, "", 0, 0,
                         "%s is made by %s; there are kernels for NVIDIA alone",
                         gpu->name, gpu->vendor);
  if (*architecture == 0)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         "the compute capability of %s is not known; "
                         "--architecture has to say it",
                         gpu->name);
  return QM_OK;
}

/* Of the memory that a maker names, a driver keeps a part, more with error
 * correction in GDDR memory: 23.5 of 24 GiB are there on an RTX 4090, 139.8 of
 * 141 on an H200. */
#define USABLE_SHARE 0.98

uint64_t
qm_bench_gpu_memory (const QmGpu *gpu)
{
  return (uint64_t) (gpu->memory_gib * USABLE_SHARE * 0x1p30);
}
