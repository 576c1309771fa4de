/* SPDX-License-Identifier: Apache-2.0
 * The bundled script, style sheet and icon as bytes of the program, with names that hold a hash of
 * their content: a new content has a new address, so an address may be kept for ever. Generated at
 * build by web/scripts/bundle.mjs; the large ones also as brotli makes them smallest. */
#pragma once

#include <stddef.h>

extern const char web_script_name[]; /* "app.<hash>.js" */
extern const char web_style_name[];  /* "style.<hash>.css" */
extern const char web_icon_name[];   /* "icon.<hash>.svg" */

extern const unsigned char web_script[];
extern const size_t web_script_length;
extern const unsigned char web_script_brotli[];
extern const size_t web_script_brotli_length;
extern const unsigned char web_style[];
extern const size_t web_style_length;
extern const unsigned char web_style_brotli[];
extern const size_t web_style_brotli_length;
extern const unsigned char web_icon[];
extern const size_t web_icon_length;
