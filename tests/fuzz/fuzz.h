/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer's contract: 0 for any input; a broken promise traps. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
