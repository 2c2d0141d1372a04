/* SPDX-License-Identifier: Apache-2.0 */

/* A store's file as it is at one moment, in memory.
 *
 * Where SQLite opens a file itself it makes others beside it, takes locks,
 * plays journals back, and believes a journal up to the first byte that is
 * wrong.  Here the file and its write-ahead log are only read: the pages that
 * were committed to the log are laid over those of the file, as
 * https://www.sqlite.org/fileformat2.html#the_write_ahead_log has it. */

#include "config.h"

#include "pricing/quotes/qm-quote-store-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Places in the header of a file. */
#define AT_SIZE_OF_PAGE 16
#define AT_READ_FORMAT  18
#define AT_CHANGES      24
#define AT_PAGES        28
#define AT_APPLICATION  68
#define AT_VALID_FOR    92

#define LOG_HEADER   32
#define FRAME_HEADER 24

/* What may be missing between a file's end and a page of its log. */
#define MAX_GAP ((gsize) 256 << 20)

/* How often a file that somebody writes is looked at again. */
#define TRIES    50
#define PAUSE_US 4000

static guint32
get_32 (const guchar *bytes)
{
  return (guint32) bytes[0] << 24 | (guint32) bytes[1] << 16
         | (guint32) bytes[2] << 8 | bytes[3];
}

static void
put_32 (guchar *bytes, guint32 value)
{
  for (int i = 0; i < 4; i++)
    bytes[i] = (guchar) (value >> (24 - 8 * i));
}

/* --- reading files --- */

/* SQLite's own way to a file: closing a descriptor of ours would take away the
 * locks that other stores of this process hold on the same file. */
static sqlite3_file *
open_main (const char *path, sqlite3_filename *name)
{
  sqlite3_vfs *vfs = sqlite3_vfs_find (NULL);
  sqlite3_file *file = g_malloc0 ((gsize) vfs->szOsFile);

  *name = sqlite3_create_filename (path, "", "", 0, NULL);
  if (*name != NULL
      && vfs->xOpen (vfs, *name, file,
                     SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL)
             == SQLITE_OK)
    return file;
  if (file->pMethods != NULL)
    file->pMethods->xClose (file);
  sqlite3_free_filename (*name);
  g_free (file);
  return NULL;
}

static void
close_main (sqlite3_file *file, sqlite3_filename name)
{
  file->pMethods->xClose (file);
  sqlite3_free_filename (name);
  g_free (file);
}

/* What tells one state of a file from another. */
typedef struct
{
  struct stat status;
  gboolean there;
  guchar log[LOG_HEADER];
  gssize log_size; /* of `log`; -1: there is none */
} Moment;

static gssize
read_log_header (const char *path, guchar header[LOG_HEADER])
{
  g_autofree char *log = g_strconcat (path, "-wal", NULL);
  int file = g_open (log, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  gssize n;

  memset (header, 0, LOG_HEADER);
  if (file < 0)
    return -1;
  n = read (file, header, LOG_HEADER);
  close (file);
  return n;
}

static void
look (const char *path, Moment *moment)
{
  moment->there = stat (path, &moment->status) == 0;
  moment->log_size = read_log_header (path, moment->log);
}

/* Whether what was read between the two is of one state.  While a log grows,
 * all that changes in the file is in the log, too. */
static gboolean
is_same (const Moment *before, const Moment *after)
{
  const struct stat *one = &before->status;
  const struct stat *two = &after->status;

  if (!before->there || !after->there || one->st_ino != two->st_ino
      || one->st_dev != two->st_dev || before->log_size != after->log_size
      || memcmp (before->log, after->log, LOG_HEADER) != 0)
    return FALSE;
  return before->log_size == LOG_HEADER
         || (one->st_size == two->st_size
             && one->st_mtim.tv_sec == two->st_mtim.tv_sec
             && one->st_mtim.tv_nsec == two->st_mtim.tv_nsec);
}

static gboolean
fail_read (const char *path, const char *why, GError **error)
{
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_IO,
               _ ("“%s” cannot be opened, read or written: %s"), path, why);
  return FALSE;
}

static gboolean
read_main (QmStoreImage *image, const char *path, GError **error)
{
  sqlite3_filename name = NULL;
  sqlite3_file *file = open_main (path, &name);
  sqlite3_int64 size = 0;
  int result;

  if (file == NULL)
    return fail_read (path, g_strerror (errno != 0 ? errno : EIO), error);
  result = file->pMethods->xFileSize (file, &size);
  image->bytes =
      sqlite3_malloc64 ((sqlite3_uint64) MAX (size, QM_STORE_HEADER));
  if (image->bytes == NULL)
    result = SQLITE_NOMEM;
  for (sqlite3_int64 at = 0; result == SQLITE_OK && at < size;)
    {
      int n = (int) MIN (size - at, 1 << 24);

      result = file->pMethods->xRead (file, image->bytes + at, n, at);
      at += n;
    }
  image->size = size;
  close_main (file, name);
  /* Short: somebody has cut it off meanwhile, which is seen afterwards. */
  return result == SQLITE_OK || result == SQLITE_IOERR_SHORT_READ
         || fail_read (path, sqlite3_errstr (result), error);
}

/* --- the write-ahead log --- */

/* Sums of the log's own kind, over a multiple of eight bytes. */
static void
add_up (const guchar *bytes, gsize n, gboolean big_endian, guint32 sums[2])
{
  for (gsize i = 0; i + 8 <= n; i += 8)
    {
      guint32 words[2];

      memcpy (words, bytes + i, sizeof words);
      for (int j = 0; j < 2; j++)
        words[j] = big_endian ? GUINT32_FROM_BE (words[j])
                              : GUINT32_FROM_LE (words[j]);
      sums[0] += words[0] + sums[1];
      sums[1] += words[1] + sums[0];
    }
}

typedef struct
{
  const guchar *bytes;
  gsize size;
  gsize page; /* bytes */
  gboolean big_endian;
  guint32 sums[2];
} Log;

static gsize
n_frames (const Log *log)
{
  return (log->size - LOG_HEADER) / (FRAME_HEADER + log->page);
}

static const guchar *
frame (const Log *log, gsize i)
{
  return log->bytes + LOG_HEADER + i * (FRAME_HEADER + log->page);
}

/* Whether a frame is of this log, and not left over from the one before. */
static gboolean
is_of (const Log *log, const guchar *at)
{
  return memcmp (at + 8, log->bytes + 16, 8) == 0 && get_32 (at) != 0;
}

static gboolean
is_valid (Log *log, const guchar *at)
{
  if (!is_of (log, at))
    return FALSE;
  add_up (at, 8, log->big_endian, log->sums);
  add_up (at + FRAME_HEADER, log->page, log->big_endian, log->sums);
  return log->sums[0] == get_32 (at + 16) && log->sums[1] == get_32 (at + 20);
}

static gboolean
begin_log (Log *log)
{
  guint32 magic = get_32 (log->bytes);

  log->big_endian = magic & 1;
  add_up (log->bytes, 24, log->big_endian, log->sums);
  return (magic & ~(guint32) 1) == 0x377f0682
         && get_32 (log->bytes + 4) == 3007000
         && get_32 (log->bytes + 8) == log->page
         && log->sums[0] == get_32 (log->bytes + 24)
         && log->sums[1] == get_32 (log->bytes + 28);
}

/* Whether a frame goes on from sums, and ends a transaction. */
static gboolean
ends_from (const Log *log, gsize i, const guint32 sums[2])
{
  Log on = *log;

  memcpy (on.sums, sums, sizeof on.sums);
  return get_32 (frame (log, i) + 4) != 0 && is_valid (&on, frame (log, i));
}

/* Whether a frame goes on from the one before it, as that has noted its sums,
 * and ends a transaction. */
static gboolean
ends_behind (const Log *log, gsize i)
{
  const guchar *before = frame (log, i - 1);
  const guint32 sums[2] = { get_32 (before + 16), get_32 (before + 20) };

  return ends_from (log, i, sums);
}

/* How many frames belong to whole transactions.  *torn: behind them are others
 * that did, too, which SQLite would pass over without a word.  Whoever is
 * killed may leave such a one whose page is not that of its head, which is
 * written first, and is overwritten from where the whole ones end: that was no
 * transaction yet, and nothing goes on from it. */
static gsize
count_frames (Log *log, gboolean *torn)
{
  gsize n = n_frames (log);
  gsize whole = 0;
  gsize i = 0;

  for (; i < n && is_valid (log, frame (log, i)); i++)
    if (get_32 (frame (log, i) + 4) != 0)
      whole = i + 1;
  /* Where the sums are what is broken, those of its page serve. */
  *torn |= i + 1 < n && ends_from (log, i + 1, log->sums);
  for (i++; i < n && !*torn; i++)
    *torn = ends_behind (log, i);
  return whole;
}

/* Makes the file as long as its last transaction says. */
static gboolean
resize (QmStoreImage *image, gsize size)
{
  guchar *bytes = sqlite3_realloc64 (image->bytes, MAX (size, QM_STORE_HEADER));

  if (bytes == NULL)
    return FALSE;
  if ((gint64) size > image->size)
    memset (bytes + image->size, 0, size - (gsize) image->size);
  image->bytes = bytes;
  image->size = (gint64) size;
  return TRUE;
}

static gboolean
lay_over (QmStoreImage *image, const Log *log, gsize whole)
{
  gsize pages;

  if (whole == 0)
    return TRUE;
  pages = get_32 (frame (log, whole - 1) + 4);
  /* A file that was cut off is shorter than the log says; but not without an
   * end. */
  if (pages * log->page > (gsize) image->size + log->size + MAX_GAP)
    return FALSE;
  if (!resize (image, pages * log->page))
    return FALSE;
  for (gsize i = 0; i < whole; i++)
    {
      const guchar *at = frame (log, i);
      gsize number = get_32 (at);

      if (number <= pages)
        memcpy (image->bytes + (number - 1) * log->page, at + FRAME_HEADER,
                log->page);
    }
  return TRUE;
}

static void
apply_log (QmStoreImage *image, const char *path, gsize page)
{
  g_autofree char *name = g_strconcat (path, "-wal", NULL);
  g_autofree char *bytes = NULL;
  Log log = { .page = page };
  gsize whole;

  if (!g_file_get_contents (name, &bytes, &log.size, NULL)
      || log.size < LOG_HEADER + FRAME_HEADER + page)
    return;
  log.bytes = (const guchar *) bytes;
  if (!begin_log (&log))
    {
      image->torn = TRUE;
      return;
    }
  whole = count_frames (&log, &image->torn);
  if (!lay_over (image, &log, whole))
    image->torn = TRUE;
}

/* --- a rollback journal --- */

/* Keeps writers from the file for a moment, where it is not kept with a
 * write-ahead log.  FALSE: a journal is to be played back first. */
static gboolean
hold (const char *path, sqlite3 **db)
{
  int result =
      sqlite3_open_v2 (path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                       NULL);

  if (result != SQLITE_OK)
    return TRUE;
  sqlite3_extended_result_codes (*db, 1);
  sqlite3_busy_timeout (*db, QM_STORE_BUSY_MS);
  result = sqlite3_exec (*db, "BEGIN; SELECT count(*) FROM sqlite_master", NULL,
                         NULL, NULL);
  return result != SQLITE_READONLY_ROLLBACK
         && result != SQLITE_READONLY_RECOVERY;
}

static gboolean
copy_file (const char *from, const char *to)
{
  g_autoptr (GFile) source = g_file_new_for_path (from);
  g_autoptr (GFile) target = g_file_new_for_path (to);

  return g_file_copy (source, target, G_FILE_COPY_OVERWRITE, NULL, NULL, NULL,
                      NULL);
}

/* What a program that was killed had not written to its end is taken back in a
 * copy. */
static gboolean
read_rolled_back (QmStoreImage *image, const char *path, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("quartermaster-XXXXXX", error);
  g_autofree char *copy = NULL;
  g_autofree char *copied = NULL;
  g_autofree char *journal = g_strconcat (path, "-journal", NULL);
  sqlite3 *db = NULL;
  gboolean ok;

  if (folder == NULL)
    return FALSE;
  copy = g_build_filename (folder, "copy", NULL);
  copied = g_strconcat (copy, "-journal", NULL);
  ok = copy_file (path, copy) && copy_file (journal, copied)
       && sqlite3_open (copy, &db) == SQLITE_OK;
  if (ok)
    sqlite3_exec (db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
  sqlite3_close (db);
  ok = ok && read_main (image, copy, NULL);
  g_unlink (copied);
  g_unlink (copy);
  g_rmdir (folder);
  return ok || fail_read (path, g_strerror (EIO), error);
}

/* --- the whole --- */

static void
clear_image (QmStoreImage *image)
{
  sqlite3_free (image->bytes);
  *image = (QmStoreImage){ 0 };
}

static gsize
page_size (const guchar *header)
{
  gsize size =
      (gsize) header[AT_SIZE_OF_PAGE] << 8 | header[AT_SIZE_OF_PAGE + 1];

  if (size == 1)
    size = 65536;
  return size >= 512 && (size & (size - 1)) == 0 ? size : 0;
}

/* In memory there is no log, and SQLite takes a file that is shorter than it
 * says for no database at all. */
static void
make_readable (QmStoreImage *image)
{
  gsize page = page_size (image->bytes);
  guchar *header = image->bytes;
  gsize pages;

  image->application = qm_store_application (header);
  header[AT_READ_FORMAT] = header[AT_READ_FORMAT + 1] = 1;
  if (page == 0)
    return;
  pages = (gsize) image->size / page;
  if (get_32 (header + AT_CHANGES) != get_32 (header + AT_VALID_FOR)
      || get_32 (header + AT_PAGES) <= pages)
    return;
  image->torn = TRUE;
  put_32 (header + AT_PAGES, (guint32) pages);
}

static gboolean
read_once (QmStoreImage *image, const char *path, GError **error)
{
  gsize page;

  if (!read_main (image, path, error))
    return FALSE;
  if (image->size < QM_STORE_HEADER)
    return TRUE;
  page = page_size (image->bytes);
  /* As SQLite has it, what is missing of the last page is zero. */
  if (page != 0 && (gsize) image->size % page != 0)
    {
      image->torn = TRUE;
      if (!resize (image, ((gsize) image->size / page + 1) * page))
        return qm_store_fail_file (path, ENOMEM, error);
    }
  if (image->bytes[AT_READ_FORMAT + 1] != 1 && page != 0)
    apply_log (image, path, page);
  return TRUE;
}

static gboolean
read_steadily (QmStoreImage *image, const char *path, GError **error)
{
  for (int i = 0; i < TRIES; i++)
    {
      Moment before, after;

      clear_image (image);
      look (path, &before);
      if (!read_once (image, path, error))
        return FALSE;
      look (path, &after);
      if (is_same (&before, &after))
        return TRUE;
      g_usleep (PAUSE_US);
    }
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_BUSY,
               _ ("Another program is writing to “%s”; try again."), path);
  return FALSE;
}

gboolean
qm_store_image_read (QmStoreImage *image, const char *path, GError **error)
{
  guchar header[QM_STORE_HEADER];
  sqlite3 *db = NULL;
  gboolean ok;

  if (!qm_store_read_header (path, header, error))
    return FALSE;
  if (header[AT_READ_FORMAT + 1] != 1)
    ok = read_steadily (image, path, error);
  else if (hold (path, &db))
    ok = read_steadily (image, path, error);
  else
    ok = read_rolled_back (image, path, error);
  sqlite3_close (db);
  if (ok && image->size < QM_STORE_HEADER)
    ok = fail_read (path, g_strerror (EIO), error);
  if (ok)
    make_readable (image);
  else
    clear_image (image);
  return ok;
}

static gboolean
fail_foreign (const char *path, const char *format, GError **error)
{
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_FOREIGN,
               format, path);
  return FALSE;
}

gboolean
qm_store_check_file (const char *path, gboolean *absent, GError **error)
{
  struct stat status;

  if (absent != NULL)
    *absent = FALSE;
  if (stat (path, &status) == 0)
    return S_ISREG (status.st_mode)
           || fail_foreign (path, _ ("“%s” is no file."), error);
  if (errno == ENOENT && absent != NULL && lstat (path, &status) != 0)
    {
      *absent = TRUE;
      return TRUE;
    }
  if (errno != ENOENT)
    return fail_read (path, g_strerror (errno), error);
  g_set_error (error, QM_QUOTE_STORE_ERROR, QM_QUOTE_STORE_ERROR_ABSENT,
               _ ("There is no file “%s”."), path);
  return FALSE;
}

gboolean
qm_store_read_header (const char *path,
                      guchar header[QM_STORE_HEADER],
                      GError **error)
{
  sqlite3_filename name = NULL;
  sqlite3_file *file;
  sqlite3_int64 size = 0;
  int result;

  if (!qm_store_check_file (path, NULL, error))
    return FALSE;
  errno = 0;
  file = open_main (path, &name);
  if (file == NULL)
    return fail_read (path, g_strerror (errno != 0 ? errno : EIO), error);
  memset (header, 0, QM_STORE_HEADER);
  result = file->pMethods->xFileSize (file, &size);
  if (result == SQLITE_OK)
    result = file->pMethods->xRead (file, header, QM_STORE_HEADER, 0);
  close_main (file, name);
  if (result == SQLITE_OK && memcmp (header, "SQLite format 3", 16) == 0)
    return TRUE;
  if (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ)
    return fail_read (path, sqlite3_errstr (result), error);
  if (size == 0)
    return fail_foreign (path,
                         _ ("“%s” is empty, which no store of quotes ever is: "
                            "remove it, or use another file."),
                         error);
  return fail_foreign (path, _ ("“%s” is no store of quotes."), error);
}

guchar *
qm_store_serialize (sqlite3 *db, gsize *size)
{
  sqlite3_int64 n = 0;
  guchar *bytes = sqlite3_serialize (db, "main", &n, 0);

  if (bytes == NULL || n < QM_STORE_HEADER)
    {
      sqlite3_free (bytes);
      return NULL;
    }
  /* To be written with a log from the first time on. */
  bytes[AT_READ_FORMAT] = bytes[AT_READ_FORMAT + 1] = 2;
  *size = (gsize) n;
  return bytes;
}

guint32
qm_store_application (const guchar header[QM_STORE_HEADER])
{
  return get_32 (header + AT_APPLICATION);
}

gboolean
qm_store_has_tables (const char *path)
{
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  /* SQLite takes the file for one on a medium that cannot be written. */
  g_autofree char *name =
      g_strconcat (uri != NULL ? uri : "", "?immutable=1", NULL);
  sqlite3 *db = NULL;
  sqlite3_stmt *row = NULL;
  gboolean ours =
      uri != NULL
      && sqlite3_open_v2 (name, &db,
                          SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                              | SQLITE_OPEN_NOMUTEX,
                          NULL)
             == SQLITE_OK
      && sqlite3_prepare_v2 (db, QM_STORE_OWN_TABLES, -1, &row, NULL)
             == SQLITE_OK
      && sqlite3_step (row) == SQLITE_ROW
      && sqlite3_column_int (row, 0) == QM_STORE_N_OWN_TABLES;

  sqlite3_finalize (row);
  sqlite3_close (db);
  return ours;
}

sqlite3 *
qm_store_image_open (QmStoreImage *image)
{
  sqlite3 *db = NULL;
  int result = sqlite3_open_v2 (":memory:", &db,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                    | SQLITE_OPEN_NOMUTEX,
                                NULL);

  if (result == SQLITE_OK)
    {
      /* Takes the bytes, also where it fails. */
      result = sqlite3_deserialize (db, "main", image->bytes, image->size,
                                    image->size,
                                    SQLITE_DESERIALIZE_FREEONCLOSE
                                        | SQLITE_DESERIALIZE_RESIZEABLE);
      image->bytes = NULL;
    }
  if (result == SQLITE_OK)
    return db;
  sqlite3_close (db);
  return NULL;
}
