/* SPDX-License-Identifier: Apache-2.0 */

#include "config.h"

#include "ui/qm-theme.h"

#include <adwaita.h>

const QmPlotTheme *
qm_theme_current (void)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  gboolean dark = adw_style_manager_get_dark (manager);

  if (adw_style_manager_get_high_contrast (manager))
    return qm_plot_theme_high_contrast (dark);
  return dark ? qm_plot_theme_dark () : qm_plot_theme_light ();
}

void
qm_theme_watch (GtkWidget *widget, void (*callback) (GtkWidget *widget))
{
  AdwStyleManager *manager = adw_style_manager_get_default ();

  g_return_if_fail (GTK_IS_WIDGET (widget) && callback != NULL);

  g_signal_connect_object (manager, "notify::dark", G_CALLBACK (callback),
                           widget, G_CONNECT_SWAPPED);
  g_signal_connect_object (manager, "notify::high-contrast",
                           G_CALLBACK (callback), widget, G_CONNECT_SWAPPED);
}
