/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/ui/synthetic.h"

#include "tests/ui/folder.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>

/* A number from 0 to 1 that is always the same for the same seed. */
static double
scatter (guint32 seed)
{
  seed ^= seed >> 16;
  seed *= 0x7feb352du;
  seed ^= seed >> 15;
  seed *= 0x846ca68bu;
  seed ^= seed >> 16;
  return (double) seed / G_MAXUINT32;
}

static void
append_number (GString *text, double value)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text,
                   g_ascii_formatd (buffer, sizeof buffer, "%.2f", value));
}

static void
write_file (const char *directory, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (directory, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

static void
copy_file (const char *from, const char *to, const char *name)
{
  g_autofree char *path = g_build_filename (from, name, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  write_file (to, name, text);
}

static void
append_platform (GString *text, const QmPlatform *platform)
{
  g_string_append_printf (text, "%s,\"%s\",%s,%d,", platform->id,
                          platform->name,
                          qm_platform_form_name (platform->form),
                          platform->gpus);
  for (int i = QM_GPU_COOLING_OPEN; i < QM_GPU_COOLING_BOARD; i++)
    if (platform->takes & 1u << i)
      g_string_append_printf (text, " %s",
                              qm_gpu_cooling_name ((QmGpuCooling) i));
  g_string_append_printf (text, ",%g,%g,%g,%d,%d,%g,made up\n",
                          platform->slot_width, platform->gpu_watts,
                          platform->psu_watts, platform->psus,
                          platform->psu_spare, platform->host_watts);
}

/* The platforms for cards that are there, with their prices. */
static void
write_platforms (const char *data_dir, const char *directory, GString *prices)
{
  g_autoptr (GString) text = g_string_new (
      "id,name,form,gpus,takes,slot_width,gpu_watts,psu_watts,psus,psu_spare,"
      "host_watts,source\n");
  QmCatalog *catalog = NULL;
  QmError problem = { 0 };
  size_t n;
  const QmPlatform *platforms;

  if (qm_catalog_load (data_dir, NULL, &catalog, &problem) != QM_OK)
    g_error ("%s", problem.message);
  platforms = qm_catalog_platforms (catalog, &n);
  for (size_t i = 0; i < n; i++)
    if (*platforms[i].sold_with == '\0' && platforms[i].psus > 0
        && qm_known (platforms[i].psu_watts)
        && qm_known (platforms[i].gpu_watts)
        && qm_known (platforms[i].slot_width)
        && qm_known (platforms[i].host_watts))
      {
        append_platform (text, &platforms[i]);
        g_string_append_printf (
            prices, "%s,street,each,1,%d,,,USD,2024-09-21,made up\n",
            platforms[i].id, 1000 * platforms[i].gpus);
      }
  write_file (directory, "platforms.csv", text->str);
  qm_catalog_free (catalog);
}

/* GPUs from slow and cheap to fast and dear, with some scatter.  Their peak is
 * beyond every time, so that the audit denies none. */
static void
write_gpus (const char *data_dir, const char *directory, guint n_gpus)
{
  g_autoptr (GString) gpus = g_string_new (
      "id,name,vendor,form_factor,slot_width,cooling,memory_gib,memory_"
      "bandwidth_gbs,"
      "fp16_tflops,bf16,tf32_tflops,fp32_tflops,measured_fp16_tflops,tdp_w,"
      "nvlink_gbs,pcie_generation,pcie_lanes,peer_to_peer,released_on,"
      "launch_price_usd,source,vendor_document,unverified,notes\n");
  g_autoptr (GString) prices = g_string_new (
      "item,kind,unit,gpus,price,low,high,currency,observed_on,source\n");
  g_autoptr (GString) times = g_string_new (
      "model,gpu,gpus,settings,feasibility,days,days_low,days_high,"
      "rounding_days,checkpointing,sharding,offloading,micro_batch_size,"
      "accumulation,provenance,measured_on,source\n");

  for (guint i = 0; i < n_gpus; i++)
    {
      double rank = (i + scatter (3 * i)) / n_gpus;
      double price = 300 * pow (200, rank) * (0.7 + 0.6 * scatter (3 * i + 1));
      double days =
          900 * pow (1.0 / 60, rank) * (0.7 + 0.6 * scatter (3 * i + 2));

      g_string_append_printf (
          gpus,
          "gpu%04u,GPU %04u,Maker,PCIe,2,passive,80,2000,5000,yes,,,,300,,4,"
          "16,,"
          "2024,,made up,,,\n",
          i, i);
      g_string_append_printf (prices, "gpu%04u,street,each,1,", i);
      append_number (prices, price);
      g_string_append (prices, ",,,USD,2024-09-21,made up\n");
      for (int count = 1; count <= SYNTHETIC_COUNTS; count++)
        {
          g_string_append_printf (
              times, SYNTHETIC_MODEL ",gpu%04u,%d,optimal,feasible,", i, count);
          append_number (times, days / pow (count, 0.92));
          g_string_append (times, ",,,0,,,,,,measured,2024-09-21,made up\n");
        }
    }
  write_platforms (data_dir, directory, prices);
  write_file (directory, "gpus.csv", gpus->str);
  write_file (directory, "prices.csv", prices->str);
  write_file (directory, "measurements/times.csv", times->str);
}

QmCatalog *
synthetic_catalog_new (const char *data_dir, guint n_gpus)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *directory = g_dir_make_tmp ("quartermaster-XXXXXX", &error);
  g_autofree char *measurements = NULL;
  g_autofree char *models = NULL;
  QmCatalog *catalog = NULL;
  QmError problem = { 0 };
  const QmError *problems;
  size_t n_problems;

  g_assert_no_error (error);
  measurements = g_build_filename (directory, "measurements", NULL);
  models = g_build_filename (directory, "models", NULL);
  g_mkdir (measurements, 0700);
  g_mkdir (models, 0700);
  copy_file (data_dir, directory, "machines.csv");
  copy_file (data_dir, directory, "models/" SYNTHETIC_MODEL ".json");
  write_gpus (data_dir, directory, n_gpus);
  if (qm_catalog_load (directory, NULL, &catalog, &problem) != QM_OK)
    g_error ("%s", problem.message);
  problems = qm_catalog_problems (catalog, &n_problems);
  for (size_t i = 0; i < n_problems; i++)
    g_error ("%s:%d: %s", problems[i].file, problems[i].line,
             problems[i].message);
  remove_folder (directory);
  return catalog;
}
