# The flags of every target: warnings, hardening, sanitizers.
# breakeven_flags(TARGET) gives a target all of them; libraries' headers come in as system headers.
add_library(breakeven_flags INTERFACE)
target_include_directories(breakeven_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(breakeven_flags INTERFACE _GNU_SOURCE
  G_LOG_DOMAIN="breakeven" GLIB_VERSION_MIN_REQUIRED=GLIB_VERSION_2_74 GLIB_VERSION_MAX_ALLOWED=GLIB_VERSION_2_74)
target_compile_options(breakeven_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wformat=2 -Wundef -Wvla -Wcast-qual -Wcast-align
  -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wswitch-enum -Wimplicit-fallthrough
  -Wnull-dereference -fno-common -fno-omit-frame-pointer)
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  target_compile_options(breakeven_flags INTERFACE -Wlogical-op -Wduplicated-cond -Wduplicated-branches
    -Wjump-misses-init -Wformat-truncation=2 -Wstringop-overflow=4 -Wbad-function-cast)
else()
  target_compile_options(breakeven_flags INTERFACE -Wcomma -Wassign-enum -Wconditional-uninitialized
    -Wmissing-variable-declarations -Wthread-safety)
endif()
if(BREAKEVEN_SANITIZE)
  target_compile_options(breakeven_flags INTERFACE -fsanitize=${BREAKEVEN_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(breakeven_flags INTERFACE -fsanitize=${BREAKEVEN_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL Release)
  target_compile_options(breakeven_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
    -fstack-protector-strong -fstack-clash-protection -fcf-protection -fPIE)
  target_link_options(breakeven_flags INTERFACE -pie -Wl,-z,relro,-z,now)
endif()
target_link_libraries(breakeven_flags INTERFACE PkgConfig::GLIB Threads::Threads m)
