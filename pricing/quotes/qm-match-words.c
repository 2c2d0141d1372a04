/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-match-private.h"
#include "pricing/words-lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char qm_match_fillers[] = QM_SPACED_MATCH_FILLERS;

/* Words that only stand beside GPUs. */
static const char context_words[] = QM_SPACED_MATCH_CONTEXT;

static gboolean
all_digits (const char *text)
{
  while (g_ascii_isdigit (*text))
    text++;
  return *text == '\0';
}

/* A form and its generation, "sxm4"; unknown: it is none. */
static QmGpuForm
form_of (const char *word, int *generation)
{
  if (g_str_has_prefix (word, "sxm") && all_digits (word + 3))
    {
      *generation = atoi (word + 3);
      return QM_FORM_SXM;
    }
  if (strcmp (word, "pcie") == 0)
    return QM_FORM_PCIE;
  if (strcmp (word, "nvl") == 0)
    return QM_FORM_NVL;
  return strcmp (word, "oam") == 0 ? QM_FORM_OAM : QM_FORM_UNKNOWN;
}

static int
qualifier_of (const char *word)
{
  static const char *const names[] = { "ti", "super", "ada", "pro" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (word, names[i]) == 0)
      return 1 << i;
  return 0;
}

static QmGpuForm
form_of_factor (const char *factor)
{
  if (g_str_has_prefix (factor, "PCIe"))
    return QM_FORM_PCIE;
  if (g_str_has_prefix (factor, "SXM"))
    return QM_FORM_SXM;
  return g_str_has_prefix (factor, "OAM") ? QM_FORM_OAM : QM_FORM_UNKNOWN;
}

void
qm_gpu_key_init (QmGpuKey *key, const QmGpu *gpu)
{
  QmWords words;

  *key = (QmGpuKey){ .gpu = gpu };
  qm_words_split (&words, gpu->name);
  for (int i = 0; i < words.n; i++)
    {
      const char *word = words.words[i];
      QmGpuForm form = form_of (word, &key->generation);

      if (form != QM_FORM_UNKNOWN)
        key->form = form;
      else if (key->head[0] == '\0' && qm_word_memory (word) == 0
               && strpbrk (word, "0123456789") != NULL)
        g_strlcpy (key->head, word, sizeof key->head);
      key->qualifiers |= qualifier_of (word);
      if (strcmp (word, "maxq") == 0)
        key->edition = QM_EDITION_MAXQ;
      else if (key->edition == QM_EDITION_NONE
               && strcmp (word, "workstation") == 0)
        key->edition = QM_EDITION_WORKSTATION;
      else if (strcmp (word, "server") == 0)
        key->edition = QM_EDITION_SERVER;
    }
  if (key->form == QM_FORM_UNKNOWN)
    key->form = form_of_factor (gpu->form_factor);
  if (isfinite (gpu->memory_gib) && gpu->memory_gib < 100000)
    key->memory = (int) lround (gpu->memory_gib);
}

int
qm_word_small_number (const char *word)
{
  gsize digits = strspn (word, "0123456789");
  int number;

  if (digits == 0 || digits > 2 || word[digits] != '\0')
    return 0;
  number = atoi (word);
  return number <= 16 ? number : 0;
}

/* Whether a number is that of a slot or a generation. */
static gboolean
is_of_slot (const QmWords *words, int i)
{
  static const char slot[] = QM_SPACED_MATCH_SLOT;

  return qm_word_in (qm_words_at (words, i - 1), slot)
         || qm_word_in (qm_words_at (words, i - 2), slot)
         || qm_word_in (qm_words_at (words, i - 3), slot);
}

/* "8 Stk.", "8 pieces of": how many a word for pieces says; 0: it is none, or
 * says nothing. */
static int
count_pieces (const QmWords *words, int i)
{
  static const char pieces[] = QM_SPACED_MATCH_PIECES;
  static const char of[] = QM_SPACED_MATCH_OF;

  if (qm_word_in (qm_words_at (words, i), of))
    i--;
  return qm_word_in (qm_words_at (words, i), pieces)
             ? qm_word_small_number (qm_words_at (words, i - 1))
             : 0;
}

/* "8x", "8 x", "(8)" or "8 pieces" before the GPU. */
static int
count_before (const QmWords *words, int head)
{
  for (int i = head - 1; i >= 0 && i >= head - 8; i--)
    {
      const char *word = qm_words_at (words, i);
      gsize digits = strspn (word, "0123456789");
      int number = qm_word_small_number (word);

      if (digits > 0 && digits <= 2 && strcmp (word + digits, "x") == 0
          && atoi (word) <= 16)
        return atoi (word);
      if (strcmp (word, "x") == 0
          && qm_word_small_number (qm_words_at (words, i - 1)) > 0)
        return qm_word_small_number (qm_words_at (words, i - 1));
      if (number > 0 && !is_of_slot (words, i))
        return number;
      if (!qm_word_in (word, qm_match_fillers) && qm_word_memory (word) == 0)
        return count_pieces (words, i);
    }
  return 0;
}

/* "x8" or "x 8" after it. */
static int
count_after (const QmWords *words, int head)
{
  for (int i = head + 1; i < words->n && i <= head + 10; i++)
    {
      const char *word = qm_words_at (words, i);
      int number = word[0] == 'x' ? qm_word_small_number (word + 1) : 0;

      if (strcmp (word, "x") == 0)
        number = qm_word_small_number (qm_words_at (words, i + 1));
      if (number > 1 && number < 16 && !is_of_slot (words, i))
        return number;
    }
  return 0;
}

/* "8-GPU", "8 GPUs", but not "up to 8 GPUs". */
static int
count_gpus (const QmWords *words)
{
  for (int i = 1; i < words->n; i++)
    if (qm_word_in (qm_words_at (words, i), "gpu gpus karten")
        && qm_word_small_number (qm_words_at (words, i - 1)) > 0
        && !qm_word_in (qm_words_at (words, i - 2),
                        "to zu max gen a supports rtx"))
      return qm_word_small_number (qm_words_at (words, i - 1));
  return 0;
}

/* How many GPUs the words around the one at `head` say; 0: nothing. */
static int
count_of (const QmWords *words, int head)
{
  int count = count_before (words, head);

  if (count == 0)
    count = count_after (words, head);
  if (count == 0)
    count = count_gpus (words);
  if (count == 0 && qm_words_have (words, "nvl72"))
    count = 72;
  if (count == 0 && qm_words_have (words, "dgx")
      && !qm_words_have (words, "spark"))
    count = qm_words_have (words, "station") ? 4 : 8;
  if (count == 0 && !qm_words_have (words, "hgx"))
    count = 1;
  return count;
}

/* The words about one GPU. */
typedef struct
{
  const QmWords *words;
  int head;
  int qualifiers;
  gboolean forced; /* several are to be asked about, whatever is left */
} Mention;

typedef gboolean (*KeepFunc) (const Mention *mention, const QmGpuKey *key);

/* Keeps those that a test accepts, if there are any. */
static gboolean
narrow (const Mention *mention, GPtrArray *keys, KeepFunc keep)
{
  gboolean any = FALSE;

  for (guint i = 0; i < keys->len; i++)
    any = any || keep (mention, g_ptr_array_index (keys, i));
  for (guint i = keys->len; any && i > 0; i--)
    if (!keep (mention, g_ptr_array_index (keys, i - 1)))
      g_ptr_array_remove_index (keys, i - 1);
  return any;
}

static gboolean
has_qualifiers (const Mention *mention, const QmGpuKey *key)
{
  return key->qualifiers == mention->qualifiers;
}

static gboolean
shares_qualifiers (const Mention *mention, const QmGpuKey *key)
{
  return (key->qualifiers & mention->qualifiers) != 0;
}

/* Whether the text has that memory; that of the rest of a machine does not
 * count. */
static gboolean
states_memory (const Mention *mention, int memory)
{
  static const char of_machine[] = QM_SPACED_MATCH_OF_MACHINE;

  for (int i = 0; i < mention->words->n && memory > 0; i++)
    if (qm_word_memory (mention->words->words[i]) == memory
        && !qm_word_in (qm_words_at (mention->words, i + 1), of_machine))
      return TRUE;
  return FALSE;
}

static gboolean
has_memory (const Mention *mention, const QmGpuKey *key)
{
  return states_memory (mention, key->memory)
         || (strcmp (key->head, "b200") == 0 && states_memory (mention, 192));
}

/* That of all GPUs together. */
static gboolean
has_memory_of_all (const Mention *mention, const QmGpuKey *key)
{
  int count = count_of (mention->words, mention->head);

  return (count > 1 && states_memory (mention, count * key->memory))
         || (key->form == QM_FORM_NVL
             && states_memory (mention, 2 * key->memory));
}

static gboolean
is_nvl (const Mention *mention, const QmGpuKey *key)
{
  return key->form == QM_FORM_NVL;
}

static gboolean
is_sxm (const Mention *mention, const QmGpuKey *key)
{
  return key->form == QM_FORM_SXM;
}

static gboolean
is_pcie (const Mention *mention, const QmGpuKey *key)
{
  return key->form == QM_FORM_PCIE;
}

static gboolean
is_card (const Mention *mention, const QmGpuKey *key)
{
  return key->form == QM_FORM_PCIE || key->form == QM_FORM_NVL;
}

static gboolean
is_maxq (const Mention *mention, const QmGpuKey *key)
{
  return key->edition == QM_EDITION_MAXQ;
}

static gboolean
is_server (const Mention *mention, const QmGpuKey *key)
{
  return key->edition == QM_EDITION_SERVER;
}

static gboolean
is_workstation (const Mention *mention, const QmGpuKey *key)
{
  return key->edition == QM_EDITION_WORKSTATION;
}

static gboolean
is_not_maxq (const Mention *mention, const QmGpuKey *key)
{
  return key->edition != QM_EDITION_MAXQ;
}

/* Whether a memory that is none of theirs stands beside the GPU's name. */
static gboolean
names_other_memory (const Mention *mention)
{
  for (int i = mention->head - 1; i <= mention->head + 4; i++)
    if (qm_word_memory (qm_words_at (mention->words, i)) > 0
        && !qm_word_in (qm_words_at (mention->words, i + 1),
                        "ram ddr4 ddr5 rdimm ssd nvme hdd"))
      return TRUE;
  return FALSE;
}

static void
narrow_form (Mention *mention, GPtrArray *keys)
{
  const QmWords *words = mention->words;
  int generation = 0;
  gboolean sxm = qm_words_have (words, "hgx dgx");

  for (int i = 0; i < words->n; i++)
    sxm = form_of (words->words[i], &generation) == QM_FORM_SXM || sxm;
  if (qm_words_have (words, "nvl") && narrow (mention, keys, is_nvl))
    return;
  if (sxm && narrow (mention, keys, is_sxm))
    {
      const QmGpuKey *key = g_ptr_array_index (keys, 0);

      if (generation > 0 && key->generation > 0
          && generation != key->generation)
        mention->forced = TRUE;
      return;
    }
  if (qm_words_have (words, "pcie") && !narrow (mention, keys, is_pcie))
    narrow (mention, keys, is_card);
  else if (qm_words_have (words, "passive passiv"))
    narrow (mention, keys, is_card);
}

static gboolean
says_workstation (const QmWords *words)
{
  for (int i = 0; i < words->n; i++)
    if (strcmp (words->words[i], "ws") == 0
        || (strcmp (words->words[i], "workstation") == 0
            && (qm_word_in (qm_words_at (words, i + 1), "edition ed")
                || qm_word_in (qm_words_at (words, i - 1), "blackwell 6000"))))
      return TRUE;
  return FALSE;
}

static void
narrow_edition (Mention *mention, GPtrArray *keys)
{
  const QmWords *words = mention->words;

  if (qm_words_have (words, "maxq 300w"))
    narrow (mention, keys, is_maxq);
  else if (qm_words_have (words, "passive passiv")
           || (qm_words_have (words, "server")
               && qm_words_have (words, "edition")))
    narrow (mention, keys, is_server);
  else if (says_workstation (words))
    narrow (mention, keys, is_workstation);
  else if (qm_words_have (words, "600w"))
    narrow (mention, keys, is_not_maxq);
}

/* What is said about the GPU at the head; only words that some GPU of that
 * number has count, but "Ti" and "Super" always. */
static int
read_qualifiers (const Mention *mention, const GPtrArray *keys)
{
  const QmWords *words = mention->words;
  int known = QM_QUALIFIER_TI | QM_QUALIFIER_SUPER, said = 0;
  int pro;

  for (guint i = 0; i < keys->len; i++)
    known |= ((const QmGpuKey *) g_ptr_array_index (keys, i))->qualifiers;
  pro = known & QM_QUALIFIER_PRO;
  for (int i = mention->head + 1; i <= mention->head + 2; i++)
    said |= qualifier_of (qm_words_at (words, i)) & known;
  said |= qualifier_of (qm_words_at (words, mention->head - 1)) & pro;
  if ((known & QM_QUALIFIER_ADA) != 0 && qm_words_have (words, "ada"))
    said |= QM_QUALIFIER_ADA;
  if (pro != 0 && qm_words_have (words, "blackwell"))
    said |= pro;
  return said;
}

/* A laptop's part, or one for another country, has the number but is another
 * GPU. */
static gboolean
is_other_part (const Mention *mention, const QmGpuKey *key)
{
  const QmWords *words = mention->words;
  const char *next = qm_words_at (words, mention->head + 1);
  const char *factor = key->gpu->form_factor;
  gboolean desk = strstr (factor, "consumer") != NULL
                  || strstr (factor, "workstation") != NULL;

  if (!desk)
    return FALSE;
  if (qm_words_have (words,
                     "laptop notebook mobile portable laptops notebooks"))
    return TRUE;
  if (qm_words_have (words, "maxq") && key->edition == QM_EDITION_NONE)
    return TRUE;
  return strcmp (next, "d") == 0 || strcmp (next, "dv2") == 0;
}

/* A bare number needs a word that makes it a GPU's. */
static gboolean
is_meant (const Mention *mention)
{
  const QmWords *words = mention->words;
  const char *word = qm_words_at (words, mention->head);

  if (strspn (word, "0123456789") != strlen (word))
    return TRUE;
  for (int i = mention->head - 2; i < mention->head; i++)
    if (qm_word_in (qm_words_at (words, i), "rtx geforce quadro"))
      return TRUE;
  if (strcmp (word, "6000") == 0)
    return strcmp (qm_words_at (words, mention->head - 1), "pro") == 0
           && qm_words_have (words, "nvidia rtx blackwell");
  return qm_words_have (words, context_words);
}

/* "RTX 6000" alone may be any of them, but not the Quadro of that number. */
static void
narrow_bare (Mention *mention, GPtrArray *keys)
{
  const QmWords *words = mention->words;

  mention->forced = TRUE;
  if (qm_words_have (words, "quadro")
      || (names_other_memory (mention) && !narrow (mention, keys, has_memory)))
    g_ptr_array_set_size (keys, 0);
}

static void
narrow_qualifiers (Mention *mention, GPtrArray *keys)
{
  mention->qualifiers = read_qualifiers (mention, keys);
  if (narrow (mention, keys, has_qualifiers))
    return;
  if (mention->qualifiers == 0)
    narrow_bare (mention, keys);
  else
    {
      mention->forced = TRUE;
      if (!narrow (mention, keys, shares_qualifiers))
        g_ptr_array_set_size (keys, 0);
    }
}

static void
narrow_all (Mention *mention, GPtrArray *keys)
{
  for (guint i = keys->len; i > 0; i--)
    if (is_other_part (mention, g_ptr_array_index (keys, i - 1)))
      g_ptr_array_remove_index (keys, i - 1);
  if (keys->len > 0)
    narrow_qualifiers (mention, keys);
  if (keys->len > 0 && !narrow (mention, keys, has_memory)
      && !narrow (mention, keys, has_memory_of_all)
      && names_other_memory (mention))
    mention->forced = TRUE;
  if (keys->len > 0)
    narrow_form (mention, keys);
  if (keys->len > 0)
    narrow_edition (mention, keys);
}

static void
add_matched_item (QmWordMatch *match, const char *id)
{
  for (guint i = 0; i < match->items->len; i++)
    if (strcmp (g_ptr_array_index (match->items, i), id) == 0)
      return;
  g_ptr_array_add (match->items, (gpointer) id);
}

/* "A6000 Ada" is written for the RTX 6000 Ada by mistake. */
static void
add_misnamed (const Mention *mention,
              const QmGpuKey *keys,
              guint n_keys,
              QmWordMatch *match)
{
  const char *word = qm_words_at (mention->words, mention->head);

  if (word[0] != 'a' || strlen (word) != 5
      || strcmp (qm_words_at (mention->words, mention->head + 1), "ada") != 0)
    return;
  for (guint i = 0; i < n_keys; i++)
    if (strcmp (keys[i].head, word + 1) == 0
        && (keys[i].qualifiers & QM_QUALIFIER_ADA) != 0)
      {
        add_matched_item (match, keys[i].gpu->id);
        match->sure = FALSE;
      }
}

/* Whether a word is a GPU's number, or several of them: "H100s".  An S does
 * make another GPU of some. */
static gboolean
is_head (const char *word, const char *head)
{
  gsize length = strlen (head);

  if (strncmp (word, head, length) != 0)
    return FALSE;
  return word[length] == '\0'
         || (strcmp (word + length, "s") == 0 && length >= 4
             && strchr ("ahb", head[0]) != NULL);
}

static gboolean
has_context (const Mention *mention, const QmGpuKey *key)
{
  return qm_words_have (mention->words, context_words)
         || has_memory (mention, key)
         || qm_words_have (mention->words, "sxm sxm2 sxm4 sxm5 oam nvl");
}

static void
match_mention (Mention *mention,
               const QmGpuKey *keys,
               guint n_keys,
               QmWordMatch *match)
{
  g_autoptr (GPtrArray) left = g_ptr_array_new ();
  const char *word = qm_words_at (mention->words, mention->head);
  QmAround around;

  for (guint i = 0; i < n_keys; i++)
    if (keys[i].head[0] != '\0' && is_head (word, keys[i].head))
      g_ptr_array_add (left, (gpointer) &keys[i]);
  if (left->len == 0 || !is_meant (mention))
    return;
  around = qm_words_around (mention->words, mention->head);
  if (around == QM_AROUND_SURELY)
    {
      match->around = TRUE;
      return;
    }
  narrow_all (mention, left);
  for (guint i = 0; i < left->len; i++)
    add_matched_item (
        match, ((const QmGpuKey *) g_ptr_array_index (left, i))->gpu->id);
  if (left->len == 0)
    return;
  match->service = match->service || around == QM_AROUND_PERHAPS;
  if (left->len > 1 || mention->forced || around == QM_AROUND_PERHAPS
      || !has_context (mention, g_ptr_array_index (left, 0)))
    match->sure = FALSE;
  match->gpus = MAX (match->gpus, count_of (mention->words, mention->head));
  if (left->len == 1 && is_nvl (mention, g_ptr_array_index (left, 0))
      && match->gpus == 1 && qm_words_have (mention->words, "188gb"))
    match->gpus = 2;
  add_misnamed (mention, keys, n_keys, match);
}

/* A name without a number of its own: "DGX Spark". */
static void
match_spark (const QmWords *words,
             const QmGpuKey *keys,
             guint n_keys,
             QmWordMatch *match)
{
  for (int i = 1; i < words->n; i++)
    {
      QmAround around;

      if (strcmp (words->words[i], "spark") != 0
          || strcmp (words->words[i - 1], "dgx") != 0
          || (around = qm_words_around (words, i)) == QM_AROUND_SURELY)
        continue;
      for (guint j = 0; j < n_keys; j++)
        if (strstr (keys[j].gpu->name, "DGX Spark") != NULL)
          {
            add_matched_item (match, keys[j].gpu->id);
            match->gpus = MAX (match->gpus, count_of (words, i - 1));
          }
      if (around == QM_AROUND_PERHAPS)
        {
          match->service = TRUE;
          match->sure = FALSE;
        }
    }
}

void
qm_words_match (const QmWords *words,
                const QmGpuKey *keys,
                guint n_keys,
                QmWordMatch *match)
{
  match->sure = TRUE;
  match->gpus = 0;
  for (int i = 0; i < words->n; i++)
    {
      Mention mention = { .words = words, .head = i };

      match_mention (&mention, keys, n_keys, match);
    }
  match_spark (words, keys, n_keys, match);
  if (match->items->len != 1)
    match->sure = FALSE;
}

/* "3090", "a2000", "rx7900": three digits or more. */
static gboolean
is_model (const char *word)
{
  gsize digits = 0;

  for (; *word != '\0'; word++)
    digits += g_ascii_isdigit (*word) != 0;
  return digits >= 3;
}

gboolean
qm_words_name_gpu (const QmWords *words)
{
  static const char series[] = QM_SPACED_MATCH_SERIES;

  for (int i = 0; i < words->n; i++)
    if (qm_word_in (words->words[i], series))
      for (int j = i + 1; j < words->n && j <= i + 3; j++)
        if (is_model (words->words[j]) && qm_word_memory (words->words[j]) == 0)
          return TRUE;
  return FALSE;
}
