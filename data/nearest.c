/* SPDX-License-Identifier: Apache-2.0 */

#include "data/catalog.h"

#include <string.h>

#define MAX_LENGTH 64

/* Letter case ignored, ASCII only: names in the catalog are ASCII. */
static size_t
fold (const char *text, char folded[MAX_LENGTH + 1])
{
  size_t n = strlen (text);

  if (n > MAX_LENGTH)
    return MAX_LENGTH + 1;
  for (size_t i = 0; i <= n; i++)
    folded[i] =
        text[i] >= 'A' && text[i] <= 'Z' ? (char) (text[i] + 32) : text[i];
  return n;
}

static int
min3 (int a, int b, int c)
{
  int least = a < b ? a : b;

  return least < c ? least : c;
}

/* Damerau-Levenshtein distance of strings in which no part is edited twice
 * (optimal string alignment). */
static int
distance (const char *a, size_t n_a, const char *b, size_t n_b)
{
  int rows[3][MAX_LENGTH + 1];
  int *before = rows[0], *above = rows[1], *row = rows[2];

  for (size_t j = 0; j <= n_b; j++)
    above[j] = (int) j;
  for (size_t i = 1; i <= n_a; i++)
    {
      int *spare = before;

      row[0] = (int) i;
      for (size_t j = 1; j <= n_b; j++)
        {
          row[j] = min3 (above[j] + 1, row[j - 1] + 1,
                         above[j - 1] + (a[i - 1] != b[j - 1]));
          if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
              && before[j - 2] + 1 < row[j])
            row[j] = before[j - 2] + 1;
        }
      before = above;
      above = row;
      row = spare;
    }
  return above[n_b];
}

/* How far the candidate is from what was meant; -1: too far.  Edits count more
 * than what was left off: "h100" means some "h100-...", "3090" a "rtx3090". */
static int
rank (const char *word, size_t n_word, const char *name, size_t n_name)
{
  int edits = distance (word, n_word, name, n_name);
  int tolerated = n_word < 6 ? 1 : (int) (n_word / 3);

  if (edits <= tolerated)
    return edits;
  if (n_word >= 2 && strncmp (name, word, n_word) == 0)
    return MAX_LENGTH + (int) (n_name - n_word);
  if (n_word >= 3 && strstr (name, word) != NULL)
    return 2 * MAX_LENGTH + (int) (n_name - n_word);
  return -1;
}

const char *
qm_nearest_name (const char *word, const char *const *names, size_t n_names)
{
  char folded_word[MAX_LENGTH + 1], folded_name[MAX_LENGTH + 1];
  size_t n_word = fold (word, folded_word);
  const char *nearest = NULL;
  int best = 0;

  if (n_word == 0 || n_word > MAX_LENGTH)
    return NULL;
  for (size_t i = 0; i < n_names; i++)
    {
      size_t n_name = fold (names[i], folded_name);
      int candidate;

      if (n_name > MAX_LENGTH)
        continue;
      candidate = rank (folded_word, n_word, folded_name, n_name);
      if (candidate >= 0 && (nearest == NULL || candidate < best))
        {
          nearest = names[i];
          best = candidate;
        }
    }
  return nearest;
}
