/* SPDX-License-Identifier: Apache-2.0 */

/* Rotary positions: by how much the elements j and j + r/2 of a head, of which
 * r elements are rotated, turn from one token to the next.
 *
 *   default   t_j = theta^(-2j/r)                        Su et al. 2021, 3.2.2
 *   linear    t_j / factor                               Chen et al. 2023
 *   llama3    wave lengths 2 pi / t_j above original / low: t_j / factor, those
 *             below original / high: t_j, in between a mean of both, linear in
 *             original t_j / (2 pi)                      Llama 3.1, as
 *                                                        Transformers has it
 *   yarn      a mean of t_j / factor and t_j, linear in j between the elements
 *             that turn beta_fast and beta_slow times in `original` tokens
 *             (with `truncate` rounded outwards); cosines and sines times
 *             `amplitude`, 0.1 ln (factor) + 1 if nothing else is said
 *                                                        Peng et al. 2023, 3
 */

#ifndef QM_DATA_ROPE_H
#define QM_DATA_ROPE_H

#include "data/json-source.h"
#include "data/model.h"

/* Rows of a table of fields (data/family-read.h), of a rope that is the member
 * `whole` of QmModelConfig; their key is that of the whole. */
#define QM_ROPE_ROW(label, whole, member, its_kind)                    \
  {                                                                    \
    .name = label #member, .key = "rope_parameters", .kind = its_kind, \
    .offset = offsetof (QmModelConfig, whole.member),                  \
    .apart = QM_FIELD_READ_APART | QM_FIELD_WRITTEN_APART,             \
    .words = qm_rope_kinds                                             \
  }
#define QM_ROPE_ROWS(label, whole)                                     \
  QM_ROPE_ROW (label, whole, kind, QM_FIELD_WORD),                     \
      QM_ROPE_ROW (label, whole, truncate, QM_FIELD_SWITCH),           \
      QM_ROPE_ROW (label, whole, theta, QM_FIELD_NUMBER),              \
      QM_ROPE_ROW (label, whole, factor, QM_FIELD_NUMBER),             \
      QM_ROPE_ROW (label, whole, original_positions, QM_FIELD_NUMBER), \
      QM_ROPE_ROW (label, whole, low_frequency, QM_FIELD_NUMBER),      \
      QM_ROPE_ROW (label, whole, high_frequency, QM_FIELD_NUMBER),     \
      QM_ROPE_ROW (label, whole, beta_fast, QM_FIELD_NUMBER),          \
      QM_ROPE_ROW (label, whole, beta_slow, QM_FIELD_NUMBER),          \
      QM_ROPE_ROW (label, whole, amplitude, QM_FIELD_NUMBER)

/* Radians between neighbouring tokens of element `j`, of `rotated` / 2. */
double qm_rope_turn (const QmRope *rope, int64_t rotated, int64_t j);

/* Whether all angles and amplitudes are the same. */
bool qm_rope_is_same (const QmRope *a, const QmRope *b);

/* "default", "linear", ..., ends with NULL. */
extern const char *const qm_rope_kinds[];

/* Reads the object in a field, `rope_scaling` or `rope_parameters` or one of
 * the objects in that; what it does not say of theta stays.  An absent one
 * changes nothing.  `max_positions`: of the model.  `truncate` may be read. */
void qm_rope_read (QmJsonObject *object,
                   const char *name,
                   int64_t max_positions,
                   bool truncate,
                   QmRope *rope);

/* Begins a rope with `rope_theta`, or that, and refuses two objects for it. */
void qm_rope_begin (QmJsonObject *object, double theta, QmRope *rope);

/* Reads it of the one that there is: Transformers 4 has `rope_scaling`, 5
 * `rope_parameters`. */
void
qm_rope_read_whole (QmJsonObject *object, int64_t max_positions, QmRope *rope);

/* As Transformers reads it; NULL for the default without theta. */
json_t *qm_rope_json (const QmRope *rope, bool theta);

#endif
