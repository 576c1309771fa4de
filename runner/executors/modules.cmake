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

# GCC's Objective-C, whatever compiles the C: GNUstep here is built for its runtime.
find_program(GNUSTEP_CONFIG gnustep-config)
find_program(OBJC_GCC gcc)
if(GNUSTEP_CONFIG AND OBJC_GCC)
  execute_process(COMMAND ${OBJC_GCC} -print-prog-name=cc1obj OUTPUT_VARIABLE objc_part OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${GNUSTEP_CONFIG} --variable=GNUSTEP_SYSTEM_HEADERS OUTPUT_VARIABLE gnustep_headers
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${GNUSTEP_CONFIG} --base-libs OUTPUT_VARIABLE gnustep_libraries OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE gnustep_failure)
endif()
if(objc_part AND EXISTS "${objc_part}" AND gnustep_failure EQUAL 0)
  set(CMAKE_OBJC_COMPILER ${OBJC_GCC})
  enable_language(OBJC)
  separate_arguments(gnustep_libraries UNIX_COMMAND "${gnustep_libraries}")
  foreach(name performselector nsthread)
    breakeven_executor_module(${name} executors/gnustep_module.m)
    target_compile_options(executor_${name} PRIVATE -std=gnu11 -fexceptions -fobjc-exceptions
      -fconstant-string-class=NSConstantString -Wno-unknown-pragmas)
    target_compile_definitions(executor_${name} PRIVATE GNUSTEP GNUSTEP_BASE_LIBRARY=1 GNU_GUI_LIBRARY=0 GNU_RUNTIME=1
      _NATIVE_OBJC_EXCEPTIONS GSWARN GSDIAGNOSE)
    target_include_directories(executor_${name} SYSTEM PRIVATE ${gnustep_headers})
    target_link_libraries(executor_${name} PRIVATE ${gnustep_libraries})
  endforeach()
  target_compile_definitions(executor_nsthread PRIVATE EXECUTOR_DETACHES)
endif()
