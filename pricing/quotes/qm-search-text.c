/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-search-text.h"

#include <string.h>

/* Most text is ASCII, and lists are long. */
static gboolean
is_ascii (const char *text)
{
  for (; *text != '\0'; text++)
    if (*text & 0x80)
      return FALSE;
  return TRUE;
}

/* (transfer full) */
static char *
fold_unicode (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *cased = g_utf8_casefold (valid, -1);
  g_autofree char *apart = g_utf8_normalize (cased, -1, G_NORMALIZE_ALL);
  g_autofree char *again = NULL;
  GString *folded = g_string_sized_new (strlen (apart));

  for (const char *at = apart; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (g_unichar_isspace (c) || g_unichar_iscntrl (c))
        g_string_append_c (folded, ' ');
      else if (!g_unichar_ismark (c))
        g_string_append_unichar (folded, c);
    }
  /* Compatibility forms may resolve to capitals: "㎇" to "GB". */
  again = g_string_free (folded, FALSE);
  return g_utf8_casefold (again, -1);
}

/* Makes every run of white space one space, in place. */
static void
squeeze (char *text)
{
  char *to = text;

  for (const char *at = text; *at != '\0'; at++)
    if (!g_ascii_isspace (*at) && !g_ascii_iscntrl (*at))
      *to++ = *at;
    else if (to > text && to[-1] != ' ')
      *to++ = ' ';
  if (to > text && to[-1] == ' ')
    to--;
  *to = '\0';
}

char *
qm_search_text_fold (const char *text)
{
  char *folded;

  g_return_val_if_fail (text != NULL, NULL);

  folded = is_ascii (text) ? g_ascii_strdown (text, -1) : fold_unicode (text);
  squeeze (folded);
  return folded;
}

GStrv
qm_search_text_words (const char *typed)
{
  g_autofree char *folded = qm_search_text_fold (typed != NULL ? typed : "");

  /* Of no text, g_strsplit() makes no words. */
  return g_strsplit (folded, " ", -1);
}
