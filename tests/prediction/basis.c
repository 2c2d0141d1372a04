/* SPDX-License-Identifier: Apache-2.0 */

#include "tests/prediction/basis.h"

#include "data/csv-table.h"
#include "data/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const QmCsvColumn columns[] = {
  { "scope", true }, { "name", true },  { "constant", true },
  { "value", true }, { "basis", true },
};

static void
read_row (QmCsvRow *row, void *data)
{
  Basis *basis = data;
  const BasisRow read = { .scope = qm_csv_text (row, 0, true),
                          .name = qm_csv_text (row, 1, true),
                          .constant = qm_csv_text (row, 2, true),
                          .value = qm_csv_number (row, 3, 0, 1e6),
                          .basis = qm_csv_text (row, 4, true) };

  if (row->status != QM_OK)
    return;
  if (basis->n == sizeof basis->rows / sizeof basis->rows[0])
    qm_csv_fail (row, 0, QM_STATUS_INVALID, "is one too many");
  else
    basis->rows[basis->n++] = read;
}

bool
basis_load (const char *path, Basis *basis)
{
  QmError error = { 0 };
  char *text = NULL;
  size_t length;
  QmStatus status = qm_text_read_file (path, &text, &length, &error);

  memset (basis, 0, sizeof *basis);
  if (status == QM_OK)
    status = qm_csv_read (text, length, path, columns, 5, &basis->strings,
                          read_row, basis, &error);
  free (text);
  if (status != QM_OK)
    fprintf (stderr, "%s:%d: %s\n", path, error.line, error.message);
  return status == QM_OK;
}

void
basis_clear (Basis *basis)
{
  qm_pool_clear (&basis->strings);
}

const char *
basis_of (const Basis *basis,
          const char *scope,
          const char *name,
          const char *constant)
{
  for (size_t i = 0; i < basis->n; i++)
    if (strcmp (basis->rows[i].scope, scope) == 0
        && strcmp (basis->rows[i].name, name) == 0
        && strcmp (basis->rows[i].constant, constant) == 0)
      return basis->rows[i].basis;
  return "";
}
