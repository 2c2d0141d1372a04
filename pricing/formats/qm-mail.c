/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-mail.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <gmime/gmime.h>
#include <string.h>

/* So much of a document is looked at to tell whether it is a mail. */
#define LOOK_AT_FIELDS ((gsize) 4096)

/* What GMime takes in linear time, and without its stack running over: lines
 * that may be boundaries, and colons in a field of addresses, each of which may
 * begin a group in the one before it. */
#define MOST_BOUNDARIES 5000
#define MOST_COLONS     1000

typedef struct
{
  QmMail *mail;
  GCancellable *cancellable;
  guint seen; /* parts of all kinds */
} Walk;

static void unpack_into (Walk *walk, GBytes *bytes, guint depth);

static void
part_free (gpointer data)
{
  QmMailPart *part = data;

  g_free (part->name);
  g_free (part->media_type);
  g_bytes_unref (part->bytes);
  g_free (part);
}

static void
locked_free (gpointer data)
{
  QmMailLocked *locked = data;

  g_free (locked->name);
  g_free (locked);
}

void
qm_mail_free (QmMail *mail)
{
  if (mail == NULL)
    return;
  g_free (mail->from);
  g_free (mail->subject);
  g_free (mail->date);
  g_ptr_array_unref (mail->parts);
  g_ptr_array_unref (mail->locked);
  g_free (mail);
}

/* --- whether it is one --- */

/* The length of the name of a field at the beginning of a line; 0: there is
 * none. */
static gsize
field_length (const char *line, gsize size)
{
  gsize n = 0;

  while (n < size && (g_ascii_isalnum (line[n]) || line[n] == '-'))
    n++;
  return n < size && line[n] == ':' ? n : 0;
}

static gboolean
is_one_of (const char *name, gsize length, const char *const *names)
{
  for (; *names != NULL; names++)
    if (strlen (*names) == length
        && g_ascii_strncasecmp (name, *names, length) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
ends_in (const char *name, const char *ending)
{
  gsize length = name != NULL ? strlen (name) : 0;

  return length >= strlen (ending)
         && g_ascii_strcasecmp (name + length - strlen (ending), ending) == 0;
}

/* Whether a line begins a field that GMime reads addresses of. */
static gboolean
begins_addresses (const char *line, gsize size)
{
  static const char *const names[] = { "From", "Sender", "Reply-To", "To",
                                       "Cc",   "Bcc",    NULL };
  gsize n = 0;

  while (n < size && (g_ascii_isalnum (line[n]) || line[n] == '-'))
    n++;
  return is_one_of (line, n, names);
}

/* Whether a mail is beyond what is left to GMime; the fields of mails in it are
 * looked at, too. */
static gboolean
is_beyond (const char *data, gsize size)
{
  gboolean addresses = FALSE;
  guint boundaries = 0, colons = 0;

  for (gsize at = 0; at < size;)
    {
      const char *line = data + at;
      const char *next = memchr (line, '\n', size - at);
      gsize length = next != NULL ? (gsize) (next - line) + 1 : size - at;

      boundaries += length > 2 && line[0] == '-' && line[1] == '-';
      if (*line != ' ' && *line != '\t')
        {
          addresses = begins_addresses (line, length);
          colons = 0;
        }
      for (gsize i = 0; addresses && i < length; i++)
        colons += line[i] == ':';
      if (boundaries > MOST_BOUNDARIES || colons > MOST_COLONS)
        return TRUE;
      at += length;
    }
  return FALSE;
}

/* Past a byte order mark, which editors leave, and the line that stands between
 * the mails of a folder. */
static gsize
skip_before_fields (const char *data, gsize size)
{
  gsize at = size >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

  if (size - at >= 5 && memcmp (data + at, "From ", 5) == 0)
    {
      const char *end = memchr (data + at, '\n', MIN (size - at, 1000));

      at = end != NULL ? (gsize) (end - data) + 1 : at;
    }
  return at;
}

gboolean
qm_mail_may_be (const char *data,
                gsize size,
                const char *name,
                const char *media_type)
{
  /* Those that people type, or paste with a text, and those that only programs
   * write. */
  static const char *const typed[] = { "From", "To",       "Cc", "Subject",
                                       "Date", "Reply-To", NULL };
  static const char *const written[] = {
    "Received",     "Return-Path", "Delivered-To", "Message-ID", "MIME-Version",
    "Content-Type", NULL
  };
  gboolean said = ends_in (name, ".eml")
                  || (media_type != NULL
                      && g_str_has_prefix (media_type, "message/rfc822"));
  guint n_typed = 0, n_written = 0;
  gsize at, end;

  g_return_val_if_fail (data != NULL || size == 0, FALSE);

  at = skip_before_fields (data, size);
  end = MIN (size, LOOK_AT_FIELDS);
  while (at < end && data[at] != '\r' && data[at] != '\n')
    {
      const char *line = data + at;
      const char *next = memchr (line, '\n', end - at);
      gsize length = field_length (line, end - at);

      if (length == 0 && *line != ' ' && *line != '\t')
        return n_written > 0 && n_typed > 0 && next == NULL;
      n_typed += is_one_of (line, length, typed);
      n_written += is_one_of (line, length, written);
      if (next == NULL)
        break;
      at = (gsize) (next - data) + 1;
    }
  return n_typed + n_written >= 2 && (said || n_written > 0);
}

/* --- its parts --- */

/* A text in UTF-8, with a mark, which goes before what a page says of itself;
 * NULL where its bytes are not of that encoding. */
static GBytes *
convert_text (GBytes *bytes, const char *charset)
{
  gsize size, length;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *text = NULL;
  GByteArray *marked;

  if (data == NULL || charset == NULL
      || g_ascii_strcasecmp (charset, "us-ascii") == 0)
    return NULL;
  /* As everybody reads it. */
  if (g_ascii_strcasecmp (charset, "iso-8859-1") == 0)
    charset = "windows-1252";
  text = g_convert (data, (gssize) size, "UTF-8",
                    g_mime_charset_iconv_name (charset), NULL, &length, NULL);
  if (text == NULL || !g_utf8_validate_len (text, length, NULL))
    return NULL;
  marked = g_byte_array_new ();
  if (length < 3 || memcmp (text, "\xef\xbb\xbf", 3) != 0)
    g_byte_array_append (marked, (const guint8 *) "\xef\xbb\xbf", 3);
  g_byte_array_append (marked, (const guint8 *) text, (guint) length);
  return g_byte_array_free_to_bytes (marked);
}

/* What a part holds, its transfer encoding undone; NULL: nothing. */
static GBytes *
get_content (GMimePart *part)
{
  GMimeDataWrapper *content = g_mime_part_get_content (part);
  g_autoptr (GByteArray) array = g_byte_array_new ();
  GMimeStream *stream;

  if (content == NULL)
    return NULL;
  stream = g_mime_stream_mem_new_with_byte_array (array);
  g_mime_stream_mem_set_owner (GMIME_STREAM_MEM (stream), FALSE);
  g_mime_data_wrapper_write_to_stream (content, stream);
  g_mime_stream_flush (stream);
  g_object_unref (stream);
  return array->len > 0 ? g_byte_array_free_to_bytes (g_steal_pointer (&array))
                        : NULL;
}

/* A name without the folders that it comes with, of whatever system. */
static char *
plain_name (const char *name)
{
  g_autofree char *text = qm_read_text (name);
  const char *start = text;

  for (const char *c = text; c != NULL && *c != '\0'; c++)
    if (*c == '/' || *c == '\\')
      start = c + 1;
  return start != NULL && *start != '\0' ? g_strdup (start) : NULL;
}

/* What no quote comes as. */
static gboolean
is_no_document (const char *type, const char *name)
{
  static const char *const kinds[] = {
    "image/",
    "audio/",
    "video/",
    "font/",
    "text/calendar",
    "text/vcard",
    "text/x-vcard",
    "text/css",
    "text/rfc822-headers",
    "application/pgp-signature",
    "application/pgp-keys",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "message/delivery-status",
    "message/disposition-notification",
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_prefix (type, kinds[i]))
      return TRUE;
  return ends_in (name, ".p7s");
}

static gboolean
begins_with (GBytes *bytes, const char *mark)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return size >= strlen (mark) && memcmp (data, mark, strlen (mark)) == 0;
}

/* What a message of CMS is (RFC 5652, section 3), by the identifier near its
 * beginning, or by what the mail says of it. */
static QmMailLock
cms_lock (GBytes *bytes, const char *smime_type)
{
  static const char signed_data[] = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01"
                                    "\x07\x02";
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  for (gsize i = 0; i < 16 && i + sizeof signed_data - 1 <= size; i++)
    if (memcmp (data + i, signed_data, sizeof signed_data - 1) == 0)
      return QM_MAIL_SIGNED;
  return smime_type != NULL
                 && g_ascii_strcasecmp (smime_type, "signed-data") == 0
             ? QM_MAIL_SIGNED
             : QM_MAIL_ENCRYPTED;
}

/* Whether a part cannot be looked into, and why. */
static gboolean
is_locked (const char *type,
           const char *smime_type,
           const char *name,
           GBytes *bytes,
           QmMailLock *lock)
{
  if (g_str_equal (type, "application/pkcs7-mime")
      || g_str_equal (type, "application/x-pkcs7-mime")
      || ends_in (name, ".p7m"))
    *lock = cms_lock (bytes, smime_type);
  else if (begins_with (bytes, "-----BEGIN PGP MESSAGE-----")
           || ends_in (name, ".pgp") || ends_in (name, ".gpg"))
    *lock = QM_MAIL_ENCRYPTED;
  else if (begins_with (bytes, "\x78\x9f\x3e\x22")
           || g_str_equal (type, "application/ms-tnef")
           || g_str_equal (type, "application/vnd.ms-tnef"))
    *lock = QM_MAIL_TNEF;
  else if (g_str_equal (type, "application/vnd.ms-outlook")
           || ends_in (name, ".msg"))
    *lock = QM_MAIL_MSG;
  else
    return FALSE;
  return TRUE;
}

static void
add_locked (Walk *walk, QmMailLock lock, const char *name, const char *type)
{
  QmMailLocked *locked = g_new0 (QmMailLocked, 1);

  locked->lock = lock;
  locked->name = g_strdup (name != NULL ? name : type);
  g_ptr_array_add (walk->mail->locked, locked);
}

/* An encrypted mail (RFC 1847): what it is called is said by its second part.
 */
static void
take_encrypted (Walk *walk, GMimeObject *object)
{
  GMimeMultipart *multipart = GMIME_MULTIPART (object);
  GMimeObject *inner = g_mime_multipart_get_count (multipart) > 1
                           ? g_mime_multipart_get_part (multipart, 1)
                           : NULL;
  g_autofree char *name =
      GMIME_IS_PART (inner)
          ? plain_name (g_mime_part_get_filename (GMIME_PART (inner)))
          : NULL;

  add_locked (walk, QM_MAIL_ENCRYPTED, name, "multipart/encrypted");
}

static void
take_part (Walk *walk, GMimePart *object, guint depth)
{
  GMimeContentType *content =
      g_mime_object_get_content_type (GMIME_OBJECT (object));
  g_autofree char *mixed = g_mime_content_type_get_mime_type (content);
  g_autofree char *type = g_ascii_strdown (mixed, -1);
  const char *charset = g_mime_content_type_get_parameter (content, "charset");
  const char *disposition =
      g_mime_object_get_disposition (GMIME_OBJECT (object));
  g_autofree char *name = plain_name (g_mime_part_get_filename (object));
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) converted = NULL;
  gboolean attached =
      name != NULL
      || (disposition != NULL
          && g_ascii_strcasecmp (disposition, "attachment") == 0);
  QmMailPart *part;
  QmMailLock lock;
  gsize size;
  const char *data;

  if (is_no_document (type, name) || (bytes = get_content (object)) == NULL)
    return;
  if (is_locked (type,
                 g_mime_content_type_get_parameter (content, "smime-type"),
                 name, bytes, &lock))
    {
      add_locked (walk, lock, name, type);
      return;
    }
  /* What goes before an encrypted part is no more than a version. */
  if (g_str_equal (type, "application/pgp-encrypted"))
    return;
  data = g_bytes_get_data (bytes, &size);
  if (attached && qm_mail_may_be (data, size, name, type))
    {
      unpack_into (walk, bytes, depth + 1);
      return;
    }
  if (g_str_has_prefix (type, "text/"))
    converted = convert_text (bytes, charset);
  part = g_new0 (QmMailPart, 1);
  part->place = attached                           ? QM_MAIL_ATTACHED
                : g_str_equal (type, "text/html")  ? QM_MAIL_HTML
                : g_str_equal (type, "text/plain") ? QM_MAIL_PLAIN
                                                   : QM_MAIL_ATTACHED;
  part->name = g_steal_pointer (&name);
  part->media_type = converted == NULL && charset != NULL
                         ? g_strdup_printf ("%s; charset=%s", type, charset)
                         : g_strdup (type);
  part->bytes = g_bytes_ref (converted != NULL ? converted : bytes);
  g_ptr_array_add (walk->mail->parts, part);
}

static void
walk_object (Walk *walk, GMimeObject *object, guint depth)
{
  if (object == NULL || g_cancellable_is_cancelled (walk->cancellable))
    return;
  if (depth > QM_MAIL_MAX_DEPTH || walk->seen >= QM_MAIL_MAX_PARTS)
    {
      walk->mail->cut = TRUE;
      return;
    }
  walk->seen++;
  if (GMIME_IS_MULTIPART_ENCRYPTED (object))
    take_encrypted (walk, object);
  else if (GMIME_IS_MULTIPART (object))
    {
      GMimeMultipart *multipart = GMIME_MULTIPART (object);
      int n = g_mime_multipart_get_count (multipart);

      walk->mail->damaged = walk->mail->damaged || n == 0;
      /* What is behind a signed part is its signature. */
      if (GMIME_IS_MULTIPART_SIGNED (object))
        n = MIN (n, 1);
      for (int i = 0; i < n && !walk->mail->cut; i++)
        walk_object (walk, g_mime_multipart_get_part (multipart, i), depth + 1);
    }
  else if (GMIME_IS_MESSAGE_PART (object))
    {
      GMimeMessage *message =
          g_mime_message_part_get_message (GMIME_MESSAGE_PART (object));

      if (message != NULL)
        walk_object (walk, g_mime_message_get_mime_part (message), depth + 1);
    }
  else if (GMIME_IS_PART (object) && !GMIME_IS_MESSAGE_PARTIAL (object))
    take_part (walk, GMIME_PART (object), depth);
}

static void
take_head (QmMail *mail, GMimeMessage *message)
{
  InternetAddressList *from = g_mime_message_get_from (message);
  GDateTime *date = g_mime_message_get_date (message);

  mail->subject = qm_read_text (g_mime_message_get_subject (message));
  if (from != NULL && internet_address_list_length (from) > 0)
    {
      g_autofree char *text =
          internet_address_list_to_string (from, NULL, FALSE);

      mail->from = qm_read_text (text);
    }
  if (date != NULL)
    mail->date = g_date_time_format (date, "%Y-%m-%d");
}

/* Adds the parts of a mail; what it says of itself is that of the outermost. */
static void
unpack_into (Walk *walk, GBytes *bytes, guint depth)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  gsize at = skip_before_fields (data, size);
  gsize mark = size >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  gboolean folder = at > mark;
  gsize first = folder ? mark : at;
  GMimeStream *stream;
  GMimeParser *parser;
  GMimeMessage *message;

  if (is_beyond (data, size))
    {
      walk->mail->cut = TRUE;
      return;
    }
  stream = g_mime_stream_mem_new_with_buffer (data + first, size - first);
  parser = g_mime_parser_new_with_stream (stream);
  g_mime_parser_set_format (parser,
                            folder ? GMIME_FORMAT_MBOX : GMIME_FORMAT_MESSAGE);
  message = g_mime_parser_construct_message (parser, NULL);
  if (message != NULL)
    {
      if (depth == 0)
        take_head (walk->mail, message);
      walk->mail->followed =
          walk->mail->followed || (folder && !g_mime_parser_eos (parser));
      walk_object (walk, g_mime_message_get_mime_part (message), depth);
      g_object_unref (message);
    }
  g_object_unref (parser);
  g_object_unref (stream);
}

QmMail *
qm_mail_unpack (GBytes *bytes, GCancellable *cancellable, GError **error)
{
  static gsize ready = 0;
  g_autoptr (QmMail) mail = NULL;
  Walk walk = { .cancellable = cancellable };

  g_return_val_if_fail (bytes != NULL, NULL);

  if (g_once_init_enter (&ready))
    {
      g_mime_init ();
      g_once_init_leave (&ready, 1);
    }
  mail = g_new0 (QmMail, 1);
  mail->parts = g_ptr_array_new_with_free_func (part_free);
  mail->locked = g_ptr_array_new_with_free_func (locked_free);
  walk.mail = mail;
  if (g_bytes_get_size (bytes) > QM_READ_MAX_BYTES)
    {
      g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                           _ ("The e-mail is too large."));
      return NULL;
    }
  if (g_bytes_get_size (bytes) > 0)
    unpack_into (&walk, bytes, 0);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  return g_steal_pointer (&mail);
}
