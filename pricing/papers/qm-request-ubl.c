/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/papers/qm-request-ubl.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <math.h>

#define RFQ "urn:oasis:names:specification:ubl:schema:xsd:RequestForQuotation-2"
#define CAC \
  "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
#define CBC \
  "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2"

/* Recommendation 20 of UN/CEFACT: one, a day, a watt. */
#define UNIT_ONE  "C62"
#define UNIT_DAY  "DAY"
#define UNIT_WATT "WTT"

static void
begin_request (xmlTextWriter *writer, const char *name)
{
  xmlTextWriterStartElement (writer, BAD_CAST name);
}

static void
end_request (xmlTextWriter *writer)
{
  xmlTextWriterEndElement (writer);
}

/* An element with text, as far as XML can hold it. */
static void
put_element (xmlTextWriter *writer, const char *name, const char *text)
{
  g_autofree char *clean = qm_read_text (text);

  if (clean != NULL)
    xmlTextWriterWriteElement (writer, BAD_CAST name, BAD_CAST clean);
}

static void
put_date (xmlTextWriter *writer, const char *name, QmDate date)
{
  g_autofree char *text = qm_read_date_text (date);

  if (text != NULL)
    put_element (writer, name, text);
}

static void
put_quantity (xmlTextWriter *writer,
              const char *name,
              const char *unit,
              double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  begin_request (writer, name);
  xmlTextWriterWriteAttribute (writer, BAD_CAST "unitCode", BAD_CAST unit);
  xmlTextWriterWriteString (
      writer, BAD_CAST g_ascii_formatd (number, sizeof number, "%.15g", value));
  end_request (writer);
}

static void
put_property (xmlTextWriter *writer, const QmNeed *need)
{
  begin_request (writer, "cac:AdditionalItemProperty");
  put_element (writer, "cbc:Name", need->name);
  put_element (writer, "cbc:Value", need->amount);
  /* The same for programs. */
  if (qm_known (need->least) && need->least > 0
      && need->kind != QM_NEED_PRECISION)
    put_quantity (writer, "cbc:ValueQuantity",
                  need->kind == QM_NEED_POWER ? UNIT_WATT : UNIT_ONE,
                  need->least);
  end_request (writer);
}

/* Begins a line of so many; its item is to be filled and ended. */
static void
begin_line (xmlTextWriter *writer, int number, double quantity)
{
  g_autofree char *id = g_strdup_printf ("%d", number);

  begin_request (writer, "cac:RequestForQuotationLine");
  put_element (writer, "cbc:ID", id);
  begin_request (writer, "cac:LineItem");
  put_element (writer, "cbc:ID", id);
  put_quantity (writer, "cbc:Quantity", UNIT_ONE, quantity);
  begin_request (writer, "cac:Item");
}

static void
end_line (xmlTextWriter *writer)
{
  end_request (writer);
  end_request (writer);
  end_request (writer);
}

/* The trainings as properties, so that a vendor can guarantee their rates. */
static void
put_trainings (xmlTextWriter *writer, const QmRequest *request)
{
  for (guint i = 0; i < request->trainings->len; i++)
    {
      const QmRequestedTraining *training =
          &g_array_index (request->trainings, QmRequestedTraining, i);
      const QmRecipe *recipe = &training->model->recipe;
      g_autofree char *name =
          /* Translators: a model. */
          g_strdup_printf (_ ("Training: %s"), training->model->name);
      g_autofree char *batch = g_strdup_printf ("%" PRId64, recipe->batch_size);
      g_autofree char *steps = g_strdup_printf ("%" PRId64, recipe->steps);
      g_autofree char *length =
          g_strdup_printf ("%" PRId64, recipe->sequence_length);
      g_autofree char *value =
          recipe->sequence_length > 0
              /* Translators: samples in one step, tokens in a sample, steps. */
              ? g_strdup_printf (_ ("batch %s, %s tokens each, %s steps"),
                                 batch, length, steps)
              /* Translators: samples in one step, steps. */
              : g_strdup_printf (_ ("batch %s, %s steps"), batch, steps);

      put_property (writer, &(QmNeed){ .name = name,
                                       .amount = value,
                                       .least = (double) NAN });
    }
}

static gboolean
is_of_machine (const QmNeed *need)
{
  return need->kind != QM_NEED_WARRANTY && need->kind != QM_NEED_SHIPPING
         && need->kind != QM_NEED_NET && need->kind != QM_NEED_TAX
         && need->kind != QM_NEED_VALIDITY && need->kind != QM_NEED_MACHINES;
}

static const QmNeed *
find_need (const QmRequest *request, QmNeedKind kind)
{
  for (guint i = 0; i < request->needs->len; i++)
    if (g_array_index (request->needs, QmNeed, i).kind == kind)
      return &g_array_index (request->needs, QmNeed, i);
  return NULL;
}

static void
put_lines (xmlTextWriter *writer, const QmRequest *request)
{
  const QmNeed *warranty = find_need (request, QM_NEED_WARRANTY);
  const QmNeed *shipping = find_need (request, QM_NEED_SHIPPING);
  int number = 1;

  begin_line (writer, number++, request->machines);
  put_element (
      writer, "cbc:Description",
      _ ("Machine with GPUs on which neural networks are trained, set up and "
         "ready to use; of any maker and type that meets the requirements"));
  put_element (writer, "cbc:Name", _ ("Machine with GPUs"));
  for (guint i = 0; i < request->needs->len; i++)
    if (is_of_machine (&g_array_index (request->needs, QmNeed, i)))
      put_property (writer, &g_array_index (request->needs, QmNeed, i));
  put_trainings (writer, request);
  end_line (writer);
  if (warranty != NULL)
    {
      begin_line (writer, number++, request->machines);
      put_element (writer, "cbc:Description", warranty->amount);
      put_element (writer, "cbc:Name", warranty->name);
      end_line (writer);
    }
  if (shipping != NULL)
    {
      begin_line (writer, number, 1);
      put_element (writer, "cbc:Description", shipping->amount);
      put_element (writer, "cbc:Name", shipping->name);
      end_line (writer);
    }
}

static void
put_head (xmlTextWriter *writer, const QmRequest *request, const char *id)
{
  g_autofree char *lines = NULL;

  put_element (writer, "cbc:UBLVersionID", "2.1");
  put_element (writer, "cbc:ID", id);
  put_date (writer, "cbc:IssueDate", request->terms.today);
  put_element (writer, "cbc:IssueTime", "00:00:00Z");
  put_date (writer, "cbc:SubmissionDueDate", request->terms.answer_by);
  put_element (
      writer, "cbc:Note",
      _ ("No maker, type or number of GPUs is asked for: whatever meets the "
         "requirements is welcome, and what exceeds them may be offered."));
  put_element (writer, "cbc:PricingCurrencyCode", request->currency);
  lines =
      g_strdup_printf ("%d",
                       1 + (find_need (request, QM_NEED_WARRANTY) != NULL)
                           + (find_need (request, QM_NEED_SHIPPING) != NULL));
  put_element (writer, "cbc:LineCountNumeric", lines);
  begin_request (writer, "cac:RequestedValidityPeriod");
  put_quantity (writer, "cbc:DurationMeasure", UNIT_DAY,
                request->terms.valid_days);
  end_request (writer);
  /* Any vendor, so that there is nothing to say of it. */
  begin_request (writer, "cac:SellerSupplierParty");
  end_request (writer);
}

GBytes *
qm_request_ubl_write (const QmRequest *request, const char *id)
{
  xmlBuffer *buffer;
  xmlTextWriter *writer;
  GBytes *bytes = NULL;

  g_return_val_if_fail (request != NULL && id != NULL, NULL);

  buffer = xmlBufferCreate ();
  writer = buffer != NULL ? xmlNewTextWriterMemory (buffer, 0) : NULL;
  if (writer != NULL)
    {
      xmlTextWriterSetIndent (writer, 1);
      xmlTextWriterSetIndentString (writer, BAD_CAST "  ");
      xmlTextWriterStartDocument (writer, "1.0", "UTF-8", NULL);
      begin_request (writer, "RequestForQuotation");
      xmlTextWriterWriteAttribute (writer, BAD_CAST "xmlns", BAD_CAST RFQ);
      xmlTextWriterWriteAttribute (writer, BAD_CAST "xmlns:cac", BAD_CAST CAC);
      xmlTextWriterWriteAttribute (writer, BAD_CAST "xmlns:cbc", BAD_CAST CBC);
      put_head (writer, request, id);
      put_lines (writer, request);
      if (xmlTextWriterEndDocument (writer) >= 0)
        bytes = g_bytes_new (xmlBufferContent (buffer),
                             (gsize) xmlBufferLength (buffer));
      xmlFreeTextWriter (writer);
    }
  if (buffer != NULL)
    xmlBufferFree (buffer);
  return bytes;
}
