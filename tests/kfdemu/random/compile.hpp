// Clang, asked to compile generated sources.
//
//     compile_host("u.cpp", "u.so", "clang-19", "O0");
//     compile_device("u.cpp", "u.hsaco", {Target::gfx90a, "O2", "clang-19"});     // false: see "u.hsaco.log"
//
// Thread safety: any thread, if the files differ.
#pragma once

#include <string>
#include <vector>

#include "tools/kfdemu/isa/rows/row.hpp"

namespace random_programs {

struct Setting {
    kfdemu::isa::Target target;
    std::string level;  ///< "O2"
    std::string clang;
    unsigned lanes = 64;  ///< of a wave
    bool hip = false;     ///< in HIP's language, without HIP: clang before 16 knows no kernels in C++
};
std::string describe(const Setting& setting);
/// What both sides are told of the device's waves.
std::vector<std::string> wave_macros(const Setting& setting);

bool compile_host(const std::string& source, const std::string& output, const std::string& clang,
                  const std::string& level, const std::vector<std::string>& macros);
bool compile_device(const std::string& source, const std::string& output, const Setting& setting);

}  // namespace random_programs
