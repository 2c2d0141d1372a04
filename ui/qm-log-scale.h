/* SPDX-License-Identifier: Apache-2.0 */

/* A row with a slider on a logarithmic range and an entry that stays in step
 * with it. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

typedef enum
{
  QM_LOG_SCALE_MONEY, /* whole units of a currency */
  QM_LOG_SCALE_DAYS   /* whole days */
} QmLogScaleKind;

#define QM_TYPE_LOG_SCALE_KIND (qm_log_scale_kind_get_type ())
GType qm_log_scale_kind_get_type (void);

/* Properties:
 *
 *   "kind"           what the value is; construct only
 *   "optional"       boolean, construct only: a switch turns the value off
 *   "lower", "upper" double: the range, above 0
 *   "default-value"  double: what reset gives; 0: off
 *   "start-value"    double: what switching on gives until there was a value
 *   "currency"       string: of money; US dollars unless another is set
 *   "value"          double; 0 where it is optional and off
 *
 * A value that is set is clamped to the range, not rounded; only the slider
 * rounds (see qm_log_scale_snap()).
 */
#define QM_TYPE_LOG_SCALE (qm_log_scale_get_type ())
G_DECLARE_FINAL_TYPE (
    QmLogScale, qm_log_scale, QM, LOG_SCALE, AdwPreferencesRow)

/* The property "value". */
void qm_log_scale_set_value (QmLogScale *self, double value);

/* Moves the focus to the slider. */
void qm_log_scale_focus (QmLogScale *self);

/* The nearest value that a person would name: two or three significant digits
 * in steps of 1 to 2.5 %, and whole days. */
double qm_log_scale_snap (double value, QmLogScaleKind kind);

/* One key press up (`direction` 1) or down (-1): about 2 %, always moving. */
double qm_log_scale_step (double value, QmLogScaleKind kind, int direction);

G_END_DECLS
