/* SPDX-License-Identifier: Apache-2.0 */

/* The options of a command line, from a table that explains them too.
 *
 * An option is --name, with a value behind it as an argument of its own or
 * after an equals sign, or a letter, as in -o FILE or -oFILE.  What begins with
 * no dash, a dash alone, and all behind "--", are other arguments.  Names are
 * not to be abbreviated, so that a new option breaks no script.  All messages
 * are of the status QM_STATUS_USAGE, or QM_STATUS_NO_MEMORY. */

#ifndef QM_APP_QM_OPTIONS_H
#define QM_APP_QM_OPTIONS_H

#include "data/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Numbers in one value, at most. */
#define QM_OPTION_NUMBERS 16

/* The largest whole number where an option does not say. */
#define QM_OPTION_MOST 1000000000

typedef struct QmOptionCounts
{
  int64_t numbers[QM_OPTION_NUMBERS];
  int n;
} QmOptionCounts;

/* The array is the caller's, to be freed with free(); the texts are not. */
typedef struct QmOptionTexts
{
  const char **texts;
  size_t n;
} QmOptionTexts;

/* What an option takes, and what its `target` is.  A target is left as it was
 * where the option is not given. */
typedef enum QmOptionKind
{
  QM_OPTION_FLAG,   /* nothing; bool */
  QM_OPTION_TEXT,   /* a text that is not empty, once; const char * */
  QM_OPTION_CHOICE, /* the same, one of those that | joins in `value` */
  QM_OPTION_COUNT,  /* a whole number, once; int64_t */
  QM_OPTION_COUNTS, /* some, joined by commas, once; QmOptionCounts */
  QM_OPTION_TEXTS   /* texts, as often as it is given; QmOptionTexts */
} QmOptionKind;

typedef struct QmOption
{
  const char *name;  /* without dashes */
  char letter;       /* 0: none */
  const char *value; /* what stands for it in the help; NULL of flags */
  QmOptionKind kind;
  void *target;
  int64_t least, most; /* of whole numbers; 0: QM_OPTION_MOST */
  bool elsewhere;      /* of another command: only known not to be this one's */
  const char *help;
} QmOption;

typedef const char *(*QmOptionsTranslate) (const char *text);

typedef struct QmOptionsTable
{
  const QmOption *options;
  size_t n;
  const char *command;          /* whose they are */
  const char *advice;           /* where they are explained, in a few words */
  QmOptionsTranslate translate; /* for messages; NULL: as they are */
} QmOptionsTable;

/* Reads arguments, of which the last is NULL, and fills the targets.  Those
 * that are no options go to `rest`, which has room for all of them, and may be
 * the arguments themselves, and their number to *n_rest; where `rest` is NULL
 * they are refused. */
QmStatus qm_options_parse (const QmOptionsTable *table,
                           const char *const *arguments,
                           const char **rest,
                           size_t *n_rest,
                           QmError *error);

/* Refuses an argument that is no option. */
QmStatus qm_options_refuse (const QmOptionsTable *table,
                            const char *argument,
                            QmError *error);

/* Prints what the options of this command are, in lines for a terminal. */
void qm_options_print_help (const QmOptionsTable *table, FILE *stream);

/* Prints one line of the kind: a name, what stands for its value or NULL, and
 * what is to be said of it. */
void qm_options_print_entry (const char *name,
                             const char *value,
                             const char *help,
                             FILE *stream);

/* The one of so many names that was meant by a word, or NULL. */
const char *
qm_option_nearest (const char *word, const char *const *names, size_t n);

/* Values of options, `name` being as it is given: "--seed". */

/* The text of an option that may be given once, of so many; NULL where there is
 * none.  Refuses several, and an empty one. */
QmStatus qm_option_single (const char *name,
                           const char *const *texts,
                           size_t n,
                           QmOptionsTranslate translate,
                           const char **text,
                           QmError *error);

/* Says that a value is empty, or one in a list. */
QmStatus qm_option_refuse_empty (const char *name,
                                 QmOptionsTranslate translate,
                                 QmError *error);

/* Reads a whole number in a range. */
QmStatus qm_option_count (const char *name,
                          const char *text,
                          int64_t least,
                          int64_t most,
                          QmOptionsTranslate translate,
                          int64_t *count,
                          QmError *error);

/* Finds a text among so many. */
QmStatus qm_option_choice (const char *name,
                           const char *text,
                           const char *const *choices,
                           size_t n,
                           QmOptionsTranslate translate,
                           size_t *index,
                           QmError *error);

/* Reads a decimal number as files have it: digits, at most one point, no sign
 * and no exponent, above 0 and at most `most`; false where it is none. */
bool qm_option_number (const char *text, double most, double *value);

typedef struct QmOptionUnit
{
  const char *name; /* "" where the number may be alone */
  double factor;
} QmOptionUnit;

/* Reads a number, which may be 0, and one of so many units behind it; false for
 * anything else, and for `most` or more. */
bool qm_option_amount (const char *text,
                       const QmOptionUnit *units,
                       size_t n,
                       double most,
                       double *value);

#endif
