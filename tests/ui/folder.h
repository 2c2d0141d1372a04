/* SPDX-License-Identifier: Apache-2.0 */

#pragma once

/* Removes a folder, or file, with all that is in it. */
void remove_folder (const char *path);
