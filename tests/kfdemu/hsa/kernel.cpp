#include "tests/kfdemu/hsa/kernel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace hsa_test {

Executable::Executable(const Gpu& gpu, const std::string& name) : agent_{gpu.agent} {
    const std::string path = HSA_TEST_KERNELS "/" + name + "." + gpu.name + ".hsaco";
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw std::runtime_error{path + ": " + std::strerror(errno)};
    const hsa_status_t opened = hsa_code_object_reader_create_from_file(file, &reader_);
    close(file);
    check(opened, path.c_str());
    load();
}

Executable::Executable(const Gpu& gpu, const std::vector<std::byte>& code_object) : agent_{gpu.agent} {
    HSA_CHECK(hsa_code_object_reader_create_from_memory(code_object.data(), code_object.size(), &reader_));
    load();
}

void Executable::load() {
    HSA_CHECK(
        hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable_));
    HSA_CHECK(hsa_executable_load_agent_code_object(executable_, agent_, reader_, nullptr, nullptr));
    HSA_CHECK(hsa_executable_freeze(executable_, nullptr));
}

Executable::~Executable() {
    hsa_executable_destroy(executable_);
    hsa_code_object_reader_destroy(reader_);
}

Kernel Executable::kernel(const std::string& name) const {
    hsa_executable_symbol_t symbol{};
    check(hsa_executable_get_symbol_by_name(executable_, (name + ".kd").c_str(), &agent_, &symbol), name.c_str());
    Kernel kernel;
    const auto ask = [&](hsa_executable_symbol_info_t what, void* value) {
        HSA_CHECK(hsa_executable_symbol_get_info(symbol, what, value));
    };
    ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel.object);
    ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &kernel.kernarg_bytes);
    ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_bytes);
    ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &kernel.private_bytes);
    return kernel;
}

hsa_kernel_dispatch_packet_t kernel_packet(const Kernel& kernel, const Shape& shape, const Memory& arguments,
                                           hsa_signal_t completion) {
    hsa_kernel_dispatch_packet_t packet{};
    const int dimensions = shape.grid[2] > 1 || shape.workgroup[2] > 1   ? 3
                           : shape.grid[1] > 1 || shape.workgroup[1] > 1 ? 2
                                                                         : 1;
    packet.header = header(HSA_PACKET_TYPE_KERNEL_DISPATCH, shape.barrier_bit);
    packet.setup = static_cast<std::uint16_t>(dimensions << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
    packet.workgroup_size_x = shape.workgroup[0];
    packet.workgroup_size_y = shape.workgroup[1];
    packet.workgroup_size_z = shape.workgroup[2];
    packet.grid_size_x = shape.grid[0];
    packet.grid_size_y = shape.grid[1];
    packet.grid_size_z = shape.grid[2];
    packet.group_segment_size = kernel.group_bytes + shape.group_bytes;
    packet.private_segment_size = std::max(kernel.private_bytes, shape.private_bytes);
    packet.kernel_object = kernel.object;
    packet.kernarg_address = arguments.data();
    packet.completion_signal = completion;
    return packet;
}

Memory place_arguments(const Machine& machine, const Kernel& kernel, const std::vector<std::byte>& bytes) {
    const std::size_t size = std::max<std::size_t>({kernel.kernarg_bytes, bytes.size(), 64});
    Memory memory{machine.cpu().kernarg, size, machine.agents()};
    std::memset(memory.data(), 0, size);
    if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
    return memory;
}

void run_with(Queue& queue, const Kernel& kernel, const Shape& shape, const Memory& arguments) {
    const Signal done;
    queue.submit(kernel_packet(kernel, shape, arguments, done));
    if (eventually([&] { return done.load() < 1 || !queue.errors().all().empty(); }) && done.load() < 1) return;
    const auto errors = queue.errors().all();
    throw std::runtime_error{"the kernel did not complete: " +
                             (errors.empty() ? std::string{"the deadline has passed"} : describe(errors.front()))};
}

}  // namespace hsa_test
