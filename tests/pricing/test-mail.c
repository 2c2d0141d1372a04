/* SPDX-License-Identifier: Apache-2.0 */

/* Saved mails: those of tests/pricing/procurement, which part of one is taken
 * and what is said of the others, and mails that mean harm. */

#include "tests/pricing/procurement.h"

#include "pricing/formats/qm-mail.h"
#include "pricing/formats/qm-quote-import.h"
#include "pricing/quotes/qm-quote-read.h"

#include <string.h>

#define HEAD                                    \
  "From: =?utf-8?Q?Gr=C3=BCn?= <a@b.example>\n" \
  "Date: Mon, 12 Oct 2026 10:00:00 +0200\n"     \
  "Subject: =?utf-8?Q?Angebot_f=C3=BCr_Sie?=\n" \
  "MIME-Version: 1.0\n"
#define MIXED HEAD "Content-Type: multipart/mixed; boundary=b\n\n"
#define TABLE                                      \
  "Pos;Description;Qty;Unit price EUR;Total EUR\n" \
  "1;NVIDIA L40S 48GB;2;8,000.00;16,000.00\n"
#define ATTACHED(name)                                             \
  "--b\nContent-Type: text/csv\nContent-Disposition: attachment; " \
  "filename=\"" name "\"\n\n"
#define PAGE                                                     \
  "<table><tr><th>Pos</th><th>Description</th><th>Qty</th>"      \
  "<th>Unit price EUR</th><th>Total EUR</th></tr><tr><td>1</td>" \
  "<td>NVIDIA L4 24GB</td><td>3</td><td>2,500.00</td>"           \
  "<td>7,500.00</td></tr></table>\n"

static QmImport *
read_text (const char *text, gssize size, GError **error)
{
  QmImportOptions options = { .now = 1795000000 };
  g_autoptr (GBytes) bytes =
      g_bytes_new (text, size >= 0 ? (gsize) size : strlen (text));

  return qm_import_bytes (bytes, "saved.eml", NULL, &options, NULL, error);
}

static const QmQuote *
quote_at (const QmImport *import, guint i)
{
  g_assert_cmpuint (import->quotes->len, >, i);
  return g_ptr_array_index (import->quotes, i);
}

static const QmFinding *
find (const QmQuote *quote, const char *words)
{
  for (guint i = 0; i < quote->findings->len; i++)
    {
      const QmFinding *finding = g_ptr_array_index (quote->findings, i);

      if (strstr (finding->message, words) != NULL)
        return finding;
    }
  return NULL;
}

/* Of a finding with these words. */
static QmFindingLevel
level_of (const QmQuote *quote, const char *words)
{
  const QmFinding *finding = find (quote, words);

  if (finding == NULL)
    g_error ("nothing says “%s”", words);
  return finding->level;
}

static void
assert_refused (const char *text, gssize size, const char *words)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QmImport) import = read_text (text, size, &error);

  g_assert_null (import);
  g_assert_true (error->domain == QM_READ_ERROR);
  if (strstr (error->message, words) == NULL)
    g_error ("“%s” does not say “%s”", error->message, words);
}

/* As programs save it, with both ends of lines. */
static void
test_golden (gconstpointer data)
{
  const char *file = data;
  g_autofree char *path = g_build_filename (procurement_folder (), file, NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  lines = g_strsplit (text, "\n", -1);
  {
    char *joined = g_strjoinv ("\r\n", lines);
    g_autoptr (GBytes) unix_ends = g_bytes_new (text, size);
    g_autoptr (GBytes) ends = g_bytes_new_take (joined, strlen (joined));

    procurement_check (file, unix_ends);
    procurement_check (file, ends);
  }
}

static void
test_kind (void)
{
  static const struct
  {
    const char *data;
    const char *name;
    QmDocumentKind kind;
  } cases[] = {
    { HEAD "\nText\n", NULL, QM_DOCUMENT_MAIL },
    { "\xef\xbb\xbf" HEAD "\nText\n", NULL, QM_DOCUMENT_MAIL },
    { "From a@b Mon Oct 12 2026\n" HEAD "\nText\n", NULL, QM_DOCUMENT_MAIL },
    { "From: a@b\nSubject: x\n\nText\n", "x.EML", QM_DOCUMENT_MAIL },
    /* What people paste, or a table that has such words. */
    { "From: a@b\nSubject: x\n\nText\n", "x.txt", QM_DOCUMENT_CSV },
    { "Date: 1.2.2026\nContent-Type: x\na;b;c\n1;2;3\n", NULL,
      QM_DOCUMENT_CSV },
    { "Received: yes\n", "x.eml", QM_DOCUMENT_CSV },
    { "a;b\n1;2\n", "x.eml", QM_DOCUMENT_CSV },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (qm_document_kind (cases[i].data, strlen (cases[i].data),
                                       cases[i].name, NULL),
                     ==, cases[i].kind);
}

static void
test_unpacked (void)
{
  static const char text[] = MIXED
      "--b\nContent-Type: text/html; charset=utf-8\n\n<p>x</p>\n"
      "--b\nContent-Type: application/pdf;\n name*=utf-8''..%2Fa%2F%C3%BC.pdf\n"
      "Content-Transfer-Encoding: base64\n\nJVBERg==\n"
      "--b\nContent-Type: image/png; name=x.csv\n\nx\n--b--\n";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr (QmMail) mail = qm_mail_unpack (bytes, NULL, NULL);
  const QmMailPart *part;

  g_assert_nonnull (mail);
  g_assert_cmpstr (mail->from, ==, "Grün <a@b.example>");
  g_assert_cmpstr (mail->subject, ==, "Angebot für Sie");
  g_assert_cmpstr (mail->date, ==, "2026-10-12");
  g_assert_cmpuint (mail->parts->len, ==, 2);
  part = g_ptr_array_index (mail->parts, 0);
  g_assert_cmpint (part->place, ==, QM_MAIL_HTML);
  part = g_ptr_array_index (mail->parts, 1);
  g_assert_cmpint (part->place, ==, QM_MAIL_ATTACHED);
  g_assert_cmpstr (part->name, ==, "ü.pdf");
  g_assert_cmpmem (g_bytes_get_data (part->bytes, NULL),
                   g_bytes_get_size (part->bytes), "%PDF", 4);
}

/* What is attached goes before what is written, and says so; the mail is what
 * the quote comes from. */
static void
test_told (void)
{
  static const char text[] =
      MIXED "--b\nContent-Type: text/html\n\n" PAGE ATTACHED ("offer.csv") TABLE
      "--b\nContent-Type: application/pdf; name=terms.pdf\n\n%PDF-1.4\n--b--\n";
  g_autofree char *sha256 =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
  g_autoptr (QmImport) import = read_text (text, -1, NULL);
  const QmQuote *quote;

  g_assert_nonnull (import);
  g_assert_cmpint (import->kind, ==, QM_DOCUMENT_MAIL);
  g_assert_cmpstr (import->part_name, ==, "offer.csv");
  g_assert_cmpuint (import->quotes->len, ==, 1);
  quote = quote_at (import, 0);
  g_assert_cmpint (qm_quote_line_at (quote, 0)->total_minor, ==, 1600000);
  g_assert_cmpstr (quote->source, ==, "saved.eml");
  g_assert_cmpstr (quote->sha256, ==, sha256);
  g_assert_null (quote->vendor);
  g_assert_nonnull (find (quote, "“offer.csv”"));
  g_assert_nonnull (find (quote, "Angebot für Sie"));
  g_assert_cmpint (level_of (quote, "“terms.pdf”"), ==, QM_FINDING_NOTE);
}

/* Without an attachment that can be read, its text, with a warning. */
static void
test_text_instead (void)
{
  g_autoptr (QmImport) import = read_text (
      MIXED "--b\nContent-Type: text/html\n\n" PAGE
            "--b\nContent-Type: application/pdf; name=offer.pdf\n\n%PDF-1.4\n"
            "--b--\n",
      -1, NULL);
  const QmQuote *quote;

  g_assert_nonnull (import);
  quote = quote_at (import, 0);
  g_assert_cmpint (qm_quote_line_at (quote, 0)->total_minor, ==, 750000);
  g_assert_nonnull (find (quote, "the text of the e-mail"));
  g_assert_cmpint (level_of (quote, "“offer.pdf”"), ==, QM_FINDING_WARNING);
}

/* Quotes with numbers of their own are all taken, others once. */
static void
test_several (void)
{
  g_autoptr (QmImport) two =
      read_text (MIXED ATTACHED ("a.csv") "Quote number;A-1\n\n" TABLE
                     ATTACHED ("b.csv") "Quote number;B-2\n\n" TABLE ATTACHED (
                         "c.csv") "Quote number;A-1\n\n" TABLE "--b--\n",
                 -1, NULL);
  g_autoptr (QmImport) unnumbered =
      read_text (MIXED ATTACHED ("a.csv") TABLE ATTACHED ("b.csv") TABLE
                 "--b--\n",
                 -1, NULL);

  g_assert_nonnull (two);
  g_assert_cmpuint (two->quotes->len, ==, 2);
  g_assert_cmpstr (quote_at (two, 0)->number, ==, "A-1");
  g_assert_cmpstr (quote_at (two, 1)->number, ==, "B-2");
  g_assert_nonnull (find (quote_at (two, 1), "“b.csv”"));
  g_assert_cmpint (level_of (quote_at (two, 0), "“c.csv”"), ==,
                   QM_FINDING_NOTE);
  g_assert_nonnull (unnumbered);
  g_assert_cmpuint (unnumbered->quotes->len, ==, 1);
  g_assert_cmpint (level_of (quote_at (unnumbered, 0), "“b.csv”"), ==,
                   QM_FINDING_WARNING);
}

/* The columns that the user names are those of the table that was taken. */
static void
test_mapping (void)
{
  static const char text[] =
      MIXED ATTACHED ("a.csv") "X1;X2;X3\nNVIDIA L40S 48GB;2;8000.00\nNVIDIA "
                               "L4;1;2500.00\n--b--\n";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr (QmImport) asked = read_text (text, -1, NULL);
  g_autoptr (QmImport) import = NULL;
  QmImportOptions options = { .now = 1 };

  g_assert_nonnull (asked);
  g_assert_true (asked->mapping_wanted);
  g_assert_cmpstr (asked->part_name, ==, "a.csv");
  qm_csv_mapping_set_field (asked->mapping, 0, QM_CSV_DESCRIPTION);
  qm_csv_mapping_set_field (asked->mapping, 1, QM_CSV_QUANTITY);
  qm_csv_mapping_set_field (asked->mapping, 2, QM_CSV_PRICE);
  g_strlcpy (asked->mapping->currency, "EUR", sizeof asked->mapping->currency);
  asked->mapping->header_row = 0;
  options.mapping = asked->mapping;
  import = qm_import_bytes (bytes, "x.eml", NULL, &options, NULL, NULL);
  g_assert_nonnull (import);
  g_assert_cmpuint (import->quotes->len, ==, 1);
  g_assert_cmpuint (quote_at (import, 0)->lines->len, ==, 2);
}

static void
test_locked (void)
{
  g_autoptr (QmImport) signed_one =
      read_text (HEAD
                 "Content-Type: multipart/signed; boundary=b; "
                 "protocol=\"application/pgp-signature\"; micalg=pgp-sha1\n\n"
                 "--b\nContent-Type: text/html\n\n" PAGE
                 "--b\nContent-Type: application/pgp-signature; name=s.asc\n\n"
                 "-----BEGIN PGP SIGNATURE-----\n--b--\n",
                 -1, NULL);

  g_assert_nonnull (signed_one);
  g_assert_cmpuint (signed_one->quotes->len, ==, 1);
  g_assert_null (find (quote_at (signed_one, 0), "sign"));
  assert_refused (HEAD "Content-Type: multipart/encrypted; boundary=b; "
                       "protocol=\"application/pgp-encrypted\"\n\n"
                       "--b\nContent-Type: application/pgp-encrypted\n\n"
                       "Version: 1\n--b\nContent-Type: "
                       "application/octet-stream\n\nx\n--b--\n",
                  -1, "encrypted");
  assert_refused (HEAD "Content-Type: application/pkcs7-mime; "
                       "smime-type=enveloped-data; name=smime.p7m\n"
                       "Content-Transfer-Encoding: base64\n\nMIIB\n",
                  -1, "encrypted");
  assert_refused (HEAD "Content-Type: text/plain\n\n"
                       "-----BEGIN PGP MESSAGE-----\n\nhQ\n",
                  -1, "encrypted");
}

#define ENCODED(type, name)                                  \
  "--b\nContent-Type: " type "; name=\"" name "\"\n"         \
  "Content-Disposition: attachment; filename=\"" name "\"\n" \
  "Content-Transfer-Encoding: base64\n\n"
/* A mail's wrapper with a table in it, the head of a compound file, and what
 * "openssl smime -sign -nodetach" and "openssl smime -encrypt" write. */
#define TNEF                                                       \
  "eJ8+IgEAAQaQCAAEAAAAAAABAAEAAQeQBgAIAAAA5AQAAAAAAADoAAEIgAcA\n" \
  "GAAAAElQTS5NaWNyb3NvZnQgTWFpbC5Ob3RlADEIAgKQBgAOAAAAAQD/////\n" \
  "AAAAAAAAAAD9AwIQgAEACgAAAG9mZmVyLmNzdgCMAwIPgAYACAAAAGE7Ygox\n" \
  "OzIKsAE=\n"
#define COMPOUND "0M8R4KGxGuEAAAAAAAAAAAAAAAAAAAAAPgADAP7/CQAGAAAAAAAAAA==\n"
#define SIGNED                                                     \
  "MIHoBgkqhkiG9w0BBwKggdowgdcCAQExDzANBglghkgBZQMEAgEFADAuBgkq\n" \
  "hkiG9w0BBwGgIQQfQ29udGVudC1UeXBlOiB0ZXh0L2Nzdg0KDQphO2INCjGB\n" \
  "kDCBjQIBATAkMAwxCjAIBgNVBAMMAWECFFQa07X2lgApPB0yIiKg2BFj0QBd\n" \
  "MA0GCWCGSAFlAwQCAQUAMAoGCCqGSM49BAMCBEcwRQIhAITCHxM+jpb0fNx4\n" \
  "qCRq3RX/BXrbY4aImB4MeauikRUiAiBWIkn1yAzMnUx9Z6Vi52fDicHcoDKM\n" \
  "ed8lfe8BmD/Wqw==\n"
#define ENVELOPED                                                  \
  "MIIBJQYJKoZIhvcNAQcDoIIBFjCCARICAQAxgb4wgbsCAQAwJDAMMQowCAYD\n" \
  "VQQDDAFhAhQYpEPDwbN1lDEfHPX+FNNGBBaQbTANBgkqhkiG9w0BAQEFAASB\n" \
  "gIzTKwzf\n"
#define PGP                                                            \
  "-----BEGIN PGP MESSAGE-----\n\n"                                    \
  "jA0ECQMCXgFZev+mnjn/0jkBjZPLiq+NuGy7qHaDqwOgtypjPdO60B9AX79KlP4h\n" \
  "nEarn2ljblT7aOLbhUrtoDxF8crCUnfelx0=\n=tIs3\n"                      \
  "-----END PGP MESSAGE-----\n"

/* What cannot be looked into is named, beside a quote and where there is none.
 */
static void
test_unopened (void)
{
  static const struct
  {
    const char *part;
    const char *named;
    const char *words;
  } cases[] = {
    { ENCODED ("application/ms-tnef", "winmail.dat") TNEF, "“winmail.dat”",
      "(TNEF)" },
    { ENCODED ("application/octet-stream", "ATT0001.dat") TNEF, "“ATT0001.dat”",
      "(TNEF)" },
    { ENCODED ("application/vnd.ms-outlook", "AW Offer.msg") COMPOUND,
      "“AW Offer.msg”", "(MSG)" },
    { ENCODED ("application/octet-stream", "Offer.MSG") COMPOUND, "“Offer.MSG”",
      "(MSG)" },
    { ENCODED ("application/x-pkcs7-mime; smime-type=signed-data", "smime.p7m")
          SIGNED,
      "“smime.p7m”", "packed into its signature" },
    /* It is what it is, whatever it is called. */
    { ENCODED ("application/octet-stream", "offer.csv.p7m") SIGNED,
      "“offer.csv.p7m”", "packed into its signature" },
    { ENCODED ("application/pkcs7-mime", "smime.p7m") ENVELOPED, "“smime.p7m”",
      "encrypted" },
    { "--b\nContent-Type: multipart/encrypted; boundary=c; "
      "protocol=\"application/pgp-encrypted\"\n\n--c\nContent-Type: "
      "application/pgp-encrypted\n\nVersion: 1\n--c\nContent-Type: "
      "application/octet-stream; name=encrypted.asc\n\n" PGP "--c--\n",
      "“encrypted.asc”", "encrypted" },
    /* As Exchange hands it on: without the multipart around. */
    { "--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n"
      "--b\nContent-Type: application/octet-stream; name=encrypted.asc\n\n" PGP,
      "“encrypted.asc”", "encrypted" },
    { ENCODED ("application/octet-stream", "offer.pdf.gpg") "jA0ECQMCXgFZ\n",
      "“offer.pdf.gpg”", "encrypted" },
    { ENCODED ("application/pgp-encrypted", "offer.pdf.pgp") "jA0ECQMCXgFZ\n",
      "“offer.pdf.pgp”", "encrypted" },
    { "--b\nContent-Type: text/plain\n\n" PGP, "“text/plain”", "encrypted" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *beside =
          g_strconcat (MIXED, cases[i].part, ATTACHED ("x.csv") TABLE "--b--\n",
                       NULL);
      g_autofree char *alone =
          g_strconcat (MIXED "--b\n\nDear colleague, see attached.\n",
                       cases[i].part, "--b--\n", NULL);
      g_autoptr (QmImport) import = read_text (beside, -1, NULL);
      const QmQuote *quote;

      g_test_message ("%s", cases[i].named);
      g_assert_nonnull (import);
      quote = quote_at (import, 0);
      g_assert_cmpint (level_of (quote, cases[i].words), ==,
                       QM_FINDING_WARNING);
      g_assert_nonnull (find (quote, cases[i].named));
      g_assert_nonnull (find (quote, "ask the seller for a PDF"));
      g_assert_null (find (quote, "No quote could be read"));
      assert_refused (alone, -1, cases[i].named);
      assert_refused (alone, -1, cases[i].words);
    }
}

/* Several at once, beside what is wrong with others; signatures and their like
 * are nobody's quotes. */
static void
test_unopened_together (void)
{
  static const char several[] =
      MIXED ENCODED ("application/ms-tnef", "winmail.dat")
          TNEF ENCODED ("application/ms-tnef", "winmail2.dat")
              TNEF ENCODED ("application/vnd.ms-outlook", "a.msg") COMPOUND
      "--b\nContent-Type: application/pdf; name=a.pdf\n\n%PDF-1.4\n--b--\n";
  g_autoptr (QmImport) import =
      read_text (MIXED ENCODED ("application/pkcs7-signature", "smime.p7s")
                     SIGNED ENCODED ("application/octet-stream", "other.p7s")
                         SIGNED ENCODED ("application/octet-stream",
                                         "terms.doc")
                             COMPOUND ATTACHED ("x.csv") TABLE "--b--\n",
                 -1, NULL);

  assert_refused (several, -1, "“a.pdf”");
  assert_refused (several, -1, "“winmail.dat”, “winmail2.dat” are in a format");
  assert_refused (several, -1, "“a.msg” is an e-mail in a format");
  g_assert_nonnull (import);
  g_assert_null (find (quote_at (import, 0), "p7s"));
  g_assert_cmpint (level_of (quote_at (import, 0), "“terms.doc”"), ==,
                   QM_FINDING_NOTE);
}

static void
test_refused (void)
{
  assert_refused (HEAD "\nDear colleague,\n\nthank you.\n", -1, "running text");
  assert_refused (HEAD "\n", -1, "nothing in this e-mail");
  assert_refused (HEAD "Content-Type: multipart/mixed; boundary=b\n\n--other\n"
                       "Content-Type: text/plain\n\nx\n--other--\n",
                  -1, "damaged");
  assert_refused (MIXED "--b\nContent-Type: text/plain\n\nSee attached.\n"
                        "--b\nContent-Type: application/pdf; name=a.pdf\n\n"
                        "%PDF-1.4\n--b--\n",
                  -1, "“a.pdf”");
}

static char *
nest_parts (guint n)
{
  GString *text = g_string_new (HEAD);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text,
                            "Content-Type: multipart/mixed; boundary=b%u\n\n"
                            "--b%u\n",
                            i, i);
  g_string_append (text, "\n" TABLE);
  return g_string_free (text, FALSE);
}

static char *
nest_mails (guint n)
{
  GString *text = g_string_new (HEAD);

  for (guint i = 0; i < n; i++)
    g_string_append (text, "Content-Type: message/rfc822\n\n" HEAD);
  g_string_append (text, "\n" TABLE);
  return g_string_free (text, FALSE);
}

static char *
repeat (const char *before, const char *piece, guint n, const char *after)
{
  GString *text = g_string_new (before);

  for (guint i = 0; i < n; i++)
    g_string_append (text, piece);
  g_string_append (text, after);
  return g_string_free (text, FALSE);
}

/* Parts in parts, mails in mails, groups of addresses in groups, and many
 * parts, more than are read. */
static void
test_bounds (void)
{
  static const char many_parts[] = "too many parts";
  g_autofree char *deep = nest_parts (4000);
  g_autofree char *deeper = nest_parts (60000);
  g_autofree char *mails = nest_mails (40000);
  g_autofree char *groups = repeat (HEAD "To: ", "a:", 3000000, "\n\nText\n");
  g_autofree char *folded =
      repeat (HEAD "Content-Type: message/rfc822\n\n" HEAD "cc : x\n", "\ta:\n",
              1500000, "\nText\n");
  g_autofree char *inner =
      repeat (HEAD "Content-Type: message/rfc822\n\n" HEAD "Bcc: ", "a:",
              3000000, "\n\nText\n");
  g_autofree char *allowed =
      repeat (HEAD "To: ", "a:", 990, "\nContent-Type: text/html\n\n" PAGE);
  g_autofree char *many =
      repeat (MIXED, ATTACHED ("x.csv") TABLE, 3000, "--b--\n");
  g_autofree char *more = repeat (MIXED, "--b\n\n", 1000000, "--b--\n");
  g_autoptr (QmImport) import = NULL;
  g_autoptr (QmImport) grouped = NULL;

  assert_refused (deep, -1, many_parts);
  assert_refused (deeper, -1, many_parts);
  assert_refused (mails, -1, many_parts);
  assert_refused (groups, -1, many_parts);
  assert_refused (folded, -1, many_parts);
  assert_refused (inner, -1, many_parts);
  assert_refused (more, -1, many_parts);
  grouped = read_text (allowed, -1, NULL);
  g_assert_nonnull (grouped);
  import = read_text (many, -1, NULL);
  g_assert_nonnull (import);
  g_assert_cmpuint (import->quotes->len, ==, 1);
  g_assert_cmpint (level_of (quote_at (import, 0), many_parts), ==,
                   QM_FINDING_WARNING);
}

/* Cut off, or with a byte turned, anywhere: an outcome. */
static void
test_broken (gconstpointer data)
{
  g_autofree char *path = g_build_filename (procurement_folder (), data, NULL);
  g_autofree char *text = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  for (gsize at = 1; at < size; at += 37)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) other = NULL;
      g_autoptr (QmImport) cut = read_text (text, (gssize) at, &error);
      g_autoptr (QmImport) turned = NULL;

      g_assert_true ((cut == NULL) == (error != NULL));
      text[at] ^= 0x55;
      turned = read_text (text, (gssize) size, &other);
      g_assert_true ((turned == NULL) == (other != NULL));
      text[at] ^= 0x55;
    }
}

int
main (int argc, char **argv)
{
  static const char *const endings[] = { ".eml", NULL };
  g_autoptr (GPtrArray) files = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  procurement_begin ();
  g_test_add_func ("/mail/kind", test_kind);
  g_test_add_func ("/mail/unpacked", test_unpacked);
  g_test_add_func ("/mail/told", test_told);
  g_test_add_func ("/mail/text-instead", test_text_instead);
  g_test_add_func ("/mail/several", test_several);
  g_test_add_func ("/mail/mapping", test_mapping);
  g_test_add_func ("/mail/locked", test_locked);
  g_test_add_func ("/mail/unopened", test_unopened);
  g_test_add_func ("/mail/unopened-together", test_unopened_together);
  g_test_add_func ("/mail/refused", test_refused);
  g_test_add_func ("/mail/bounds", test_bounds);
  files = procurement_files (endings);
  g_assert_cmpuint (files->len, >=, 5);
  for (guint i = 0; i < files->len; i++)
    {
      const char *file = g_ptr_array_index (files, i);
      g_autofree char *path = g_strconcat ("/mail/golden/", file, NULL);
      g_autofree char *broken = g_strconcat ("/mail/broken/", file, NULL);

      g_test_add_data_func (path, file, test_golden);
      g_test_add_data_func (broken, file, test_broken);
    }
  result = g_test_run ();
  procurement_end ();
  return result;
}
