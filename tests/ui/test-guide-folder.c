/* SPDX-License-Identifier: Apache-2.0 */

/* Where the user guide is opened. */

#include "ui/qm-guide.h"

static void
expect_at (const char *languages, const char *term, const char *wanted)
{
  g_auto (GStrv) list = g_strsplit (languages, ":", -1);
  g_autofree char *uri = qm_guide_find (g_getenv ("QM_SHIPPED_DATA_DIR"),
                                        (const char *const *) list, term);

  g_assert_nonnull (uri);
  g_assert_true (g_str_has_prefix (uri, "file:///"));
  g_assert_true (g_str_has_suffix (uri, wanted));
}

static void
expect (const char *languages, const char *wanted)
{
  expect_at (languages, NULL, wanted);
}

static void
test_language (void)
{
  expect ("de_DE.UTF-8:de_DE:de:C", "guide/de/index.html");
  expect ("en_GB:en:C", "guide/en/index.html");
  expect ("C", "guide/en/index.html");
  expect ("fr_FR:fr:de:C", "guide/de/index.html");
  expect ("C:de", "guide/en/index.html");
  /* Words that would be paths are none. */
  expect ("../guide/de:./de:/:" G_DIR_SEPARATOR_S "etc::C",
          "guide/en/index.html");
}

static void
test_term (void)
{
  expect_at ("de:C", "zero", "/guide/de/glossary.html#zero");
  expect_at ("fr:C", "frontier", "/guide/en/glossary.html#frontier");
}

static void
test_missing (void)
{
  static const char *const german[] = { "de", "C", NULL };

  g_assert_null (qm_guide_find ("/nowhere", german, NULL));
  g_assert_null (qm_guide_find (g_getenv ("QM_BARE_DATA_DIR"), german, NULL));
  g_assert_null (qm_guide_find (g_getenv ("QM_BARE_DATA_DIR"), german, "zero"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/guide/language", test_language);
  g_test_add_func ("/guide/term", test_term);
  g_test_add_func ("/guide/missing", test_missing);
  return g_test_run ();
}
