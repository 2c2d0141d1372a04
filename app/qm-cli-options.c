/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "data/catalog.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Longer words are not misspelt names. */
#define WORD_MAX 64

GArray *
qm_cli_options_new (void)
{
  return g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
}

void
qm_cli_options_add_flag (GArray *options,
                         const char *name,
                         const char *description,
                         gboolean *target)
{
  GOptionEntry entry = {
    .long_name = name,
    .arg = G_OPTION_ARG_NONE,
    .arg_data = target,
    .description = description,
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
  GOptionEntry entry = {
    .long_name = name,
    .short_name = short_name,
    .arg = G_OPTION_ARG_FILENAME_ARRAY,
    .arg_data = target,
    .description = description,
    .arg_description = value_name,
  };

  g_array_append_val (options, entry);
}

void
qm_cli_set_unknown (GError **error,
                    const char *problem,
                    const char *word,
                    const char *const *names,
                    guint n_names,
                    const char *otherwise)
{
  const char *nearest = NULL;

  if (strlen (word) <= WORD_MAX)
    nearest = qm_nearest_name (word, names, n_names);
  if (nearest != NULL)
    {
      g_autofree char *quoted = qm_cli_quote (nearest);

      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   /* Translators: what is wrong, a name in quotes. */
                   _ ("%s; did you mean %s?"), problem, quoted);
    }
  else
    g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, "%s; %s", problem,
                 otherwise);
}

static void
set_unknown_option (GError **error,
                    const QmCliVerb *verb,
                    const GArray *options,
                    const char *word)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *quoted = qm_cli_quote (word);
  g_autofree char *problem = g_strdup_printf (_ ("unknown option %s"), quoted);
  g_autofree char *otherwise =
      g_strdup_printf (_ ("“quartermaster help %s” lists the options"),
                       verb->name);

  for (guint i = 0; i < options->len; i++)
    g_ptr_array_add (
        names,
        g_strconcat ("--", g_array_index (options, GOptionEntry, i).long_name,
                     NULL));
  qm_cli_set_unknown (error, problem, word, (const char *const *) names->pdata,
                      names->len, otherwise);
}

static const GOptionEntry *
find_long (const GArray *options, const char *name, gsize length)
{
  for (guint i = 0; i < options->len; i++)
    {
      const GOptionEntry *entry = &g_array_index (options, GOptionEntry, i);

      if (strlen (entry->long_name) == length
          && strncmp (entry->long_name, name, length) == 0)
        return entry;
    }
  return NULL;
}

static const GOptionEntry *
find_short (const GArray *options, char name)
{
  for (guint i = 0; i < options->len; i++)
    {
      const GOptionEntry *entry = &g_array_index (options, GOptionEntry, i);

      if (entry->short_name == name)
        return entry;
    }
  return NULL;
}

/* Checks one argument that starts with a dash and appends it the way GOption
 * takes it.  *waits tells that its value is the next argument. */
static gboolean
normalize_option (const QmCliVerb *verb,
                  const GArray *options,
                  const char *argument,
                  GPtrArray *normalized,
                  gboolean *waits,
                  GError **error)
{
  gboolean is_long = argument[1] == '-';
  gsize length = is_long ? strcspn (argument + 2, "=") : 1;
  const char *value = is_long ? argument + 2 + length : argument + 2;
  const GOptionEntry *entry = is_long
                                  ? find_long (options, argument + 2, length)
                                  : find_short (options, argument[1]);
  g_autofree char *name = g_strndup (argument, (is_long ? 2 : 1) + length);
  gboolean flag;

  if (entry == NULL)
    {
      set_unknown_option (error, verb, options, name);
      return FALSE;
    }
  flag = entry->arg == G_OPTION_ARG_NONE;
  if (flag && *value != '\0')
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("%s takes no value"), name);
      return FALSE;
    }
  *waits = !flag && *value == '\0';
  if (is_long || *value == '\0')
    g_ptr_array_add (normalized, g_strdup (argument));
  else
    {
      g_ptr_array_add (normalized, g_strdup (name));
      g_ptr_array_add (normalized, g_strdup (value));
    }
  return TRUE;
}

/* GOption names an unknown option but not the one that was meant, so the
 * arguments are looked through first.  (transfer full) */
static GStrv
normalize (const QmCliVerb *verb,
           const GArray *options,
           const char *const *arguments,
           GError **error)
{
  g_autoptr (GPtrArray) normalized = g_ptr_array_new_with_free_func (g_free);
  gboolean waits = FALSE;
  gboolean only_rest = FALSE;

  /* GOption takes the first for the program's name. */
  g_ptr_array_add (normalized, g_strdup (verb->name));
  for (guint i = 0; arguments[i] != NULL; i++)
    {
      const char *argument = arguments[i];

      if (waits || only_rest || argument[0] != '-' || argument[1] == '\0')
        {
          g_ptr_array_add (normalized, g_strdup (argument));
          waits = FALSE;
        }
      else if (g_str_equal (argument, "--"))
        {
          g_ptr_array_add (normalized, g_strdup (argument));
          only_rest = TRUE;
        }
      else if (!normalize_option (verb, options, argument, normalized, &waits,
                                  error))
        return NULL;
    }
  if (waits)
    {
      g_set_error (
          error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE, _ ("%s needs a value"),
          (char *) g_ptr_array_index (normalized, normalized->len - 1));
      return NULL;
    }
  g_ptr_array_add (normalized, NULL);
  return (GStrv) g_ptr_array_steal (normalized, NULL);
}

/* (transfer full) */
static GOptionContext *
context_of (const QmCliVerb *verb, const GArray *options)
{
  GOptionContext *context = g_option_context_new (verb->parameters);
  g_autofree char *name = g_strconcat ("quartermaster ", verb->name, NULL);

  /* GOption prints it in the usage line. */
  g_set_prgname (name);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, verb->summary);
  g_option_context_set_description (context, verb->description);
  g_option_context_add_main_entries (
      context, (const GOptionEntry *) (void *) options->data, NULL);
  return context;
}

/* What is left behind the program's name.  (transfer full) */
static GStrv
take_rest (GStrv parsed)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (guint i = 1; parsed[0] != NULL && parsed[i] != NULL; i++)
    if (i > 1 || !g_str_equal (parsed[i], "--"))
      g_strv_builder_add (builder, parsed[i]);
  return g_strv_builder_end (builder);
}

static gboolean
refuse_rest (GStrv rest, GError **error)
{
  g_autofree char *quoted = NULL;

  if (rest[0] == NULL)
    return TRUE;
  quoted = qm_cli_quote (rest[0]);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("unexpected argument %s; values belong to options, as in "
                  "“--model pythia-1b”"),
               quoted);
  return FALSE;
}

QmCliParse
qm_cli_options_parse (const QmCliVerb *verb,
                      GArray *options,
                      const char *const *arguments,
                      GStrv *rest,
                      GError **error)
{
  gboolean help = FALSE;
  GOptionEntry help_entry = {
    .long_name = "help",
    .short_name = 'h',
    .arg = G_OPTION_ARG_NONE,
    .arg_data = &help,
    .description = _ ("Show this help"),
  };
  g_autoptr (GOptionContext) context = NULL;
  g_auto (GStrv) parsed = NULL;
  g_auto (GStrv) left = NULL;

  g_array_append_val (options, help_entry);
  parsed = normalize (verb, options, arguments, error);
  if (parsed == NULL)
    return QM_CLI_PARSE_FAILED;
  context = context_of (verb, options);
  if (!g_option_context_parse_strv (context, &parsed, error))
    return QM_CLI_PARSE_FAILED;
  if (help)
    {
      g_autofree char *text = g_option_context_get_help (context, TRUE, NULL);

      return qm_cli_write_text (text, error) ? QM_CLI_PARSE_HELPED
                                             : QM_CLI_PARSE_FAILED;
    }
  left = take_rest (parsed);
  if (rest == NULL && !refuse_rest (left, error))
    return QM_CLI_PARSE_FAILED;
  if (rest != NULL)
    *rest = g_steal_pointer (&left);
  return QM_CLI_PARSE_READY;
}

gboolean
qm_cli_option_single (const char *name,
                      GStrv values,
                      const char **value,
                      GError **error)
{
  *value = NULL;
  if (values == NULL)
    return TRUE;
  if (values[1] != NULL)
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("--%s is given more than once"), name);
      return FALSE;
    }
  if (*values[0] == '\0')
    {
      g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                   _ ("--%s has an empty value"), name);
      return FALSE;
    }
  *value = values[0];
  return TRUE;
}

gboolean
qm_cli_option_list (const char *name,
                    GStrv values,
                    GStrv *items,
                    GError **error)
{
  g_autoptr (GStrvBuilder) builder = NULL;

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
          g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                       _ ("--%s has an empty value"), name);
          return FALSE;
        }
    }
  *items = g_strv_builder_end (builder);
  return TRUE;
}

/* "png, svg or pdf".  (transfer full) */
static char *
join_names (const char *const *names, guint n_names)
{
  g_autoptr (GString) list = g_string_new (names[0]);

  for (guint i = 1; i + 1 < n_names; i++)
    g_string_append_printf (list, ", %s", names[i]);
  if (n_names == 1)
    return g_string_free (g_steal_pointer (&list), FALSE);
  /* Translators: the first words of a list, its last word. */
  return g_strdup_printf (_ ("%s or %s"), list->str, names[n_names - 1]);
}

gboolean
qm_cli_option_choice (const char *name,
                      GStrv values,
                      const char *const *names,
                      guint n_names,
                      int *index,
                      GError **error)
{
  const char *value;
  g_autofree char *quoted = NULL;
  g_autofree char *problem = NULL;
  g_autofree char *all = NULL;
  g_autofree char *otherwise = NULL;

  if (!qm_cli_option_single (name, values, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  for (guint i = 0; i < n_names; i++)
    if (g_str_equal (value, names[i]))
      {
        *index = (int) i;
        return TRUE;
      }
  quoted = qm_cli_quote (value);
  /* Translators: name of an option, its value in quotes. */
  problem = g_strdup_printf (_ ("--%s cannot be %s"), name, quoted);
  all = join_names (names, n_names);
  /* Translators: a list of words. */
  otherwise = g_strdup_printf (_ ("choose %s"), all);
  qm_cli_set_unknown (error, problem, value, names, n_names, otherwise);
  return FALSE;
}

gboolean
qm_cli_read_number (const char *text, double max, double *value)
{
  gsize whole = strspn (text, "0123456789");
  gsize fraction = 0;
  const char *end = text + whole;
  double number;

  if (*end == '.')
    {
      fraction = strspn (end + 1, "0123456789");
      end += 1 + fraction;
      if (fraction == 0)
        return FALSE;
    }
  if (whole == 0 || *end != '\0')
    return FALSE;
  number = g_ascii_strtod (text, NULL);
  if (!(number > 0) || number > max)
    return FALSE;
  *value = number;
  return TRUE;
}
