/* SPDX-License-Identifier: Apache-2.0 */

/* A small button beside words of the trade, which says in a popover what they
 * mean, with a link for each that leads to its place in the user guide (the
 * action app.explain).  Assistive technology is told the words as its name, and
 * what they mean as its description. */

#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* Property "terms" (string): ids of qm_term_find(), with blanks between them;
 * without any, nothing is shown. */
#define QM_TYPE_TERMS_BUTTON (qm_terms_button_get_type ())
G_DECLARE_FINAL_TYPE (QmTermsButton, qm_terms_button, QM, TERMS_BUTTON, AdwBin)

G_END_DECLS
