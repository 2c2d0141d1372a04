/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-mail-import.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Of what is attached, no more documents are read, ... */
#define MOST_READ 16
/* ... and no more are named. */
#define MOST_NAMED 8

/* A part that may be a quote. */
typedef struct
{
  const QmMailPart *part;
  guint rank; /* the lower the better */
  guint order;
} Candidate;

/* What reading them came to. */
typedef struct
{
  QmMail *mail;
  QmMailPartReader read;
  gpointer user_data;
  QmImport *found;            /* with quotes; NULL: none */
  const QmMailPart *found_in; /* the first of them */
  QmImport *wanted;           /* without, but with a mapping that is wanted */
  const QmMailPart *wanted_in;
  GError *attached_error; /* of what is attached, the first */
  GError *text_error;     /* of its texts, the last */
  GPtrArray *more;        /* of QmQuote, of other documents than the first */
  GPtrArray *unread;      /* of names */
  GPtrArray *same;        /* of names: the same quotes once more ... */
  GPtrArray *others;      /* ... or perhaps others, that were left out */
  guint n_read;
} Choice;

static void
clear_choice (Choice *choice)
{
  qm_mail_free (choice->mail);
  qm_import_free (choice->found);
  qm_import_free (choice->wanted);
  g_clear_error (&choice->attached_error);
  g_clear_error (&choice->text_error);
  g_ptr_array_unref (choice->more);
  g_ptr_array_unref (choice->unread);
  g_ptr_array_unref (choice->same);
  g_ptr_array_unref (choice->others);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Choice, clear_choice)

static const char *
part_name (const QmMailPart *part)
{
  return part->name != NULL ? part->name : part->media_type;
}

/* For people; names may be of any length. */
static char *
shown_name (const QmMailPart *part)
{
  return qm_read_excerpt (part_name (part));
}

static void
name_part (GPtrArray *names, const QmMailPart *part)
{
  g_ptr_array_add (names, shown_name (part));
}

/* Text that is attached may be anything; a table is named so. */
static gboolean
is_named_table (const QmMailPart *part)
{
  static const char *const endings[] = { ".csv", ".tsv", ".tab", ".txt" };
  g_autofree char *name = g_ascii_strdown (part_name (part), -1);

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (name, endings[i]))
      return TRUE;
  return g_str_has_prefix (part->media_type, "text/csv")
         || g_str_has_prefix (part->media_type, "text/comma-separated-values")
         || g_str_has_prefix (part->media_type, "text/tab-separated-values");
}

/* What says most about itself first; 0: it is nothing that is read. */
static guint
rank_part (const QmMailPart *part)
{
  gsize size;
  const char *data = g_bytes_get_data (part->bytes, &size);

  if (part->place != QM_MAIL_ATTACHED)
    return part->place == QM_MAIL_HTML ? 7 : 8;
  switch (qm_document_kind (data, size, part->name, part->media_type))
    {
    case QM_DOCUMENT_XML:
      return 1;
    case QM_DOCUMENT_JSON:
      return 2;
    case QM_DOCUMENT_WORKBOOK:
      return 3;
    case QM_DOCUMENT_CSV:
      return is_named_table (part) ? 4 : 0;
    case QM_DOCUMENT_PDF:
      return 5;
    case QM_DOCUMENT_PAGE:
      return 6;
    case QM_DOCUMENT_MAIL:
    case QM_DOCUMENT_OTHER:
    default:
      return 0;
    }
}

static int
compare_candidates (gconstpointer a, gconstpointer b)
{
  const Candidate *one = a, *two = b;

  return one->rank != two->rank ? (one->rank < two->rank ? -1 : 1)
                                : (one->order < two->order ? -1 : 1);
}

/* unread: names of what is attached and nothing that is read are added. */
static GArray *
list_candidates (const QmMail *mail, GPtrArray *unread)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Candidate));

  for (guint i = 0; i < mail->parts->len; i++)
    {
      Candidate candidate = { .part = g_ptr_array_index (mail->parts, i),
                              .order = i };

      candidate.rank = rank_part (candidate.part);
      if (candidate.rank > 0)
        g_array_append_val (list, candidate);
      else
        name_part (unread, candidate.part);
    }
  g_array_sort (list, compare_candidates);
  return list;
}

/* What some quotes are beside others, as far as their numbers tell. */
typedef enum
{
  OTHER_QUOTES,
  SAME_QUOTES,
  PERHAPS_OTHERS
} Likeness;

static Likeness
compare_quotes (const GPtrArray *some, const GPtrArray *others)
{
  Likeness likeness = OTHER_QUOTES;

  for (guint i = 0; i < some->len; i++)
    for (guint j = 0; j < others->len; j++)
      {
        const QmQuote *one = g_ptr_array_index (some, i);
        const QmQuote *two = g_ptr_array_index (others, j);

        if (one->number == NULL || two->number == NULL)
          likeness = PERHAPS_OTHERS;
        else if (strcmp (one->number, two->number) == 0)
          return SAME_QUOTES;
      }
  return likeness;
}

static void
move_quotes (GPtrArray *to, GPtrArray *from)
{
  while (from->len > 0)
    g_ptr_array_add (to, g_ptr_array_steal_index (from, 0));
}

/* Where a quote was, beside it. */
static void
tell_part (const QmMail *mail, const QmMailPart *part, QmImport *import)
{
  g_autofree char *name = shown_name (part);
  g_autofree char *from =
      qm_read_excerpt (mail->from != NULL ? mail->from : "?");
  g_autofree char *subject =
      qm_read_excerpt (mail->subject != NULL ? mail->subject : "?");
  const char *date = mail->date != NULL ? mail->date : "?";

  for (guint i = 0; i < import->quotes->len; i++)
    {
      QmQuote *quote = g_ptr_array_index (import->quotes, i);

      if (part->place == QM_MAIL_ATTACHED)
        qm_read_find (quote, QM_FINDING_NOTE, NULL,
                      _ ("Read from “%s”, which is attached to the e-mail."),
                      name);
      else
        qm_read_find (quote, QM_FINDING_NOTE, NULL,
                      _ ("Read from the text of the e-mail."));
      qm_read_find (quote, QM_FINDING_NOTE, NULL,
                    /* Translators: an address, a date, a subject. */
                    _ ("The e-mail is from %s, of %s: “%s”."), from, date,
                    subject);
    }
}

static void
take_found (Choice *choice, const QmMailPart *part, QmImport *import)
{
  Likeness first, rest;

  tell_part (choice->mail, part, import);
  if (choice->found == NULL)
    {
      choice->found = import;
      choice->found_in = part;
      return;
    }
  first = compare_quotes (choice->found->quotes, import->quotes);
  rest = compare_quotes (choice->more, import->quotes);
  if (first == SAME_QUOTES || rest == SAME_QUOTES)
    name_part (choice->same, part);
  else if (first == PERHAPS_OTHERS || rest == PERHAPS_OTHERS)
    name_part (choice->others, part);
  else
    move_quotes (choice->more, import->quotes);
  qm_import_free (import);
}

/* FALSE: it was cancelled. */
static gboolean
try_part (Choice *choice, const QmMailPart *part, GError **error)
{
  gboolean attached = part->place == QM_MAIL_ATTACHED;
  g_autoptr (GError) trouble = NULL;
  g_autoptr (QmImport) import = NULL;

  if (attached && choice->n_read++ >= MOST_READ)
    {
      name_part (choice->unread, part);
      return TRUE;
    }
  import = choice->read (part, NULL, choice->user_data, &trouble);
  if (g_error_matches (trouble, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&trouble));
      return FALSE;
    }
  if (import != NULL && import->quotes->len > 0)
    {
      take_found (choice, part, g_steal_pointer (&import));
      return TRUE;
    }
  if (attached)
    name_part (choice->unread, part);
  if (import != NULL && import->mapping_wanted)
    {
      /* Prose has commas, too: what is attached goes before. */
      if (choice->wanted == NULL
          && (part->place != QM_MAIL_PLAIN
              || (choice->attached_error == NULL
                  && choice->mail->locked->len == 0)))
        {
          choice->wanted = g_steal_pointer (&import);
          choice->wanted_in = part;
        }
      return TRUE;
    }
  if (!attached)
    {
      g_clear_error (&choice->text_error);
      choice->text_error = g_steal_pointer (&trouble);
    }
  else if (choice->attached_error == NULL && trouble != NULL)
    {
      g_autofree char *name = shown_name (part);

      g_set_error (&choice->attached_error, trouble->domain, trouble->code,
                   /* Translators: the name of a file; what is wrong with it. */
                   _ ("“%s”, attached to the e-mail: %s"), name,
                   trouble->message);
    }
  return TRUE;
}

/* Reads one after the other; the texts of the mail until one of them is a
 * quote, and only where nothing is that is attached. */
static gboolean
try_all (Choice *choice, GArray *candidates, GError **error)
{
  for (guint i = 0; i < candidates->len; i++)
    {
      const QmMailPart *part = g_array_index (candidates, Candidate, i).part;

      if (part->place != QM_MAIL_ATTACHED && choice->found != NULL)
        break;
      if (!try_part (choice, part, error))
        return FALSE;
    }
  return TRUE;
}

static char *
join_names (const GPtrArray *names)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < names->len && i < MOST_NAMED; i++)
    g_string_append_printf (text, "%s“%s”", i > 0 ? ", " : "",
                            (const char *) g_ptr_array_index (names, i));
  if (names->len > MOST_NAMED)
    g_string_append (text, ", …");
  return g_string_free (text, FALSE);
}

static void
find_in_all (const QmImport *import, QmFindingLevel level, const char *message)
{
  for (guint i = 0; i < import->quotes->len; i++)
    qm_quote_add_finding (g_ptr_array_index (import->quotes, i), level, NULL,
                          message);
}

static void
find_names (const QmImport *import,
            QmFindingLevel level,
            const char *format,
            const GPtrArray *names)
{
  g_autofree char *joined = join_names (names);
  g_autofree char *message = NULL;

  if (names->len == 0)
    return;
  message = g_strdup_printf (format, joined);
  find_in_all (import, level, message);
}

/* What is said of so many parts that cannot be looked into, with a place for
 * their names. */
static const char *
lock_format (QmMailLock lock, guint n)
{
  switch (lock)
    {
    case QM_MAIL_TNEF:
      return g_dngettext (
          GETTEXT_PACKAGE,
          /* Translators: names of files; so in those that follow. */
          "%s is in a format of Outlook (TNEF) that is not read: ask the "
          "seller for a PDF.",
          "%s are in a format of Outlook (TNEF) that is not read: ask the "
          "seller for PDFs.",
          n);
    case QM_MAIL_MSG:
      return g_dngettext (
          GETTEXT_PACKAGE,
          "%s is an e-mail in a format of Outlook (MSG) that is not read: save "
          "it as EML there, or ask the seller for a PDF.",
          "%s are e-mails in a format of Outlook (MSG) that is not read: save "
          "them as EML there, or ask the seller for PDFs.",
          n);
    case QM_MAIL_SIGNED:
      return g_dngettext (
          GETTEXT_PACKAGE,
          "%s is packed into its signature (S/MIME), in a format that is not "
          "read: open it where you read mail, save what is in it and import "
          "that, or ask the seller for a PDF.",
          "%s are packed into their signatures (S/MIME), in a format that is "
          "not read: open them where you read mail, save what is in them and "
          "import that, or ask the seller for PDFs.",
          n);
    case QM_MAIL_ENCRYPTED:
    case QM_MAIL_N_LOCKS:
    default:
      return g_dngettext (
          GETTEXT_PACKAGE,
          "%s is encrypted and not read: open it where you read mail, save "
          "what is in it and import that, or ask the seller for a PDF.",
          "%s are encrypted and not read: open them where you read mail, save "
          "what is in them and import that, or ask the seller for PDFs.",
          n);
    }
}

/* What cannot be looked into for one reason; NULL: nothing. */
static char *
describe_locked (const QmMail *mail, QmMailLock lock)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *joined = NULL;

  for (guint i = 0; i < mail->locked->len; i++)
    {
      const QmMailLocked *locked = g_ptr_array_index (mail->locked, i);

      if (locked->lock == lock)
        g_ptr_array_add (names, qm_read_excerpt (locked->name));
    }
  if (names->len == 0)
    return NULL;
  joined = join_names (names);
  return g_strdup_printf (lock_format (lock, names->len), joined);
}

/* What of the mail was left out. */
static void
tell_left_out (const Choice *choice,
               const QmMailPart *part,
               const QmImport *import)
{
  const QmMail *mail = choice->mail;
  gboolean of_text = part->place != QM_MAIL_ATTACHED;

  find_names (import, QM_FINDING_WARNING,
              /* Translators: names of files. */
              _ ("There are quotes in what is attached besides, too, which "
                 "were left out: %s. Save it and import it by itself where it "
                 "is another offer."),
              choice->others);
  find_names (import, QM_FINDING_NOTE,
              /* Translators: names of files. */
              _ ("Quotes of the same number are attached once more, and were "
                 "left out: %s."),
              choice->same);
  find_names (import, of_text ? QM_FINDING_WARNING : QM_FINDING_NOTE,
              /* Translators: names of files. */
              _ ("No quote could be read from what is attached besides: %s."),
              choice->unread);
  for (int i = 0; i < QM_MAIL_N_LOCKS; i++)
    {
      g_autofree char *message = describe_locked (mail, (QmMailLock) i);

      if (message != NULL)
        find_in_all (import, QM_FINDING_WARNING, message);
    }
  if (mail->damaged)
    find_in_all (import, QM_FINDING_WARNING,
                 _ ("A part of the e-mail is damaged and was not read."));
  if (mail->cut)
    find_in_all (import, QM_FINDING_WARNING,
                 _ ("The e-mail has too many parts, or parts too deep in each "
                    "other. It was read in part; quotes may be missing."));
  if (mail->followed)
    find_in_all (import, QM_FINDING_WARNING,
                 _ ("Only the first e-mail of the file was read."));
}

/* All that cannot be looked into; NULL: nothing. */
static char *
describe_all_locked (const QmMail *mail)
{
  GString *text = g_string_new (NULL);

  for (int i = 0; i < QM_MAIL_N_LOCKS; i++)
    {
      g_autofree char *message = describe_locked (mail, (QmMailLock) i);

      if (message != NULL)
        g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "",
                                message);
    }
  return g_string_free (text, text->len == 0);
}

/* Why there is nothing: what is attached says more than what is written. */
static QmImport *
refuse_mail (Choice *choice, GError **error)
{
  g_autofree char *locked = describe_all_locked (choice->mail);
  const char *message;

  if (choice->attached_error != NULL)
    {
      if (locked != NULL)
        g_set_error (error, choice->attached_error->domain,
                     choice->attached_error->code, "%s %s",
                     choice->attached_error->message, locked);
      else
        g_propagate_error (error, g_steal_pointer (&choice->attached_error));
      return NULL;
    }
  if (locked == NULL && choice->text_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&choice->text_error));
      return NULL;
    }
  if (locked != NULL)
    message = locked;
  else if (choice->mail->cut)
    message = _ ("This e-mail has too many parts, or parts too deep in each "
                 "other. Save what is attached where you read mail, and import "
                 "that.");
  else if (choice->mail->damaged)
    message = _ ("This e-mail is damaged, and its parts cannot be told apart. "
                 "Save it once more, or save what is attached and import "
                 "that.");
  else
    message = _ ("There is nothing in this e-mail that could be a quote: "
                 "neither a document nor a text.");
  g_set_error_literal (error, QM_READ_ERROR,
                       locked != NULL ? QM_READ_ERROR_KIND
                                      : QM_READ_ERROR_NO_QUOTE,
                       message);
  return NULL;
}

/* What is handed back: the table that was taken once more, where the user says
 * what its columns are, with quotes of other documents. */
static QmImport *
finish_choice (Choice *choice, const QmCsvMapping *mapping, GError **error)
{
  const QmMailPart *part =
      choice->found != NULL ? choice->found_in : choice->wanted_in;
  g_autoptr (QmImport) import = choice->found != NULL
                                    ? g_steal_pointer (&choice->found)
                                    : g_steal_pointer (&choice->wanted);

  if (mapping != NULL && import->mapping != NULL)
    {
      qm_import_free (import);
      import = choice->read (part, mapping, choice->user_data, error);
      if (import == NULL)
        return NULL;
      tell_part (choice->mail, part, import);
    }
  if (import->quotes->len > 0)
    move_quotes (import->quotes, choice->more);
  import->kind = QM_DOCUMENT_MAIL;
  import->part = g_bytes_ref (part->bytes);
  import->part_name = g_strdup (part->name);
  import->part_type = g_strdup (part->media_type);
  tell_left_out (choice, part, import);
  return g_steal_pointer (&import);
}

QmImport *
qm_import_mail (GBytes *bytes,
                const QmCsvMapping *mapping,
                QmMailPartReader read,
                gpointer user_data,
                GCancellable *cancellable,
                GError **error)
{
  g_auto (Choice) choice = { .read = read, .user_data = user_data };
  g_autoptr (GArray) candidates = NULL;

  choice.more = g_ptr_array_new_with_free_func ((GDestroyNotify) qm_quote_free);
  choice.unread = g_ptr_array_new_with_free_func (g_free);
  choice.same = g_ptr_array_new_with_free_func (g_free);
  choice.others = g_ptr_array_new_with_free_func (g_free);
  choice.mail = qm_mail_unpack (bytes, cancellable, error);
  if (choice.mail == NULL)
    return NULL;
  candidates = list_candidates (choice.mail, choice.unread);
  if (!try_all (&choice, candidates, error))
    return NULL;
  if (choice.found == NULL && choice.wanted == NULL)
    return refuse_mail (&choice, error);
  return finish_choice (&choice, mapping, error);
}
