/* SPDX-License-Identifier: Apache-2.0 */

/* Command lines that are read, and those that are refused. */

#include "app/qm-options.h"
#include "tests/data/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Values
{
  bool flag, help;
  const char *text, *choice;
  int64_t count;
  QmOptionCounts counts;
  QmOptionTexts texts;
} Values;

#define N_OPTIONS 9

static void
list_options (Values *values, QmOption options[N_OPTIONS])
{
  const QmOption all[N_OPTIONS] = {
    { .name = "flag",
      .kind = QM_OPTION_FLAG,
      .target = &values->flag,
      .help = "a flag" },
    { .name = "text",
      .letter = 't',
      .value = "FILE",
      .kind = QM_OPTION_TEXT,
      .target = &values->text,
      .help = "a text" },
    { .name = "choice",
      .value = "red|green|dark-blue",
      .kind = QM_OPTION_CHOICE,
      .target = &values->choice,
      .help = "a colour, which is explained in so many words that they do not "
              "fit a line" },
    { .name = "count",
      .value = "N",
      .kind = QM_OPTION_COUNT,
      .target = &values->count,
      .least = 2,
      .most = 100,
      .help = "a number" },
    { .name = "counts",
      .value = "N",
      .kind = QM_OPTION_COUNTS,
      .target = &values->counts,
      .help = "numbers" },
    { .name = "texts",
      .value = "Ä,…",
      .kind = QM_OPTION_TEXTS,
      .target = &values->texts,
      .help = "größte Übel" },
    { .name = "other",
      .kind = QM_OPTION_FLAG,
      .elsewhere = true,
      .help = "of another" },
    { .name = "text",
      .value = "X",
      .kind = QM_OPTION_COUNT,
      .elsewhere = true,
      .help = "of another" },
    { .name = "help",
      .letter = 'h',
      .kind = QM_OPTION_FLAG,
      .target = &values->help,
      .help = "this" },
  };

  memcpy (options, all, sizeof all);
}

static const char *
shout (const char *text)
{
  return strcmp (text, "%s needs a value") == 0 ? "%s BRAUCHT EINEN WERT"
                                                : text;
}

#define MAX_WORDS 24

/* Reads words that a space separates, `'` standing for an empty one. */
static QmStatus
parse (const char *line,
       Values *values,
       const char *rest[MAX_WORDS],
       size_t *n_rest,
       QmOptionsTranslate translate,
       QmError *error)
{
  static char words[1024];
  const char *arguments[MAX_WORDS] = { NULL };
  QmOption options[N_OPTIONS];
  const QmOptionsTable table = { options, N_OPTIONS, "paint", "see it",
                                 translate };
  int n = 0;

  check_case (line);
  memset (values, 0, sizeof *values);
  memset (error, 0, sizeof *error);
  list_options (values, options);
  snprintf (words, sizeof words, "%s", line);
  for (char *word = strtok (words, " "); word != NULL && n < MAX_WORDS - 1;
       word = strtok (NULL, " "))
    arguments[n++] = strcmp (word, "'") == 0 ? "" : word;
  return qm_options_parse (&table, arguments, rest, n_rest, error);
}

static void
expect_refusal (const char *line, const char *message)
{
  Values values;
  QmError error;

  CHECK_INT (parse (line, &values, NULL, NULL, NULL, &error), QM_STATUS_USAGE);
  CHECK_STRING (error.message, message);
  free (values.texts.texts);
}

static void
test_values (void)
{
  const char *rest[MAX_WORDS];
  Values values;
  size_t n_rest;
  QmError error;

  CHECK_INT (parse ("", &values, rest, &n_rest, NULL, &error), QM_OK);
  CHECK_INT ((int64_t) n_rest, 0);
  CHECK (!values.flag && values.text == NULL && values.count == 0);
  CHECK_INT (parse ("one --flag --text --flag two --choice=dark-blue --count "
                    "100 --flag - --counts=1,20,0 --texts a --texts=b --texts "
                    "' -h -- --text -x --",
                    &values, rest, &n_rest, NULL, &error),
             QM_OK);
  CHECK (values.flag && values.help);
  CHECK_STRING (values.text, "--flag");
  CHECK_STRING (values.choice, "dark-blue");
  CHECK_INT (values.count, 100);
  CHECK_INT (values.counts.n, 3);
  CHECK_INT (values.counts.numbers[1], 20);
  CHECK_INT (values.counts.numbers[2], 0);
  CHECK_INT ((int64_t) values.texts.n, 3);
  if (values.texts.n == 3)
    {
      CHECK_STRING (values.texts.texts[1], "b");
      CHECK_STRING (values.texts.texts[2], "");
    }
  CHECK_INT ((int64_t) n_rest, 6);
  if (n_rest == 6)
    {
      CHECK_STRING (rest[1], "two");
      CHECK_STRING (rest[2], "-");
      CHECK_STRING (rest[3], "--text");
      CHECK_STRING (rest[5], "--");
    }
  free (values.texts.texts);
  CHECK_INT (parse ("-tfile", &values, NULL, NULL, NULL, &error), QM_OK);
  CHECK_STRING (values.text, "file");
  CHECK_INT (parse ("-t --", &values, NULL, NULL, NULL, &error), QM_OK);
  CHECK_STRING (values.text, "--");
  CHECK_INT (parse ("--text==", &values, NULL, NULL, NULL, &error), QM_OK);
  CHECK_STRING (values.text, "=");
}

static void
test_refusals (void)
{
  expect_refusal ("--flg", "unknown option '--flg'; did you mean '--flag'?");
  expect_refusal ("--cuont=5",
                  "unknown option '--cuont'; did you mean '--count'?");
  expect_refusal ("--fla", "unknown option '--fla'; did you mean '--flag'?");
  expect_refusal ("--walrus", "unknown option '--walrus'; see it");
  expect_refusal ("-q", "unknown option '-q'; see it");
  expect_refusal ("--w\x1b[2J", "unknown option '--w\\x1b[2J'; see it");
  expect_refusal ("--other", "paint takes no --other; see it");
  expect_refusal ("--flag=", "--flag takes no value");
  expect_refusal ("--flag=yes", "--flag takes no value");
  expect_refusal ("-hx", "-h takes no value");
  expect_refusal ("--text", "--text needs a value");
  expect_refusal ("-t", "-t needs a value");
  expect_refusal ("--text=", "--text has an empty value");
  expect_refusal ("--text '", "--text has an empty value");
  expect_refusal ("-t a --text b", "--text is given more than once");
  expect_refusal ("--count 5 --count=5", "--count is given more than once");
  expect_refusal ("--choice gren",
                  "--choice cannot be 'gren'; did you mean 'green'?");
  expect_refusal ("--choice 12345",
                  "--choice cannot be '12345'; choose red, green or dark-blue");
  expect_refusal ("stray --flag",
                  "unexpected argument 'stray'; values belong to options, as "
                  "in “--model pythia-1b”");
  expect_refusal ("-- --flag",
                  "unexpected argument '--flag'; values belong to options, as "
                  "in “--model pythia-1b”");
}

static void
test_numbers (void)
{
  static const char *const wrong[] = {
    "x", "-2", "+2", "2.5", "0x10", "1e1", "101", "99999999999999999999", "2,"
  };
  char line[64], message[128];

  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    {
      snprintf (line, sizeof line, "--count %s", wrong[i]);
      snprintf (message, sizeof message,
                "--count: '%s' is no whole number up to 100", wrong[i]);
      expect_refusal (line, message);
    }
  expect_refusal ("--count 1", "--count has to be at least 2");
  expect_refusal ("--counts 1,,2",
                  "--counts: '' is no whole number up to 1000000000");
  expect_refusal ("--counts 1,",
                  "--counts: '' is no whole number up to 1000000000");
  expect_refusal ("--counts 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
                  "--counts: that are more than 16 numbers");
}

static void
test_decimals (void)
{
  static const QmOptionUnit units[] = { { "", 1 }, { "min", 60 } };
  double value = -1;

  check_case ("decimals");
  CHECK (qm_option_number ("2.5", 10, &value));
  CHECK_NEAR (value, 2.5, 0);
  for (const char *const *wrong =
           (const char *const[]){ "", "0", "10.1", ".5", "5.", "1e1", "-1",
                                  "nan", "5 ", NULL };
       *wrong != NULL; wrong++)
    CHECK (!qm_option_number (*wrong, 10, &value));
  CHECK_NEAR (value, 2.5, 0);
  CHECK (qm_option_amount ("1.5 min", units, 2, 100, &value));
  CHECK_NEAR (value, 90, 0);
  CHECK (qm_option_amount ("0", units, 2, 100, &value));
  CHECK_NEAR (value, 0, 0);
  CHECK (!qm_option_amount ("2min", units, 2, 100, &value));
  CHECK (!qm_option_amount ("2 MIN", units, 2, 1000, &value));
  CHECK (!qm_option_amount ("min", units, 2, 1000, &value));
  CHECK (!qm_option_amount ("1.2.3", units, 2, 1000, &value));
}

static void
test_translation (void)
{
  Values values;
  QmError error;

  CHECK_INT (parse ("--text", &values, NULL, NULL, shout, &error),
             QM_STATUS_USAGE);
  CHECK_STRING (error.message, "--text BRAUCHT EINEN WERT");
}

static void
test_help (void)
{
  Values values;
  QmOption options[N_OPTIONS];
  const QmOptionsTable table = { options, N_OPTIONS, "paint", "see it", NULL };
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream (&text, &size);

  check_case ("help");
  list_options (&values, options);
  qm_options_print_help (&table, stream);
  fclose (stream);
  CHECK_STRING (text,
                "  --flag              a flag\n"
                "  -t, --text FILE     a text\n"
                "  --choice red|green|dark-blue\n"
                "                      a colour, which is explained in so many "
                "words that they\n"
                "                      do not fit a line\n"
                "  --count N           a number\n"
                "  --counts N          numbers\n"
                "  --texts Ä,…         größte Übel\n"
                "  -h, --help          this\n");
  free (text);
}

int
main (void)
{
  test_values ();
  test_refusals ();
  test_numbers ();
  test_decimals ();
  test_translation ();
  test_help ();
  return check_report ();
}
