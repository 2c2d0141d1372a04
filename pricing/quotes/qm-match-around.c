/* SPDX-License-Identifier: Apache-2.0 */

/* Whether words that name a GPU sell it, or something for it: a bridge, a
 * licence, the support of a machine. */

#include "config.h"

#include "pricing/quotes/qm-match-private.h"
#include "pricing/words-lines.h"

#include <string.h>

static const char with_words[] = QM_SPACED_AROUND_WITH;

static const char for_words[] = QM_SPACED_AROUND_FOR;

/* Services of whatever kind, in all languages. */
static const char service_words[] = QM_SPACED_AROUND_SERVICE;

/* Two words that are one of those. */
static const char *const service_pairs[][2] = {
  { "care", "pack" },      { "on", "site" },
  { "vor", "ort" },        { "sur", "site" },
  { "in", "situ" },        { "in", "loco" },
  { "next", "business" },  { "next", "day" },
  { "same", "day" },       { "nachster", "arbeitstag" },
  { "nastepny", "dzien" },
};

/* Software for GPUs, sold for so many of them: the same. */
static const char software_words[] = QM_SPACED_AROUND_SOFTWARE;
static const char *const software_pairs[][2] = {
  { "ai", "enterprise" },
  { "virtual", "workstation" },
  { "virtual", "applications" },
  { "virtual", "pc" },
  { "run", "ai" },
  { "base", "command" },
  { "mission", "control" },
};

/* What may stand before its name. */
static const char before_software[] = QM_SPACED_AROUND_BEFORE_SOFTWARE;

/* What may stand between a machine's name and such a word: "DGX H100 640GB
 * system, enterprise 3 years". */
static const char tier_words[] = QM_SPACED_AROUND_TIER;

static const char time_units[] = QM_SPACED_AROUND_TIME_UNITS;

static const char machine_words[] = QM_SPACED_AROUND_MACHINE;

/* Whether one of some words stands from `from` to before `to`. */
static gboolean
stands_between (const QmWords *words, int from, int to, const char *list)
{
  for (int i = MAX (from, 0); i < MIN (to, words->n); i++)
    if (qm_word_in (words->words[i], list))
      return TRUE;
  return FALSE;
}

/* Whether a mark such as a comma stands behind `from`, up to `to`. */
static gboolean
is_parted (const QmWords *words, int from, int to)
{
  for (int i = MAX (from, 0) + 1; i <= to && i < words->n; i++)
    if (words->parted[i])
      return TRUE;
  return FALSE;
}

/* "for NVIDIA A100", "supports up to 8x H100". */
static gboolean
is_for (const QmWords *words, int head)
{
  for (int i = head - 1; i >= 0 && i >= head - 8; i--)
    {
      const char *word = qm_words_at (words, i);
      gsize digits = strspn (word, "0123456789");

      if (qm_word_in (word, for_words))
        return TRUE;
      if (qm_word_in (word, "to zu")
          && qm_word_in (qm_words_at (words, i - 1), "up bis"))
        return TRUE;
      if (!qm_word_in (word, qm_match_fillers)
          && !qm_word_in (word, "x to zu up bis")
          && qm_word_small_number (word) == 0 && qm_word_memory (word) == 0
          && !(digits > 0 && strcmp (word + digits, "x") == 0)
          && !qm_word_in (word, "slot slots dual single wide fach with dgx"))
        return FALSE;
    }
  return FALSE;
}

static gboolean
is_pair (const QmWords *words, int i, const char *const pairs[][2], guint n)
{
  for (guint j = 0; j < n; j++)
    if (strcmp (qm_words_at (words, i), pairs[j][0]) == 0
        && strcmp (qm_words_at (words, i + 1), pairs[j][1]) == 0)
      return TRUE;
  return FALSE;
}

/* Whether the `n` words from `i` on are what something is but ready for: "AI
 * Enterprise certified". */
static gboolean
is_followed_by_ready (const QmWords *words, int i, int n)
{
  static const char ready[] = QM_SPACED_AROUND_READY;

  return qm_word_in (qm_words_at (words, i + n), ready);
}

static gboolean
is_word_of_software (const QmWords *words, int i, const char *list)
{
  return qm_word_in (qm_words_at (words, i), list)
         && !is_followed_by_ready (words, i, 1);
}

static gboolean
is_software (const QmWords *words, int i)
{
  return is_word_of_software (words, i, software_words)
         || (is_pair (words, i, software_pairs, G_N_ELEMENTS (software_pairs))
             && !is_followed_by_ready (words, i, 2));
}

static gboolean
is_service (const QmWords *words, int i)
{
  return qm_word_in (qm_words_at (words, i), service_words)
         || is_pair (words, i, service_pairs, G_N_ELEMENTS (service_pairs))
         || is_software (words, i);
}

gboolean
qm_words_name_service (const QmWords *words)
{
  for (int i = 0; i < words->n; i++)
    if (is_service (words, i))
      return TRUE;
  return FALSE;
}

gboolean
qm_words_are_time (const QmWords *words, int i)
{
  const char *word = qm_words_at (words, i);
  gsize digits = strspn (word, "0123456789");

  if (digits == 0 || digits > 3)
    return FALSE;
  return qm_word_in (word[digits] != '\0' ? word + digits
                                          : qm_words_at (words, i + 1),
                     time_units);
}

/* Whether there are but numbers and times from there on: "3 years". */
static gboolean
are_times (const QmWords *words, int from)
{
  for (int i = from; i < words->n; i++)
    {
      const char *word = words->words[i];
      const char *rest = word + strspn (word, "0123456789");

      if (rest[0] != '\0' && !qm_word_in (rest, time_units))
        return FALSE;
    }
  return TRUE;
}

/* "Business Standard Support 3 years", which is sold for a machine; not "with
 * premium support". */
static gboolean
is_support (const QmWords *words, int head, int i)
{
  static const char tiers[] = QM_SPACED_AROUND_TIERS;
  static const char support[] = QM_SPACED_AROUND_SUPPORT;

  if (i <= head + 1 || !qm_word_in (qm_words_at (words, i), support)
      || !qm_word_in (qm_words_at (words, i - 1), tiers)
      || !are_times (words, i + 1))
    return FALSE;
  for (int j = head + 1; j < i; j++)
    if (qm_word_small_number (qm_words_at (words, j)) > 0)
      return FALSE;
  return TRUE;
}

/* Whether a word is part of a machine's name or tells of a service, and not of
 * what else is in the machine. */
static gboolean
is_of_name (const QmWords *words, int i)
{
  static const char forms[] = QM_SPACED_AROUND_FORMS;
  const char *word = qm_words_at (words, i);

  return qm_word_in (word, tier_words) || qm_word_in (word, forms)
         || qm_word_memory (word) > 0 || qm_words_are_time (words, i)
         || (qm_words_are_time (words, i - 1) && qm_word_in (word, time_units))
         || word[strspn (word, "0123456789x")] == '\0';
}

/* "DGX H100 3 years support", "DGX H100 Wartung 36 Monate": what is sold stands
 * right behind the name of the machine, so it may be the service alone. */
static gboolean
is_followed_by_service (const QmWords *words, int head)
{
  for (int i = head + 1; i < words->n; i++)
    {
      if (words->parted[i])
        return FALSE;
      if (is_service (words, i))
        return TRUE;
      if (!is_of_name (words, i))
        return FALSE;
    }
  return FALSE;
}

/* Whether a word tells what is sold, and that is no GPU. */
static gboolean
is_noun (const QmWords *words, int head, int i)
{
  static const char always[] = QM_SPACED_AROUND_ALWAYS;
  static const char before[] = QM_SPACED_AROUND_BEFORE;

  return qm_word_in (qm_words_at (words, i), always)
         || (i < head && i >= head - 8
             && (qm_word_in (qm_words_at (words, i), before)
                 || is_service (words, i)))
         || is_support (words, head, i);
}

/* "Server, 5 years NBD, 8x H100": the service is one of the things that come
 * with a machine. */
static QmAround
around_behind_machine (const QmWords *words, int head, int i)
{
  if (i >= head || !is_service (words, i)
      || !stands_between (words, 0, i, machine_words))
    return QM_AROUND_SURELY;
  return is_parted (words, 0, i) && is_parted (words, i, head)
             ? QM_AROUND_NOT
             : QM_AROUND_PERHAPS;
}

/* "NVIDIA AI Enterprise, je GPU (L40S)": what a line begins with is sold.
 * "vGPU" may also tell what a card is good for. */
static QmAround
around_behind_software (const QmWords *words, int head)
{
  for (int i = 0; i < head; i++)
    {
      gboolean open = is_word_of_software (words, i, "vgpu");

      if (open || is_software (words, i))
        return open || stands_between (words, i, head, with_words)
                   ? QM_AROUND_PERHAPS
                   : QM_AROUND_SURELY;
      if (qm_word_in (qm_words_at (words, i), machine_words)
          || (!qm_word_in (qm_words_at (words, i), before_software)
              && !is_of_name (words, i) && !is_service (words, i)))
        break;
    }
  return QM_AROUND_NOT;
}

/* "L40S NVIDIA AI Enterprise 5 years": the card with it, or it alone; a machine
 * has other things behind its GPUs, too. */
static QmAround
around_before_software (const QmWords *words, int head)
{
  if (stands_between (words, 0, words->n, with_words)
      || stands_between (words, 0, words->n, machine_words))
    return QM_AROUND_NOT;
  for (int i = head + 1; i < words->n; i++)
    if (is_software (words, i))
      return QM_AROUND_PERHAPS;
  return QM_AROUND_NOT;
}

QmAround
qm_words_around (const QmWords *words, int head)
{
  static const char whole[] = QM_SPACED_AROUND_WHOLE;
  int end = stands_between (words, 0, head, whole) ? head : head + 7;
  QmAround around = QM_AROUND_NOT;

  for (int i = 0; i < words->n && i <= end; i++)
    if (is_noun (words, head, i)
        && !stands_between (words, i - 4, i, with_words)
        && !(i < head && stands_between (words, i, head, with_words))
        && !(i > head && qm_word_small_number (qm_words_at (words, i - 1)) > 0)
        && strcmp (qm_words_at (words, i - 1), "1pcs") != 0)
      around = MAX (around, around_behind_machine (words, head, i));
  around = MAX (around, around_behind_software (words, head));
  around = MAX (around, around_before_software (words, head));
  if (around == QM_AROUND_SURELY || is_for (words, head))
    return QM_AROUND_SURELY;
  if (stands_between (words, 0, words->n, machine_words)
      && is_followed_by_service (words, head))
    return QM_AROUND_PERHAPS;
  return around;
}
