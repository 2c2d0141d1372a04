/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-line-thing.h"

#include "pricing/quotes/qm-match-private.h"
#include "pricing/words-lines.h"

#include <string.h>

/* Words of a machine as a whole. */
static const char machine_words[] = QM_SPACED_THING_MACHINE;

/* "Station de travail", "estação de trabalho", "stacja robocza". */
static const char station_words[] = QM_SPACED_THING_STATION;
static const char of_station_words[] = QM_SPACED_THING_OF_STATION;

/* Cards are sold without these: a GPU with one of them is in a machine, ... */
static const char inner_words[] = QM_SPACED_THING_INNER;

/* ... and several with one of these. */
static const char around_words[] = QM_SPACED_THING_AROUND;

/* What GPUs come on without a machine. */
static const char board_words[] = QM_SPACED_THING_BOARD;

/* "Workstation Edition", "Blackwell Server", "for servers" are no machines. */
static const char edition_words[] = "edition ed";
static const char before_edition[] = QM_SPACED_THING_BEFORE_EDITION;

/* Those besides what qm_words_name_service() knows. */
static const char service_words[] = QM_SPACED_THING_SERVICE;

static const char shipping_words[] = QM_SPACED_THING_SHIPPING;

static const char processor_words[] = QM_SPACED_THING_PROCESSOR;

/* Parts that name the processor they are for. */
static const char for_processor_words[] = QM_SPACED_THING_FOR_PROCESSOR;

/* A part even where a machine is named beside it, ... */
static const char shell_words[] = QM_SPACED_THING_SHELL;

/* ... and only where it follows: "server memory", not "server 2x CPU". */
static const char part_words[] = QM_SPACED_THING_PART;

static const char with_words[] = QM_SPACED_THING_WITH;

static const char desktop_words[] = QM_SPACED_THING_DESKTOP;

static const char rack_words[] = QM_SPACED_THING_RACK;

static gboolean
first_words_have (const QmWords *words, int n, const char *list)
{
  for (int i = 0; i < n; i++)
    if (qm_word_in (words->words[i], list))
      return TRUE;
  return FALSE;
}

/* Whether a machine is named among the first words. */
static gboolean
has_machine (const QmWords *words, int n)
{
  for (int i = 0; i + 1 < n; i++)
    if (qm_word_in (words->words[i], station_words)
        && qm_word_in (words->words[i + 1], of_station_words))
      return TRUE;
  return first_words_have (words, n, machine_words);
}

/* The words of a line, and how many of them say what it is: *phrase up to a
 * comma, a line break or "with", *head up to a number after a machine, too. */
static void
split (const QmQuoteLine *line, QmWords *words, int *phrase, int *head)
{
  const char *text =
      line->description != NULL ? line->description : line->part_number;
  gsize length = 0;

  if (text == NULL)
    text = "";
  /* What stands before the first mark may be but a position: "Pos. 2:". */
  do
    {
      g_autofree char *first = NULL;

      length += strcspn (text + length, ",;:\n+(");
      first = g_strndup (text, length);
      qm_words_split (words, first);
      *phrase = words->n;
    }
  while (*phrase == 0 && text[length++] != '\0');
  qm_words_split (words, text);
  if (*phrase == 0 || *phrase > words->n)
    *phrase = words->n;
  for (int i = 1; i < *phrase; i++)
    if (qm_word_in (words->words[i], with_words))
      *phrase = i;
  *head = *phrase;
  for (int i = 1; i < *head; i++)
    if (g_ascii_isdigit (words->words[i][0]) && !qm_words_are_time (words, i)
        && has_machine (words, i))
      *head = i;
}

static gboolean
has_service (const QmWords *words, int n)
{
  QmWords first = *words;

  first.n = MIN (n, words->n);
  return first_words_have (words, n, service_words)
         || qm_words_name_service (&first);
}

/* Whether words around GPUs are of a machine, and not of an edition. */
static gboolean
has_around (const QmWords *words)
{
  for (int i = 0; i < words->n; i++)
    if (qm_word_in (words->words[i], around_words)
        && (i == 0 || !qm_word_in (words->words[i - 1], before_edition))
        && (i + 1 >= words->n
            || !qm_word_in (words->words[i + 1], edition_words)))
      return TRUE;
  return FALSE;
}

static QmLineThing
thing_of_gpus (const QmQuoteLine *line, const QmWords *words)
{
  if (first_words_have (words, words->n, inner_words))
    return QM_THING_MACHINE;
  if (line->gpus > 1 && !first_words_have (words, words->n, board_words)
      && !first_words_have (words, words->n, shell_words) && has_around (words))
    return QM_THING_MACHINE;
  return QM_THING_GPU;
}

QmLineThing
qm_line_thing (const QmCatalog *catalog, const QmQuoteLine *line)
{
  QmWords words;
  int phrase, head;

  g_return_val_if_fail (catalog != NULL && line != NULL, QM_THING_OTHER);

  if (line->thing != QM_THING_UNSTATED)
    return line->thing;
  split (line, &words, &phrase, &head);
  if (line->item != NULL && line->match != QM_MATCH_AMBIGUOUS)
    return qm_catalog_gpu (catalog, line->item) != NULL
               ? thing_of_gpus (line, &words)
               : QM_THING_MACHINE;
  if (first_words_have (&words, phrase, shipping_words))
    return QM_THING_SHIPPING;
  if (has_service (&words, head))
    return QM_THING_SERVICE;
  if (first_words_have (&words, phrase, shell_words)
      || first_words_have (&words, head, part_words))
    return QM_THING_PART;
  if (has_machine (&words, head))
    return QM_THING_MACHINE;
  return first_words_have (&words, head, processor_words) ? QM_THING_PART
                                                          : QM_THING_OTHER;
}

gboolean
qm_line_names_service (const QmQuoteLine *line)
{
  QmWords words;
  int phrase, head;

  g_return_val_if_fail (line != NULL, FALSE);

  split (line, &words, &phrase, &head);
  return has_service (&words, words.n);
}

gboolean
qm_line_is_processor (const QmQuoteLine *line)
{
  QmWords words;
  int phrase, head;

  g_return_val_if_fail (line != NULL, FALSE);

  split (line, &words, &phrase, &head);
  return (line->thing == QM_THING_UNSTATED || line->thing == QM_THING_PART)
         && first_words_have (&words, head, processor_words)
         && !first_words_have (&words, phrase, for_processor_words)
         && !first_words_have (&words, phrase, shell_words)
         && !has_service (&words, phrase);
}

gboolean
qm_line_is_shell (const QmQuoteLine *line)
{
  QmWords words;
  int phrase, head;

  g_return_val_if_fail (line != NULL, FALSE);

  split (line, &words, &phrase, &head);
  return first_words_have (&words, phrase, shell_words)
         && !first_words_have (&words, phrase, board_words);
}

gboolean
qm_line_names_desktop (const QmQuoteLine *line)
{
  QmWords words;
  int phrase, head;

  g_return_val_if_fail (line != NULL, FALSE);

  split (line, &words, &phrase, &head);
  return (first_words_have (&words, words.n, desktop_words)
          || (has_machine (&words, words.n)
              && !first_words_have (&words, words.n, machine_words)))
         && !first_words_have (&words, words.n, rack_words);
}

/* "h100", "l40s", "a6000", "mi300x": letters of a model and its number. */
static gboolean
is_model (const char *word)
{
  static const char series[] = QM_SPACED_THING_SERIES;
  gsize letters = strspn (word, "abcdefghijklmnopqrstuvwxyz");
  gsize digits = strspn (word + letters, "0123456789");
  g_autofree char *prefix = g_strndup (word, letters);

  return digits >= (letters == 1 && strchr ("lt", word[0]) != NULL ? 1 : 2)
         && strlen (word + letters + digits) <= 2
         && qm_word_in (prefix, series);
}

static gboolean
names_model (const QmWords *words)
{
  for (int i = 0; i < words->n; i++)
    if (is_model (words->words[i]))
      return TRUE;
  return qm_words_name_gpu (words);
}

gboolean
qm_words_name_model (const char *text)
{
  QmWords words;

  g_return_val_if_fail (text != NULL, FALSE);

  qm_words_split (&words, text);
  return names_model (&words);
}

gboolean
qm_words_name_goods (const char *text)
{
  static const char gpu_words[] = QM_SPACED_THING_GPU;
  static const char *const lists[] = {
    machine_words, inner_words, around_words,   board_words, processor_words,
    shell_words,   part_words,  shipping_words, gpu_words,
  };
  QmWords words;

  g_return_val_if_fail (text != NULL, FALSE);

  qm_words_split (&words, text);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (first_words_have (&words, words.n, lists[i]))
      return TRUE;
  return names_model (&words) || has_service (&words, words.n);
}
