/* SPDX-License-Identifier: Apache-2.0 */

/* qm-bench devices. */

#include "app/qm-bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEVICES 64

/* A device, and what it tells about itself where it does. */
typedef struct Found
{
  QmDeviceInfo info;
  bool told;
  char silence[QM_MESSAGE_BYTES]; /* why it does not */
  QmFacts facts;
  QmReading now;
} Found;

static void
ask_monitor (Found *found)
{
  QmMonitor *monitor;
  QmError error = { 0 };

  if (found->info.bus[0] == '\0')
    return;
  found->told =
      qm_monitor_open (found->info.bus, NULL, &monitor, &error) == QM_OK;
  if (!found->told)
    {
      snprintf (found->silence, sizeof found->silence, "%s", error.message);
      return;
    }
  qm_monitor_facts (monitor, &found->facts);
  qm_monitor_read (monitor, &found->now);
  /* Of an instance of a GPU that was split, not known before it is used. */
  if (found->facts.free_bytes >= 0 && found->facts.mig <= 0)
    found->info.free_bytes = (uint64_t) found->facts.free_bytes;
  qm_monitor_close (monitor);
}

/* Whether two PCI addresses are the same: domains are written with four digits
 * or eight. */
static bool
same_bus (const char *a, const char *b)
{
  unsigned long domain[2], bus[2], device[2];
  const char *text[2] = { a, b };

  for (int i = 0; i < 2; i++)
    {
      char *end;

      domain[i] = strtoul (text[i], &end, 16);
      if (*end != ':')
        return false;
      bus[i] = strtoul (end + 1, &end, 16);
      if (*end != ':')
        return false;
      device[i] = strtoul (end + 1, &end, 16);
    }
  return domain[0] == domain[1] && bus[0] == bus[1] && device[0] == device[1];
}

/* NVLinks from one GPU to another directly; with NULL, to switches. */
static int
links_to (const Found *from, const Found *to)
{
  int n = 0;

  for (int i = 0; from->told && i < from->facts.n_links; i++)
    n += to == NULL ? from->facts.links[i].to_switch
                    : same_bus (from->facts.links[i].bus, to->info.bus);
  return n;
}

static json_t *
json_links (const Found *found, const Found *all, size_t n)
{
  const QmFacts *facts = &found->facts;
  json_t *object = json_object (), *to = json_object ();

  json_object_set_new (object, "links", json_integer (facts->n_links));
  qm_bench_json_number (object, "gbs_each_way", facts->link_gbs);
  if (links_to (found, NULL) > 0)
    json_object_set_new (to, "switch", json_integer (links_to (found, NULL)));
  for (size_t i = 0; i < n; i++)
    if (&all[i] != found && all[i].info.bus[0] != '\0'
        && links_to (found, &all[i]) > 0)
      json_object_set_new (to, all[i].info.id,
                           json_integer (links_to (found, &all[i])));
  json_object_set_new (object, "to", to);
  return object;
}

static json_t *
json_processes (const QmFacts *facts)
{
  json_t *array = json_array ();

  for (int i = 0; i < facts->n_processes && i < QM_MONITOR_PROCESSES; i++)
    {
      json_t *process = json_object ();

      json_object_set_new (process, "pid",
                           json_integer (facts->processes[i].id));
      qm_bench_json_whole (process, "bytes", facts->processes[i].bytes);
      json_array_append_new (array, process);
    }
  return array;
}

static const char *const compute_modes[] = { "shared", "exclusive thread",
                                             "prohibited", "exclusive" };

static const char *
compute_mode (const QmFacts *facts)
{
  return facts->compute_mode >= QM_COMPUTE_SHARED
                 && facts->compute_mode <= QM_COMPUTE_EXCLUSIVE
             ? compute_modes[facts->compute_mode]
             : NULL;
}

static void
json_facts (json_t *object, const Found *found, const Found *all, size_t n)
{
  const QmFacts *facts = &found->facts;

  qm_bench_json_reading (object, &found->now);
  qm_bench_json_number (object, "sm_mhz_max", facts->sm_mhz_max);
  qm_bench_json_number (object, "memory_mhz_max", facts->memory_mhz_max);
  qm_bench_json_number (object, "watts_limit", facts->watts_max);
  qm_bench_json_whole (object, "pcie_generation", facts->pcie_generation);
  qm_bench_json_whole (object, "pcie_width", facts->pcie_width);
  qm_bench_json_whole (object, "pcie_generation_max",
                       facts->pcie_generation_max);
  qm_bench_json_whole (object, "pcie_width_max", facts->pcie_width_max);
  qm_bench_json_switch (object, "ecc", facts->ecc);
  qm_bench_json_switch (object, "mig", facts->mig);
  qm_bench_json_switch (object, "display", facts->display);
  qm_bench_json_switch (object, "persistence", facts->persistent);
  json_object_set_new (object, "compute_mode",
                       compute_mode (facts) != NULL
                           ? json_string (compute_mode (facts))
                           : json_null ());
  if (facts->n_links >= 0)
    json_object_set_new (object, "nvlink", json_links (found, all, n));
  if (facts->n_processes >= 0)
    json_object_set_new (object, "processes", json_processes (facts));
}

static void
json_products (json_t *object, const QmProducts *products)
{
  json_object_set_new (object, "products_file",
                       products->path[0] != '\0' ? json_string (products->path)
                                                 : json_null ());
  json_object_set_new (object, "products_note", json_string (products->note));
}

/* Why there is no GPU, and what would multiply on one. */
static json_t *
json_absence (const char *note)
{
  json_t *object = json_object ();
  int driver, runtime;
  QmTrouble cause = qm_device_absence (&driver, &runtime);
  QmProducts products;

  json_object_set_new (object, "cause", json_string (qm_trouble_name (cause)));
  json_object_set_new (object, "reason", json_string (note));
  qm_bench_json_whole (object, "driver_cuda", driver > 0 ? driver : -1);
  qm_bench_json_whole (object, "runtime_cuda", runtime > 0 ? runtime : -1);
  qm_device_products (&products, NULL);
  json_object_set_new (object, "products", json_string (products.name));
  json_products (object, &products);
  return object;
}

static void
print_device_json (const Found *found,
                   const Found *all,
                   size_t n,
                   const char *note)
{
  json_t *object = qm_bench_json_device (&found->info);
  json_t *peers = json_array ();

  json_object_set_new (object, "usable",
                       json_boolean (found->info.trouble[0] == '\0'));
  if (found->info.trouble[0] != '\0')
    {
      json_object_set_new (object, "trouble",
                           json_string (found->info.trouble));
      json_object_set_new (object, "cause",
                           json_string (qm_trouble_name (found->info.cause)));
    }
  if (qm_target_is_gpu (&found->info.target))
    {
      json_products (object, &found->info.products);
    }
  if (!qm_target_is_gpu (&found->info.target) && note[0] != '\0')
    json_object_set_new (object, "no_gpu", json_absence (note));
  for (size_t i = 0; i < n; i++)
    if (&all[i] != found && qm_device_peers (found->info.id, all[i].info.id))
      json_array_append_new (peers, json_string (all[i].info.id));
  json_object_set_new (object, "peers", peers);
  if (found->told)
    json_facts (object, found, all, n);
  else if (found->silence[0] != '\0')
    json_object_set_new (object, "monitor", json_string (found->silence));
  qm_bench_print_json (object);
}

#define INDENT "        "

static void
print_links (const Found *found, const Found *all, size_t n)
{
  const QmFacts *facts = &found->facts;

  if (facts->pcie_generation_max > 0)
    printf (INDENT "PCIe %d.0 x%d (now %d.0 x%d)", facts->pcie_generation_max,
            facts->pcie_width_max, facts->pcie_generation, facts->pcie_width);
  else
    printf (INDENT "PCIe not known");
  if (facts->n_links > 0)
    {
      printf ("; %d NVLinks of %.1f GB/s each way", facts->n_links,
              facts->link_gbs);
      if (links_to (found, NULL) > 0)
        printf (", %d to switches", links_to (found, NULL));
      for (size_t i = 0; i < n; i++)
        if (&all[i] != found && links_to (found, &all[i]) > 0)
          printf (", %d to %s", links_to (found, &all[i]), all[i].info.id);
    }
  else if (facts->n_links == 0)
    printf ("; no NVLink");
  printf ("\n");
}

static const char *
on_off (int state)
{
  return state < 0 ? "not known" : state > 0 ? "on" : "off";
}

static void
print_facts (const Found *found, const Found *all, size_t n)
{
  const QmFacts *facts = &found->facts;
  const QmReading *now = &found->now;

  print_links (found, all, n);
  printf (INDENT "SM clock %.0f of %.0f MHz, memory %.0f of %.0f MHz, %.0f C, "
                 "%.0f of %.0f W\n",
          now->sm_mhz, facts->sm_mhz_max, now->memory_mhz,
          facts->memory_mhz_max, now->celsius, now->watts, facts->watts_max);
  printf (INDENT "ECC %s, MIG %s, display %s, compute mode %s",
          on_off (facts->ecc), on_off (facts->mig), on_off (facts->display),
          compute_mode (facts) != NULL ? compute_mode (facts) : "not known");
  if (facts->n_processes > 0)
    printf (", %d processes use it", facts->n_processes);
  printf ("\n");
  if (facts->mig > 0)
    printf (INDENT "clocks, power and links are those of the whole GPU, of "
                   "which this is an instance\n");
}

static void
print_products (const QmProducts *products)
{
  if (strcmp (products->name, "own") == 0)
    printf (INDENT "products of our own, which take longer than cuBLASLt's\n");
  else
    printf (INDENT "products by %s, %s\n", products->name, products->path);
  if (products->note[0] != '\0')
    printf (INDENT "%s\n", products->note);
}

static void
print_device_text (const Found *found, const Found *all, size_t n)
{
  const QmDeviceInfo *info = &found->info;
  bool peers = false;

  printf ("%-8s%s\n", info->id, info->name);
  printf (INDENT "%.1f GiB of memory", (double) info->memory_bytes / 0x1p30);
  if (info->free_bytes > 0)
    printf (", %.1f GiB free", (double) info->free_bytes / 0x1p30);
  if (!qm_target_is_gpu (&info->target))
    {
      printf (", %d processors\n", info->processors);
      return;
    }
  printf (", compute capability %d.%d, %d SMs\n", info->capability / 10,
          info->capability % 10, info->processors);
  printf (INDENT "driver %s for CUDA %d.%d, this program is for CUDA %d.%d\n",
          info->driver, info->driver_cuda / 1000, info->driver_cuda % 1000 / 10,
          info->runtime_cuda / 1000, info->runtime_cuda % 1000 / 10);
  print_products (&info->products);
  if (found->told)
    print_facts (found, all, n);
  else
    printf (INDENT "%s\n", found->silence);
  for (size_t i = 0; i < n; i++)
    if (&all[i] != found && qm_device_peers (info->id, all[i].info.id))
      {
        printf ("%s%s", peers ? " " : INDENT "reads the memory of ",
                all[i].info.id);
        peers = true;
      }
  if (peers)
    printf ("\n");
  if (info->trouble[0] != '\0')
    printf (INDENT "%s\n", info->trouble);
}

int
qm_bench_devices (const QmBenchOptions *options)
{
  Found *found = calloc (MAX_DEVICES, sizeof *found);
  QmDeviceInfo *infos = calloc (MAX_DEVICES, sizeof *infos);
  char note[256] = "";
  QmError error = { 0 };
  size_t n = 0;

  if (found != NULL && infos != NULL)
    n = qm_device_list (infos, MAX_DEVICES, note, sizeof note);
  else
    qm_error_no_memory (&error);
  n = n < MAX_DEVICES ? n : MAX_DEVICES;
  for (size_t i = 0; i < n; i++)
    {
      found[i].info = infos[i];
      ask_monitor (&found[i]);
    }
  for (size_t i = 0; i < n; i++)
    if (options->json)
      print_device_json (&found[i], found, n, note);
    else
      print_device_text (&found[i], found, n);
  if (note[0] != '\0')
    fprintf (stderr, "%s%s\n", note,
             options->json ? "" : "  What is here is the cpu: --device cpu.");
  free (infos);
  free (found);
  return error.status == QM_OK ? QM_BENCH_OK : qm_bench_fail (&error);
}
