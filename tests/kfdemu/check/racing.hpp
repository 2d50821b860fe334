// The pairs of kernels/race.cpp: NAME has a race in LDS, NAME_mended has none.
#pragma once

namespace check_test {

inline constexpr const char* kRacing[] = {"read_after_write",
                                          "write_after_read",
                                          "write_after_write",
                                          "reduce",
                                          "prefix",
                                          "tiles",
                                          "transpose",
                                          "stencil",
                                          "broadcast",
                                          "narrow",
                                          "wide",
                                          "counted",
                                          "zeroed",
                                          "generic",
                                          "flagged",
                                          "locked",
                                          "hashed",
                                          "emptied",
                                          "summed",
                                          "reused"};

}  // namespace check_test
