# breakeven_node_tests(FOLDER LABELS…): each test_*.ts (or *.test.ts) of tests/FOLDER is bundled by esbuild and run by
# `node --test` under ctest. It finds the programs by BREAKEVEN_BIN_DIR and the tree by BREAKEVEN_SOURCE_DIR.
# How long one may take is said by the presets, where `ctest --timeout` can say otherwise: the long versions take longer.
set(test_modules ${PROJECT_SOURCE_DIR}/tests/node_modules/.installed)
add_custom_command(OUTPUT ${test_modules}
  COMMAND ${PROJECT_SOURCE_DIR}/web/scripts/npm_ci ${PROJECT_SOURCE_DIR}/tests
  DEPENDS ${PROJECT_SOURCE_DIR}/tests/package-lock.json
  COMMENT "Installing the test tools (npm; deploy/packages installs it)" VERBATIM)
add_custom_target(test_modules DEPENDS ${test_modules})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/tests/node_modules ${CMAKE_CURRENT_BINARY_DIR}/node_modules SYMBOLIC)
file(GLOB_RECURSE test_support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*.ts)
list(FILTER test_support EXCLUDE REGEX "node_modules|/test_[^/]*\\.ts$|\\.test\\.ts$")

function(breakeven_node_tests folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/test_*.ts ${PROJECT_SOURCE_DIR}/tests/${folder}/*.test.ts)
  string(REPLACE "/" "." prefix ${folder})
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    string(REGEX REPLACE "(\\.test)?\\.ts$" "" name ${name})
    set(bundle ${CMAKE_BINARY_DIR}/tests/${folder}/${name}.mjs)
    add_custom_command(OUTPUT ${bundle}
      COMMAND ${PROJECT_SOURCE_DIR}/tests/node_modules/.bin/esbuild ${source} --bundle --platform=node --format=esm --packages=external
        --sourcemap=inline --log-level=warning --outfile=${bundle}
      DEPENDS ${source} ${test_support} ${test_modules} VERBATIM)
    string(REPLACE "/" "_" target "${folder}/${name}_bundle")
    add_custom_target(${target} ALL DEPENDS ${bundle})
    add_test(NAME ${prefix}.${name} COMMAND node --enable-source-maps --test ${bundle})
    set_tests_properties(${prefix}.${name} PROPERTIES LABELS "${ARGN}"
      ENVIRONMENT "BREAKEVEN_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};BREAKEVEN_SOURCE_DIR=${PROJECT_SOURCE_DIR}")
  endforeach()
endfunction()
