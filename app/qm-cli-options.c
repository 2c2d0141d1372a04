/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli.h"
#include "app/qm-options.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>

/* An option, and where its value goes: one of the two. */
typedef struct
{
  QmOption option;
  gboolean *flag;
  GStrv *values;
  bool given;
  QmOptionTexts texts;
} Entry;

static const char *
translate (const char *text)
{
  return _ (text);
}

static void
set_usage (GError **error, const QmError *problem)
{
  g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       problem->message);
}

static void
clear_entry (gpointer data)
{
  Entry *entry = data;

  free (entry->texts.texts);
}

GArray *
qm_cli_options_new (void)
{
  GArray *options = g_array_new (FALSE, TRUE, sizeof (Entry));

  g_array_set_clear_func (options, clear_entry);
  return options;
}

void
qm_cli_options_add_flag (GArray *options,
                         const char *name,
                         const char *description,
                         gboolean *target)
{
  Entry entry = {
    .option = { .name = name, .kind = QM_OPTION_FLAG, .help = description },
    .flag = target,
  };

  g_array_append_val (options, entry);
}

void
qm_cli_options_add_value (GArray *options,
                          const char *name,
                          char short_name,
                          const char *value_name,
                          const char *description,
                          GStrv *target)
{
  Entry entry = {
    .option = { .name = name,
                .letter = short_name,
                .value = value_name,
                .kind = QM_OPTION_TEXTS,
                .help = description },
    .values = target,
  };

  g_array_append_val (options, entry);
}

gboolean
qm_cli_set_unknown (GError **error,
                    const char *problem,
                    const char *word,
                    const char *const *names,
                    guint n_names,
                    const char *otherwise)
{
  const char *nearest = qm_option_nearest (word, names, n_names);
  g_autofree char *quoted = qm_cli_quote (word);
  g_autofree char *told = g_strdup_printf (problem, quoted);

  if (nearest != NULL)
    {
      g_autofree char *name = qm_cli_quote (nearest);

      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   /* Translators: what is wrong, a name in quotes. */
                   _ ("%s; did you mean %s?"), told, name);
    }
  else
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "%s; %s", told,
                 otherwise);
  return FALSE;
}

/* The table of the entries, which stay where they are from now on.  (transfer
 * full) */
static QmOption *
list_options (GArray *entries)
{
  QmOption *list = g_new (QmOption, entries->len);

  for (guint i = 0; i < entries->len; i++)
    {
      Entry *entry = &g_array_index (entries, Entry, i);

      list[i] = entry->option;
      list[i].target = entry->option.kind == QM_OPTION_FLAG
                           ? (void *) &entry->given
                           : &entry->texts;
    }
  return list;
}

/* Hands on what was given. */
static void
take_values (GArray *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = &g_array_index (entries, Entry, i);
      g_autoptr (GStrvBuilder) values = NULL;

      if (entry->given)
        *entry->flag = TRUE;
      if (entry->texts.n == 0)
        continue;
      values = g_strv_builder_new ();
      for (gsize j = 0; j < entry->texts.n; j++)
        g_strv_builder_add (values, entry->texts.texts[j]);
      *entry->values = g_strv_builder_end (values);
    }
}

static gboolean
write_help (const QmCliVerb *verb, const QmOptionsTable *table, GError **error)
{
  g_autofree char *written = NULL;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream (&text, &size);

  if (stream == NULL)
    g_error ("out of memory");
  fprintf (stream, "%s\n  quartermaster %s [OPTION…]%s%s\n\n%s\n\n%s\n",
           _ ("Usage:"), verb->name, verb->parameters != NULL ? " " : "",
           verb->parameters != NULL ? verb->parameters : "", verb->summary,
           _ ("Options:"));
  qm_options_print_help (table, stream);
  fprintf (stream, "\n%s%s", verb->description != NULL ? verb->description : "",
           verb->description != NULL ? "\n" : "");
  fclose (stream);
  written = g_strdup (text);
  free (text);
  return qm_cli_write_text (written, error);
}

void
qm_cli_options_add_json (GArray *options, gboolean *target)
{
  qm_cli_options_add_flag (options, "json",
                           _ ("Everything in JSON, for programs"), target);
}

gboolean
qm_cli_options_parse (const QmCliVerb *verb,
                      GArray *options,
                      const char *const *arguments,
                      GStrv *rest,
                      int *status,
                      GError **error)
{
  gboolean help = FALSE;
  const Entry help_entry = {
    .option = { .name = "help",
                .letter = 'h',
                .kind = QM_OPTION_FLAG,
                .help = _ ("Show this help") },
    .flag = &help,
  };
  g_autofree char *advice =
      g_strdup_printf (_ ("“quartermaster help %s” lists the options"),
                       verb->name);
  g_autofree const char **left =
      g_new0 (const char *, g_strv_length ((GStrv) arguments) + 1);
  g_autofree QmOption *list = NULL;
  QmOptionsTable table = { .command = verb->name,
                           .advice = advice,
                           .translate = translate };
  QmError problem = { 0 };

  *status = QM_CLI_EXIT_BAD_INPUT;
  g_array_append_val (options, help_entry);
  list = list_options (options);
  table.options = list;
  table.n = options->len;
  if (qm_options_parse (&table, arguments, left, NULL, &problem) == QM_OK)
    take_values (options);
  if (problem.status == QM_OK && help)
    {
      if (write_help (verb, &table, error))
        *status = QM_CLI_EXIT_FOUND;
      return FALSE;
    }
  if (problem.status == QM_OK && rest == NULL && left[0] != NULL)
    qm_options_refuse (&table, left[0], &problem);
  if (problem.status != QM_OK)
    {
      set_usage (error, &problem);
      return FALSE;
    }
  if (rest != NULL)
    *rest = g_strdupv ((GStrv) left);
  return TRUE;
}

gboolean
qm_cli_option_single (const char *name,
                      GStrv values,
                      const char **value,
                      GError **error)
{
  g_autofree char *option = g_strconcat ("--", name, NULL);
  QmError problem = { 0 };

  if (qm_option_single (option, (const char *const *) values,
                        values != NULL ? g_strv_length (values) : 0, translate,
                        value, &problem)
      == QM_OK)
    return TRUE;
  set_usage (error, &problem);
  return FALSE;
}

gboolean
qm_cli_option_list (const char *name,
                    GStrv values,
                    GStrv *items,
                    GError **error)
{
  g_autofree char *option = g_strconcat ("--", name, NULL);
  g_autoptr (GStrvBuilder) builder = NULL;
  QmError problem = { 0 };

  *items = NULL;
  if (values == NULL)
    return TRUE;
  builder = g_strv_builder_new ();
  for (guint i = 0; values[i] != NULL; i++)
    {
      g_auto (GStrv) parts = g_strsplit (values[i], ",", -1);
      gboolean empty = parts[0] == NULL;

      for (guint j = 0; parts[j] != NULL; j++)
        {
          g_strstrip (parts[j]);
          empty = empty || *parts[j] == '\0';
          g_strv_builder_add (builder, parts[j]);
        }
      if (empty)
        {
          qm_option_refuse_empty (option, translate, &problem);
          set_usage (error, &problem);
          return FALSE;
        }
    }
  *items = g_strv_builder_end (builder);
  return TRUE;
}

gboolean
qm_cli_option_choice (const char *name,
                      GStrv values,
                      const char *const *names,
                      guint n_names,
                      int *index,
                      GError **error)
{
  g_autofree char *option = g_strconcat ("--", name, NULL);
  const char *value;
  QmError problem = { 0 };
  size_t found;

  if (!qm_cli_option_single (name, values, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  if (qm_option_choice (option, value, names, n_names, translate, &found,
                        &problem)
      != QM_OK)
    {
      set_usage (error, &problem);
      return FALSE;
    }
  *index = (int) found;
  return TRUE;
}

gboolean
qm_cli_read_number (const char *text, double max, double *value)
{
  return qm_option_number (text, max, value);
}

gboolean
qm_cli_set_value_error (GError **error,
                        const char *name,
                        const char *value,
                        const char *what)
{
  g_autofree char *quoted = qm_cli_quote (value);

  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "--%s: %s %s", name,
               quoted, what);
  return FALSE;
}
