/* SPDX-License-Identifier: Apache-2.0 */

/* A saved e-mail (RFC 5322, message/rfc822, .eml), taken apart by GMime: its
 * texts and what is attached, decoded.  Nothing is loaded from anywhere and
 * nothing is written; signatures are not looked at, so that nothing says that
 * one holds. */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* No more parts are looked at, however deeply they are nested, ... */
#define QM_MAIL_MAX_PARTS 200
/* ... and none deeper: multiparts and forwarded mails count alike. */
#define QM_MAIL_MAX_DEPTH 16

/* Where a part stands. */
typedef enum
{
  QM_MAIL_ATTACHED,
  QM_MAIL_HTML, /* a text of the mail itself, ... */
  QM_MAIL_PLAIN /* ... or the same without form */
} QmMailPlace;

typedef struct
{
  QmMailPlace place;
  char *name;       /* of the file, without folders, for people; may be NULL */
  char *media_type; /* "text/csv"; of an encoding that GMime did not convert
                       from, with it: "text/html; charset=x" */
  GBytes *bytes;    /* texts of which the encoding is stated, in UTF-8 */
} QmMailPart;

/* Why a part cannot be looked into. */
typedef enum
{
  QM_MAIL_TNEF,      /* wrapped by Outlook: winmail.dat */
  QM_MAIL_MSG,       /* a mail in Outlook's own format */
  QM_MAIL_SIGNED,    /* packed into its signature (S/MIME, CAdES) */
  QM_MAIL_ENCRYPTED, /* S/MIME or OpenPGP */
  QM_MAIL_N_LOCKS
} QmMailLock;

typedef struct
{
  QmMailLock lock;
  char *name; /* of the file, without folders, or else the media type */
} QmMailLocked;

typedef struct
{
  char *from; /* as people read it; these may be NULL */
  char *subject;
  char *date;        /* "2026-10-12", where it was written */
  GPtrArray *parts;  /* of QmMailPart, in their order; without pictures,
                        signatures and the like */
  GPtrArray *locked; /* of QmMailLocked: what cannot be looked into */
  gboolean damaged;  /* parts cannot be told apart */
  gboolean cut;      /* there are more parts, or deeper ones, than are read */
  gboolean followed; /* another mail follows in the same file */
} QmMail;

/* Whether a document is a mail, by the fields that it begins with; the name and
 * media type, which may be NULL, decide where those do not. */
gboolean qm_mail_may_be (const char *data,
                         gsize size,
                         const char *name,
                         const char *media_type);

/* Takes a mail apart, and those that are forwarded in it.  What is broken comes
 * to fewer parts.  May run in a thread.
 *
 * Returns: (transfer full): the mail, or NULL with an error of QM_READ_ERROR
 *   where it is none, or of G_IO_ERROR where it was cancelled. */
QmMail *
qm_mail_unpack (GBytes *bytes, GCancellable *cancellable, GError **error);

void qm_mail_free (QmMail *mail);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QmMail, qm_mail_free)

G_END_DECLS
