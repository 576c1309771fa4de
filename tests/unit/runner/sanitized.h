/* SPDX-License-Identifier: Apache-2.0
 * Whether this program is built with a sanitizer: some tests limit memory or look at machine code,
 * which sanitizers change. */
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define IS_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define IS_THREAD_SANITIZED 1
#endif
#endif
#ifndef IS_THREAD_SANITIZED
#define IS_THREAD_SANITIZED 0
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif
