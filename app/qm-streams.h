/* SPDX-License-Identifier: Apache-2.0 */

/* The three standard streams, of whatever the program was started with. */

#ifndef QM_APP_STREAMS_H
#define QM_APP_STREAMS_H

/* To be called before any file is opened: the next one would take the place of
 * a standard stream that is closed, and with it what is printed there.  What
 * stands there instead gives nothing to read, and cannot be written; but
 * messages to a closed standard error are dropped. */
void qm_streams_keep (void);

#endif
