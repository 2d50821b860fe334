// For functions that ThreadSanitizer calls before it can record calls: it installs signal handlers in its constructor.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOT_SANITIZED [[clang::disable_sanitizer_instrumentation]]
#endif
#endif
#ifndef NOT_SANITIZED
#define NOT_SANITIZED
#endif
