// kfdemu's executor with one code object and the memory of one random program after another: no HSA.
//
//     Device device{Target::gfx90a, "u.hsaco", inputs};
//     if (auto failed = device.run("k3", 64, 2, results)) …      // "memory fault …"
//
// Thread safety: one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/kfdemu/dispatch/machine.hpp"

namespace random_programs {

struct Results;

class Device {
  public:
    Device(kfdemu::isa::Target target, const std::string& code_object, const std::vector<std::uint32_t>& inputs);

    /// Runs a kernel on the results' memory; why it did not end well.
    std::optional<std::string> run(const std::string& kernel, unsigned group, unsigned groups, Results& results);

  private:
    dispatch_test::Machine gpu_;
    dispatch_test::CodeObject code_;
    std::uint32_t* inputs_;
    std::byte *outs_, *cells_, *sums_, *arguments_;
};

}  // namespace random_programs
