/* SPDX-License-Identifier: Apache-2.0 */

/* Reading the ECB's documents. */

#include "config.h"

#include "pricing/qm-rates.h"

#include <glib/gi18n-lib.h>
#include <libxml/xmlreader.h>
#include <string.h>

#define GESMES "http://www.gesmes.org/xml/2002-08-01"
#define ECB    "http://www.ecb.int/vocabulary/2002-08-01/eurofxref"

/* Since 1999 there were 7 000 days with 41 currencies. */
#define MAX_RATES    2000000
#define MAX_DEPTH    32
#define MAX_DECIMALS 9
#define MAX_WHOLE    G_GINT64_CONSTANT (1000000000)
#define MAX_COLUMNS  256

static void
set_error (GError **error, const char *name, int line, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static void
set_error (GError **error, const char *name, int line, const char *format, ...)
{
  g_autofree char *cut = NULL;
  g_autofree char *message = NULL;
  va_list arguments;

  if (error == NULL || *error != NULL)
    return;
  va_start (arguments, format);
  cut = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  /* What is quoted may have been cut within a character. */
  message = g_utf8_make_valid (cut, -1);
  if (line > 0)
    g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT,
                 _ ("%s, line %d: %s"), name, line, message);
  else
    g_set_error (error, QM_RATES_ERROR, QM_RATES_ERROR_FORMAT, "%s: %s", name,
                 message);
}

/* A positive decimal without sign or exponent. */
static gboolean
parse_nanos (const char *text, gint64 *nanos)
{
  gint64 value = 0;
  int decimals = 0;

  if (!g_ascii_isdigit (*text))
    return FALSE;
  for (; g_ascii_isdigit (*text); text++)
    {
      value = value * 10 + (*text - '0');
      if (value > MAX_WHOLE)
        return FALSE;
    }
  if (*text == '.')
    for (text++; g_ascii_isdigit (*text); text++, decimals++)
      {
        if (decimals == MAX_DECIMALS)
          return FALSE;
        value = value * 10 + (*text - '0');
      }
  if (*text != '\0' || value == 0)
    return FALSE;
  for (; decimals < MAX_DECIMALS; decimals++)
    value *= 10;
  *nanos = value;
  return TRUE;
}

static gboolean
parse_day (const char *text, QmDate *date)
{
  return qm_date_parse (text, date) && date->day > 0;
}

/* Appends what a document says; FALSE with an error where that is no rate. */
static gboolean
append_rate (GArray *rates,
             QmDate day,
             const char *currency,
             const char *value,
             const char *name,
             int line,
             GError **error)
{
  QmRate rate = { .date = day };

  if (!qm_currency_valid (currency) || strcmp (currency, "EUR") == 0)
    set_error (error, name, line,
               _ ("“%.20s” is not a currency to give a rate of"), currency);
  else if (!parse_nanos (value, &rate.nanos))
    set_error (error, name, line, _ ("“%.40s” is not an exchange rate"), value);
  else if (rates->len >= MAX_RATES)
    set_error (error, name, line, _ ("there are too many rates"));
  else
    {
      memcpy (rate.currency, currency, sizeof rate.currency);
      g_array_append_val (rates, rate);
      return TRUE;
    }
  return FALSE;
}

/* A document that has two rates for the same thing is not to be trusted. */
static QmRates *
finish (GArray *rates, const char *name, GError **error)
{
  if (rates->len == 0)
    {
      set_error (error, name, 0, _ ("there are no exchange rates"));
      return NULL;
    }
  g_array_sort (rates, qm_rate_compare);
  for (guint i = 1; i < rates->len; i++)
    {
      const QmRate *rate = &g_array_index (rates, QmRate, i);

      if (qm_rate_compare (rate - 1, rate) == 0
          && rate[-1].nanos != rate->nanos)
        {
          set_error (error, name, 0,
                     _ ("there are two different rates of %s on "
                        "%04d-%02d-%02d"),
                     rate->currency, rate->date.year, rate->date.month,
                     rate->date.day);
          return NULL;
        }
    }
  return qm_rates_new ((const QmRate *) (void *) rates->data, rates->len,
                       error);
}

static gboolean
check_size (GBytes *bytes, const char *name, GError **error)
{
  if (g_bytes_get_size (bytes) <= QM_RATES_MAX_BYTES)
    return TRUE;
  set_error (error, name, 0, _ ("is larger than %d MiB"),
             QM_RATES_MAX_BYTES >> 20);
  return FALSE;
}

static gboolean
check_text (const char *text, gsize size, const char *name, GError **error)
{
  if (size > 0 && g_utf8_validate_len (text, size, NULL))
    return TRUE;
  set_error (error, name, 0, _ ("is not a text file in UTF-8"));
  return FALSE;
}

typedef struct
{
  xmlTextReader *reader;
  const char *name;
  GArray *rates;
  QmDate day; /* of the Cube that is open; year 0: none */
  int day_depth;
  GError **error;
} XmlReading;

static int
line_of (const XmlReading *reading)
{
  return xmlTextReaderGetParserLineNumber (reading->reader);
}

static gboolean
is_element (const XmlReading *reading,
            const char *local_name,
            const char *space)
{
  const xmlChar *name = xmlTextReaderConstLocalName (reading->reader);
  const xmlChar *uri = xmlTextReaderConstNamespaceUri (reading->reader);

  return name != NULL && uri != NULL
         && strcmp ((const char *) name, local_name) == 0
         && strcmp ((const char *) uri, space) == 0;
}

static gboolean
read_cube (XmlReading *reading)
{
  g_autofree char *time = NULL;
  g_autofree char *currency = NULL;
  g_autofree char *rate = NULL;
  xmlChar *text;
  struct
  {
    const char *attribute;
    char **value;
  } attributes[] = { { "time", &time },
                     { "currency", &currency },
                     { "rate", &rate } };

  for (gsize i = 0; i < G_N_ELEMENTS (attributes); i++)
    {
      text =
          xmlTextReaderGetAttribute (reading->reader,
                                     (const xmlChar *) attributes[i].attribute);
      *attributes[i].value = g_strdup ((const char *) text);
      xmlFree (text);
    }
  if (time != NULL)
    {
      if (!parse_day (time, &reading->day))
        {
          set_error (reading->error, reading->name, line_of (reading),
                     _ ("“%.40s” is not a day"), time);
          return FALSE;
        }
      reading->day_depth = xmlTextReaderDepth (reading->reader);
    }
  if (currency == NULL && rate == NULL)
    return TRUE;
  if (currency == NULL || rate == NULL || reading->day.year == 0)
    {
      set_error (reading->error, reading->name, line_of (reading),
                 _ ("a rate needs its day, its currency and a value"));
      return FALSE;
    }
  return append_rate (reading->rates, reading->day, currency, rate,
                      reading->name, line_of (reading), reading->error);
}

static gboolean
read_node (XmlReading *reading)
{
  int depth = xmlTextReaderDepth (reading->reader);

  switch (xmlTextReaderNodeType (reading->reader))
    {
    case XML_READER_TYPE_DOCUMENT_TYPE:
    case XML_READER_TYPE_ENTITY:
    case XML_READER_TYPE_ENTITY_REFERENCE:
      set_error (reading->error, reading->name, line_of (reading),
                 _ ("a document of exchange rates has no document type "
                    "declaration"));
      return FALSE;
    case XML_READER_TYPE_ELEMENT:
      if (depth > MAX_DEPTH)
        {
          set_error (reading->error, reading->name, line_of (reading),
                     _ ("is nested too deeply"));
          return FALSE;
        }
      if (depth == 0 && !is_element (reading, "Envelope", GESMES))
        {
          set_error (reading->error, reading->name, line_of (reading),
                     _ ("this is “%.80s”, not the exchange rates of the "
                        "European Central Bank"),
                     xmlTextReaderConstName (reading->reader));
          return FALSE;
        }
      if (depth <= reading->day_depth)
        reading->day.year = 0;
      return !is_element (reading, "Cube", ECB) || read_cube (reading);
    default:
      return TRUE;
    }
}

static void
structured_error_cb (void *data, xmlErrorPtr xml_error)
{
  XmlReading *reading = data;
  g_autofree char *message = NULL;

  if (xml_error->level < XML_ERR_ERROR)
    return;
  message =
      g_utf8_make_valid (xml_error->message != NULL ? xml_error->message : "",
                         -1);
  set_error (reading->error, reading->name, xml_error->line,
             _ ("the XML is broken: %s"), g_strstrip (message));
}

QmRates *
qm_rates_new_from_ecb (GBytes *bytes, const char *name, GError **error)
{
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (QmRate));
  g_autoptr (GError) local = NULL;
  XmlReading reading = { .name = name, .rates = rates, .error = &local };
  gsize size;
  const char *text;
  int status;

  g_return_val_if_fail (bytes != NULL && name != NULL, NULL);

  if (!check_size (bytes, name, error))
    return NULL;
  text = g_bytes_get_data (bytes, &size);
  if (!check_text (text, size, name, error))
    return NULL;
  /* Whatever it declares: the ECB writes UTF-8, and libxml2 would complain of
   * other encodings on standard error. */
  reading.reader = xmlReaderForMemory (text, (int) size, NULL, "UTF-8",
                                       XML_PARSE_NONET | XML_PARSE_NOCDATA
                                           | XML_PARSE_IGNORE_ENC);
  if (reading.reader == NULL)
    {
      set_error (error, name, 0, _ ("there is no XML in it"));
      return NULL;
    }
  xmlTextReaderSetStructuredErrorHandler (reading.reader, structured_error_cb,
                                          &reading);
  while ((status = xmlTextReaderRead (reading.reader)) == 1)
    if (!read_node (&reading))
      break;
  xmlTextReaderClose (reading.reader);
  xmlFreeTextReader (reading.reader);
  if (local == NULL && status < 0)
    set_error (&local, name, 0, _ ("the XML is broken"));
  if (local != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  return finish (rates, name, error);
}

/* Cells are not quoted in the ECB's files.  Cuts a line into at most `max` of
 * them, the last with what is left, and returns how many there are up to the
 * last one that is not empty.  They lie in the line, of which there are
 * thousands. */
static gsize
split_cells (char *line, char **cells, gsize max)
{
  gsize n = 0;

  for (gsize i = 0; i < max && line != NULL; i++)
    {
      char *cell = line;

      if (i + 1 < max)
        while (*line != ',' && *line != '\0')
          line++;
      if (i + 1 < max && *line == ',')
        *line++ = '\0';
      else
        line = NULL;
      cells[i] = g_strstrip (cell);
      if (*cells[i] != '\0')
        n = i + 1;
    }
  return n;
}

static gboolean
read_csv_line (GArray *rates,
               char **header,
               gsize n_columns,
               char *line,
               const char *name,
               int number,
               GError **error)
{
  char *cells[MAX_COLUMNS + 1];
  gsize n = split_cells (line, cells, G_N_ELEMENTS (cells));
  QmDate day;

  if (n == 0)
    return TRUE;
  if (!parse_day (cells[0], &day))
    {
      set_error (error, name, number, _ ("“%.40s” is not a day"), cells[0]);
      return FALSE;
    }
  if (n > n_columns)
    {
      set_error (error, name, number, _ ("there are more cells than columns"));
      return FALSE;
    }
  for (gsize i = 1; i < n; i++)
    if (*cells[i] != '\0' && strcmp (cells[i], "N/A") != 0
        && !append_rate (rates, day, header[i], cells[i], name, number, error))
      return FALSE;
  return TRUE;
}

QmRates *
qm_rates_new_from_csv (GBytes *bytes, const char *name, GError **error)
{
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (QmRate));
  g_autofree char *copy = NULL;
  char *header[MAX_COLUMNS + 1];
  gsize size, n_columns = 0;
  const char *text;
  int number = 0;

  g_return_val_if_fail (bytes != NULL && name != NULL, NULL);

  if (!check_size (bytes, name, error))
    return NULL;
  text = g_bytes_get_data (bytes, &size);
  if (!check_text (text, size, name, error))
    return NULL;
  copy = g_strndup (text, size);
  for (char *line = copy, *next; line != NULL; line = next)
    {
      next = memchr (line, '\n', (gsize) (copy + size - line));
      if (next != NULL)
        *next++ = '\0';
      number++;
      if (number == 1 && g_str_has_prefix (line, "\xef\xbb\xbf"))
        line += 3;
      g_strchomp (line);
      if (*line == '#' || *line == '\0')
        continue;
      if (n_columns == 0)
        {
          n_columns = split_cells (line, header, G_N_ELEMENTS (header));
          if (n_columns >= 2 && n_columns <= MAX_COLUMNS
              && g_ascii_strcasecmp (header[0], "Date") == 0)
            continue;
          set_error (error, name, number,
                     _ ("a table of exchange rates begins with “Date” and the "
                        "currencies"));
          return NULL;
        }
      if (!read_csv_line (rates, header, n_columns, line, name, number, error))
        return NULL;
    }
  return finish (rates, name, error);
}

QmRates *
qm_rates_new_shipped (const char *data_dir, GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (data_dir != NULL, NULL);

  path = g_build_filename (data_dir, "exchange-rates.csv", NULL);
  file = g_mapped_file_new (path, FALSE, error);
  if (file == NULL)
    return NULL;
  bytes = g_mapped_file_get_bytes (file);
  return qm_rates_new_from_csv (bytes, "exchange-rates.csv", error);
}
