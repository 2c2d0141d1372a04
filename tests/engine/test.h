/* SPDX-License-Identifier: Apache-2.0 */

/* What tests of the plain C rooms share: a check that counts. */

#ifndef QM_TESTS_ENGINE_TEST_H
#define QM_TESTS_ENGINE_TEST_H

#include <stdbool.h>
#include <stdio.h>

typedef struct QmTest
{
  int checks, failures;
} QmTest;

/* Counts a check; prints the printf text where it failed.  Returns `ok`. */
#define QM_CHECK(test, ok, ...) \
  qm_test_check (test, ok, __FILE__, __LINE__, __VA_ARGS__)

__attribute__ ((format (printf, 5, 6))) static inline bool
qm_test_check (
    QmTest *test, bool ok, const char *file, int line, const char *format, ...)
{
  __builtin_va_list arguments;

  test->checks++;
  if (ok)
    return true;
  test->failures++;
  printf ("%s:%d: ", file, line);
  __builtin_va_start (arguments, format);
  vprintf (format, arguments);
  __builtin_va_end (arguments);
  printf ("\n");
  return false;
}

/* The exit status of a test program; one that checked nothing failed. */
static inline int
qm_test_end (const QmTest *test)
{
  printf ("%d checks, %d failures\n", test->checks, test->failures);
  return test->failures > 0 || test->checks == 0;
}

#endif
