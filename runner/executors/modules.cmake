# Executors in other languages than C are modules, built where their compiler and library are: lib/breakeven/executors/NAME.so.
# They know only runner/executor.h; where one is missing, the runner says what to install.
set(executor_modules ${CMAKE_BINARY_DIR}/lib/breakeven/executors)

function(breakeven_executor_module name source)
  add_library(executor_${name} MODULE ${source})
  set_target_properties(executor_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY ${executor_modules})
  target_include_directories(executor_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(executor_${name} PRIVATE -O2 -Wall -Wextra -Wshadow -fvisibility=hidden)
  add_dependencies(breakeven-runner executor_${name})
  install(TARGETS executor_${name} LIBRARY DESTINATION lib/breakeven/executors)
endfunction()

include(CheckLanguage)
check_language(CXX)
pkg_check_modules(TBB QUIET IMPORTED_TARGET tbb>=2021)
if(CMAKE_CXX_COMPILER AND TBB_FOUND)
  enable_language(CXX)
  breakeven_executor_module(tbb executors/tbb_module.cc)
  set_target_properties(executor_tbb PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
  target_link_libraries(executor_tbb PRIVATE PkgConfig::TBB)
endif()
