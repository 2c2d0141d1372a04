/* SPDX-License-Identifier: Apache-2.0 */

/* The options of a command of quartermaster, which app/qm-options.h reads, in
 * the types of GLib and the user's language. */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A command as its help describes it; strings are translated already. */
typedef struct
{
  const char *name;       /* "advise" */
  const char *parameters; /* of the usage line, or NULL */
  const char *summary;
  const char *description;
} QmCliVerb;

/* An empty list of options.  (transfer full) */
GArray *qm_cli_options_new (void);

/* Adds an option without a value. */
void qm_cli_options_add_flag (GArray *options,
                              const char *name,
                              const char *description,
                              gboolean *target);

/* Adds an option with a value; each time that it is given its bytes are
 * appended to *target, which the caller frees.  `short_name` may be 0. */
void qm_cli_options_add_value (GArray *options,
                               const char *name,
                               char short_name,
                               const char *value_name,
                               const char *description,
                               GStrv *target);

/* Adds --json, of a command that has everything in JSON as well. */
void qm_cli_options_add_json (GArray *options, gboolean *target);

/* Reads the arguments behind the command's name.  What is not an option is
 * returned in *rest (transfer full), if that is NULL refused.  FALSE where the
 * command is to end with *status: the error is set, or help was asked for and
 * has been written. */
gboolean qm_cli_options_parse (const QmCliVerb *verb,
                               GArray *options,
                               const char *const *arguments,
                               GStrv *rest,
                               int *status,
                               GError **error);

/* The value of an option that may be given once, NULL where it was not given.
 * Fails where it was given more often or is empty.  (transfer none) */
gboolean qm_cli_option_single (const char *name,
                               GStrv values,
                               const char **value,
                               GError **error);

/* The items of an option that takes a list, by commas or by repetition, spaces
 * around them removed; NULL where it was not given.  Fails where an item is
 * empty. */
gboolean qm_cli_option_list (const char *name,
                             GStrv values,
                             GStrv *items,
                             GError **error);

/* The index of an option's value among `names`, *index as it was where the
 * option was not given. */
gboolean qm_cli_option_choice (const char *name,
                               GStrv values,
                               const char *const *names,
                               guint n_names,
                               int *index,
                               GError **error);

/* Reads a decimal number as in files: digits, at most one point, no sign and no
 * exponent, above 0 and at most `max`. */
gboolean qm_cli_read_number (const char *text, double max, double *value);

/* Sets a QM_CLI_ERROR_USAGE error: "PROBLEM; did you mean 'NAME'?" with the
 * one of `names` that `word` is nearest to, or "PROBLEM; OTHERWISE".  `problem`
 * has a %s for the word, in quotes.  Returns FALSE. */
gboolean qm_cli_set_unknown (GError **error,
                             const char *problem,
                             const char *word,
                             const char *const *names,
                             guint n_names,
                             const char *otherwise);

/* Sets a QM_CLI_ERROR_USAGE error, "--NAME: 'VALUE' WHAT"; returns FALSE. */
gboolean qm_cli_set_value_error (GError **error,
                                 const char *name,
                                 const char *value,
                                 const char *what);

G_END_DECLS
