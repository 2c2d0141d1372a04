/* SPDX-License-Identifier: Apache-2.0 */

/* What tests of configurations have in common. */

#ifndef QM_TESTS_DATA_CONFIGURATIONS_H
#define QM_TESTS_DATA_CONFIGURATIONS_H

#include "data/family.h"
#include "data/model.h"
#include "tests/data/check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A text, and where and with which words in its message it is refused. */
typedef struct Refused
{
  const char *text;
  QmStatus status;
  int line, column;
  const char *message;
} Refused;

static inline QmStatus
parse (const char *text, QmModelConfig *config, QmError *error)
{
  memset (error, 0, sizeof *error);
  return qm_model_config_parse (text, strlen (text), "config.json", config,
                                error);
}

/* One that is not refused. */
static inline QmModelConfig
parse_well (const char *text)
{
  QmModelConfig config = { 0 };
  QmError error;

  check_case (text);
  CHECK_INT (parse (text, &config, &error), QM_OK);
  CHECK_STRING (error.message, "");
  return config;
}

static inline void
check_refused (const Refused *refused, size_t n)
{
  for (size_t i = 0; i < n; i++)
    {
      QmModelConfig config;
      QmError error;

      check_case (refused[i].message);
      CHECK_INT (parse (refused[i].text, &config, &error), refused[i].status);
      CHECK_INT (error.status, refused[i].status);
      CHECK_INT (error.line, refused[i].line);
      CHECK_INT (error.column, refused[i].column);
      CHECK_STRING (error.file, "config.json");
      CHECK_CONTAINS (error.message, refused[i].message);
    }
  check_case ("");
}

/* A configuration that is written is read as the same. */
static inline void
check_written (const char *text)
{
  QmModelConfig config = parse_well (text), again = { 0 };
  json_t *object = qm_model_config_json (&config, true);
  char *written = json_dumps (object, 0);
  QmError error;

  CHECK_INT (parse (written, &again, &error), QM_OK);
  CHECK_STRING (error.message, "");
  CHECK (memcmp (&config, &again, sizeof config) == 0);
  free (written);
  json_decref (object);
}

#endif
