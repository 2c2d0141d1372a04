/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-extract.h"
#include "app/qm-cli-json.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-own.h"
#include "app/qm-cli-table.h"
#include "app/qm-cli.h"
#include "pricing/pages/qm-page.h"
#include "pricing/qm-format.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <unistd.h>

/* The values of the options as they were typed. */
typedef struct
{
  GStrv files;
  GStrv url;
  GStrv charset;
  GStrv rules;
  gboolean json;
} Typed;

static void
clear_typed_extract (Typed *typed)
{
  g_clear_pointer (&typed->files, g_strfreev);
  g_clear_pointer (&typed->url, g_strfreev);
  g_clear_pointer (&typed->charset, g_strfreev);
  g_clear_pointer (&typed->rules, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, clear_typed_extract)

/* Reads until the end or until there is one byte too many.  0, or errno. */
static int
read_page_bytes (int fd, GByteArray *bytes)
{
  for (;;)
    {
      guint8 buffer[65536];
      ssize_t n = read (fd, buffer, sizeof buffer);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return errno;
      if (n == 0 || bytes->len > QM_PAGE_BYTES_MAX)
        return 0;
      g_byte_array_append (bytes, buffer, (guint) n);
    }
}

/* (transfer full) (nullable): the page's bytes, too many where it is too
 * large. */
static GByteArray *
read_page (const char *name, GError **error)
{
  gboolean is_standard = g_str_equal (name, "-");
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  int fd = is_standard ? STDIN_FILENO : g_open (name, O_RDONLY | O_CLOEXEC, 0);
  int problem = fd < 0 ? errno : read_page_bytes (fd, bytes);

  if (fd >= 0 && !is_standard)
    close (fd);
  if (problem != 0)
    {
      g_autofree char *quoted = qm_cli_quote (name);

      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   /* Translators: a file, why not. */
                   _ ("cannot read %s: %s"), quoted, g_strerror (problem));
      return NULL;
    }
  return g_steal_pointer (&bytes);
}

static QmPageRules *
load_rules (const char *path, GArray *problems, GError **error)
{
  g_autoptr (GError) problem = NULL;
  QmPageRules *rules = path != NULL ? qm_page_rules_load (path, &problem)
                                    : qm_cli_own_rules (problems);

  if (rules == NULL)
    {
      g_autofree char *message = qm_cli_escape (problem->message);

      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, message);
    }
  return rules;
}

static QmPageOffer *
read_offer (const Typed *typed, GArray *problems, GError **error)
{
  const char *name = typed->files != NULL ? typed->files[0] : NULL;
  const char *rules_path;
  QmPageContext context = { 0 };
  g_autoptr (QmPageRules) rules = NULL;
  g_autoptr (GByteArray) page = NULL;
  g_autoptr (GError) problem = NULL;
  QmPageOffer *offer;

  if (name == NULL || typed->files[1] != NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("one page is needed: a file, or “-” for "
                              "standard input"));
      return NULL;
    }
  if (!qm_cli_option_single ("url", typed->url, &context.url, error)
      || !qm_cli_option_single ("charset", typed->charset, &context.charset,
                                error)
      || !qm_cli_option_single ("rules", typed->rules, &rules_path, error))
    return NULL;
  rules = load_rules (rules_path, problems, error);
  if (rules == NULL)
    return NULL;
  page = read_page (name, error);
  if (page == NULL)
    return NULL;
  context.rules = rules;
  offer = qm_page_read (page->data, page->len, &context, NULL, &problem);
  if (offer == NULL)
    {
      g_autofree char *quoted = qm_cli_quote (name);

      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "%s: %s", quoted,
                   problem->message);
    }
  return offer;
}

static gboolean
has_price (const QmPageOffer *offer)
{
  return offer->price_micros != QM_AMOUNT_UNSTATED;
}

static json_t *
tristate_json (QmTristate state)
{
  return state == QM_UNSTATED ? json_null () : json_boolean (state == QM_YES);
}

static gboolean
write_offer_json (const QmPageOffer *offer,
                  const GArray *problems,
                  GError **error)
{
  json_t *root = json_object ();
  json_t *notes = json_array ();
  gboolean written;

  for (guint i = 0; i < offer->notes->len; i++)
    json_array_append_new (notes, qm_cli_json_text (
                                      g_ptr_array_index (offer->notes, i)));
  json_object_set_new (root, "name", qm_cli_json_text (offer->name));
  json_object_set_new (root, "price",
                       has_price (offer)
                           ? qm_cli_json_micros (offer->price_micros)
                           : json_null ());
  json_object_set_new (root, "currency", qm_cli_json_text (offer->currency));
  json_object_set_new (root, "availability",
                       qm_cli_json_text (
                           qm_availability_name (offer->availability)));
  json_object_set_new (root, "valid_until",
                       qm_cli_json_date (offer->valid_until));
  json_object_set_new (root, "method",
                       has_price (offer) ? qm_cli_json_text (
                           qm_page_method_name (offer->method))
                                         : json_null ());
  json_object_set_new (root, "confirmed",
                       has_price (offer) ? json_boolean (offer->confirmed)
                                         : json_null ());
  json_object_set_new (root, "seller", qm_cli_json_text (offer->seller));
  json_object_set_new (root, "sku", qm_cli_json_text (offer->sku));
  json_object_set_new (root, "mpn", qm_cli_json_text (offer->mpn));
  json_object_set_new (root, "tax_included",
                       tristate_json (offer->tax_included));
  json_object_set_new (root, "reason", qm_cli_json_text (offer->reason));
  json_object_set_new (root, "notes", notes);
  json_object_set_new (root, "problems",
                       qm_cli_json_errors (&g_array_index (problems, QmError,
                                                           0),
                                           problems->len));
  written = qm_cli_json_write (root, error);
  json_decref (root);
  return written;
}

/* "$1,299.00", or the number and that its currency is not known.
 * (transfer full) */
static char *
price_text (const QmPageOffer *offer)
{
  double major = (double) offer->price_micros / QM_MICROS_PER_UNIT;
  g_autofree char *number = NULL;

  if (offer->currency[0] != '\0')
    return qm_format_money (major, offer->currency, TRUE);
  number = qm_format_number (major, 2);
  /* Translators: an amount. */
  return g_strdup_printf (_ ("%s, in a currency that is not clear"), number);
}

/* Where a price was found, in words; static. */
static const char *
method_text (QmPageMethod method)
{
  switch (method)
    {
    case QM_PAGE_JSON_LD:
      return _ ("structured data (JSON-LD)");
    case QM_PAGE_MICRODATA:
      return _ ("structured data (microdata)");
    case QM_PAGE_RDFA:
      return _ ("structured data (RDFa)");
    case QM_PAGE_META:
      return _ ("the page’s head");
    case QM_PAGE_SCRIPT:
      return _ ("data of a script");
    case QM_PAGE_RULE:
      return _ ("a rule for the site");
    default:
      return _ ("the text");
    }
}

static void
append_field (GString *out,
              const QmCliScreen *screen,
              const char *label,
              const char *text)
{
  g_autofree char *start = NULL;

  if (text == NULL || *text == '\0')
    return;
  start = g_strdup_printf ("%s: ", label);
  qm_cli_append_paragraph (out, screen, QM_CLI_PLAIN, start, 2, text);
}

static gboolean
write_offer_text (const QmPageOffer *offer, GError **error)
{
  const QmCliScreen screen = qm_cli_screen ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *until = qm_cli_date_text (offer->valid_until);

  append_field (out, &screen, _ ("Product"), offer->name);
  if (has_price (offer))
    {
      g_autofree char *price = price_text (offer);

      append_field (out, &screen, _ ("Price"), price);
      append_field (out, &screen, _ ("Read from"), method_text (offer->method));
      append_field (out, &screen, _ ("Shown to people"),
                    offer->confirmed ? _ ("yes") : _ ("no"));
    }
  else
    append_field (out, &screen, _ ("No price"), offer->reason);
  append_field (out, &screen, _ ("Availability"),
                qm_availability_name (offer->availability));
  append_field (out, &screen, _ ("Valid until"), until);
  append_field (out, &screen, _ ("Seller"), offer->seller);
  append_field (out, &screen, _ ("Article"), offer->sku);
  append_field (out, &screen, _ ("Part number"), offer->mpn);
  for (guint i = 0; i < offer->notes->len; i++)
    append_field (out, &screen, _ ("Note"),
                  g_ptr_array_index (offer->notes, i));
  return qm_cli_write_text (out->str, error);
}

int
qm_cli_extract (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "extract",
    .parameters = "FILE|-",
    .summary = _ ("Tells what a web page that you saved says its product "
                  "costs.  When in doubt, it tells no price."),
    .description = _ ("Nothing is fetched, and no script of the page is run.  "
                      "Rules for sites are those of --rules, else your own "
                      "in page-rules.xml in “quartermaster” in the XDG data "
                      "directory, and the shipped ones."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_autoptr (GArray) problems = g_array_new (FALSE, FALSE, sizeof (QmError));
  g_autoptr (QmPageOffer) offer = NULL;
  int status;

  qm_cli_options_add_json (options, &typed.json);
  qm_cli_options_add_value (options, "url", 0, _ ("ADDRESS"),
                            _ ("The page’s address, by which rules are found"),
                            &typed.url);
  qm_cli_options_add_value (options, "charset", 0, _ ("NAME"),
                            _ ("The encoding that the server named"),
                            &typed.charset);
  qm_cli_options_add_value (options, "rules", 0, _ ("FILE"),
                            _ ("Rules for sites, in XML"), &typed.rules);
  if (!qm_cli_options_parse (&verb, options, arguments, &typed.files, &status,
                             error))
    return status;
  {
    g_autoptr (QmCliCLocale) locale =
        typed.json ? qm_cli_c_locale_enter () : NULL;

    offer = read_offer (&typed, problems, error);
    if (offer == NULL)
      return QM_CLI_EXIT_BAD_INPUT;
    if (!(typed.json ? write_offer_json (offer, problems, error)
                     : write_offer_text (offer, error)))
      return QM_CLI_EXIT_BAD_INPUT;
  }
  return has_price (offer) ? QM_CLI_EXIT_FOUND : QM_CLI_EXIT_NOTHING_FITS;
}
