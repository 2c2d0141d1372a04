/* SPDX-License-Identifier: Apache-2.0 */

#include "data/probes.h"

#include "data/csv-table.h"
#include "data/file.h"
#include "data/json-source.h"
#include "data/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "quartermaster-speeds-1"

/* No call of a probe takes, computes or moves more. */
#define MOST_SECONDS 3600.0
#define MOST_WORK    1e18

/* No clock is higher, in MHz, and no board draws more, in watts. */
#define MOST_MHZ   20000.0
#define MOST_WATTS 20000.0

/* Copies a line of text that is not too long; "" where it is absent. */
static void
take_line (QmJsonObject *object, const char *name, char *to, size_t size)
{
  const char *text = qm_json_string (object, name, false);

  to[0] = '\0';
  if (text == NULL)
    return;
  if (strlen (text) >= size || !qm_text_is_line (text))
    qm_json_fail (object, name, QM_STATUS_INVALID,
                  "has to be a line of less than %zu bytes", size);
  else
    strcpy (to, text);
}

/* A number above 0, or NaN where it is absent. */
static double
take_positive (QmJsonObject *object, const char *name, double most)
{
  double value = qm_json_number_or (object, name, 0, most, NAN);

  if (value == 0)
    qm_json_fail (object, name, QM_STATUS_INVALID, "has to be above 0");
  return value;
}

static void
take_probe (QmJsonObject *all, const char *name, QmProbes *probes)
{
  QmProbe *probe = &probes->probes[probes->n];
  QmJsonObject object;

  if (probes->n == QM_PROBES_MAX || strlen (name) >= sizeof probe->name
      || name[0] == '\0' || !qm_text_is_line (name))
    {
      qm_json_fail (all, name, QM_STATUS_INVALID,
                    "is one too many, or no name");
      return;
    }
  qm_json_enter (all, name, &object);
  strcpy (probe->name, name);
  probe->flops = qm_json_number_or (&object, "flops", 0, MOST_WORK, 0);
  probe->bytes = qm_json_number (&object, "bytes", 1, MOST_WORK);
  probe->seconds = qm_json_number (&object, "seconds", 1e-9, MOST_SECONDS);
  probe->sm_mhz = take_positive (&object, "sm_mhz", MOST_MHZ);
  probe->watts = take_positive (&object, "watts", MOST_WATTS);
  all->status = qm_json_finish (&object, NULL);
  probes->n++;
}

static void
take_probes (QmJsonObject *top, QmProbes *probes)
{
  QmJsonObject all;
  const char *name;
  json_t *value;

  qm_json_enter (top, "probes", &all);
  if (all.status == QM_OK)
    json_object_foreach (all.json, name, value)
    {
      if (all.status == QM_OK)
        take_probe (&all, name, probes);
    }
  top->status = qm_json_finish (&all, NULL);
}

static void
take_host (QmJsonObject *top, QmProbes *probes)
{
  QmJsonObject host;

  qm_json_enter (top, "host", &host);
  probes->down = take_positive (&host, "down_bytes_per_s", MOST_WORK);
  probes->up = take_positive (&host, "up_bytes_per_s", MOST_WORK);
  probes->add = take_positive (&host, "add_s", MOST_SECONDS);
  probes->adam = take_positive (&host, "adam_s", MOST_SECONDS);
  top->status = qm_json_finish (&host, NULL);
}

/* No file has to have them. */
static void
take_links (QmJsonObject *top, QmProbes *probes)
{
  json_t *array = qm_json_take (top, "links"), *element;
  size_t i;

  if (array == NULL)
    return;
  if (!json_is_array (array) || json_array_size (array) > QM_PROBES_LINKS)
    {
      qm_json_fail (top, "links", QM_STATUS_INVALID,
                    "has to be a list of at most %d", QM_PROBES_LINKS);
      return;
    }
  json_array_foreach (array, i, element)
  {
    QmLinkTimes *times = &probes->links[probes->n_links];
    QmJsonObject one;

    if (top->status != QM_OK)
      return;
    if (!json_is_object (element))
      {
        qm_json_fail (top, "links", QM_STATUS_INVALID, "has to be of objects");
        return;
      }
    qm_json_begin (&one, top->source, element, top->error);
    qm_link_times_take (&one, times);
    top->status = qm_json_finish (&one, NULL);
    if (top->status == QM_OK && qm_probes_links (probes, times->ranks) != NULL)
      qm_json_fail (top, "links", QM_STATUS_INVALID, "has %d GPUs twice",
                    times->ranks);
    probes->n_links++;
  }
}

static void
take_probe_file (QmJsonObject *top, QmProbes *probes)
{
  const char *format = qm_json_string (top, "format", true);

  if (format != NULL && strcmp (format, FORMAT) != 0)
    qm_json_fail (top, "format", QM_STATUS_INVALID, "is not %s", FORMAT);
  take_line (top, "gpu", probes->gpu, sizeof probes->gpu);
  if (probes->gpu[0] != '\0' && qm_id_problem (probes->gpu) != NULL)
    qm_json_fail (top, "gpu", QM_STATUS_INVALID, "%s",
                  qm_id_problem (probes->gpu));
  take_line (top, "device", probes->device, sizeof probes->device);
  take_line (top, "driver", probes->driver, sizeof probes->driver);
  take_line (top, "products", probes->products, sizeof probes->products);
  take_line (top, "date", probes->date, sizeof probes->date);
  probes->architecture = (int) qm_json_integer (top, "architecture", 0, 999);
  probes->sm_mhz_max = take_positive (top, "sm_mhz_max", MOST_MHZ);
  probes->watts_limit = take_positive (top, "watts_limit", MOST_WATTS);
  if (top->status == QM_OK)
    take_host (top, probes);
  if (top->status == QM_OK)
    take_probes (top, probes);
  if (top->status == QM_OK)
    take_links (top, probes);
}

QmStatus
qm_probes_parse (const char *text,
                 size_t length,
                 const char *file,
                 QmProbes *probes,
                 QmError *error)
{
  const QmJsonText source = { text, length, file };
  QmJsonObject top;
  json_t *root;
  QmStatus status;

  memset (probes, 0, sizeof *probes);
  status = qm_json_parse (&source, &root, error);
  if (status != QM_OK)
    return status;
  qm_json_begin (&top, &source, root, error);
  take_probe_file (&top, probes);
  status = qm_json_finish (&top, NULL);
  json_decref (root);
  return status;
}

QmStatus
qm_probes_read (const char *path, QmProbes *probes, QmError *error)
{
  char *text;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, error);

  if (status != QM_OK)
    return status;
  status = qm_probes_parse (text, length, path, probes, error);
  free (text);
  return status;
}

/* A number of six digits, or nothing where it is not known. */
static void
put_rounded (json_t *object, const char *name, double value)
{
  char text[32];

  if (!isfinite (value))
    return;
  snprintf (text, sizeof text, "%.6g", value);
  qm_number_parse (text, &value);
  json_object_set_new (object, name, json_real (value));
}

static json_t *
probe_json (const QmProbe *probe)
{
  json_t *object = json_object ();

  if (probe->flops > 0)
    put_rounded (object, "flops", probe->flops);
  put_rounded (object, "bytes", probe->bytes);
  put_rounded (object, "seconds", probe->seconds);
  put_rounded (object, "sm_mhz", probe->sm_mhz);
  put_rounded (object, "watts", probe->watts);
  return object;
}

json_t *
qm_probes_json (const QmProbes *probes)
{
  json_t *top = json_object (), *host = json_object (), *all = json_object ();
  json_t *links = json_array ();

  json_object_set_new (top, "format", json_string (FORMAT));
  if (probes->gpu[0] != '\0')
    json_object_set_new (top, "gpu", json_string (probes->gpu));
  json_object_set_new (top, "device", json_string (probes->device));
  json_object_set_new (top, "driver", json_string (probes->driver));
  json_object_set_new (top, "products", json_string (probes->products));
  json_object_set_new (top, "date", json_string (probes->date));
  json_object_set_new (top, "architecture",
                       json_integer (probes->architecture));
  put_rounded (top, "sm_mhz_max", probes->sm_mhz_max);
  put_rounded (top, "watts_limit", probes->watts_limit);
  put_rounded (host, "down_bytes_per_s", probes->down);
  put_rounded (host, "up_bytes_per_s", probes->up);
  put_rounded (host, "add_s", probes->add);
  put_rounded (host, "adam_s", probes->adam);
  json_object_set_new (top, "host", host);
  for (size_t i = 0; i < probes->n; i++)
    json_object_set_new (all, probes->probes[i].name,
                         probe_json (&probes->probes[i]));
  json_object_set_new (top, "probes", all);
  for (size_t i = 0; i < probes->n_links; i++)
    json_array_append_new (links, qm_link_times_json (&probes->links[i]));
  if (probes->n_links > 0)
    json_object_set (top, "links", links);
  json_decref (links);
  return top;
}

QmStatus
qm_probes_write (const QmProbes *probes, const char *path, QmError *error)
{
  json_t *top = qm_probes_json (probes);
  char *text = json_dumps (top, JSON_INDENT (2) | JSON_REAL_PRECISION (6));
  QmStatus status;

  json_decref (top);
  if (text == NULL)
    return qm_error_no_memory (error);
  status = qm_file_write (path, text, error);
  free (text);
  return status;
}

const QmProbe *
qm_probes_find (const QmProbes *probes, const char *name)
{
  for (size_t i = 0; i < probes->n; i++)
    if (strcmp (probes->probes[i].name, name) == 0)
      return &probes->probes[i];
  return NULL;
}

const QmLinkTimes *
qm_probes_links (const QmProbes *probes, int gpus)
{
  for (size_t i = 0; i < probes->n_links; i++)
    if (probes->links[i].ranks == gpus)
      return &probes->links[i];
  return NULL;
}

bool
qm_probes_path (const char *directory, const char *gpu, char *path, size_t size)
{
  int length = snprintf (path, size, "%s/%s/%s%s", directory, QM_PROBES_FOLDER,
                         gpu, QM_PROBES_SUFFIX);

  return length >= 0 && (size_t) length < size;
}
