/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/quotes/qm-match.h"

#include "data/csv-table.h"
#include "data/file.h"
#include "data/text.h"
#include "pricing/formats/qm-csv-words.h"
#include "pricing/quotes/qm-line-ask.h"
#include "pricing/quotes/qm-line-thing.h"
#include "pricing/quotes/qm-match-private.h"
#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_GPUS 1024
/* Parts are compared with other lines in quotes of no more lines, and of no
 * more machines. */
#define MOST_LINES    1000
#define MOST_MACHINES 100000

typedef struct
{
  char *items; /* ids by ";"; empty: nothing of the catalog */
  int gpus;
} PartNumber;

struct _QmMatcher
{
  gatomicrefcount references;
  QmCatalog *catalog;
  QmGpuKey *keys;
  guint n_keys;
  GHashTable *parts; /* of PartNumber, by make_key() */
};

static void
part_number_free (gpointer data)
{
  PartNumber *part = data;

  g_free (part->items);
  g_free (part);
}

/* A part number's letters and digits in capitals. */
static char *
make_key (const char *text, gsize length)
{
  GString *key = g_string_new (NULL);

  for (gsize i = 0; i < length; i++)
    if (g_ascii_isalnum (text[i]))
      g_string_append_c (key, g_ascii_toupper (text[i]));
  return g_string_free (key, FALSE);
}

enum
{
  COLUMN_PART_NUMBER,
  COLUMN_ITEM,
  COLUMN_GPUS,
  COLUMN_SOURCE,
  N_COLUMNS
};

static void
read_items_row (QmCsvRow *row, void *data)
{
  QmMatcher *matcher = data;
  const char *number = qm_csv_text (row, COLUMN_PART_NUMBER, true);
  const char *items = qm_csv_text (row, COLUMN_ITEM, false);
  int gpus = (int) qm_csv_integer (row, COLUMN_GPUS, 0, MAX_GPUS, 1);
  g_autofree char *key = make_key (number, strlen (number));
  PartNumber *part;

  qm_csv_text (row, COLUMN_SOURCE, true);
  if (strlen (key) < 5)
    qm_csv_fail (row, COLUMN_PART_NUMBER, QM_STATUS_INVALID,
                 "has fewer than five letters and digits");
  if (row->status != QM_OK)
    return;
  part = g_new0 (PartNumber, 1);
  part->items = g_strdup (items);
  part->gpus = gpus;
  g_hash_table_replace (matcher->parts, g_steal_pointer (&key), part);
}

static GHashTable *
new_parts (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                part_number_free);
}

/* Puts the rows of one table into another, of which they replace those with the
 * same key. */
static void
move_parts (GHashTable *from, GHashTable *to)
{
  GHashTableIter iter;
  gpointer key, part;

  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &key, &part))
    {
      g_hash_table_iter_steal (&iter);
      g_hash_table_replace (to, key, part);
    }
}

/* A file that is not there is none. */
static void
read_part_numbers (QmMatcher *matcher, const char *directory, GArray *problems)
{
  static const QmCsvColumn columns[N_COLUMNS] = { { "part_number", true },
                                                  { "item", true },
                                                  { "gpus", false },
                                                  { "source", true } };
  GHashTable *before = matcher->parts;
  g_autofree char *path = NULL;
  QmPool pool = { 0 };
  QmError problem = { 0 };
  char *text = NULL;
  size_t length;
  QmStatus status;

  if (directory == NULL)
    return;
  path = g_build_filename (directory, "part-numbers.csv", NULL);
  if (!qm_file_exists (path))
    return;
  matcher->parts = new_parts ();
  status = qm_text_read_file (path, &text, &length, &problem);
  if (status == QM_OK)
    status = qm_csv_read (text, length, path, columns, N_COLUMNS, &pool,
                          read_items_row, matcher, &problem);
  free (text);
  qm_pool_clear (&pool);
  if (status == QM_OK)
    move_parts (matcher->parts, before);
  else if (problems != NULL)
    g_array_append_val (problems, problem);
  g_hash_table_unref (matcher->parts);
  matcher->parts = before;
}

QmMatcher *
qm_matcher_new (const QmCatalog *catalog,
                const char *shipped_dir,
                const char *user_dir,
                GArray *problems)
{
  QmMatcher *matcher;
  const QmGpu *gpus;
  size_t n;

  g_return_val_if_fail (catalog != NULL, NULL);

  gpus = qm_catalog_gpus (catalog, &n);
  matcher = g_new0 (QmMatcher, 1);
  g_atomic_ref_count_init (&matcher->references);
  matcher->catalog = qm_catalog_ref (catalog);
  matcher->keys = g_new0 (QmGpuKey, n + 1);
  matcher->n_keys = (guint) n;
  for (size_t i = 0; i < n; i++)
    qm_gpu_key_init (&matcher->keys[i], &gpus[i]);
  matcher->parts = new_parts ();
  read_part_numbers (matcher, shipped_dir, problems);
  read_part_numbers (matcher, user_dir, problems);
  return matcher;
}

QmMatcher *
qm_matcher_ref (const QmMatcher *matcher)
{
  /* The count alone changes. */
  QmMatcher *counted = (QmMatcher *) matcher;

  g_return_val_if_fail (matcher != NULL, NULL);

  g_atomic_ref_count_inc (&counted->references);
  return counted;
}

void
qm_matcher_free (QmMatcher *matcher)
{
  if (matcher == NULL || !g_atomic_ref_count_dec (&matcher->references))
    return;
  g_free (matcher->keys);
  g_hash_table_unref (matcher->parts);
  qm_catalog_free (matcher->catalog);
  g_free (matcher);
}

const QmCatalog *
qm_matcher_get_catalog (const QmMatcher *matcher)
{
  g_return_val_if_fail (matcher != NULL, NULL);

  return matcher->catalog;
}

void
qm_match_clear (QmMatch *match)
{
  g_clear_pointer (&match->item, g_free);
  g_clear_pointer (&match->candidates, g_free);
}

/* The length of "900-21001-0020" at the start, which further groups only
 * revise; 0: it does not begin so. */
static gsize
revised_length (const char *text)
{
  static const gsize groups[] = { 3, 5, 4 };
  gsize n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      for (gsize j = 0; j < groups[i]; j++, n++)
        if (!g_ascii_isalnum (text[n]))
          return 0;
      if (i + 1 < G_N_ELEMENTS (groups) && text[n++] != '-')
        return 0;
    }
  return text[n] == '-' || text[n] == '\0' ? n : 0;
}

static const PartNumber *
look_up (const QmMatcher *matcher, const char *text)
{
  g_autofree char *key = make_key (text, strlen (text));
  const PartNumber *part = g_hash_table_lookup (matcher->parts, key);
  gsize n;

  if (part == NULL && (n = revised_length (text)) > 0)
    {
      g_autofree char *first = make_key (text, n);

      part = g_hash_table_lookup (matcher->parts, first);
    }
  return part;
}

/* The first part number that is known in a text. */
static const PartNumber *
find_part (const QmMatcher *matcher, const char *text)
{
  g_auto (GStrv) words = NULL;
  const PartNumber *part = NULL;

  if (text == NULL)
    return NULL;
  words = g_strsplit_set (text, " \t\n,;:()[]|\"'/", QM_MATCH_MAX_WORDS);
  for (guint i = 0; words[i] != NULL && part == NULL; i++)
    if (strlen (words[i]) >= 6 && strlen (words[i]) <= 64)
      part = look_up (matcher, words[i]);
  return part;
}

static gboolean
is_known_item (const QmMatcher *matcher, const char *id)
{
  return qm_catalog_gpu (matcher->catalog, id) != NULL
         || qm_catalog_machine (matcher->catalog, id) != NULL;
}

static gboolean
holds (const GPtrArray *items, const char *id)
{
  for (guint i = 0; i < items->len; i++)
    if (strcmp (g_ptr_array_index (items, i), id) == 0)
      return TRUE;
  return FALSE;
}

/* Puts the outcome into a match. */
static void
conclude_match (QmMatch *match, const GPtrArray *items, gboolean sure, int gpus)
{
  GString *list;

  if (items->len == 0)
    return;
  match->gpus = gpus;
  if (items->len == 1 && sure)
    {
      match->state = QM_MATCH_FOUND;
      match->item = g_strdup (g_ptr_array_index (items, 0));
      return;
    }
  match->state = QM_MATCH_AMBIGUOUS;
  list = g_string_new (NULL);
  for (guint i = 0; i < items->len; i++)
    g_string_append_printf (list, "%s%s", i > 0 ? ";" : "",
                            (const char *) g_ptr_array_index (items, i));
  match->candidates = g_string_free (list, FALSE);
}

/* What part number and words agree on, else all that either says. */
static void
combine (const QmMatcher *matcher,
         const PartNumber *part,
         QmWordMatch *words,
         QmMatch *match)
{
  g_auto (GStrv) ids = g_strsplit (part->items, ";", -1);
  g_autoptr (GPtrArray) common = g_ptr_array_new ();
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  gboolean several = FALSE;

  for (guint i = 0; ids[i] != NULL; i++)
    if (ids[i][0] != '\0' && is_known_item (matcher, ids[i]))
      {
        several = several || all->len > 0;
        g_ptr_array_add (all, ids[i]);
        if (holds (words->items, ids[i]))
          g_ptr_array_add (common, ids[i]);
      }
  if (words->items->len == 0)
    conclude_match (match, all, !several, part->gpus);
  else if (common->len > 0)
    conclude_match (match, common, common->len == 1,
                    MAX (words->gpus, part->gpus));
  else
    {
      for (guint i = 0; i < words->items->len; i++)
        g_ptr_array_add (all, g_ptr_array_index (words->items, i));
      conclude_match (match, all, FALSE, words->gpus);
    }
}

/* A machine is known by its name or id alone. */
static gboolean
match_machine (const QmMatcher *matcher, const char *text, QmMatch *match)
{
  g_autofree char *normal = text != NULL ? qm_csv_normalize (text) : NULL;
  const QmMachine *machines;
  size_t n;

  machines = qm_catalog_machines (matcher->catalog, &n);
  for (size_t i = 0; normal != NULL && i < n; i++)
    {
      g_autofree char *name = qm_csv_normalize (machines[i].name);
      g_autofree char *id = qm_csv_normalize (machines[i].id);

      if (strcmp (normal, name) == 0 || strcmp (normal, id) == 0)
        {
          match->state = QM_MATCH_FOUND;
          match->item = g_strdup (machines[i].id);
          return TRUE;
        }
    }
  return FALSE;
}

/* A GPU's id, or its name as the catalog has it. */
static gboolean
match_id (const QmMatcher *matcher, const char *text, QmMatch *match)
{
  for (guint i = 0; text != NULL && i < matcher->n_keys; i++)
    {
      const QmGpu *gpu = matcher->keys[i].gpu;

      if (strcmp (text, gpu->id) == 0
          || g_ascii_strcasecmp (text, gpu->name) == 0)
        {
          match->state = QM_MATCH_FOUND;
          match->item = g_strdup (gpu->id);
          match->gpus = 1;
          return TRUE;
        }
    }
  return FALSE;
}

static void
match_text (const QmMatcher *matcher, const char *text, QmWordMatch *match)
{
  QmWords words;

  qm_words_split (&words, text);
  qm_words_match (&words, matcher->keys, matcher->n_keys, match);
}

/* The first line names the product, the others tell of it: they count where
 * the first says nothing, or leaves several. */
static void
match_words (const QmMatcher *matcher, const char *text, QmWordMatch *match)
{
  g_autofree char *name = g_strndup (text, strcspn (text, "\n"));
  QmWordMatch whole = { .items = NULL };

  match_text (matcher, name, match);
  if (match->sure || match->around || strchr (text, '\n') == NULL)
    return;
  whole.items = g_ptr_array_new ();
  match_text (matcher, text, &whole);
  if (match->items->len == 0
      || (whole.sure
          && holds (match->items, g_ptr_array_index (whole.items, 0))))
    {
      g_ptr_array_unref (match->items);
      *match = whole;
    }
  else
    g_ptr_array_unref (whole.items);
}

void
qm_matcher_match (const QmMatcher *matcher,
                  const char *part_number,
                  const char *description,
                  QmMatch *match)
{
  QmWordMatch words = { .items = g_ptr_array_new () };
  const PartNumber *part;

  g_return_if_fail (matcher != NULL && match != NULL);

  *match = (QmMatch){ .state = QM_MATCH_NONE };
  if (!match_machine (matcher, description, match)
      && !match_machine (matcher, part_number, match)
      && !match_id (matcher, part_number, match)
      && !match_id (matcher, description, match))
    {
      if (description != NULL)
        match_words (matcher, description, &words);
      if (words.items->len == 0 && !words.around && part_number != NULL)
        match_words (matcher, part_number, &words);
      part = find_part (matcher, part_number);
      if (part == NULL)
        part = find_part (matcher, description);
      if (part != NULL && !words.around)
        combine (matcher, part, &words, match);
      else
        {
          conclude_match (match, words.items, words.sure, words.gpus);
          match->service = words.service;
        }
    }
  g_ptr_array_unref (words.items);
}

/* Whether an id stands in a list separated by ";". */
static gboolean
lists (const char *ids, const char *id)
{
  g_auto (GStrv) list = g_strsplit (ids, ";", -1);

  return g_strv_contains ((const char *const *) list, id);
}

gboolean
qm_matcher_may_be (const QmMatcher *matcher,
                   const char *part_number,
                   const char *description,
                   const char *gpu)
{
  QmMatch match;
  gboolean may;

  g_return_val_if_fail (matcher != NULL && gpu != NULL, FALSE);

  qm_matcher_match (matcher, part_number, description, &match);
  if (match.state == QM_MATCH_FOUND)
    may = strcmp (match.item, gpu) == 0;
  else if (match.state == QM_MATCH_AMBIGUOUS)
    may = lists (match.candidates, gpu);
  else
    {
      QmWords words;

      qm_words_split (&words, description != NULL ? description : "");
      may = !qm_words_name_gpu (&words);
    }
  qm_match_clear (&match);
  return may;
}

/* Whether another line of a quote has surely one of some GPUs. */
static gboolean
has_in_other_line (const QmQuote *quote, const QmQuoteLine *line)
{
  for (guint i = 0; i < quote->lines->len; i++)
    {
      const QmQuoteLine *other = g_ptr_array_index (quote->lines, i);

      if (other != line && other->item != NULL
          && other->match != QM_MATCH_AMBIGUOUS
          && lists (line->candidates, other->item))
        return TRUE;
    }
  return FALSE;
}

/* Of what may be a machine or the service for one, it is the service if the
 * machine stands in another line. */
static void
settle_services (const GPtrArray *services, const QmQuote *quote)
{
  for (guint i = 0; i < services->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (services, i);

      if (!has_in_other_line (quote, line))
        continue;
      line->match = QM_MATCH_NONE;
      line->gpus = 0;
      g_clear_pointer (&line->candidates, g_free);
    }
}

/* Whether a line sells so many cards of a type by themselves, for a price. */
static gboolean
sells_cards (const QmMatcher *matcher,
             const QmQuoteLine *line,
             const char *item,
             gint64 micros)
{
  return line->role == QM_LINE_QUOTED && g_strcmp0 (line->item, item) == 0
         && line->gpus <= 1 && line->quantity_micros == micros
         && (line->price_micros > 0 || line->total_minor > 0)
         && qm_line_thing (matcher->catalog, line) == QM_THING_GPU;
}

/* "4 x L40S" among the parts of two servers, and 8 L40S with their price in
 * another line: these are the same cards, which count there. */
static void
settle_parts (const QmMatcher *matcher, QmQuote *quote)
{
  gint64 machines = 0;

  for (guint i = 0; i < quote->lines->len && quote->lines->len <= MOST_LINES;
       i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
      gint64 cards;
      gboolean sold = FALSE;

      if (line->role != QM_LINE_PART)
        {
          machines = line->role == QM_LINE_QUOTED ? line->quantity_micros : 0;
          continue;
        }
      if (line->match != QM_MATCH_FOUND || line->item == NULL
          || line->price_micros > 0 || line->total_minor > 0 || machines <= 0
          || machines > MOST_MACHINES * (gint64) QM_MICROS_PER_UNIT)
        continue;
      cards = machines * MAX (line->gpus, 1);
      if (line->quantity_micros > QM_MICROS_PER_UNIT
          && line->quantity_micros < 1000 * (gint64) QM_MICROS_PER_UNIT)
        cards *= line->quantity_micros / QM_MICROS_PER_UNIT;
      for (guint j = 0; j < quote->lines->len && !sold; j++)
        sold = sells_cards (matcher, g_ptr_array_index (quote->lines, j),
                            line->item, cards);
      if (!sold)
        continue;
      line->match = QM_MATCH_NONE;
      line->gpus = 0;
      g_clear_pointer (&line->item, g_free);
    }
}

void
qm_matcher_apply (const QmMatcher *matcher, QmQuote *quote)
{
  g_autoptr (GPtrArray) services = g_ptr_array_new ();

  g_return_if_fail (matcher != NULL && quote != NULL);

  for (guint i = 0; i < quote->lines->len; i++)
    {
      QmQuoteLine *line = g_ptr_array_index (quote->lines, i);
      QmMatch match;

      if (line->match == QM_MATCH_CHOSEN)
        continue;
      qm_matcher_match (matcher, line->part_number, line->description, &match);
      g_free (line->item);
      g_free (line->candidates);
      line->match = match.state;
      line->item = match.item;
      if ((line->answered & QM_ASK_PACK) == 0)
        line->gpus = match.gpus;
      line->candidates = match.candidates;
      if (match.service && match.state == QM_MATCH_AMBIGUOUS)
        g_ptr_array_add (services, line);
    }
  settle_services (services, quote);
  settle_parts (matcher, quote);
  for (guint i = 0; i < quote->lines->len; i++)
    qm_line_ask_words (matcher->catalog, quote, i);
}
