/* SPDX-License-Identifier: Apache-2.0 */

#include "pricing/pages/qm-page-scan.h"

#include "data/money.h"
#include "pricing/words-currencies.h"

#include <string.h>

#define DECIMAL_MARK '\x1e' /* in a cleaned run, between elements */
#define DIGITS_MAX   12

/* Words for currencies in running text, besides signs and codes; an empty code
 * for those that may mean several. */
#define NAME(word, tells) { word, #tells },
static const struct
{
  const char *word;
  char code[4];
} words[] = { QM_EACH_NAME (NAME) };

typedef struct
{
  const char *text; /* the cleaned run */
  gsize taken;      /* up to where signs belong to an amount */
} Scanner;

/* How many digits stand from `i` on. */
static gsize
count_digits (const char *text, gsize i)
{
  return strspn (text + i, G_CSET_DIGITS);
}

/* Whether the number that ends before `end` already has decimals. */
static gboolean
has_decimals (const char *text, gsize end)
{
  gsize digits = 0;

  while (digits < end && g_ascii_isdigit (text[end - 1 - digits]))
    digits++;
  if (digits == end)
    return FALSE;
  if (text[end - 1 - digits] == DECIMAL_MARK)
    return TRUE;
  return (text[end - 1 - digits] == '.' || text[end - 1 - digits] == ',')
         && digits != 3 && digits + 1 < end
         && g_ascii_isdigit (text[end - 2 - digits]);
}

/* The end of a text that stood in another element before: joins, marks a
 * decimal point, or separates. */
static void
put_boundary (GString *out, const char *rest, gboolean raised, gboolean space)
{
  gsize end = out->len;
  gsize digits = count_digits (rest, 0);
  gboolean after_digit = end > 0 && g_ascii_isdigit (out->str[end - 1]);
  gboolean after_point =
      end > 1 && (out->str[end - 1] == '.' || out->str[end - 1] == ',')
      && g_ascii_isdigit (out->str[end - 2]);

  if (after_digit && digits == 2 && (raised || !space)
      && !has_decimals (out->str, end) && rest[2] != '.' && rest[2] != ','
      && rest[2] != '%')
    g_string_append_c (out, DECIMAL_MARK);
  else if (after_point && digits > 0 && !space)
    return;
  else if (after_digit && (*rest == '.' || *rest == ',') && !space
           && (g_ascii_isdigit (rest[1]) || rest[1] == QM_SCAN_BOUNDARY
               || rest[1] == QM_SCAN_DECIMALS))
    return;
  else if (after_digit && digits > 0)
    g_string_append (out, " | ");
  else if (end > 0 && out->str[end - 1] != ' ')
    g_string_append_c (out, ' ');
}

/* One line with the marks resolved.  (transfer full) */
static char *
clean (const char *run)
{
  GString *out = g_string_sized_new (strlen (run) + 16);

  while (*run != '\0')
    {
      gboolean boundary = FALSE, raised = FALSE, space = FALSE;
      gunichar c;

      for (;; run = g_utf8_next_char (run))
        {
          c = g_utf8_get_char (run);
          if (c == QM_SCAN_BOUNDARY)
            boundary = TRUE;
          else if (c == QM_SCAN_DECIMALS)
            boundary = raised = TRUE;
          else if (c != '\0' && c <= ' ')
            space = TRUE;
          else if (c != 0x200b && c != 0x200e && c != 0x200f && c != 0xad
                   && c != 0xfeff && c != 0x7f)
            break;
        }
      if (boundary)
        put_boundary (out, run, raised, space);
      else if (space && out->len > 0 && out->str[out->len - 1] != ' ')
        g_string_append_c (out, ' ');
      if (c == '\0')
        break;
      if (c == 0xa0 || c == 0x202f || c == 0x2009 || c == 0x2007)
        g_string_append_c (out, ' ');
      else if (c == 0x2019)
        g_string_append_c (out, '\'');
      else
        g_string_append_unichar (out, c);
      run = g_utf8_next_char (run);
    }
  return g_string_free (out, FALSE);
}

/* The end of groups of three that follow `i`, the end of the first digits. */
static gsize
skip_groups (const char *text, gsize start, gsize i, char *separator)
{
  gsize first = i - start;

  *separator = '\0';
  if (first > 3 || text[start] == '0')
    return i;
  while (text[i] != '\0' && strchr (".,' ", text[i]) != NULL
         && (*separator == '\0' || text[i] == *separator)
         && count_digits (text, i + 1) == 3)
    {
      *separator = text[i];
      i += 4;
    }
  /* Lakhs and crores. */
  if (*separator == '\0' && first <= 2 && text[i] == ','
      && count_digits (text, i + 1) == 2 && text[i + 3] == ',')
    {
      gsize j = i;

      while (text[j] == ',' && count_digits (text, j + 1) == 2)
        j += 3;
      if (text[j] == ',' && count_digits (text, j + 1) == 3)
        {
          *separator = ',';
          i = j + 4;
        }
    }
  return i;
}

static void
append_decimals (GString *digits, const char *decimals, gsize n)
{
  g_string_append_c (digits, '.');
  g_string_append_len (digits, decimals, (gssize) n);
}

/* Reads a number at `start` into whole and decimal digits; the end of it, or 0
 * where it is none. */
static gsize
read_number (const char *text, gsize start, GString *digits)
{
  gsize first = start + count_digits (text, start);
  char separator;
  gsize i = skip_groups (text, start, first, &separator);
  gsize n;

  g_string_truncate (digits, 0);
  for (gsize j = start; j < i; j++)
    if (g_ascii_isdigit (text[j]))
      g_string_append_c (digits, text[j]);
  if (digits->len > DIGITS_MAX)
    return 0;
  if (text[i] == DECIMAL_MARK)
    {
      append_decimals (digits, text + i + 1, 2);
      i += 3;
    }
  else if ((text[i] == '.' || text[i] == ',') && text[i] != separator)
    {
      n = count_digits (text, i + 1);
      if (n >= 1 && n <= 4 && (n <= 2 || text[i] == '.'))
        {
          append_decimals (digits, text + i + 1, n);
          i += n + 1;
        }
      else if (n == 0 && (text[i + 1] == '-' || text[i + 1] == '='))
        for (i++; text[i] == '-' || text[i] == '='; i++)
          ;
      else if (n == 0 && g_str_has_prefix (text + i + 1, "\342\200\223"))
        i += 4;
      else if (n > 0)
        return 0;
    }
  else if (text[i] == ':' && text[i + 1] == '-')
    i += 2;
  if (g_ascii_isdigit (text[i])
      || ((text[i] == '.' || text[i] == ',' || text[i] == '/' || text[i] == ':')
          && g_ascii_isdigit (text[i + 1])))
    return 0;
  return i;
}

static gboolean
name_currency (const char *token, gsize n, QmScannedAmount *amount)
{
  char name[12];

  if (n == 0 || n >= sizeof name)
    return FALSE;
  memcpy (name, token, n);
  name[n] = '\0';
  if (!qm_amount_parse_currency (name, amount->currency))
    {
      guint i;

      for (i = 0; i < G_N_ELEMENTS (words); i++)
        if (g_str_equal (name, words[i].word))
          break;
      if (i == G_N_ELEMENTS (words))
        return FALSE;
      memcpy (amount->currency, words[i].code, 4);
    }
  memcpy (amount->sign, name, n + 1);
  return TRUE;
}

static gboolean
letter_before (const char *text, gsize i)
{
  return i > 0
         && g_unichar_isalpha (g_utf8_get_char (g_utf8_prev_char (text + i)));
}

/* Whether a word may begin, or end, before the byte at `i`. */
static gboolean
is_edge (const char *text, gsize i)
{
  return (text[i] & 0xc0) != 0x80
         && !(g_unichar_isalpha (g_utf8_get_char (text + i))
              && letter_before (text, i));
}

/* A sign or code before the number that begins at `start`. */
static void
find_before (const Scanner *s, gsize start, QmScannedAmount *amount)
{
  gsize end = start;
  gsize from;

  while (end > s->taken && end + 2 > start && s->text[end - 1] == ' ')
    end--;
  for (from = end; from > s->taken && end - from < 10; from--)
    if (s->text[from - 1] == ' ' || g_ascii_isdigit (s->text[from - 1])
        || s->text[from - 1] == ':' || s->text[from - 1] == '(')
      break;
  for (; from < end; from++)
    if (is_edge (s->text, from)
        && name_currency (s->text + from, end - from, amount))
      {
        amount->start = from;
        return;
      }
}

/* A sign or code after it. */
static void
find_after (Scanner *s, QmScannedAmount *amount)
{
  gsize start = amount->end;
  gsize end, n = 0;

  if (s->text[start] == ' ')
    start++;
  for (end = start; s->text[end] != '\0' && s->text[end] != ' '
                    && !g_ascii_isdigit (s->text[end]) && n < 8;
       end++)
    if ((s->text[end] & 0xc0) != 0x80)
      n++;
  while ((s->text[end] & 0xc0) == 0x80)
    end++;
  for (; end > start; end--)
    /* A letter alone stands before, as in "R 1 299". */
    if (is_edge (s->text, end)
        && !(end - start == 1 && g_ascii_isalpha (s->text[start]))
        && name_currency (s->text + start, end - start, amount))
      {
        amount->end = end;
        return;
      }
}

/* "299€95" */
static void
take_cents (const Scanner *s, QmScannedAmount *amount, GString *digits)
{
  gsize i = amount->end;

  if (strchr (digits->str, '.') == NULL && count_digits (s->text, i) == 2)
    {
      append_decimals (digits, s->text + i, 2);
      amount->end += 2;
    }
}

/* "1.234" of a currency with three decimals. */
static void
mend_three_decimals (const Scanner *s,
                     const QmScannedAmount *amount,
                     gsize start,
                     GString *digits)
{
  const char *point;

  if (qm_currency_decimals (amount->currency) != 3
      || strchr (digits->str, '.') != NULL)
    return;
  point = memchr (s->text + start, '.', amount->end - start);
  if (point != NULL && digits->len > 3
      && memchr (s->text + start, ',', amount->end - start) == NULL)
    g_string_insert_c (digits, (gssize) digits->len - 3, '.');
}

/* What must not stand right before or after a price. */
static gboolean
stands_free (const Scanner *s, const QmScannedAmount *amount)
{
  const char *text = s->text;
  gsize start = amount->start;
  gunichar next = g_utf8_get_char (text + amount->end);

  if (next == '%' || (next == ' ' && text[amount->end + 1] == '%'))
    return FALSE;
  if (amount->sign[0] == '\0'
      && (g_unichar_isalpha (next) || next == '"' || next == 0x2033
          || next == 0xb0))
    return FALSE;
  if (start == 0)
    return TRUE;
  if (letter_before (text, start))
    return FALSE;
  return strchr ("#/_=&.,@", text[start - 1]) == NULL
         || (strchr (".,=&", text[start - 1]) != NULL && start > 1
             && !g_ascii_isdigit (text[start - 2]) && amount->sign[0] != '\0');
}

static gboolean
read_amount (Scanner *s, gsize start, GString *digits, QmScannedAmount *amount)
{
  gsize end = read_number (s->text, start, digits);

  memset (amount, 0, sizeof *amount);
  if (end == 0)
    return FALSE;
  amount->start = start;
  amount->end = end;
  find_before (s, start, amount);
  if (amount->sign[0] == '\0')
    {
      find_after (s, amount);
      if (amount->sign[0] != '\0' && amount->end > end)
        take_cents (s, amount, digits);
    }
  else
    {
      QmScannedAmount after = *amount;

      /* "$12 USD" */
      find_after (s, &after);
      if (after.currency[0] != '\0' && amount->currency[0] == '\0'
          && qm_amount_sign_may_mean (amount->sign, after.currency)
          && !g_ascii_isdigit (s->text[after.end])
          && !(s->text[after.end] == ' '
               && g_ascii_isdigit (s->text[after.end + 1])))
        *amount = after;
    }
  if (!stands_free (s, amount))
    return FALSE;
  mend_three_decimals (s, amount, start, digits);
  if (!qm_micros_parse (digits->str, &amount->micros))
    return FALSE;
  start = amount->start;
  amount->negative =
      (start > 0 && s->text[start - 1] == '-'
       && (start == 1 || s->text[start - 2] == ' '))
      || (start > 2 && memcmp (s->text + start - 3, "\342\210\222", 3) == 0);
  return TRUE;
}

GArray *
qm_page_scan (const char *run, char **cleaned)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (QmScannedAmount));
  g_autoptr (GString) digits = g_string_new (NULL);
  Scanner s = { 0 };

  *cleaned = clean (run);
  s.text = *cleaned;
  for (gsize i = 0; s.text[i] != '\0' && found->len < QM_PAGE_ITEMS_MAX; i++)
    {
      QmScannedAmount amount;

      if (!g_ascii_isdigit (s.text[i]))
        continue;
      if (read_amount (&s, i, digits, &amount))
        {
          g_array_append_val (found, amount);
          s.taken = amount.end;
          i = amount.end - 1;
        }
      else
        i += count_digits (s.text, i) - 1;
    }
  return found;
}

static gboolean
is_struck (const xmlNode *node)
{
  static const char *const classes[] = { "old-price", "price-old", "oldprice",
                                         "strike", NULL };

  return qm_page_is_struck (node) || qm_page_is_styled_struck (node)
         || qm_page_holds_any (qm_page_attribute (node, "class"), classes);
}

/* Raised, or called what the decimals are called. */
static gboolean
is_decimals (const xmlNode *node)
{
  static const char *const names[] = { "cent",  "decimal", "fraction",
                                       "minor", "kopeck",  "cts",
                                       "Cent",  "Decimal", "Fraction" };
  const char *class = qm_page_attribute (node, "class");

  if (qm_page_is (node, "sup"))
    return TRUE;
  for (guint i = 0; class != NULL && i < G_N_ELEMENTS (names); i++)
    {
      const char *at = strstr (class, names[i]);

      if (at != NULL && !g_str_has_prefix (at, "center"))
        return TRUE;
    }
  return FALSE;
}

void
qm_page_scan_append (GString *run, const xmlNode *text)
{
  const xmlNode *parent = text->parent;

  if (run->len > 0)
    g_string_append_c (run, parent != NULL && is_decimals (parent)
                                ? QM_SCAN_DECIMALS
                                : QM_SCAN_BOUNDARY);
  g_string_append (run, (const char *) text->content);
}

char *
qm_page_scan_run (const xmlNode *node, gsize max)
{
  GString *run = g_string_new (NULL);
  xmlNode *at = (xmlNode *) node;
  guint nodes = 0;

  while (at != NULL && run->len < max && nodes++ < QM_PAGE_TEXT_NODES_MAX)
    {
      gboolean skip = qm_page_is_code (at) || qm_page_is (at, "noscript")
                      || (at != node && is_struck (at));

      if (at->type == XML_TEXT_NODE && at->content != NULL)
        qm_page_scan_append (run, at);
      at = qm_page_next (node, at, !skip);
    }
  if (run->len > max)
    {
      const char *valid;

      g_string_truncate (run, max);
      g_utf8_validate (run->str, -1, &valid);
      g_string_truncate (run, (gsize) (valid - run->str));
    }
  return g_string_free (run, FALSE);
}

gboolean
qm_page_scan_one (const xmlNode *node, gint64 *micros, char currency[4])
{
  g_autofree char *run = qm_page_scan_run (node, 400);
  g_autofree char *cleaned = NULL;
  g_autoptr (GArray) found = qm_page_scan (run, &cleaned);
  const QmScannedAmount *best = NULL;

  for (guint i = 0; i < found->len; i++)
    {
      const QmScannedAmount *amount =
          &g_array_index (found, QmScannedAmount, i);

      if (amount->negative
          || (best != NULL && best->sign[0] != '\0' && amount->sign[0] == '\0'))
        continue;
      if (best != NULL && (best->sign[0] != '\0' || amount->sign[0] == '\0')
          && best->micros != amount->micros)
        return FALSE;
      best = amount;
    }
  if (best == NULL)
    return FALSE;
  *micros = best->micros;
  memcpy (currency, best->currency, 4);
  return TRUE;
}
