/* SPDX-License-Identifier: Apache-2.0 */

/* Whether results of other machines came since they were last read, whoever
 * wrote them: the window, somebody who copied a file, or another machine that
 * shares the folder. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A number that is another one as soon as a results file in measurements/ of
 * the user's directory, other than the one of this host, was added, removed or
 * written to.  It takes one look at the folder and reads no file. */
guint64 qm_results_stamp (void);

G_END_DECLS
