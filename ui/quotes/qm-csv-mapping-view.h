/* SPDX-License-Identifier: Apache-2.0 */

/* Which column of a spreadsheet is what, asked column by column. */

#pragma once

#include "pricing/formats/qm-quote-import.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_CSV_MAPPING_VIEW (qm_csv_mapping_view_get_type ())
G_DECLARE_FINAL_TYPE (
    QmCsvMappingView, qm_csv_mapping_view, QM, CSV_MAPPING_VIEW, AdwBin)

/* Asks about a spreadsheet that was imported, with its mapping and sample;
 * these are copied. */
void qm_csv_mapping_view_set_import (QmCsvMappingView *self,
                                     const QmImport *import);

/* What the user has said; it may be incomplete.  (transfer none) */
const QmCsvMapping *qm_csv_mapping_view_get_mapping (QmCsvMappingView *self);

/* Whether the next file with such columns is to be read the same way. */
gboolean qm_csv_mapping_view_get_remember (QmCsvMappingView *self);

G_END_DECLS
