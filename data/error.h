/* SPDX-License-Identifier: Apache-2.0 */

/* Status codes of the plain C rooms (data/, kernels/, engine/).
 *
 * A function that can fail returns a QmStatus and, where it takes a QmError,
 * fills it with one sentence a user can act on.  QM_OK is zero.
 */

#ifndef QM_DATA_ERROR_H
#define QM_DATA_ERROR_H

#ifdef __cplusplus
extern "C"
{
#endif

  typedef enum QmStatus
  {
    QM_OK = 0,
    QM_STATUS_IO,          /* a file or directory cannot be read or written */
    QM_STATUS_PARSE,       /* a file is not in the format that it claims */
    QM_STATUS_INVALID,     /* well formed, but a value is out of range */
    QM_STATUS_NOT_FOUND,   /* no entry of that name */
    QM_STATUS_UNSUPPORTED, /* understood, but not something we can do */
    QM_STATUS_NO_MEMORY,   /* the host is out of memory */
    QM_STATUS_DEVICE_FULL, /* a device is out of memory */
    QM_STATUS_DEVICE,      /* a device failed or was lost */
    QM_STATUS_GONE,        /* another machine did not come, or is gone */
    QM_STATUS_INTERRUPTED, /* the user asked to stop */
    QM_STATUS_USAGE        /* a program was called with wrong options */
  } QmStatus;

/* Of a sentence on what failed; one of them names every family of models. */
#define QM_MESSAGE_BYTES 512

  /* Where and why something failed.  Owned by the caller, usually on the stack;
   * needs no freeing.  `file` is empty and `line` and `column` are 0 where they
   * do not apply; both count from 1, `column` in bytes. */
  typedef struct QmError
  {
    QmStatus status;
    int line;
    int column;
    char file[256];
    char message[QM_MESSAGE_BYTES];
  } QmError;

  /* Fills *error (which may be NULL) from a printf format and returns `status`,
   * so that a caller can write `return qm_error_set (...)`.  File and message
   * are escaped and cut as qm_text_escape() does. */
  QmStatus qm_error_set (QmError *error,
                         QmStatus status,
                         const char *file,
                         int line,
                         int column,
                         const char *format,
                         ...) __attribute__ ((format (printf, 6, 7)));

  /* Fills *error (which may be NULL) with QM_STATUS_NO_MEMORY, where memory of
   * the host was asked for in vain, and returns that. */
  QmStatus qm_error_no_memory (QmError *error);

#ifdef __cplusplus
}
#endif

#endif
