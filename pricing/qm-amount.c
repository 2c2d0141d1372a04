/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/qm-amount.h"

#include "data/money.h"
#include "pricing/words-currencies.h"

#include <string.h>

#define LENGTH_MAX 96 /* bytes of an amount once it is normal */
#define GROUPS_MAX 12
#define DECIMALS   6

#define SIGN_AS_POINT 's' /* among separators: a currency's sign */

/* A sign, and the codes that it may stand for, the only one where it has one
 * meaning. */
typedef struct
{
  const char *sign;
  const char *codes;
} Sign;

#define SIGN(word, tells) { word, #tells },
static const Sign signs[] = { QM_EACH_SIGN (SIGN) };

/* ISO 4217, without the codes of metals, funds and tests; ... */
#define CODE(word, tells) word " "
static const char codes[] = QM_EACH_CODE (CODE);
/* ... and those whose lower case is no word of a language with Latin letters.
 */
static const char lower_codes[] = QM_EACH_LOWER_CODE (CODE);

typedef struct
{
  const char *cursor;
  const char *codes; /* what the currency may be; NULL: nothing was said */
  gsize n_codes;     /* bytes of it */
} Reader;

typedef struct
{
  const char *digits[GROUPS_MAX];
  guint lengths[GROUPS_MAX];
  char separators[GROUPS_MAX]; /* after each group */
  guint n;
} Groups;

/* One of " '-", a digit or a character as it is; 0: to be left out. */
static gunichar
normal_character (gunichar c)
{
  if (c >= 0xff01 && c <= 0xff5e)
    c -= 0xfee0;
  if (g_unichar_isdigit (c))
    return '0' + (gunichar) g_unichar_digit_value (c);
  if (g_unichar_isspace (c))
    return ' ';
  switch (c)
    {
    case 0x00b4:
    case 0x02bc:
    case 0x2018:
    case 0x2019:
    case '`':
      return '\'';
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2014:
    case 0x2212:
      return '-';
    case 0x066b: /* Arabic decimal separator */
      return ',';
    case 0x066c: /* Arabic thousands separator */
      return '\'';
    case 0xffe1:
      return 0x00a3;
    case 0xffe5:
      return 0x00a5;
    case 0xffe6:
      return 0x20a9;
    default:
      return g_unichar_type (c) == G_UNICODE_FORMAT ? 0 : c;
    }
}

/* Writes the text with one space for each run of spaces and none at the ends.
 * FALSE where it is no UTF-8, or too long for an amount. */
static gboolean
make_normal (const char *text, char normal[LENGTH_MAX + 8])
{
  gsize n = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    {
      gunichar c = g_utf8_get_char_validated (text, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        return FALSE;
      c = normal_character (c);
      if (c == 0 || (c == ' ' && (n == 0 || normal[n - 1] == ' ')))
        continue;
      if (n >= LENGTH_MAX)
        return FALSE;
      n += (gsize) g_unichar_to_utf8 (c, normal + n);
    }
  if (n > 0 && normal[n - 1] == ' ')
    n--;
  normal[n] = '\0';
  return TRUE;
}

/* "-", or as in the Netherlands "-/-". */
static gboolean
skip_minus (Reader *reader)
{
  if (*reader->cursor != '-')
    return FALSE;
  reader->cursor += strncmp (reader->cursor, "-/-", 3) == 0 ? 3 : 1;
  return TRUE;
}

/* "4.096,50-", as business software prints it. */
static gboolean
skip_minus_behind (Reader *reader, const char *start)
{
  const char *end = reader->cursor;

  if (*end != '-' || end - start < 4 || !g_ascii_isdigit (end[-1])
      || !g_ascii_isdigit (end[-2]) || strchr (".,", end[-3]) == NULL)
    return FALSE;
  reader->cursor++;
  return TRUE;
}

/* "4,000.00 CR", a credit, as ledgers print it; "4.00 Cr" are ten millions. */
static gboolean
skip_credit (Reader *reader, const char *start)
{
  const char *end = reader->cursor;
  const char *mark = end + (*end == ' ');

  while (end > start && end[-1] == ' ')
    end--;
  if (end - start < 4 || !g_ascii_isdigit (end[-1])
      || !g_ascii_isdigit (end[-2]) || strchr (".,", end[-3]) == NULL
      || strcmp (mark, "CR") != 0)
    return FALSE;
  reader->cursor = mark + 2;
  return TRUE;
}

static gboolean
skip (Reader *reader, char c)
{
  if (*reader->cursor != c)
    return FALSE;
  reader->cursor++;
  return TRUE;
}

/* Whether a word that ends before `end` really does. */
static gboolean
word_ends (const char *last, const char *end)
{
  return !g_unichar_isalpha (g_utf8_get_char (last))
         || !g_unichar_isalpha (g_utf8_get_char (end));
}

/* The code among codes separated by spaces; NULL: none. */
static const char *
find_code (const char *list, gsize n, const char *code)
{
  for (gsize i = 0; i + 3 <= n; i += 4)
    if (memcmp (list + i, code, 3) == 0)
      return list + i;
  return NULL;
}

/* The code that a text begins with, as the table has it; NULL: none. */
static const char *
match_code (const char *text)
{
  const char *list = codes;
  gsize n = sizeof codes - 1;
  char upper[3];

  for (int i = 0; i < 3; i++)
    {
      if (!g_ascii_isalpha (text[i]))
        return NULL;
      if (g_ascii_islower (text[i]))
        {
          list = lower_codes;
          n = sizeof lower_codes - 1;
        }
      upper[i] = g_ascii_toupper (text[i]);
    }
  return word_ends (text + 2, text + 3) ? find_code (list, n, upper) : NULL;
}

static const Sign *
match_sign (const char *text)
{
  const Sign *longest = NULL;
  gsize most = 0;

  for (guint i = 0; i < G_N_ELEMENTS (signs); i++)
    {
      gsize n;

      if (signs[i].sign[0] != *text)
        continue;
      n = strlen (signs[i].sign);
      if (n > most && strncmp (text, signs[i].sign, n) == 0
          && word_ends (g_utf8_prev_char (text + n), text + n))
        {
          longest = &signs[i];
          most = n;
        }
    }
  return longest;
}

/* Of what was said before and what is said now, what both allow. */
static gboolean
combine (Reader *reader, const char *said, gsize n)
{
  if (reader->codes == NULL)
    {
      reader->codes = said;
      reader->n_codes = n;
      return TRUE;
    }
  if (n > reader->n_codes)
    {
      const char *codes_before = reader->codes;
      gsize n_before = reader->n_codes;

      reader->codes = said;
      reader->n_codes = n;
      said = codes_before;
      n = n_before;
    }
  if (n > 3)
    return n == reader->n_codes && memcmp (said, reader->codes, n) == 0;
  reader->codes = find_code (reader->codes, reader->n_codes, said);
  reader->n_codes = 3;
  return reader->codes != NULL;
}

/* Reads a code or sign, if one is there.  FALSE where it cannot be that of this
 * amount. */
static gboolean
read_currency (Reader *reader)
{
  const Sign *sign = match_sign (reader->cursor);
  const char *code = sign == NULL ? match_code (reader->cursor) : NULL;

  if (sign != NULL)
    {
      reader->cursor += strlen (sign->sign);
      return combine (reader, sign->codes, strlen (sign->codes));
    }
  if (code != NULL)
    {
      reader->cursor += 3;
      return combine (reader, code, 3);
    }
  return TRUE;
}

/* "$ USD" before or after an amount: up to two, with or without spaces. */
static gboolean
read_currencies (Reader *reader)
{
  for (int i = 0; i < 2; i++)
    {
      const char *before = reader->cursor;

      skip (reader, ' ');
      if (!read_currency (reader))
        return FALSE;
      if (reader->cursor == before)
        break;
    }
  skip (reader, ' ');
  return TRUE;
}

/* Digits with single separators between them. */
static gboolean
read_groups (Reader *reader, Groups *groups)
{
  if (*reader->cursor == '.' && g_ascii_isdigit (reader->cursor[1])
      && g_ascii_isdigit (reader->cursor[2])
      && !g_ascii_isdigit (reader->cursor[3]))
    {
      groups->digits[0] = reader->cursor;
      groups->separators[0] = *reader->cursor++;
      groups->n = 1;
    }
  while (g_ascii_isdigit (*reader->cursor))
    {
      const char *start = reader->cursor;

      if (groups->n == GROUPS_MAX)
        return FALSE;
      while (g_ascii_isdigit (*reader->cursor))
        reader->cursor++;
      groups->digits[groups->n] = start;
      groups->lengths[groups->n] = (guint) (reader->cursor - start);
      groups->separators[groups->n++] = '\0';
      if (*reader->cursor == '\0' || strchr (".,' ", *reader->cursor) == NULL
          || !g_ascii_isdigit (reader->cursor[1]))
        break;
      groups->separators[groups->n - 1] = *reader->cursor++;
    }
  return groups->n > 0;
}

/* "1.234,-", "1234.-" and "1234:-" have no decimals. */
static gboolean
read_dashes (Reader *reader)
{
  const char *cursor = reader->cursor;

  if (*cursor == '\0' || strchr (".,:", *cursor) == NULL || cursor[1] != '-')
    return FALSE;
  for (cursor++; *cursor == '-'; cursor++)
    ;
  reader->cursor = cursor;
  return TRUE;
}

/* Whether the first n groups are those of one number: of three digits, or from
 * the second to the last but one of two as in India. */
static gboolean
are_groups (const Groups *groups, guint n)
{
  char separator = groups->separators[0];
  guint middle = 3;

  if (n == 1)
    return TRUE;
  if (groups->lengths[0] < 1 || groups->lengths[0] > 3
      || groups->digits[0][0] == '0' || groups->lengths[n - 1] != 3)
    return FALSE;
  if (n > 2 && separator == ',' && groups->lengths[1] == 2
      && groups->lengths[0] < 3)
    middle = 2;
  for (guint i = 1; i + 1 < n; i++)
    if (groups->lengths[i] != middle || groups->separators[i] != separator)
      return FALSE;
  return TRUE;
}

/* Whether a single separator before three digits is the decimal point. */
static gboolean
single_is_decimal (const Groups *groups,
                   const Reader *reader,
                   gboolean *is_decimal)
{
  char code[4] = "";

  if (reader->n_codes == 3)
    memcpy (code, reader->codes, 3);
  *is_decimal = !are_groups (groups, 2);
  if (!*is_decimal && qm_currency_decimals (code) == 3)
    {
      *is_decimal = TRUE;
      return groups->separators[0] == '.';
    }
  return TRUE;
}

/* How many of the groups stand before the decimal point; 0: this is no
 * number. */
static guint
count_whole_groups (const Groups *groups,
                    const Reader *reader,
                    QmDecimal decimal)
{
  guint n = groups->n;
  char last = n > 1 ? groups->separators[n - 2] : '\0';
  gboolean is_decimal;

  if (n == 1)
    return 1;
  if (last != '.' && last != ',')
    is_decimal = FALSE;
  else if (decimal != QM_DECIMAL_GUESS)
    is_decimal = (last == '.') == (decimal == QM_DECIMAL_POINT);
  else if (n > 2)
    is_decimal = last != groups->separators[0];
  else if (!single_is_decimal (groups, reader, &is_decimal))
    return 0;

  if (!is_decimal)
    return are_groups (groups, n) ? n : 0;
  if (groups->lengths[n - 1] > DECIMALS
      || (n > 2 && groups->separators[0] == last))
    return 0;
  return are_groups (groups, n - 1) ? n - 1 : 0;
}

/* FALSE where it is no number, or too large a one. */
static gboolean
groups_to_micros (const Groups *groups, guint n_whole, gint64 *micros)
{
  char plain[LENGTH_MAX + 8];
  gsize length = 0;

  for (guint i = 0; i < groups->n; i++)
    {
      if (i == n_whole)
        plain[length++] = '.';
      if (i == 0 && groups->lengths[i] == 0)
        plain[length++] = '0';
      memcpy (plain + length, groups->digits[i], groups->lengths[i]);
      length += groups->lengths[i];
    }
  plain[length] = '\0';
  return qm_micros_parse (plain, micros);
}

/* "€95" where the sign takes the place of the decimal point.  FALSE where the
 * sign is not that of this amount. */
static gboolean
read_sign_as_point (Reader *reader, Groups *groups)
{
  const char *before = reader->cursor;

  if (!read_currency (reader))
    return FALSE;
  if (reader->cursor == before || groups->n == GROUPS_MAX
      || !g_ascii_isdigit (reader->cursor[0])
      || !g_ascii_isdigit (reader->cursor[1]))
    return TRUE;
  groups->digits[groups->n] = reader->cursor;
  groups->lengths[groups->n] = 2;
  groups->separators[groups->n - 1] = SIGN_AS_POINT;
  groups->separators[groups->n++] = '\0';
  reader->cursor += 2;
  return TRUE;
}

/* A number of which something else than a point or comma says where the whole
 * part ends. */
static gboolean
marked_to_micros (const Groups *groups,
                  guint n_whole,
                  QmDecimal decimal,
                  gint64 *micros)
{
  char separator = groups->separators[0];

  if (groups->lengths[0] == 0 || !are_groups (groups, n_whole))
    return FALSE;
  if (n_whole > 1
      && ((separator == '.' && decimal == QM_DECIMAL_POINT)
          || (separator == ',' && decimal == QM_DECIMAL_COMMA)))
    return FALSE;
  return groups_to_micros (groups, n_whole, micros);
}

static gboolean
read_number (Reader *reader, QmDecimal decimal, gint64 *micros)
{
  Groups groups = { 0 };
  guint n_whole;

  if (!read_groups (reader, &groups))
    return FALSE;
  if (read_dashes (reader))
    return marked_to_micros (&groups, groups.n, decimal, micros);
  if (!read_sign_as_point (reader, &groups))
    return FALSE;
  if (groups.n > 1 && groups.separators[groups.n - 2] == SIGN_AS_POINT)
    return marked_to_micros (&groups, groups.n - 1, decimal, micros);
  if (!read_currencies (reader))
    return FALSE;
  n_whole = count_whole_groups (&groups, reader, decimal);
  return n_whole > 0 && groups_to_micros (&groups, n_whole, micros);
}

static void
get_currency (const Reader *reader, char currency[4])
{
  memset (currency, 0, 4);
  if (reader->n_codes == 3)
    memcpy (currency, reader->codes, 3);
}

gboolean
qm_amount_parse (const char *text,
                 QmDecimal decimal,
                 gint64 *micros,
                 char currency[4])
{
  char normal[LENGTH_MAX + 8];
  Reader reader = { .cursor = normal };
  gboolean open, negative;
  gint64 value;

  g_return_val_if_fail (text != NULL, FALSE);
  g_return_val_if_fail (micros != NULL && currency != NULL, FALSE);

  if (!make_normal (text, normal))
    return FALSE;
  open = skip (&reader, '(');
  negative = !open && skip_minus (&reader);
  if (!read_currencies (&reader))
    return FALSE;
  if (!open && !negative)
    {
      open = skip (&reader, '(');
      negative = !open && skip_minus (&reader);
    }
  skip (&reader, ' ');
  if (!read_number (&reader, decimal, &value))
    return FALSE;
  if (open && !skip (&reader, ')'))
    return FALSE;
  if (!open && !negative)
    negative =
        skip_minus_behind (&reader, normal) || skip_credit (&reader, normal);
  if (!read_currencies (&reader) || *reader.cursor != '\0')
    return FALSE;

  *micros = open || negative ? -value : value;
  get_currency (&reader, currency);
  return TRUE;
}

gboolean
qm_amount_parse_currency (const char *text, char currency[4])
{
  char normal[LENGTH_MAX + 8];
  Reader reader = { .cursor = normal };

  g_return_val_if_fail (text != NULL && currency != NULL, FALSE);

  if (!make_normal (text, normal) || !read_currencies (&reader)
      || reader.codes == NULL || *reader.cursor != '\0')
    return FALSE;
  get_currency (&reader, currency);
  return TRUE;
}

gboolean
qm_amount_sign_may_mean (const char *sign, const char *code)
{
  char normal[LENGTH_MAX + 8];
  Reader reader = { .cursor = normal };

  g_return_val_if_fail (sign != NULL && code != NULL, FALSE);

  return make_normal (sign, normal) && read_currencies (&reader)
         && reader.codes != NULL && *reader.cursor == '\0' && strlen (code) == 3
         && find_code (reader.codes, reader.n_codes, code) != NULL;
}
