// llvm-mc as the arbiter of encodings.
//
//     auto texts = llvm_mc(Target::gfx90a, {{0x7e080306}});     // {"v_mov_b32_e32 v4, v6"}
//
// Thread safety: none needed. One process a call, however many encodings there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/kfdemu/isa/rows/row.hpp"

namespace test_isa {

using Words = std::vector<std::uint32_t>;

/// Newer ones know more instructions, and crash on some.
enum class Version { usual, newest };
/// The one that knows most of a model.
Version version_for(kfdemu::isa::Target target);

/// Whether llvm-mc was found when the tests were configured; if not, llvm_mc_missing() says what to install.
bool have_llvm_mc(Version version);
const char* llvm_mc_missing(Version version);

/// The text of each encoding in code for waves of `width` lanes, or "" where llvm-mc refuses it or does not use exactly
/// these dwords.
std::vector<std::string> llvm_mc(kfdemu::isa::Target target, const std::vector<Words>& encodings, unsigned width,
                                 Version version);

}  // namespace test_isa
