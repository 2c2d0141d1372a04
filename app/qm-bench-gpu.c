/* SPDX-License-Identifier: Apache-2.0 */

/* Which GPU of the catalog a device is: "NVIDIA A100-SXM4-80GB" of a driver is
 * "A100 SXM4 80GB" of the catalog, "NVIDIA H200" is "H200 SXM 141GB". */

#include "app/qm-bench.h"

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
has (const Words *words, const char *word)
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
      bool common = has (device, words.word[i]);

      if (is_model (words.word[i]) && !common)
        return 0;
      /* Drivers name PCIe where it is so, and SXM not always. */
      if (!common && strcasecmp (words.word[i], "PCIe") == 0)
        score -= 2;
      score += common ? 2 : -1;
    }
  for (size_t i = 0; i < device->n; i++)
    if (is_model (device->word[i]) && !has (&words, device->word[i]))
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

  if (info->target.kind != QM_DEVICE_CUDA)
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
