/* SPDX-License-Identifier: Apache-2.0 */

/* What predict says to people of all models in one place. */

#include "app/qm-bench-fits.h"

#include "app/qm-bench-nodes.h"
#include "app/qm-bench-search.h"
#include "data/text.h"

#include <stdio.h>
#include <string.h>

/* Days and their interval. */
static void
write_days (const QmPrediction *prediction, char cells[2][QM_BENCH_CELL])
{
  char days[32], low[32], high[32];

  snprintf (cells[0], QM_BENCH_CELL, "%s",
            qm_bench_format_days (prediction->days, 3, days));
  snprintf (cells[1], QM_BENCH_CELL, "%s to %s",
            qm_bench_format_days (prediction->days_low, 3, low),
            qm_bench_format_days (prediction->days_high, 3, high));
}

/* "16, checkpointing, zero_3, offloading". */
static void
write_way (int64_t micro_batch,
           bool checkpoint,
           QmSharding sharding,
           bool offload,
           char cell[QM_BENCH_CELL])
{
  char number[32] = "", way[QM_BENCH_WAY_BYTES];

  if (micro_batch > 0)
    snprintf (number, sizeof number, "%lld", (long long) micro_batch);
  qm_bench_format_way (checkpoint, sharding, offload, way);
  snprintf (cell, QM_BENCH_CELL, "%s%s%s", number,
            number[0] != '\0' && way[0] != '\0' ? ", " : "", way);
}

static void
write_gib (uint64_t bytes, char cell[QM_BENCH_CELL])
{
  snprintf (cell, QM_BENCH_CELL, "%.1f", (double) bytes / 0x1p30);
}

/* What was found: days, interval, GiB, GiB of the host, way. */
static void
write_found (const QmPlaceFound *found, char (*cells)[QM_BENCH_CELL])
{
  const QmPlanOptions *way = &found->options;

  write_days (&found->prediction, cells);
  write_gib (found->memory.total, cells[2]);
  if (found->host_bytes > 0)
    write_gib (found->host_bytes, cells[3]);
  write_way (way->micro_batch, way->checkpoint, way->sharding, way->offload,
             cells[4]);
}

/* What the user measured there. */
static void
add_own_row (const QmBenchFit *fit, QmBenchTable *table)
{
  const QmResult *own = fit->own;
  QmSharding sharding = QM_SHARDING_NONE;
  char way[QM_BENCH_CELL], days[32];
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (table);

  if (cells == NULL)
    return;
  snprintf (cells[0], QM_BENCH_CELL, "  measured, %.20s", fit->own_level);
  snprintf (cells[1], QM_BENCH_CELL, "%s",
            qm_bench_format_days (own->days, 3, days));
  if (own->planned_bytes > 0)
    write_gib ((uint64_t) own->planned_bytes, cells[3]);
  if (own->host_bytes > 0)
    write_gib ((uint64_t) own->host_bytes, cells[4]);
  qm_sharding_parse (own->sharding, &sharding);
  write_way (own->micro_batch, own->checkpointing, sharding, own->offloading,
             way);
  snprintf (cells[5], QM_BENCH_CELL, "%.80s%s", way,
            strcmp (own->settings, "naive") == 0 ? ", naive" : "");
}

/* A word before the first of a group. */
static void
add_group_row (QmModelGroup group, QmBenchTable *table)
{
  static const char *const names[] = { "your own:", "of today:",
                                       "of the publication:" };
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (table);

  if (cells != NULL)
    strcpy (cells[0], names[group]);
}

/* Which part of the answer a model is in. */
typedef enum Part
{
  PART_FITS,
  PART_FP16,  /* if it is trained in that */
  PART_SHORT, /* does not fit */
  PART_UNKNOWN
} Part;

static Part
part_of (const QmBenchFit *fit)
{
  if (fit->changed && fit->change.fp16 && fit->change.found.fits
      && fit->change.gpus == fit->gpus)
    return PART_FP16;
  if (fit->problem[0] == '\0' && fit->found.fits)
    return PART_FITS;
  return fit->problem[0] == '\0' || fit->changed ? PART_SHORT : PART_UNKNOWN;
}

static size_t
count_part (const QmBenchFit *const *fits, size_t n, Part part)
{
  size_t count = 0;

  for (size_t i = 0; i < n; i++)
    count += part_of (fits[i]) == part;
  return count;
}

static QmBenchTable
begin_table (const char *const *head, int columns, int left)
{
  QmBenchTable table = { .columns = columns, .left = left };
  char (*cells)[QM_BENCH_CELL] = qm_bench_table_row (&table);

  for (int i = 0; i < columns && cells != NULL; i++)
    strcpy (cells[i], head[i]);
  return table;
}

/* Those that fit, as they are or in fp16. */
static void
print_fitting (const QmBenchFit *const *fits, size_t n, Part part)
{
  static const char *const head[] = { "model", "days", "interval",
                                      "GiB",   "host", "micro-batch, way" };
  QmBenchTable table = begin_table (head, 6, 1);
  const QmBenchFit *before = NULL;

  for (size_t i = 0; i < n; i++)
    {
      char (*cells)[QM_BENCH_CELL];

      if (part_of (fits[i]) != part)
        continue;
      if (before == NULL || before->entry->group != fits[i]->entry->group)
        add_group_row (fits[i]->entry->group, &table);
      before = fits[i];
      cells = qm_bench_table_row (&table);
      if (cells == NULL)
        break;
      snprintf (cells[0], QM_BENCH_CELL, "%.100s", fits[i]->entry->id);
      write_found (part == PART_FP16 ? &fits[i]->change.found : &fits[i]->found,
                   cells + 1);
      if (fits[i]->own != NULL)
        add_own_row (fits[i], &table);
    }
  qm_bench_table_print (&table);
}

/* What a model that does not fit takes at least, and on how many of the GPUs it
 * would fit. */
static void
write_short (const QmBenchFit *fit, char (*cells)[QM_BENCH_CELL])
{
  bool narrow = fit->problem[0] != '\0';
  const QmBenchChange *change = &fit->change;
  const QmPlaceFound *found = narrow ? &change->here : &fit->found;
  const QmPlanOptions *way = &found->options;
  bool host = found->smallest <= fit->bytes;
  uint64_t needs = host ? found->smallest_host : found->smallest;
  uint64_t has = host ? fit->host : fit->bytes;
  char days[2][QM_BENCH_CELL];

  snprintf (cells[0], QM_BENCH_CELL, "%.80s%s", fit->entry->id,
            narrow ? ", fp16" : "");
  if (!host)
    write_way (way->micro_batch, way->checkpoint, way->sharding, way->offload,
               cells[1]);
  if (needs > has)
    {
      snprintf (cells[2], QM_BENCH_CELL, "%s%.1f", host ? "host: " : "",
                (double) needs / 0x1p30);
      write_gib (needs - has, cells[3]);
    }
  if (!fit->changed || !change->found.fits)
    return;
  write_days (&change->found.prediction, days);
  snprintf (cells[4], QM_BENCH_CELL, "%d: %.20s days", change->gpus, days[0]);
}

/* Those that do not fit. */
static void
print_short (const QmBenchFit *const *fits, size_t n)
{
  static const char *const head[] = { "model", "smallest way", "needs GiB",
                                      "short by", "on more GPUs" };
  QmBenchTable table = begin_table (head, 5, 2);

  for (size_t i = 0; i < n; i++)
    {
      char (*cells)[QM_BENCH_CELL] =
          part_of (fits[i]) == PART_SHORT ? qm_bench_table_row (&table) : NULL;

      if (cells != NULL)
        write_short (fits[i], cells);
    }
  qm_bench_table_print (&table);
}

/* Why nothing is said of the others: once, where all have the same reason. */
static void
print_unknown (const QmBenchFit *const *fits, size_t n)
{
  const char *reason = NULL;
  size_t others = 0;

  for (size_t i = 0; i < n; i++)
    if (part_of (fits[i]) == PART_UNKNOWN)
      {
        reason = reason != NULL ? reason : fits[i]->problem;
        others += strcmp (reason, fits[i]->problem) != 0;
      }
  if (others == 0 && count_part (fits, n, PART_UNKNOWN) == n)
    qm_bench_print ("Nothing is predicted: %s", reason);
  else if (others == 0)
    qm_bench_print ("Nothing is predicted of %zu of %zu models: %s",
                    count_part (fits, n, PART_UNKNOWN), n, reason);
  for (size_t i = 0; i < n && others > 0; i++)
    if (part_of (fits[i]) == PART_UNKNOWN)
      qm_bench_print ("%-24s %s", fits[i]->entry->id, fits[i]->problem);
}

/* How many fit, and of how many that is so only because memory is saved. */
static void
print_sums (const QmBenchFit *const *fits, size_t n)
{
  size_t fit = count_part (fits, n, PART_FITS), plain = 0;
  size_t narrow = count_part (fits, n, PART_FP16);
  char more[48] = "", saving[64] = "";

  for (size_t i = 0; i < n; i++)
    plain += part_of (fits[i]) == PART_FITS && fits[i]->plain > 0
             && fits[i]->plain <= fits[i]->bytes;
  if (fit > plain)
    snprintf (saving, sizeof saving, ", %zu of them only by what saves memory",
              fit - plain);
  if (narrow > 0)
    snprintf (more, sizeof more, "; %zu more in fp16", narrow);
  qm_bench_print ("%zu of %zu models fit%s%s", fit, n, saving, more);
}

/* The command that says more of one model in the place, asked as this was. */
static void
print_more_of_one (const QmBenchFit *first)
{
  const QmBenchOptions *asked = first->asked;
  bool tuned = strcmp (first->level, "tuned") == 0;
  char count[32] = "";

  if (first->gpus > 1)
    snprintf (count, sizeof count, " --gpus %d", first->gpus);
  qm_bench_print ("For more of one, and its settings: qm-bench predict %s "
                  "%s%s%s%s%s%s%s%s%s "
                  "--model ID",
                  asked->device != NULL ? "--device" : "--gpu",
                  asked->device != NULL ? asked->device : first->gpu->id, count,
                  asked->link != NULL ? " --link " : "",
                  asked->link != NULL ? asked->link : "",
                  asked->host_memory != NULL ? " --host-memory " : "",
                  asked->host_memory != NULL ? asked->host_memory : "",
                  asked->checkpoint ? " --checkpoint" : "",
                  tuned ? "" : " --level ", tuned ? "" : first->level);
}

/* What the numbers do not say. */
static void
print_hints (const QmBenchFit *const *fits, size_t n)
{
  const QmBenchFit *first = fits[0];
  bool offloads = false;

  for (size_t i = 0; i < n; i++)
    offloads |= fits[i]->found.host_bytes > 0
                || (fits[i]->changed && fits[i]->change.found.host_bytes > 0);
  if (offloads && first->host == 0)
    qm_bench_print ("Offloading takes as much of the host's memory as is "
                    "listed: --host-memory limits it");
  if (first->machines < 2)
    print_more_of_one (first);
}

/* Of which place all is. */
static void
print_fits_head (const QmBenchFit *first)
{
  int machines = first->machines > 1 ? first->machines : 1;
  int gpus = first->gpus * machines;
  char devices[128], host[48] = "", between[96] = "";

  if (first->host > 0)
    snprintf (host, sizeof host, " and %.1f GiB of the host",
              (double) first->host / 0x1p30);
  if (machines > 1)
    snprintf (between, sizeof between, ", %.60s between machines",
              first->between);
  qm_bench_print ("%s, %s%.1f GiB%s%s: %s, predicted",
                  qm_bench_format_devices (gpus, machines, first->gpu->name,
                                           devices, sizeof devices),
                  gpus > 1 ? "of each " : "", (double) first->bytes / 0x1p30,
                  host, between, first->level);
}

void
qm_bench_print_fits (const QmBenchFit *const *fits, size_t n)
{
  if (n == 0)
    return;
  print_fits_head (fits[0]);
  if (count_part (fits, n, PART_FITS) > 0)
    print_fitting (fits, n, PART_FITS);
  if (count_part (fits, n, PART_FP16) > 0)
    {
      printf ("\n");
      qm_bench_print ("In fp16, where the recipe says bf16, of which this GPU "
                      "has no rate:");
      print_fitting (fits, n, PART_FP16);
    }
  if (count_part (fits, n, PART_SHORT) > 0)
    {
      printf ("\n");
      qm_bench_print ("Too large:");
      print_short (fits, n);
    }
  if (count_part (fits, n, PART_UNKNOWN) < n)
    printf ("\n");
  if (count_part (fits, n, PART_UNKNOWN) > 0)
    print_unknown (fits, n);
  if (count_part (fits, n, PART_UNKNOWN) == n)
    return;
  print_sums (fits, n);
  print_hints (fits, n);
}
