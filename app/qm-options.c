/* SPDX-License-Identifier: Apache-2.0 */

#include "app/qm-options.h"

#include "data/catalog.h"
#include "data/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Marks what is translated later. */
#define N_(text) text

/* Longer words are not misspelt names. */
#define WORD_MAX 64

/* The help stands in this column, and no line is longer. */
#define HELP_COLUMN 22
#define HELP_WIDTH  80

static const char *say (QmOptionsTranslate translate, const char *text)
    __attribute__ ((format_arg (2)));

/* Who has no translation of a text leaves it as it is. */
static const char *
say (QmOptionsTranslate translate, const char *text)
{
  const char *said = translate != NULL ? translate (text) : NULL;

  return said != NULL ? said : text;
}

/* --- values --- */

const char *
qm_option_nearest (const char *word, const char *const *names, size_t n)
{
  return strlen (word) <= WORD_MAX ? qm_nearest_name (word, names, n) : NULL;
}

QmStatus
qm_option_refuse_empty (const char *name,
                        QmOptionsTranslate translate,
                        QmError *error)
{
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       say (translate, N_ ("%s has an empty value")), name);
}

QmStatus
qm_option_single (const char *name,
                  const char *const *texts,
                  size_t n,
                  QmOptionsTranslate translate,
                  const char **text,
                  QmError *error)
{
  *text = n > 0 ? texts[0] : NULL;
  if (n > 1)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         say (translate, N_ ("%s is given more than once")),
                         name);
  if (n == 1 && *texts[0] == '\0')
    return qm_option_refuse_empty (name, translate, error);
  return QM_OK;
}

QmStatus
qm_option_count (const char *name,
                 const char *text,
                 int64_t least,
                 int64_t most,
                 QmOptionsTranslate translate,
                 int64_t *count,
                 QmError *error)
{
  char quoted[QM_QUOTE_BYTES], *end;
  long long value;

  errno = 0;
  value = strtoll (text, &end, 10);
  if (text[strspn (text, "0123456789")] != '\0' || end == text || errno != 0
      || value > most)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         /* Translators: an option, what is no number, the
                            largest that is. */
                         say (translate, N_ ("%s: %s is no whole number up to "
                                             "%lld")),
                         name, qm_text_quote (text, quoted), (long long) most);
  if (value < least)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         /* Translators: an option, a number. */
                         say (translate, N_ ("%s has to be at least %lld")),
                         name, (long long) least);
  *count = value;
  return QM_OK;
}

/* "png, svg or pdf", cut where there is no room. */
static void
join_choices (const char *const *choices,
              size_t n,
              QmOptionsTranslate translate,
              char *text,
              size_t size)
{
  char first[160] = "";
  size_t used = 0;

  for (size_t i = 0; i + 1 < n && used < sizeof first; i++)
    used += (size_t) snprintf (first + used, sizeof first - used, "%s%s",
                               i > 0 ? ", " : "", choices[i]);
  if (n == 1)
    snprintf (text, size, "%s", choices[0]);
  else
    /* Translators: the first words of a list, its last word. */
    snprintf (text, size, say (translate, N_ ("%s or %s")), first,
              choices[n - 1]);
}

QmStatus
qm_option_choice (const char *name,
                  const char *text,
                  const char *const *choices,
                  size_t n,
                  QmOptionsTranslate translate,
                  size_t *index,
                  QmError *error)
{
  char quoted[QM_QUOTE_BYTES], nearest_quoted[QM_QUOTE_BYTES];
  char problem[192], all[200], advice[200];
  const char *nearest;

  for (size_t i = 0; i < n; i++)
    if (strcmp (choices[i], text) == 0)
      {
        *index = i;
        return QM_OK;
      }
  nearest = qm_option_nearest (text, choices, n);
  /* Translators: name of an option, its value in quotes. */
  snprintf (problem, sizeof problem, say (translate, N_ ("%s cannot be %s")),
            name, qm_text_quote (text, quoted));
  if (nearest != NULL)
    return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                         /* Translators: what is wrong, a name in quotes. */
                         say (translate, N_ ("%s; did you mean %s?")), problem,
                         qm_text_quote (nearest, nearest_quoted));
  join_choices (choices, n, translate, all, sizeof all);
  /* Translators: a list of words. */
  snprintf (advice, sizeof advice, say (translate, N_ ("choose %s")), all);
  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0, "%s; %s", problem,
                       advice);
}

bool
qm_option_number (const char *text, double most, double *value)
{
  size_t whole = strspn (text, "0123456789"), fraction = 0;
  const char *end = text + whole;
  double number;

  if (*end == '.')
    {
      fraction = strspn (end + 1, "0123456789");
      end += 1 + fraction;
      if (fraction == 0)
        return false;
    }
  if (whole == 0 || *end != '\0' || !qm_number_parse (text, &number))
    return false;
  if (!(number > 0) || number > most)
    return false;
  *value = number;
  return true;
}

bool
qm_option_amount (const char *text,
                  const QmOptionUnit *units,
                  size_t n,
                  double most,
                  double *value)
{
  size_t digits = strspn (text, "0123456789.");
  const char *unit = text + digits + strspn (text + digits, " ");
  char number[32];
  double amount;

  if (digits == 0 || digits >= sizeof number)
    return false;
  memcpy (number, text, digits);
  number[digits] = '\0';
  if (!qm_number_parse (number, &amount))
    return false;
  for (size_t i = 0; i < n; i++)
    if (strcmp (units[i].name, unit) == 0 && amount * units[i].factor < most)
      {
        *value = amount * units[i].factor;
        return true;
      }
  return false;
}

/* --- one option --- */

/* How far reading has come. */
typedef struct Reader
{
  const QmOptionsTable *table;
  const char *const *arguments; /* what is left */
  bool *given;                  /* [n] */
  QmError *error;
} Reader;

static QmStatus
take_count (Reader *reader,
            const QmOption *option,
            const char *name,
            const char *text,
            int64_t *count)
{
  return qm_option_count (name, text, option->least,
                          option->most > 0 ? option->most : QM_OPTION_MOST,
                          reader->table->translate, count, reader->error);
}

static QmStatus
take_counts (Reader *reader,
             const QmOption *option,
             const char *name,
             const char *text)
{
  QmOptionCounts *counts = option->target;

  for (counts->n = 0;;)
    {
      size_t length = strcspn (text, ",");
      char one[32];
      QmStatus status;

      if (counts->n == QM_OPTION_NUMBERS)
        return qm_error_set (reader->error, QM_STATUS_USAGE, "", 0, 0,
                             /* Translators: an option, the most of them. */
                             say (reader->table->translate,
                                  N_ ("%s: that are more than %d numbers")),
                             name, QM_OPTION_NUMBERS);
      snprintf (one, sizeof one, "%.*s",
                (int) (length < sizeof one ? length : sizeof one - 1), text);
      status =
          take_count (reader, option, name, one, &counts->numbers[counts->n]);
      if (status != QM_OK)
        return status;
      counts->n++;
      if (text[length] == '\0')
        return QM_OK;
      text += length + 1;
    }
}

/* The choices are the words of what stands for them in the help. */
static QmStatus
take_choice (Reader *reader,
             const QmOption *option,
             const char *name,
             const char *text)
{
  const char *choices[16];
  char words[128];
  size_t n = 0, index;
  QmStatus status;

  snprintf (words, sizeof words, "%s", option->value);
  for (char *word = words; word != NULL && n < 16;)
    {
      char *bar = strchr (word, '|');

      if (bar != NULL)
        *bar++ = '\0';
      choices[n++] = word;
      word = bar;
    }
  status = qm_option_choice (name, text, choices, n, reader->table->translate,
                             &index, reader->error);
  if (status == QM_OK)
    *(const char **) option->target = text;
  return status;
}

static QmStatus
take_one_of_texts (Reader *reader, QmOptionTexts *texts, const char *text)
{
  const char **grown =
      realloc (texts->texts, (texts->n + 1) * sizeof *texts->texts);

  if (grown == NULL)
    return qm_error_no_memory (reader->error);
  grown[texts->n++] = text;
  texts->texts = grown;
  return QM_OK;
}

/* Takes the value of an option, or that it is given. */
static QmStatus
take_option (Reader *reader,
             const QmOption *option,
             const char *name,
             const char *text)
{
  bool once = option->kind != QM_OPTION_FLAG && option->kind != QM_OPTION_TEXTS;
  bool *given = &reader->given[option - reader->table->options];
  const char *const both[] = { text, text };
  QmStatus status = QM_OK;

  if (once)
    status = qm_option_single (name, both, *given ? 2 : 1,
                               reader->table->translate, &text, reader->error);
  *given = true;
  if (status != QM_OK)
    return status;
  switch (option->kind)
    {
    case QM_OPTION_FLAG:
      *(bool *) option->target = true;
      return QM_OK;
    case QM_OPTION_TEXT:
      *(const char **) option->target = text;
      return QM_OK;
    case QM_OPTION_CHOICE:
      return take_choice (reader, option, name, text);
    case QM_OPTION_COUNT:
      return take_count (reader, option, name, text, option->target);
    case QM_OPTION_COUNTS:
      return take_counts (reader, option, name, text);
    case QM_OPTION_TEXTS:
      return take_one_of_texts (reader, option->target, text);
    }
  return QM_OK;
}

/* Refuses an option that this command does not have, and names the one that is
 * likely to be meant. */
static QmStatus
refuse_option (Reader *reader, const char *word, bool elsewhere)
{
  const QmOptionsTable *table = reader->table;
  char (*names)[WORD_MAX] = calloc (table->n + 1, sizeof *names);
  const char **list = calloc (table->n + 1, sizeof *list);
  char quoted[QM_QUOTE_BYTES], nearest_quoted[QM_QUOTE_BYTES], problem[160];
  const char *nearest = NULL;
  size_t n = 0;

  for (size_t i = 0; names != NULL && list != NULL && i < table->n; i++)
    if (!table->options[i].elsewhere)
      {
        snprintf (names[n], sizeof *names, "--%s", table->options[i].name);
        list[n] = names[n];
        n++;
      }
  if (!elsewhere && n > 0)
    nearest = qm_option_nearest (word, list, n);
  if (elsewhere)
    /* Translators: a command, an option. */
    snprintf (problem, sizeof problem,
              say (table->translate, N_ ("%s takes no %s")), table->command,
              word);
  else
    snprintf (problem, sizeof problem,
              /* Translators: an option in quotes. */
              say (table->translate, N_ ("unknown option %s")),
              qm_text_quote (word, quoted));
  if (nearest != NULL)
    qm_error_set (reader->error, QM_STATUS_USAGE, "", 0, 0,
                  say (table->translate, N_ ("%s; did you mean %s?")), problem,
                  qm_text_quote (nearest, nearest_quoted));
  else
    qm_error_set (reader->error, QM_STATUS_USAGE, "", 0, 0, "%s; %s", problem,
                  table->advice);
  free (names);
  free (list);
  return QM_STATUS_USAGE;
}

/* The option that an argument begins with, whose name is `length` bytes long
 * with its dashes; one of this command rather than another's. */
static const QmOption *
find_option (const QmOptionsTable *table, const char *argument, size_t length)
{
  const QmOption *found = NULL;

  for (size_t i = 0; i < table->n; i++)
    {
      const QmOption *option = &table->options[i];
      bool same =
          argument[1] == '-'
              ? strlen (option->name) == length - 2
                    && strncmp (option->name, argument + 2, length - 2) == 0
              : option->letter == argument[1];

      if (same && (found == NULL || found->elsewhere))
        found = option;
    }
  return found;
}

/* Reads the option at the first of the arguments, and moves on behind it. */
static QmStatus
read_option (Reader *reader)
{
  const char *argument = *reader->arguments++;
  bool is_long = argument[1] == '-';
  size_t length = is_long ? strcspn (argument, "=") : 2;
  const QmOption *option = find_option (reader->table, argument, length);
  const char *value = argument + length;
  char name[WORD_MAX + 8];
  QmStatus status = QM_OK;

  snprintf (name, sizeof name, "%.*s",
            (int) (length < sizeof name ? length : sizeof name - 1), argument);
  if (option == NULL || option->elsewhere)
    status = refuse_option (reader, name, option != NULL);
  else if (option->kind == QM_OPTION_FLAG && *value != '\0')
    status =
        qm_error_set (reader->error, QM_STATUS_USAGE, "", 0, 0,
                      say (reader->table->translate, N_ ("%s takes no value")),
                      name);
  else if (option->kind != QM_OPTION_FLAG && *value == '\0'
           && *reader->arguments == NULL)
    status =
        qm_error_set (reader->error, QM_STATUS_USAGE, "", 0, 0,
                      say (reader->table->translate, N_ ("%s needs a value")),
                      name);
  if (status != QM_OK)
    return status;
  if (option->kind != QM_OPTION_FLAG && *value == '\0')
    value = *reader->arguments++;
  else if (is_long && *value == '=')
    value++;
  return take_option (reader, option, name, value);
}

/* --- all of them --- */

QmStatus
qm_options_refuse (const QmOptionsTable *table,
                   const char *argument,
                   QmError *error)
{
  char quoted[QM_QUOTE_BYTES];

  return qm_error_set (error, QM_STATUS_USAGE, "", 0, 0,
                       say (table->translate,
                            N_ ("unexpected argument %s; values belong to "
                                "options, as in “--model pythia-1b”")),
                       qm_text_quote (argument, quoted));
}

QmStatus
qm_options_parse (const QmOptionsTable *table,
                  const char *const *arguments,
                  const char **rest,
                  size_t *n_rest,
                  QmError *error)
{
  Reader reader = { table, arguments,
                    calloc (table->n + 1, sizeof *reader.given), error };
  QmStatus status = QM_OK;
  bool only_rest = false;
  size_t n = 0;

  if (reader.given == NULL)
    return qm_error_no_memory (error);
  while (*reader.arguments != NULL && status == QM_OK)
    {
      const char *argument = *reader.arguments;

      if (!only_rest && argument[0] == '-' && argument[1] != '\0'
          && strcmp (argument, "--") != 0)
        {
          status = read_option (&reader);
          continue;
        }
      reader.arguments++;
      if (!only_rest && strcmp (argument, "--") == 0)
        only_rest = true;
      else if (rest == NULL)
        status = qm_options_refuse (table, argument, error);
      else
        rest[n++] = argument;
    }
  if (n_rest != NULL)
    *n_rest = n;
  free (reader.given);
  return status;
}

/* --- the help --- */

/* Columns of so many bytes, each character having one. */
static int
width_of (const char *text, size_t bytes)
{
  int width = 0;

  for (size_t i = 0; i < bytes; i++)
    width += ((unsigned char) text[i] & 0xc0) != 0x80;
  return width;
}

/* Prints words, wrapped, from a column on that the line has reached. */
static void
print_wrapped (const char *text, FILE *stream)
{
  int column = HELP_COLUMN;

  while (*text != '\0')
    {
      size_t length = strcspn (text, " ");
      int width = width_of (text, length);

      if (column > HELP_COLUMN && column + 1 + width >= HELP_WIDTH)
        {
          fprintf (stream, "\n%*s", HELP_COLUMN, "");
          column = HELP_COLUMN;
        }
      else if (column > HELP_COLUMN)
        column += fprintf (stream, " ");
      fwrite (text, 1, length, stream);
      column += width;
      text += length + (text[length] != '\0');
    }
  fputc ('\n', stream);
}

void
qm_options_print_entry (const char *name,
                        const char *value,
                        const char *help,
                        FILE *stream)
{
  int column = 2 + width_of (name, strlen (name));

  fprintf (stream, "  %s", name);
  if (value != NULL)
    {
      fprintf (stream, " %s", value);
      column += 1 + width_of (value, strlen (value));
    }
  if (column + 2 > HELP_COLUMN)
    {
      fputc ('\n', stream);
      column = 0;
    }
  fprintf (stream, "%*s", HELP_COLUMN - column, "");
  print_wrapped (help, stream);
}

void
qm_options_print_help (const QmOptionsTable *table, FILE *stream)
{
  for (size_t i = 0; i < table->n; i++)
    {
      const QmOption *option = &table->options[i];
      char name[WORD_MAX + 8];

      if (option->elsewhere)
        continue;
      if (option->letter != '\0')
        snprintf (name, sizeof name, "-%c, --%s", option->letter, option->name);
      else
        snprintf (name, sizeof name, "--%s", option->name);
      qm_options_print_entry (name, option->value, option->help, stream);
    }
}
