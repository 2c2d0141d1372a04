/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-line-ask.h"

#include "pricing/formats/qm-csv-phrases.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-quote-read.h"
#include "pricing/words-quotes.h"
#include "pricing/words-thresholds.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

static const char rent_words[] = QM_WORDS_RENT;
/* "36 month commitment", "reserved 1 year", "Laufzeit 24 Monate": beside a
 * number of them, or behind a unit of time, ... */
static const char term_words[] = QM_WORDS_RENT_TERM;
/* ... and these alone, but for software. */
static const char subscription_words[] = QM_WORDS_SUBSCRIPTION;
static const char software_words[] = QM_WORDS_SOFTWARE;
/* Words of which German, Dutch and Polish make longer ones: "Leasingrate",
 * "Mietserver", "Servermiete", "maandbedrag". */
static const char *const rent_starts[] = { "leasing", "miet", "monats",
                                           "lease",   "huur", "maand" };
static const char *const rent_ends[] = { "miete", "leasing", "huur" };
/* "Location" is a rent where a French text begins with it. */
static const char rent_beginnings[] = QM_WORDS_RENT_BEGINNING;

static const char once_words[] = QM_WORDS_ONCE;

/* "GPU-hours", "Knotenstunden", "heures de GPU": hours beside what runs. */
static const char hour_words[] = QM_WORDS_HOUR;
static const char runs_words[] = QM_WORDS_RUNS;
static const char *const hour_ends[] = { "gpustunde",     "gpustunden",
                                         "knotenstunde",  "knotenstunden",
                                         "rechenstunden", "gpuuren",
                                         "serverstunden" };

/* "set of 4", "lot de 4 cartes", "4er-Set". */
static const char pack_words[] = QM_WORDS_PACK;
/* Behind these a number alone says it, too: "VE 2". */
static const char size_words[] = QM_WORDS_PACK_SIZE;
static const char of_words[] = QM_WORDS_PACK_OF;
/* Behind a number these say of what it is: "VPE 2 Stk". */
static const char piece_words[] = QM_WORDS_PACK_PIECE;
/* Behind a number these say how many there are. */
static const char behind_words[] = QM_WORDS_PACK_BEHIND;
static const char pair_words[] = QM_WORDS_PACK_PAIR;

static gboolean
has_phrase_of (GHashTable **set, const char *list, const char *normal)
{
  return qm_csv_phrases_within (qm_csv_phrases_once (set, list), normal);
}

static gboolean
is_made_of_rent (const char *word)
{
  for (guint i = 0; i < G_N_ELEMENTS (rent_starts); i++)
    if (g_str_has_prefix (word, rent_starts[i]))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (rent_ends); i++)
    if (g_str_has_suffix (word, rent_ends[i]))
      return TRUE;
  return FALSE;
}

/* Whether hours stand beside what runs for them, or with "de", "di" between. */
static gboolean
are_hours (char **words, guint i)
{
  static GHashTable *hours_set, *runs_set;
  GHashTable *hours = qm_csv_phrases_once (&hours_set, hour_words);
  GHashTable *runs = qm_csv_phrases_once (&runs_set, runs_words);

  for (guint j = 0; j < G_N_ELEMENTS (hour_ends); j++)
    if (strcmp (words[i], hour_ends[j]) == 0)
      return TRUE;
  if (!g_hash_table_contains (hours, words[i]))
    return FALSE;
  if (i > 0 && g_hash_table_contains (runs, words[i - 1]))
    return TRUE;
  if (words[i + 1] != NULL && strlen (words[i + 1]) == 2 && words[i + 2] != NULL
      && words[i + 1][0] == 'd')
    i++;
  return words[i + 1] != NULL && g_hash_table_contains (runs, words[i + 1]);
}

static gboolean
is_unit (const char *word)
{
  static const char units[] = QM_WORDS_TIME_UNIT;
  static GHashTable *set;

  return word != NULL
         && g_hash_table_contains (qm_csv_phrases_once (&set, units), word);
}

/* "36 month commitment", "reserved for 1 year": a time beside a word for a
 * contract. */
static gboolean
is_term (char **words, guint i)
{
  static GHashTable *set;
  GHashTable *terms = qm_csv_phrases_once (&set, term_words);

  if (!g_ascii_isdigit (words[i][0]) || !is_unit (words[i + 1]))
    return FALSE;
  for (guint j = i + 2; words[j] != NULL && j <= i + 3; j++)
    if (g_hash_table_contains (terms, words[j]))
      return TRUE;
  for (guint j = i; j > 0 && j + 2 > i; j--)
    if (g_hash_table_contains (terms, words[j - 1]))
      return TRUE;
  return FALSE;
}

/* A subscription that is none of software. */
static gboolean
says_subscription (const char *normal)
{
  static GHashTable *set, *of_software;

  return has_phrase_of (&set, subscription_words, normal)
         && !has_phrase_of (&of_software, software_words, normal);
}

static gboolean
says_rent (const char *normal)
{
  static GHashTable *set, *beginnings;
  GHashTable *first = qm_csv_phrases_once (&beginnings, rent_beginnings);
  g_auto (GStrv) words = NULL;

  for (gsize n = 1; n <= strlen (normal) && n <= QM_CSV_LONGEST_PHRASE; n++)
    if ((normal[n] == ' ' || normal[n] == '\0')
        && qm_csv_phrases_find (first, normal, n) != 0)
      return TRUE;
  if (has_phrase_of (&set, rent_words, normal) || says_subscription (normal))
    return TRUE;
  words = g_strsplit (normal, " ", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (is_made_of_rent (words[i]) || are_hours (words, i)
        || is_term (words, i))
      return TRUE;
  return FALSE;
}

gboolean
qm_words_say_rent (const char *text)
{
  g_autofree char *normal = qm_csv_normalize (text);

  return says_rent (normal);
}

gboolean
qm_words_say_once (const char *text)
{
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (text);

  return has_phrase_of (&set, once_words, normal);
}

/* A whole number from 2 on; 0: it is none. */
static int
several_of_word (const char *word, const char **rest)
{
  gsize digits = word != NULL ? strspn (word, "0123456789") : 0;
  int number = digits > 0 && digits <= 2 ? atoi (word) : 0;

  if (rest != NULL)
    *rest = number > 0 ? word + digits : "";
  return number >= 2 && number <= QM_LARGEST_PACK ? number : 0;
}

/* "set of 4", "lot de 4", "VPE 2 Stk": the number behind. */
static int
number_behind (char **words)
{
  static GHashTable *of_set, *piece_set;
  GHashTable *of = qm_csv_phrases_once (&of_set, of_words);
  GHashTable *pieces = qm_csv_phrases_once (&piece_set, piece_words);
  const char *rest;
  int number;

  if (words[0] == NULL || words[1] == NULL)
    return 0;
  number = several_of_word (words[1], &rest);
  if (number > 0 && rest[0] == '\0' && words[2] != NULL
      && g_hash_table_contains (pieces, words[2]))
    return number;
  /* "VE mit 2 Karten" says how many cards it has. */
  if (!g_hash_table_contains (of, words[1]) || strcmp (words[0], "ve") == 0)
    return 0;
  number = several_of_word (words[2], &rest);
  return rest[0] == '\0' || strcmp (rest, "x") == 0 ? number : 0;
}

/* "2-pack", "4er-Set": the number before. */
static int
number_before (char **words)
{
  static GHashTable *set;
  GHashTable *behind = qm_csv_phrases_once (&set, behind_words);
  const char *rest;
  int number = several_of_word (words[0], &rest);
  g_autofree char *phrase = NULL;

  if (number == 0 || words[1] == NULL)
    return 0;
  phrase =
      g_strdup_printf ("%s%s%s", rest, rest[0] != '\0' ? " " : "", words[1]);
  return g_hash_table_contains (behind, phrase) ? number : 0;
}

/* "VE 2", "Pack size: 4" at the end, or before a mark. */
static int
number_of_size (const char *normal)
{
  static GHashTable *set;
  GHashTable *sizes = qm_csv_phrases_once (&set, size_words);
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  guint n = g_strv_length (words);

  for (guint length = 1; length <= 3 && length < n; length++)
    {
      g_autofree char *phrase = NULL;
      char *number = words[n - 1];

      words[n - 1] = NULL;
      phrase = g_strjoinv (" ", words + (n - 1 - length));
      words[n - 1] = number;
      if (g_hash_table_contains (sizes, phrase))
        {
          const char *rest;
          int pieces = several_of_word (number, &rest);

          return rest[0] == '\0' ? pieces : 0;
        }
    }
  return 0;
}

int
qm_words_pack (const char *text)
{
  static GHashTable *packs_set, *pairs;
  GHashTable *packs = qm_csv_phrases_once (&packs_set, pack_words);
  g_autofree char *normal = qm_csv_normalize (text);
  g_auto (GStrv) words = g_strsplit (normal, " ", -1);
  int number = 0;

  for (guint i = 0; words[i] != NULL && number == 0; i++)
    {
      if (g_hash_table_contains (packs, words[i]))
        number = number_behind (words + i);
      if (number == 0)
        number = number_before (words + i);
    }
  if (number == 0)
    number = number_of_size (normal);
  if (number == 0 && has_phrase_of (&pairs, pair_words, normal))
    number = 2;
  return number;
}

/* "month", "MON", "Monat", "node-hr", "Stk./Monat": units of a time. */
static gboolean
is_unit_of_time (const char *unit)
{
  static const char units[] = QM_WORDS_TIME_OF_UNIT;
  static GHashTable *set;
  g_autofree char *normal = qm_csv_normalize (unit);
  const char *last = strrchr (normal, ' ');

  return g_hash_table_contains (qm_csv_phrases_once (&set, units),
                                last != NULL ? last + 1 : normal);
}

static gboolean
is_rent (const QmQuoteLine *line, const char *words)
{
  return says_rent (words)
         || (line->unit != NULL && is_unit_of_time (line->unit));
}

static void
ask_rent (QmQuote *quote, QmQuoteLine *line, const char *place)
{
  if ((line->asked & QM_ASK_RENT) == 0)
    qm_quote_add_finding (quote, QM_FINDING_WARNING, place,
                          _ ("This seems to be a rent, for a month or the "
                             "like, and no price to buy at. It does not count "
                             "until you have said what it is."));
  qm_quote_line_ask (line, QM_ASK_RENT);
}

static void
ask_pack (QmQuote *quote, QmQuoteLine *line, const char *place, int pieces)
{
  if ((line->asked & QM_ASK_PACK) == 0)
    qm_read_find (quote, QM_FINDING_WARNING, place,
                  _ ("This seems to be a pack of %d. It does not count until "
                     "you have said how many GPUs its price is for."),
                  pieces);
  qm_quote_line_ask (line, QM_ASK_PACK);
  if ((line->answered & QM_ASK_PACK) == 0)
    line->gpus = MAX (line->gpus, pieces);
}

/* "4x H100" of which there are 4: four cards written twice, or sixteen. */
static gboolean
is_twice_said (const QmQuoteLine *line)
{
  return line->gpus > 1
         && line->quantity_micros == line->gpus * (gint64) QM_MICROS_PER_UNIT;
}

void
qm_line_ask_words (const QmCatalog *catalog, QmQuote *quote, guint index)
{
  QmQuoteLine *line;
  QmLineThing thing;
  const char *description;
  g_autofree char *words = NULL;
  g_autofree char *place = NULL;
  gboolean rent;
  int pieces;

  g_return_if_fail (catalog != NULL && quote != NULL);
  g_return_if_fail (index < quote->lines->len);

  line = g_ptr_array_index (quote->lines, index);
  if (line->role != QM_LINE_QUOTED)
    return;
  description = line->description != NULL ? line->description : "";
  words = qm_csv_normalize (description);
  rent = quote->unit != QM_PRICE_HOUR && quote->kind != QM_PRICE_CLOUD
         && is_rent (line, words);
  pieces = line->item != NULL || line->candidates != NULL
               ? qm_words_pack (description)
               : 0;
  if (pieces == 0 && line->unit != NULL
      && (line->item != NULL || line->candidates != NULL))
    pieces = qm_words_pack (line->unit);
  if (pieces > 0 && pieces == line->gpus
      && qm_words_pack (description) != pieces)
    pieces = 0;
  if (pieces == 0 && is_twice_said (line))
    pieces = line->gpus;
  if (!rent && pieces == 0)
    return;
  thing = qm_line_thing (catalog, line);
  place = line->number != NULL ? g_strdup_printf (_ ("line %s"), line->number)
                               : g_strdup_printf (_ ("line %u"), index + 1);
  if (rent && thing != QM_THING_SERVICE && thing != QM_THING_SHIPPING)
    ask_rent (quote, line, place);
  if (pieces > 0 && thing != QM_THING_MACHINE)
    ask_pack (quote, line, place, pieces);
}
