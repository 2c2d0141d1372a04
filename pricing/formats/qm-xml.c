/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "pricing/formats/qm-xml.h"

#include "pricing/quotes/qm-quote-read.h"

#include <glib/gi18n-lib.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <string.h>

/* How often a parser looks whether it is to stop. */
#define ELEMENTS_PER_LOOK 1024

typedef struct
{
  GCancellable *cancellable;
  GError *error; /* the first one */
  guint elements;
  guint depth;
} Guard;

static Guard *
guard_of (void *context)
{
  return ((xmlParserCtxt *) context)->_private;
}

static void
stop (void *context, QmReadError code, const char *message)
{
  Guard *guard = guard_of (context);

  if (guard->error == NULL)
    guard->error = g_error_new (QM_READ_ERROR, (int) code, "%s", message);
  xmlStopParser (context);
}

static void
internal_subset_cb (void *context,
                    const xmlChar *name,
                    const xmlChar *public_id,
                    const xmlChar *system_id)
{
  stop (context, QM_READ_ERROR_MALFORMED,
        _ ("The document declares a document type (DOCTYPE), which no "
           "quotation needs and which can make a program read other files; it "
           "was not read."));
}

static void
start_element_cb (void *context,
                  const xmlChar *name,
                  const xmlChar *prefix,
                  const xmlChar *uri,
                  int n_namespaces,
                  const xmlChar **namespaces,
                  int n_attributes,
                  int n_defaulted,
                  const xmlChar **attributes)
{
  Guard *guard = guard_of (context);

  if (++guard->depth > QM_XML_MAX_DEPTH)
    stop (context, QM_READ_ERROR_TOO_LARGE,
          _ ("The document's elements are nested too deep."));
  else if (++guard->elements > QM_XML_MAX_ELEMENTS)
    stop (context, QM_READ_ERROR_TOO_LARGE,
          _ ("The document has too many elements."));
  else if (guard->elements % ELEMENTS_PER_LOOK == 0
           && g_cancellable_set_error_if_cancelled (
               guard->cancellable, guard->error == NULL ? &guard->error : NULL))
    xmlStopParser (context);
  else
    xmlSAX2StartElementNs (context, name, prefix, uri, n_namespaces, namespaces,
                           n_attributes, n_defaulted, attributes);
}

static void
end_element_cb (void *context,
                const xmlChar *name,
                const xmlChar *prefix,
                const xmlChar *uri)
{
  guard_of (context)->depth--;
  xmlSAX2EndElementNs (context, name, prefix, uri);
}

/* The structure became constant in a later version. */
#if LIBXML_VERSION >= 21200
typedef const xmlError *Problem;
#else
typedef xmlErrorPtr Problem;
#endif

static void
error_cb (void *context, Problem problem)
{
  Guard *guard = guard_of (context);
  g_autofree char *message = NULL;

  if (guard->error != NULL || problem->level < XML_ERR_ERROR
      || problem->code == XML_ERR_USER_STOP)
    return;
  message = qm_read_text (problem->message);
  guard->error =
      g_error_new (QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                   _ ("Line %d is not well-formed XML: %s"), problem->line,
                   message != NULL ? message
                                   : _ ("something is wrong with it"));
}

/* Some errors of encodings are not those of a parser, and would be printed. */
static void G_GNUC_PRINTF (2, 3)
    ignore_error_cb (void *context, const char *message, ...)
{
}

/* Parses while nothing is printed by this thread. */
static void
parse_quietly (xmlParserCtxt *parser)
{
  xmlGenericErrorFunc print = xmlGenericError;
  void *context = xmlGenericErrorContext;

  xmlSetGenericErrorFunc (NULL, ignore_error_cb);
  xmlParseDocument (parser);
  xmlSetGenericErrorFunc (context, print);
}

static void
set_up (xmlParserCtxt *parser, Guard *guard)
{
  parser->_private = guard;
  parser->sax->internalSubset = internal_subset_cb;
  parser->sax->startElementNs = start_element_cb;
  parser->sax->endElementNs = end_element_cb;
  parser->sax->comment = NULL;
  parser->sax->processingInstruction = NULL;
  parser->sax->serror = error_cb;
  xmlCtxtUseOptions (parser, XML_PARSE_NONET);
}

xmlDoc *
qm_xml_parse (const char *data,
              gsize size,
              GCancellable *cancellable,
              GError **error)
{
  Guard guard = { .cancellable = cancellable };
  xmlParserCtxt *parser;
  xmlDoc *document;
  gboolean good;

  g_return_val_if_fail (data != NULL || size == 0, NULL);

  if (size > QM_READ_MAX_BYTES)
    {
      g_set_error (error, QM_READ_ERROR, QM_READ_ERROR_TOO_LARGE,
                   _ ("The document is larger than %u MiB."),
                   (guint) (QM_READ_MAX_BYTES >> 20));
      return NULL;
    }
  parser = size > 0 ? xmlCreateMemoryParserCtxt (data, (int) size) : NULL;
  if (parser == NULL)
    {
      g_set_error_literal (error, QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                           _ ("The document is empty."));
      return NULL;
    }
  set_up (parser, &guard);
  parse_quietly (parser);
  document = g_steal_pointer (&parser->myDoc);
  good = parser->wellFormed && guard.error == NULL && document != NULL
         && xmlDocGetRootElement (document) != NULL;
  xmlFreeParserCtxt (parser);
  if (good)
    return document;
  xmlFreeDoc (document);
  if (guard.error == NULL)
    guard.error =
        g_error_new_literal (QM_READ_ERROR, QM_READ_ERROR_MALFORMED,
                             _ ("The document is not well-formed XML."));
  g_propagate_error (error, guard.error);
  return NULL;
}

gboolean
qm_xml_is (const xmlNode *node, const char *namespace, const char *name)
{
  return node->type == XML_ELEMENT_NODE && node->ns != NULL
         && strcmp ((const char *) node->name, name) == 0
         && strcmp ((const char *) node->ns->href, namespace) == 0;
}

static xmlNode *
find_sibling (xmlNode *node, const char *namespace, const char *name)
{
  while (node != NULL && !qm_xml_is (node, namespace, name))
    node = node->next;
  return node;
}

xmlNode *
qm_xml_child (const xmlNode *node, const char *namespace, const char *name)
{
  return node != NULL ? find_sibling (node->children, namespace, name) : NULL;
}

xmlNode *
qm_xml_next (const xmlNode *node, const char *namespace, const char *name)
{
  return find_sibling (node->next, namespace, name);
}

static char *
take_stripped (xmlChar *content)
{
  char *text = NULL;

  if (content != NULL)
    {
      g_strstrip ((char *) content);
      if (*content != '\0')
        text = g_strdup ((const char *) content);
    }
  xmlFree (content);
  return text;
}

char *
qm_xml_text (const xmlNode *node)
{
  return node != NULL ? take_stripped (xmlNodeGetContent (node)) : NULL;
}

char *
qm_xml_attribute (const xmlNode *node, const char *name)
{
  return node != NULL
             ? take_stripped (xmlGetNoNsProp (node, (const xmlChar *) name))
             : NULL;
}
