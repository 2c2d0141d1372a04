/* SPDX-License-Identifier: Apache-2.0 */

#define G_LOG_DOMAIN "qm-cli"

#include "config.h"

#include "app/qm-cli-catalog.h"
#include "app/qm-cli-forecast.h"
#include "app/qm-cli-options.h"
#include "app/qm-cli-output.h"
#include "app/qm-cli-plot.h"
#include "app/qm-cli-question.h"
#include "app/qm-cli-store.h"
#include "app/qm-cli.h"
#include "data/file-kind.h"
#include "ui/plot/qm-advice-plot.h"
#include "ui/plot/qm-plot-export.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define SIDE_MIN 16
#define SIDE_MAX 16384

/* Where no size is asked for: of a plot alone, and of one among others. */
#define WIDTH_ALONE   960
#define HEIGHT_ALONE  640
#define WIDTH_SHARED  560
#define HEIGHT_SHARED 400

/* The values of the options as they were typed. */
typedef struct
{
  QmCliQuestion question;
  GStrv kind;
  GStrv output;
  GStrv size;
  GStrv format;
  GStrv theme;
  gboolean log;
  gboolean all_gpus;
  gboolean force;
} Typed;

/* How to draw and where to. */
typedef struct
{
  QmAdvicePlotKind kind;
  gboolean log;
  gboolean all_gpus; /* not a shortlist of their types */
  const QmPlotTheme *theme;
  const char *output; /* "-": standard output */
  gboolean force;     /* in place of whatever is there */
  QmPlotFormat format;
  int width, height; /* 0: by the number of plots */
} Drawing;

/* One plot and the answer that it shows. */
typedef struct
{
  QmAdvice *advice;
  QmAdvicePlot *plot;
} Panel;

static void
typed_clear (Typed *typed)
{
  qm_cli_question_clear (&typed->question);
  g_clear_pointer (&typed->kind, g_strfreev);
  g_clear_pointer (&typed->output, g_strfreev);
  g_clear_pointer (&typed->size, g_strfreev);
  g_clear_pointer (&typed->format, g_strfreev);
  g_clear_pointer (&typed->theme, g_strfreev);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Typed, typed_clear)

static void
panel_clear (Panel *panel)
{
  g_clear_pointer (&panel->plot, qm_advice_plot_free);
  g_clear_pointer (&panel->advice, qm_advice_free);
}

static gboolean
read_output (const Typed *typed, Drawing *drawing, GError **error)
{
  static const char *const names[] = { "png", "svg", "pdf" };
  static const QmPlotFormat formats[] = { QM_PLOT_FORMAT_PNG,
                                          QM_PLOT_FORMAT_SVG,
                                          QM_PLOT_FORMAT_PDF };
  int format = -1;
  g_autofree char *quoted = NULL;

  if (!qm_cli_option_single ("output", typed->output, &drawing->output, error)
      || !qm_cli_option_choice ("format", typed->format, names,
                                G_N_ELEMENTS (names), &format, error))
    return FALSE;
  if (drawing->output == NULL)
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("-o FILE is needed, as in “-o plot.pdf”"));
      return FALSE;
    }
  if (format >= 0)
    {
      drawing->format = formats[format];
      return TRUE;
    }
  if (g_str_equal (drawing->output, "-"))
    {
      g_set_error_literal (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
                           _ ("“-o -” needs --format png, svg or pdf"));
      return FALSE;
    }
  if (qm_plot_format_from_name (drawing->output, &drawing->format))
    return TRUE;
  quoted = qm_cli_quote (drawing->output);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("%s does not end in .png, .svg or .pdf; rename it or add "
                  "--format"),
               quoted);
  return FALSE;
}

static gboolean
read_size (const Typed *typed, Drawing *drawing, GError **error)
{
  const char *value;
  g_autofree char *quoted = NULL;
  g_auto (GStrv) sides = NULL;
  guint64 width, height;

  if (!qm_cli_option_single ("size", typed->size, &value, error))
    return FALSE;
  if (value == NULL)
    return TRUE;
  sides = g_strsplit (value, "x", 3);
  if (g_strv_length (sides) == 2
      && g_ascii_string_to_unsigned (sides[0], 10, SIDE_MIN, SIDE_MAX, &width,
                                     NULL)
      && g_ascii_string_to_unsigned (sides[1], 10, SIDE_MIN, SIDE_MAX, &height,
                                     NULL))
    {
      drawing->width = (int) width;
      drawing->height = (int) height;
      return TRUE;
    }
  quoted = qm_cli_quote (value);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_USAGE,
               _ ("--size: %s is not WIDTHxHEIGHT, each from %d to %d; write "
                  "it like 960x640"),
               quoted, SIDE_MIN, SIDE_MAX);
  return FALSE;
}

static gboolean
read_drawing (const Typed *typed, Drawing *drawing, GError **error)
{
  static const char *const kinds[] = { "overall", "experiment" };
  static const char *const themes[] = { "light", "dark" };
  int kind = 0;
  int theme = 0;

  if (!qm_cli_option_choice ("kind", typed->kind, kinds, G_N_ELEMENTS (kinds),
                             &kind, error)
      || !qm_cli_option_choice ("theme", typed->theme, themes,
                                G_N_ELEMENTS (themes), &theme, error)
      || !read_size (typed, drawing, error)
      || !read_output (typed, drawing, error))
    return FALSE;
  drawing->kind =
      kind == 0 ? QM_ADVICE_PLOT_OVERALL : QM_ADVICE_PLOT_EXPERIMENT;
  drawing->theme = theme == 0 ? qm_plot_theme_light () : qm_plot_theme_dark ();
  drawing->log = typed->log;
  drawing->all_gpus = typed->all_gpus;
  drawing->force = typed->force;
  return TRUE;
}

static gboolean
add_panel (GArray *panels,
           const QmCatalog *catalog,
           const QmQuestion *question,
           const Drawing *drawing,
           GError **error)
{
  const QmModel *model = question->model != NULL
                             ? qm_catalog_model (catalog, question->model)
                             : NULL;
  QmRecommendation recommendation;
  Panel panel = { .advice = qm_advice_new (catalog, question, error) };

  if (panel.advice == NULL)
    return FALSE;
  recommendation = qm_advice_recommend (panel.advice, question->budget_minor,
                                        question->deadline_days);
  panel.plot =
      qm_advice_plot_new (catalog, panel.advice, drawing->kind,
                          model != NULL ? model->name : _ ("A year’s runs"),
                          &question->purse, drawing->log);
  qm_advice_plot_set_shortlist (panel.plot, !drawing->all_gpus);
  qm_advice_plot_set_limits (panel.plot, question->budget_minor,
                             question->deadline_days, &recommendation);
  qm_advice_plot_set_words (panel.plot, question, &recommendation,
                            qm_date_today ());
  g_array_append_val (panels, panel);
  return TRUE;
}

/* One panel a model, or one for the portfolio.  (transfer full) */
static GArray *
build_panels (const QmCatalog *catalog,
              const QmQuestion *question,
              GStrv models,
              const Drawing *drawing,
              GError **error)
{
  g_autoptr (GArray) panels = g_array_new (FALSE, FALSE, sizeof (Panel));
  const guint n = MAX (g_strv_length (models), 1);

  g_array_set_clear_func (panels, (GDestroyNotify) panel_clear);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (QmQuestion) one = qm_question_copy (question);

      one->model = g_strdup (models[i]);
      qm_cli_forecast (one, catalog);
      if (!add_panel (panels, catalog, one, drawing, error))
        return NULL;
    }
  return g_steal_pointer (&panels);
}

static void
choose_size (Drawing *drawing, guint n)
{
  guint columns = 1;
  guint rows;

  if (drawing->width > 0)
    return;
  while (columns * columns < n)
    columns++;
  rows = (n + columns - 1) / columns;
  drawing->width =
      n == 1 ? WIDTH_ALONE : (int) MIN (columns * WIDTH_SHARED, SIDE_MAX);
  drawing->height =
      n == 1 ? HEIGHT_ALONE : (int) MIN (rows * HEIGHT_SHARED, SIDE_MAX);
}

/* Whether a plot of that format, or nothing, is where this one is to be. */
static gboolean
may_replace (const Drawing *drawing, GError **error)
{
  static const QmFileKind kinds[] = { [QM_PLOT_FORMAT_PNG] = QM_FILE_PNG,
                                      [QM_PLOT_FORMAT_SVG] = QM_FILE_SVG,
                                      [QM_PLOT_FORMAT_PDF] = QM_FILE_PDF };
  g_autofree char *quoted = NULL;

  if (drawing->force
      || qm_file_is_replaceable (drawing->output, kinds[drawing->format]))
    return TRUE;
  quoted = qm_cli_quote (drawing->output);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
               _ ("%s exists already; --force replaces it"), quoted);
  return FALSE;
}

static gboolean
write_drawing (const Drawing *drawing,
               const QmPlotData *const *plots,
               guint n,
               GError **error)
{
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) trouble = NULL;
  g_autofree char *quoted = NULL;

  if (g_str_equal (drawing->output, "-"))
    {
      g_autoptr (GBytes) bytes =
          qm_plot_render (plots, n, drawing->format, drawing->width,
                          drawing->height, drawing->theme, error);
      gsize length;
      gconstpointer start;

      if (bytes == NULL)
        return FALSE;
      start = g_bytes_get_data (bytes, &length);
      return qm_cli_write_bytes (start, length, error);
    }
  if (!qm_cli_check_output (drawing->output, error)
      || !may_replace (drawing, error))
    return FALSE;
  file = g_file_new_for_path (drawing->output);
  if (qm_plot_save (plots, n, file, drawing->format, drawing->width,
                    drawing->height, drawing->theme, &trouble))
    return TRUE;
  quoted = qm_cli_quote (drawing->output);
  g_set_error (error, QM_CLI_ERROR, QM_CLI_ERROR_OUTPUT,
               /* Translators: a file, what went wrong. */
               _ ("cannot write %s: %s"), quoted, trouble->message);
  return FALSE;
}

static void
share_axes (GArray *panels)
{
  g_autofree QmAdvicePlot **plots = g_new0 (QmAdvicePlot *, panels->len + 1);

  for (guint i = 0; i < panels->len; i++)
    plots[i] = g_array_index (panels, Panel, i).plot;
  qm_advice_plot_share (plots, panels->len);
}

static int
draw (const QmCatalog *catalog,
      const QmQuestion *question,
      GStrv models,
      Drawing *drawing,
      GError **error)
{
  g_autoptr (GArray) panels =
      build_panels (catalog, question, models, drawing, error);
  g_autofree const QmPlotData **plots = NULL;

  if (panels == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  share_axes (panels);
  plots = g_new0 (const QmPlotData *, panels->len);
  for (guint i = 0; i < panels->len; i++)
    plots[i] = qm_advice_plot_data (g_array_index (panels, Panel, i).plot);
  choose_size (drawing, panels->len);
  return write_drawing (drawing, plots, panels->len, error)
             ? QM_CLI_EXIT_FOUND
             : QM_CLI_EXIT_BAD_INPUT;
}

static void
add_options (Typed *typed, GArray *options)
{
  qm_cli_question_add_options (&typed->question, options);
  qm_cli_options_add_value (options, "kind", 0, "overall|experiment",
                            _ ("Cost across: of the machine (overall) or of "
                               "one training"),
                            &typed->kind);
  qm_cli_options_add_flag (options, "log", _ ("Logarithmic axes"), &typed->log);
  qm_cli_options_add_flag (options, "all-gpus",
                           _ ("All types of GPU, of many not just some spread "
                              "along the frontier"),
                           &typed->all_gpus);
  qm_cli_options_add_value (options, "output", 'o', _ ("FILE"),
                            _ ("Where to, by its ending .png, .svg or .pdf; - "
                               "for standard output"),
                            &typed->output);
  qm_cli_options_add_flag (options, "force",
                           _ ("Replace a file that is no such plot"),
                           &typed->force);
  qm_cli_options_add_value (options, "format", 0, "png|svg|pdf",
                            _ ("Whatever the file’s ending"), &typed->format);
  qm_cli_options_add_value (options, "size", 0, _ ("WIDTHxHEIGHT"),
                            _ ("In pixels, for SVG and PDF in points"),
                            &typed->size);
  qm_cli_options_add_value (options, "theme", 0, "light|dark",
                            _ ("Light if not given"), &typed->theme);
}

int
qm_cli_plot (const char *const *arguments, GError **error)
{
  const QmCliVerb verb = {
    .name = "plot",
    .parameters = _ ("[FILE]"),
    .summary = _ ("Draws what the machines cost against how long training "
                  "takes.\nSeveral models, separated by commas, get a plot "
                  "each."),
    .description = _ ("FILE is a question that was saved, as in "
                      "gpus.quartermaster; options go before what it asks."),
  };
  g_auto (Typed) typed = { 0 };
  g_autoptr (GArray) options = qm_cli_options_new ();
  g_autoptr (QmCatalog) catalog = NULL;
  g_autoptr (QmQuestion) question = NULL;
  g_auto (GStrv) models = NULL;
  g_auto (GStrv) files = NULL;
  Drawing drawing = { 0 };
  int status;

  add_options (&typed, options);
  if (!qm_cli_options_parse (&verb, options, arguments, &files, &status, error))
    return status;
  if (!read_drawing (&typed, &drawing, error)
      || (catalog = qm_cli_catalog_load (error)) == NULL
      || !qm_cli_question_open (&typed.question, files, catalog, error)
      || (models =
              qm_cli_question_models (&typed.question, catalog, TRUE, error))
             == NULL
      || (question = qm_cli_question_read (&typed.question, catalog, error))
             == NULL)
    return QM_CLI_EXIT_BAD_INPUT;
  for (guint i = 0;
       typed.question.troubles != NULL && i < typed.question.troubles->len; i++)
    qm_cli_store_warn (g_ptr_array_index (typed.question.troubles, i));
  return draw (catalog, question, models, &drawing, error);
}
