/* SPDX-License-Identifier: Apache-2.0 */

/* The toolkit's headers, compiled once for the window's many files where b_pch
 * is set.  Nothing includes this: each file includes what it uses. */

#ifndef QM_UI_PCH_TOOLKIT_H
#define QM_UI_PCH_TOOLKIT_H

#define _GNU_SOURCE /* as the one file does that needs it */
#include <adwaita.h>

#endif
