/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>

#include "app/qm-cli-output.h"

#define QUOTED_MAX 60
#define WIDTH_MIN  20
#define WIDTH_MAX  1000

G_DEFINE_QUARK (qm - cli - error - quark, qm_cli_error)

void
qm_cli_secure_descriptors (void)
{
  /* Open in the opposite direction, so that using it fails as if closed. */
  static const int modes[] = { O_WRONLY, O_RDONLY, O_RDONLY };

  for (int fd = 0; fd < 3; fd++)
    {
      if (fcntl (fd, F_GETFD) != -1 || errno != EBADF)
        continue;
      if (open ("/dev/null", modes[fd]) == -1)
        return;
    }
}

static guint
columns_of_environment (void)
{
  const char *columns = g_getenv ("COLUMNS");
  guint64 value;

  if (columns != NULL
      && g_ascii_string_to_unsigned (columns, 10, WIDTH_MIN, WIDTH_MAX, &value,
                                     NULL))
    return value;
  return 0;
}

static guint
columns_of_terminal (void)
{
  struct winsize size = { 0 };

  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_MIN
      && size.ws_col <= WIDTH_MAX)
    return size.ws_col;
  return 80;
}

QmCliScreen
qm_cli_screen (void)
{
  QmCliScreen screen = { .width = columns_of_environment () };
  const char *no_color = g_getenv ("NO_COLOR");
  const char *terminal = g_getenv ("TERM");

  if (!isatty (STDOUT_FILENO))
    return screen;

  if (screen.width == 0)
    screen.width = columns_of_terminal ();
  screen.colour = (no_color == NULL || *no_color == '\0') && terminal != NULL
                  && *terminal != '\0' && !g_str_equal (terminal, "dumb");
  return screen;
}

void
qm_cli_append_styled (GString *out,
                      const QmCliScreen *screen,
                      QmCliStyle style,
                      const char *text)
{
  static const char *const sequences[] = {
    [QM_CLI_PLAIN] = "",        [QM_CLI_STRONG] = "\033[1m",
    [QM_CLI_FAINT] = "\033[2m", [QM_CLI_GOOD] = "\033[1;32m",
    [QM_CLI_BAD] = "\033[31m",
  };

  if (screen->colour && style != QM_CLI_PLAIN)
    g_string_append_printf (out, "%s%s\033[0m", sequences[style], text);
  else
    g_string_append (out, text);
}

static gboolean
write_all (int fd, const char *bytes, gsize length)
{
  while (length > 0)
    {
      ssize_t written = write (fd, bytes, length);

      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return FALSE;
      bytes += written;
      length -= written;
    }
  return TRUE;
}

gboolean
qm_cli_write_bytes (gconstpointer bytes, gsize length, GError **error)
{
  if (write_all (STDOUT_FILENO, bytes, length))
    return TRUE;

  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
               _ ("cannot write to standard output: %s"), g_strerror (errno));
  return FALSE;
}

/* Characters that the charset lacks become the nearest that ASCII has.
 * (transfer full) */
static char *
to_charset (const char *text, const char *charset, gsize *length)
{
  GString *out = g_string_new (NULL);

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      gssize bytes = g_utf8_next_char (p) - p;
      gsize n = 0;
      g_autofree char *there =
          g_convert (p, bytes, charset, "UTF-8", NULL, &n, NULL);

      if (there != NULL)
        g_string_append_len (out, there, n);
      else
        {
          g_autofree char *one = g_strndup (p, bytes);
          g_autofree char *nearest = g_str_to_ascii (one, "C");

          g_string_append (out, nearest);
        }
    }
  *length = out->len;
  return g_string_free (out, FALSE);
}

/* (transfer full) */
static char *
to_locale (const char *text, gsize *length)
{
  const char *charset;
  char *converted;

  if (g_get_charset (&charset))
    {
      *length = strlen (text);
      return g_strdup (text);
    }
  converted = g_convert (text, -1, charset, "UTF-8", NULL, length, NULL);
  if (converted == NULL)
    converted = to_charset (text, charset, length);
  return converted;
}

gboolean
qm_cli_write_text (const char *text, GError **error)
{
  gsize length;
  g_autofree char *converted = to_locale (text, &length);

  return qm_cli_write_bytes (converted, length, error);
}

void
qm_cli_complain (const char *line)
{
  gsize length;
  g_autofree char *converted = to_locale (line, &length);

  /* Where that fails there is nowhere left to say so. */
  write_all (STDERR_FILENO, converted, length);
}

void
qm_cli_report (const char *message)
{
  g_autofree char *safe = qm_cli_escape (message);
  g_autofree char *line = g_strdup_printf ("quartermaster: %s\n", safe);

  qm_cli_complain (line);
}

gboolean
qm_cli_check_output (const char *path, GError **error)
{
  g_autofree char *quoted = qm_cli_quote (path);
  GStatBuf status;
  const char *why;

  /* What cannot be found out is, when it is written. */
  if (g_stat (path, &status) != 0
      || (S_ISREG (status.st_mode) && (status.st_mode & 0222) != 0))
    return TRUE;
  why = S_ISREG (status.st_mode) ? g_strerror (EACCES) : _ ("it is no file");
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
               /* Translators: a file, what went wrong. */
               _ ("cannot write %s: %s"), quoted, why);
  return FALSE;
}

/* Writes "warning: FILE:LINE: message". */
static void
complain_about (const QmError *problem, gboolean harmless)
{
  g_autoptr (GString) place = g_string_new (problem->file);
  g_autofree char *text = NULL;
  g_autofree char *safe = NULL;
  g_autofree char *line = NULL;

  if (problem->line > 0)
    g_string_append_printf (place, ":%d", problem->line);
  if (problem->line > 0 && problem->column > 0)
    g_string_append_printf (place, ":%d", problem->column);
  text = place->len > 0
             ? g_strdup_printf ("%s: %s", place->str, problem->message)
             : g_strdup (problem->message);
  safe = qm_cli_escape (text);
  if (harmless)
    /* Translators: a place in a file and what is left out there. */
    line = g_strdup_printf (_ ("note: %s"), safe);
  else
    /* Translators: a place in a file and what is wrong there. */
    line = g_strdup_printf (_ ("warning: %s"), safe);
  g_string_assign (place, line);
  g_string_append_c (place, '\n');
  qm_cli_complain (place->str);
}

void
qm_cli_warn (const QmError *problem)
{
  complain_about (problem, FALSE);
}

void
qm_cli_note (const QmError *notice)
{
  complain_about (notice, TRUE);
}

static gboolean
is_safe (gunichar c)
{
  switch (g_unichar_type (c))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_UNASSIGNED:
      return FALSE;
    default:
      return TRUE;
    }
}

char *
qm_cli_escape (const char *bytes)
{
  GString *out = g_string_new (NULL);

  while (*bytes != '\0')
    {
      gunichar c = g_utf8_get_char_validated (bytes, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        {
          g_string_append_printf (out, "\\x%02x", (guchar) *bytes);
          bytes++;
          continue;
        }
      if (is_safe (c))
        g_string_append_unichar (out, c);
      else
        g_string_append_printf (out, c < 0x80 ? "\\x%02x" : "\\u%04x", c);
      bytes = g_utf8_next_char (bytes);
    }
  return g_string_free (out, FALSE);
}

char *
qm_cli_quote (const char *bytes)
{
  g_autofree char *escaped = qm_cli_escape (bytes);
  g_autofree char *start = NULL;

  if (g_utf8_strlen (escaped, -1) <= QUOTED_MAX)
    return g_strdup_printf ("'%s'", escaped);

  start = g_utf8_substring (escaped, 0, QUOTED_MAX);
  return g_strdup_printf ("'%s…'", start);
}
