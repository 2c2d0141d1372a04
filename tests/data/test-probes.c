/* SPDX-License-Identifier: Apache-2.0 */

/* Files of what machines can do: what is written is read, and what somebody
 * broke is refused with its place. */

#include "data/file.h"
#include "data/probes.h"
#include "data/text.h"
#include "tests/data/check.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const QmProbes some = {
  .gpu = "rtx4090",
  .device = "NVIDIA GeForce RTX 4090",
  .driver = "580.82.07",
  .products = "cuBLASLt 13.1.0",
  .date = "2026-11-23",
  .architecture = 89,
  .sm_mhz_max = 3105,
  .watts_limit = 450,
  .down = 2.6e10,
  .up = 2.5e10,
  .add = 7.5e-11,
  .adam = 3.25e-10,
  .probes = { { "product-16-4096", 1.1e12, 4.7e8, 6.75e-3, 2505, 449.5 },
              { "copy", 0, 5.3e8, 5.875e-4, 2700, NAN } },
  .n = 2,
  .links = { { .ranks = 2,
               .transport = "nccl",
               .n = { 2, 1, 1 },
               .times = { { { 65536, 2.5e-5 }, { 1e9, 0.125 } },
                          { { 65536, 1.5e-5 } },
                          { { 65536, 1.25e-5 } } } },
             { .ranks = 4,
               .transport = "host",
               .n = { 1, 1, 1 },
               .times = { { { 4096, 1 } },
                          { { 4096, 2 } },
                          { { 4096, 3 } } } } },
  .n_links = 2,
};

static bool
same (double a, double b)
{
  return (isnan (a) && isnan (b)) || fabs (a / b - 1) < 1e-5;
}

static void
check_same_links (const QmLinkTimes *a, const QmLinkTimes *b)
{
  CHECK (b != NULL && strcmp (a->transport, b->transport) == 0);
  for (int c = 0; c < QM_LINKS_OPS; c++)
    {
      CHECK_INT (a->n[c], b->n[c]);
      for (size_t i = 0; i < a->n[c]; i++)
        CHECK (a->times[c][i].bytes == b->times[c][i].bytes
               && same (a->times[c][i].seconds, b->times[c][i].seconds));
    }
}

static void
check_same (const QmProbes *a, const QmProbes *b)
{
  CHECK (strcmp (a->gpu, b->gpu) == 0 && strcmp (a->device, b->device) == 0);
  CHECK (strcmp (a->driver, b->driver) == 0 && strcmp (a->date, b->date) == 0);
  CHECK (strcmp (a->products, b->products) == 0);
  CHECK_INT (a->architecture, b->architecture);
  CHECK (same (a->sm_mhz_max, b->sm_mhz_max));
  CHECK (same (a->watts_limit, b->watts_limit));
  CHECK (same (a->down, b->down) && same (a->up, b->up));
  CHECK (same (a->add, b->add) && same (a->adam, b->adam));
  CHECK_INT (a->n, b->n);
  for (size_t i = 0; i < a->n; i++)
    {
      const QmProbe *x = &a->probes[i];
      const QmProbe *y = qm_probes_find (b, x->name);

      CHECK (y != NULL);
      CHECK (x->flops == y->flops || same (x->flops, y->flops));
      CHECK (same (x->bytes, y->bytes) && same (x->seconds, y->seconds));
      CHECK (same (x->sm_mhz, y->sm_mhz) && same (x->watts, y->watts));
    }
  CHECK_INT (a->n_links, b->n_links);
  for (size_t i = 0; i < a->n_links; i++)
    check_same_links (&a->links[i], qm_probes_links (b, a->links[i].ranks));
}

static void
test_round_trip (void)
{
  QmProbes unknown = some, read;
  char path[PATH_MAX];
  QmError error = { 0 };

  CHECK (qm_probes_path (scratch_begin (), some.gpu, path, sizeof path));
  CHECK_INT (qm_probes_write (&some, path, &error), QM_STATUS_IO);
  CHECK_INT (qm_file_make_folders (path, &error), QM_OK);
  CHECK_INT (qm_probes_write (&some, path, &error), QM_OK);
  CHECK_INT (qm_probes_read (path, &read, &error), QM_OK);
  check_same (&some, &read);
  CHECK (qm_probes_find (&read, "product") == NULL);

  /* What is not known is left out, and stays so; what is there is replaced. */
  unknown.gpu[0] = '\0';
  unknown.sm_mhz_max = unknown.watts_limit = NAN;
  unknown.down = unknown.up = unknown.add = unknown.adam = NAN;
  CHECK_INT (qm_probes_write (&unknown, path, &error), QM_OK);
  CHECK_INT (qm_probes_read (path, &read, &error), QM_OK);
  check_same (&unknown, &read);
  unlink (path);
  CHECK_INT (qm_probes_read (path, &read, &error), QM_STATUS_IO);
  scratch_end ();
}

static void
test_broken (void)
{
  static const struct
  {
    const char *from, *to;
    QmStatus status;
  } changes[] = {
    { "{", "[", QM_STATUS_PARSE },
    { "quartermaster-speeds-1", "quartermaster-speeds-2", QM_STATUS_INVALID },
    { "\"rtx4090\"", "\"../rtx4090\"", QM_STATUS_INVALID },
    { "\"rtx4090\"", "4090", QM_STATUS_INVALID },
    { "NVIDIA", "NVIDIA\\n", QM_STATUS_INVALID },
    { "2026-11-23", "the twenty-third of November", QM_STATUS_INVALID },
    { "\"architecture\": 89", "\"architecture\": 8.9", QM_STATUS_INVALID },
    { "\"architecture\": 89", "\"architecture\": -1", QM_STATUS_INVALID },
    { "3105.0", "0", QM_STATUS_INVALID },
    { "450.0", "-450", QM_STATUS_INVALID },
    { "449.5", "1e9", QM_STATUS_INVALID },
    { "0.00675", "0", QM_STATUS_INVALID },
    { "0.00675", "\"fast\"", QM_STATUS_INVALID },
    { "\"seconds\"", "\"second\"", QM_STATUS_INVALID },
    { "\"host\"", "\"hosts\"", QM_STATUS_INVALID },
    { "\"gpu\":", "\"colour\": \"grey\", \"gpu\":", QM_STATUS_UNSUPPORTED },
    { "\"copy\": {", "\"copy\": 1, \"more\": {", QM_STATUS_INVALID },
  };
  json_t *json = qm_probes_json (&some);
  char *text = json_dumps (json, JSON_INDENT (1) | JSON_REAL_PRECISION (6));
  QmProbes read;
  QmError error = { 0 };

  json_decref (json);
  CHECK_INT (qm_probes_parse (text, strlen (text), "f", &read, &error), QM_OK);
  check_same (&some, &read);
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    {
      char *wrong = check_replaced (text, changes[i].from, changes[i].to);

      CHECK_INT (qm_probes_parse (wrong, strlen (wrong), "f", &read, &error),
                 changes[i].status);
      CHECK (error.line > 0 && error.message[0] != '\0');
      free (wrong);
    }
  free (text);
}

/* More probes than there is room for. */
static void
test_too_many (void)
{
  json_t *json = qm_probes_json (&some);
  json_t *all = json_object_get (json, "probes");
  char name[32], *text;
  QmProbes read;
  QmError error = { 0 };

  for (int i = 0; i < 80; i++)
    {
      snprintf (name, sizeof name, "call-%d", i);
      json_object_set (all, name, json_object_get (all, "copy"));
    }
  text = json_dumps (json, JSON_INDENT (1) | JSON_REAL_PRECISION (6));
  CHECK_INT (qm_probes_parse (text, strlen (text), "f", &read, &error),
             QM_STATUS_INVALID);
  CHECK (strstr (error.message, "one too many") != NULL);
  free (text);
  json_decref (json);
}

int
main (void)
{
  test_round_trip ();
  test_broken ();
  test_too_many ();
  return check_report ();
}
