/* SPDX-License-Identifier: Apache-2.0 */

/* A bar over the page that names the files that were refused, each with its
 * place and reason, and what else was left out, until it is closed. */

#pragma once

#include "data/error.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define QM_TYPE_PROBLEM_BAR (qm_problem_bar_get_type ())
G_DECLARE_FINAL_TYPE (QmProblemBar, qm_problem_bar, QM, PROBLEM_BAR, AdwBin)

/* Shows `n` files that were refused and what else was left out; none of both
 * hides the bar.  Where nothing is new it stays as it is. */
void qm_problem_bar_set_problems (QmProblemBar *self,
                                  const QmError *problems,
                                  size_t n,
                                  const QmError *notices,
                                  size_t n_notices);

G_END_DECLS
