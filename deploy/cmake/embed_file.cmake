# Turns the file IN into the C source OUT that defines SYMBOL and SYMBOL_length (run by breakeven_embed).
file(READ ${IN} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR length "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "#include <stddef.h>
extern const unsigned char ${SYMBOL}[];
extern const size_t ${SYMBOL}_length;
const unsigned char ${SYMBOL}[] = {${bytes}0x00};
const size_t ${SYMBOL}_length = ${length};
")
