/* SPDX-License-Identifier: Apache-2.0 */

/* A store in the place of a damaged one, and what is told about that.
 *
 * SQLite plays the journal beside a file back into whatever has the file's
 * name.  So the old journal goes before the new file gets that name, and the
 * new file lies beside it by then, as ".replacing": whoever finds one there
 * ends what was begun.  The damaged file stays under a name of its own, with
 * its journal, and beside it a small file with ".notice" says what became of
 * it, until somebody has decided and takes that away. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-backup.h"
#include "pricing/quotes/qm-quote-store-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define SALVAGED ".replacing"
#define NOTICE   ".notice"
#define GROUP    "damage"

static const char *const journals[] = { "-wal", "-shm", "-journal" };

/* --- one at a time --- */

typedef struct
{
  char *name;
  int file; /* -1: locking is not possible here */
} Lock;

static void
lock_take (Lock *lock, const char *path)
{
  lock->name = g_strconcat (path, SALVAGED "-lock", NULL);
  for (;;)
    {
      GStatBuf one, two;

      lock->file = g_open (lock->name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (lock->file < 0)
        return;
      /* Whoever had it has taken its name away. */
      if (flock (lock->file, LOCK_EX) != 0
          || (fstat (lock->file, &one) == 0 && g_stat (lock->name, &two) == 0
              && one.st_ino == two.st_ino))
        return;
      close (lock->file);
    }
}

static void
lock_release (Lock *lock)
{
  if (lock->file >= 0)
    {
      g_unlink (lock->name);
      close (lock->file);
    }
  g_free (lock->name);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Lock, lock_release)

/* --- the exchange --- */

/* Whether a new file waits for its name; something else that is called so is
 * not ours. */
static gboolean
is_waiting (const char *salvaged)
{
  guchar header[QM_STORE_HEADER];

  return g_file_test (salvaged, G_FILE_TEST_IS_REGULAR)
         && qm_store_read_header (salvaged, header, NULL)
         && qm_store_application (header) == QM_STORE_APPLICATION_ID;
}

char *
qm_store_current_path (const char *path)
{
  g_autofree char *salvaged = g_strconcat (path, SALVAGED, NULL);

  return is_waiting (salvaged) ? g_steal_pointer (&salvaged) : g_strdup (path);
}

static gboolean
finish (const char *path, GError **error)
{
  g_autofree char *salvaged = g_strconcat (path, SALVAGED, NULL);

  if (!is_waiting (salvaged))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (journals); i++)
    {
      g_autofree char *journal = g_strconcat (path, journals[i], NULL);

      if (g_unlink (journal) != 0 && errno != ENOENT)
        return qm_store_fail_file (journal, errno, error);
    }
  return g_rename (salvaged, path) == 0
         || qm_store_fail_file (path, errno, error);
}

gboolean
qm_store_finish_replacing (const char *path, GError **error)
{
  g_autofree char *salvaged = g_strconcat (path, SALVAGED, NULL);
  g_auto (Lock) lock = { NULL, -1 };

  if (!is_waiting (salvaged))
    return TRUE;
  lock_take (&lock, path);
  return finish (path, error);
}

/* Gives a file a second name; where there is no such thing, a copy.  Nothing
 * where there is no such file. */
static gboolean
keep_file (const char *from, const char *to, GError **error)
{
  g_autofree char *bytes = NULL;
  gsize size;

  if (link (from, to) == 0 || errno == ENOENT || errno == EEXIST)
    return TRUE;
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS)
    return qm_store_fail_file (to, errno, error);
  return g_file_get_contents (from, &bytes, &size, error)
         && qm_store_publish (to, bytes, size, FALSE, error);
}

static gboolean
write_notice (const char *kept, const QmStoreSalvage *found, GError **error)
{
  g_autoptr (GKeyFile) notice = g_key_file_new ();
  g_autofree char *name = g_strconcat (kept, NOTICE, NULL);
  g_autofree char *text = NULL;
  gsize size;

  g_key_file_set_integer (notice, GROUP, "quotes", found->quotes);
  g_key_file_set_integer (notice, GROUP, "incomplete", found->incomplete);
  g_key_file_set_integer (notice, GROUP, "lost", found->lost);
  g_key_file_set_boolean (notice, GROUP, "counted", found->counted);
  g_key_file_set_int64 (notice, GROUP, "found-at",
                        g_get_real_time () / G_USEC_PER_SEC);
  text = g_key_file_to_data (notice, &size, NULL);
  return qm_store_publish (name, text, size, TRUE, error);
}

/* A name for the damaged file: the one that it has already where somebody was
 * killed on the way.  (transfer full) */
static char *
name_damaged (const char *path)
{
  g_autoptr (GPtrArray) names = qm_store_list_dated (path, QM_STORE_DAMAGED);
  GStatBuf here, there;

  for (guint i = 0; i < names->len && g_stat (path, &here) == 0; i++)
    if (g_stat (g_ptr_array_index (names, i), &there) == 0
        && here.st_ino == there.st_ino && here.st_dev == there.st_dev)
      return g_strdup (g_ptr_array_index (names, i));
  return qm_store_dated_name (path, QM_STORE_DAMAGED);
}

/* The file and its journal under a name of their own. */
static gboolean
keep_damaged (const char *path, const QmStoreSalvage *found, GError **error)
{
  g_autofree char *kept = name_damaged (path);
  g_autofree char *log = g_strconcat (path, "-wal", NULL);
  g_autofree char *kept_log = g_strconcat (kept, "-wal", NULL);
  g_autofree char *journal = g_strconcat (path, "-journal", NULL);
  g_autofree char *kept_journal = g_strconcat (kept, "-journal", NULL);

  return keep_file (log, kept_log, error)
         && keep_file (journal, kept_journal, error)
         && keep_file (path, kept, error)
         && (found == NULL || write_notice (kept, found, error));
}

static gboolean
is_same_file (const char *path, const GStatBuf *identity)
{
  GStatBuf now;

  return g_stat (path, &now) == 0 && now.st_ino == identity->st_ino
         && now.st_dev == identity->st_dev && now.st_size == identity->st_size
         && now.st_mtim.tv_sec == identity->st_mtim.tv_sec
         && now.st_mtim.tv_nsec == identity->st_mtim.tv_nsec;
}

gboolean
qm_store_replace (const char *path,
                  const GStatBuf *identity,
                  QmQuoteStore *store,
                  const QmStoreSalvage *found,
                  GError **error)
{
  g_autofree char *salvaged = g_strconcat (path, SALVAGED, NULL);
  g_auto (Lock) lock = { NULL, -1 };

  lock_take (&lock, path);
  if (!is_same_file (path, identity)
      || g_file_test (salvaged, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY,
                   _ ("Another program has just replaced “%s”; try again."),
                   path);
      return FALSE;
    }
  return keep_damaged (path, found, error)
         && qm_store_publish_store (salvaged, store, TRUE, error)
         && finish (path, error);
}

/* --- what is told --- */

static void
free_damage (QmStoreDamage *damage)
{
  if (damage == NULL)
    return;
  g_free (damage->path);
  g_free (damage->text);
  g_free (damage);
}

/* NULL: nothing is to be told of it. */
static QmStoreDamage *
read_damage (const char *path, const char *kept)
{
  g_autoptr (GKeyFile) notice = g_key_file_new ();
  g_autofree char *name = g_strconcat (kept, NOTICE, NULL);
  g_autofree char *what = NULL;
  g_autofree char *base = g_path_get_basename (kept);
  g_autofree char *safe = g_filename_display_name (base);
  QmStoreDamage *damage;
  QmStoreSalvage found;

  if (!g_file_test (name, G_FILE_TEST_EXISTS))
    return NULL;
  /* Where it cannot be read, at least that there is one is told. */
  g_key_file_load_from_file (notice, name, G_KEY_FILE_NONE, NULL);
  found.quotes =
      MAX (g_key_file_get_integer (notice, GROUP, "quotes", NULL), 0);
  found.incomplete = g_key_file_get_integer (notice, GROUP, "incomplete", NULL);
  found.lost = CLAMP (g_key_file_get_integer (notice, GROUP, "lost", NULL), 0,
                      G_MAXINT - found.quotes);
  found.counted = g_key_file_get_boolean (notice, GROUP, "counted", NULL);
  what = qm_store_salvage_text (&found);
  damage = g_new0 (QmStoreDamage, 1);
  damage->path = g_strdup (kept);
  damage->found_at = g_key_file_get_int64 (notice, GROUP, "found-at", NULL);
  /* Translators: a file, what could be read of it, another file. */
  damage->text =
      g_strdup_printf (_ ("“%s” was damaged: %s. These are used now; "
                          "the damaged file was kept as “%s”."),
                       path, what, safe);
  return damage;
}

GPtrArray *
qm_quote_store_damages (const char *path)
{
  g_autofree char *file = NULL;
  g_autoptr (GPtrArray) kept = NULL;
  GPtrArray *damages =
      g_ptr_array_new_with_free_func ((GDestroyNotify) free_damage);

  g_return_val_if_fail (path != NULL, damages);

  if (strcmp (path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return damages;
  file = qm_store_canonical (path);
  kept = qm_store_list_dated (file, QM_STORE_DAMAGED);
  for (guint i = 0; i < kept->len; i++)
    {
      QmStoreDamage *damage = read_damage (file, g_ptr_array_index (kept, i));

      if (damage != NULL)
        g_ptr_array_add (damages, damage);
    }
  return damages;
}

char *
qm_quote_store_kept_text (const char *path)
{
  g_autofree char *file = NULL;
  g_autoptr (GPtrArray) kept = NULL;
  g_autoptr (GString) names = g_string_new (NULL);

  g_return_val_if_fail (path != NULL, NULL);

  if (strcmp (path, QM_QUOTE_STORE_IN_MEMORY) == 0)
    return NULL;
  file = qm_store_canonical (path);
  kept = qm_store_list_dated (file, QM_STORE_DAMAGED);
  for (guint i = 0; i < kept->len; i++)
    {
      g_autofree char *safe =
          g_filename_display_name (g_ptr_array_index (kept, i));

      g_string_append_printf (names, "%s“%s”", i > 0 ? ", " : "", safe);
    }
  if (kept->len == 0)
    return NULL;
  return g_strdup_printf (
      ngettext ("%s was damaged and kept as it was, and may still have it; "
                "nothing is erased there until you delete that file.",
                "%s were damaged and kept as they were, and may still have it; "
                "nothing is erased there until you delete those files.",
                kept->len),
      names->str);
}

gboolean
qm_quote_store_accept_damages (const char *path, GError **error)
{
  g_autoptr (GPtrArray) damages = qm_quote_store_damages (path);

  for (guint i = 0; i < damages->len; i++)
    {
      const QmStoreDamage *damage = g_ptr_array_index (damages, i);
      g_autofree char *name = g_strconcat (damage->path, NOTICE, NULL);

      if (g_unlink (name) != 0 && errno != ENOENT)
        return qm_store_fail_file (name, errno, error);
    }
  return TRUE;
}
