# breakeven_embed(TARGET SYMBOL FILE): adds to TARGET a C array `const unsigned char SYMBOL[]` with the file's bytes,
# followed by a NUL that `const size_t SYMBOL_length` does not count. Rebuilt when the file changes.
function(breakeven_embed target symbol file)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/embed/${symbol}.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${file} -DOUT=${out} -DSYMBOL=${symbol} -P ${PROJECT_SOURCE_DIR}/deploy/cmake/embed_file.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/deploy/cmake/embed_file.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
