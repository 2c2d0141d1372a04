/* SPDX-License-Identifier: Apache-2.0 */

/* What fits into how many GPUs, from what qm-bench plans. */

#include "config.h"

#include "pricing/advice/qm-memory-fit.h"

#define GIB(n) ((json_int_t) (n) << 30)

static const QmGpu gpu = { .id = "some" };
static const QmGpu other = { .id = "other" };

/* A way whose states are spread over four sorts. */
static json_t *
way (const char *settings, int states, int rest, int available, int host)
{
  return json_pack ("{s:s, s:s, s:{s:I, s:I, s:I, s:I, s:I}, s:I, s:I}",
                    "gpu_id", "some", "settings", settings, "memory_bytes",
                    "weights", GIB (states) / 8, "master_weights",
                    GIB (states) / 4, "gradients", GIB (states) / 8,
                    "optimizer", GIB (states) / 2, "host", GIB (host),
                    "smallest_bytes", GIB (states + rest), "available_bytes",
                    GIB (available));
}

static void
add (QmMemoryFit *fit, json_t *line)
{
  g_assert_nonnull (line);
  g_assert_true (qm_memory_fit_add (fit, "m", line));
  json_decref (line);
}

static QmFit
look (QmMemoryFit *fit, int gpus, gint64 *host)
{
  return qm_memory_fit_look (fit, "m", &gpu, gpus, QM_SETTINGS_OPTIMAL, host);
}

/* States are divided, the rest is not. */
static void
test_divided (void)
{
  g_autoptr (QmMemoryFit) fit = qm_memory_fit_new ();
  gint64 host = 1;

  add (fit, way ("free-lunch", 64, 8, 24, 0));
  g_assert_cmpint (look (fit, 1, &host), ==, QM_FIT_NOT);
  g_assert_cmpint (look (fit, 2, &host), ==, QM_FIT_NOT);
  g_assert_cmpint (look (fit, 4, &host), ==, QM_FIT_WELL);
  g_assert_cmpint (look (fit, 8, &host), ==, QM_FIT_WELL);
  g_assert_cmpint (host, ==, 0);
}

/* Bytes, not parts of them: of what cannot be divided evenly some GPU has one
 * more, and what fits to the byte fits. */
static void
test_to_the_byte (void)
{
  static const struct
  {
    gint64 available;
    QmFit fit;
  } cases[] = { { 100 + 3, QM_FIT_NOT },
                { 100 + 4, QM_FIT_WELL },
                { 100 + 7, QM_FIT_WELL } };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (QmMemoryFit) fit = qm_memory_fit_new ();

      add (fit, json_pack ("{s:s, s:s, s:{s:i, s:i, s:i, s:i, s:i}, s:i, s:I}",
                           "gpu_id", "some", "settings", "free-lunch",
                           "memory_bytes", "weights", 1, "master_weights", 2,
                           "gradients", 1, "optimizer", 3, "host", 0,
                           "smallest_bytes", 107, "available_bytes",
                           (json_int_t) cases[i].available));
      g_assert_cmpint (look (fit, 2, NULL), ==, cases[i].fit);
    }
}

/* What lies in the host counts only where nothing else does, and the way that
 * takes the least of it. */
static void
test_offloading (void)
{
  g_autoptr (QmMemoryFit) fit = qm_memory_fit_new ();
  gint64 host;

  add (fit, way ("free-lunch", 64, 8, 24, 0));
  add (fit, way ("free-lunch", 0, 8, 24, 64));
  add (fit, way ("free-lunch", 16, 8, 24, 48));
  g_assert_cmpint (look (fit, 1, &host), ==, QM_FIT_OFFLOADING);
  g_assert_cmpint (host, ==, GIB (48));
  g_assert_cmpint (look (fit, 4, &host), ==, QM_FIT_WELL);
}

/* A host that is too small for what it should hold. */
static void
test_host (void)
{
  g_autoptr (QmMemoryFit) fit = qm_memory_fit_new ();
  json_t *line = way ("free-lunch", 0, 8, 24, 64);

  json_object_set_new (line, "host_available_bytes", json_integer (GIB (63)));
  add (fit, line);
  g_assert_cmpint (look (fit, 1, NULL), ==, QM_FIT_NOT);
  line = way ("free-lunch", 0, 8, 24, 64);
  json_object_set_new (line, "host_available_bytes", json_integer (GIB (64)));
  add (fit, line);
  g_assert_cmpint (look (fit, 1, NULL), ==, QM_FIT_OFFLOADING);
}

/* Off the shelf there is one way, and every GPU has all of it. */
static void
test_naive (void)
{
  g_autoptr (QmMemoryFit) fit = qm_memory_fit_new ();

  add (fit, way ("free-lunch", 16, 4, 24, 0));
  add (fit, way ("naive", 24, 4, 24, 0));
  g_assert_cmpint (look (fit, 1, NULL), ==, QM_FIT_WELL);
  g_assert_cmpint (qm_memory_fit_look (fit, "m", &gpu, 8, QM_SETTINGS_NAIVE,
                                       NULL),
                   ==, QM_FIT_NOT);
}

static void
test_unknown (void)
{
  g_autoptr (QmMemoryFit) fit = qm_memory_fit_new ();

  g_assert_cmpint (look (NULL, 1, NULL), ==, QM_FIT_UNKNOWN);
  add (fit, way ("free-lunch", 16, 4, 24, 0));
  g_assert_cmpint (qm_memory_fit_look (fit, "m", &other, 1, QM_SETTINGS_OPTIMAL,
                                       NULL),
                   ==, QM_FIT_UNKNOWN);
  g_assert_cmpint (qm_memory_fit_look (fit, "n", &gpu, 1, QM_SETTINGS_OPTIMAL,
                                       NULL),
                   ==, QM_FIT_UNKNOWN);
  g_assert_cmpint (qm_memory_fit_look (fit, "m", &gpu, 1, QM_SETTINGS_NAIVE,
                                       NULL),
                   ==, QM_FIT_UNKNOWN);
}

/* What is said of a GPU that cannot be used, and nonsense. */
static void
test_hostile (void)
{
  static const char *const lines[] = {
    "{}",
    "[1]",
    "{\"gpu_id\": \"some\", \"unsupported\": \"too old\"}",
    "{\"gpu_id\": 7, \"settings\": \"naive\"}",
    "{\"gpu_id\": \"some\", \"settings\": \"naive\", \"memory_bytes\": 3}",
    "{\"gpu_id\": \"some\", \"settings\": \"naive\", \"memory_bytes\": "
    "{\"weights\": -1, \"master_weights\": 0, \"gradients\": 0, \"optimizer\": "
    "0, \"host\": 0}, \"smallest_bytes\": 1, \"available_bytes\": 1}",
    "{\"gpu_id\": \"some\", \"settings\": \"naive\", \"memory_bytes\": "
    "{\"weights\": 9223372036854775807, \"master_weights\": "
    "9223372036854775807, \"gradients\": 0, \"optimizer\": 0, \"host\": 0}, "
    "\"smallest_bytes\": 1, \"available_bytes\": 1}",
    "{\"gpu_id\": \"some\", \"settings\": \"naive\", \"memory_bytes\": "
    "{\"weights\": 2, \"master_weights\": 0, \"gradients\": 0, \"optimizer\": "
    "0, \"host\": 0}, \"smallest_bytes\": 1, \"available_bytes\": 1}",
  };
  g_autoptr (QmMemoryFit) fit = qm_memory_fit_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (lines); i++)
    {
      json_t *line = json_loads (lines[i], 0, NULL);

      g_assert_nonnull (line);
      g_assert_false (qm_memory_fit_add (fit, "m", line));
      json_decref (line);
    }
  g_assert_cmpint (look (fit, 1, NULL), ==, QM_FIT_UNKNOWN);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory-fit/divided", test_divided);
  g_test_add_func ("/memory-fit/to-the-byte", test_to_the_byte);
  g_test_add_func ("/memory-fit/offloading", test_offloading);
  g_test_add_func ("/memory-fit/host", test_host);
  g_test_add_func ("/memory-fit/naive", test_naive);
  g_test_add_func ("/memory-fit/unknown", test_unknown);
  g_test_add_func ("/memory-fit/hostile", test_hostile);
  return g_test_run ();
}
