#include "tests/kfdemu/hsa/exchange.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace hsa_test {
namespace {

void copy(const Machine& machine, void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent,
          std::size_t bytes) {
    const Signal done;
    HSA_CHECK(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, 0, nullptr, done));
    if (!done.completed()) throw std::runtime_error{"a copy did not end on " + machine.gpu().name};
    if (done.load() != 0) throw std::runtime_error{"a copy failed on " + machine.gpu().name};
}

}  // namespace

Words pattern(std::size_t bytes, std::uint32_t seed) {
    Words words(bytes / sizeof(std::uint32_t));
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i) * 2654435761u + seed;
    return words;
}

void fill(const Machine& machine, void* destination, const Words& words) {
    const Memory staging{machine.cpu().fine, words.size() * sizeof(std::uint32_t), machine.agents()};
    std::memcpy(staging.data(), words.data(), staging.size_bytes());
    copy(machine, destination, machine.gpu().agent, staging.data(), machine.cpu().agent, staging.size_bytes());
}

Words read_back(const Machine& machine, const void* source, std::size_t bytes) {
    const Memory staging{machine.cpu().fine, bytes, machine.agents()};
    copy(machine, staging.data(), machine.cpu().agent, source, machine.gpu().agent, bytes);
    const auto* words = staging.as<std::uint32_t>();
    return {words, words + bytes / sizeof *words};
}

std::string difference(const Words& seen, const Words& expected) {
    if (seen.size() != expected.size())
        return std::to_string(seen.size()) + " words instead of " + std::to_string(expected.size());
    const auto [at, wanted] = std::mismatch(seen.begin(), seen.end(), expected.begin());
    if (at == seen.end()) return {};
    return "word " + std::to_string(at - seen.begin()) + " is " + std::to_string(*at) + " instead of " +
           std::to_string(*wanted);
}

Pipe::Pipe() {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error{"no pipe"};
    read_end = ends[0];
    write_end = ends[1];
}

Pipe::~Pipe() {
    close(read_end);
    close(write_end);
}

void tell(int write_end) {
    const char word = '!';
    if (write(write_end, &word, 1) != 1) throw std::runtime_error{"the other process has ended"};
}

void await(int read_end) {
    pollfd wait{read_end, POLLIN, 0};
    char word;
    const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(kDeadline).count();
    if (poll(&wait, 1, static_cast<int>(timeout)) != 1 || read(read_end, &word, 1) != 1)
        throw std::runtime_error{"no message arrived"};
}

}  // namespace hsa_test
