// The ranks of the library's locks, which debug builds check.
#include "hsadrv/base/lock_rank.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <mutex>

#include "hsadrv/stream/launch_lane.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/session.hpp"

using namespace hsadrv::detail;

namespace {

/// How a forked process ends that runs `body`: 0, or the signal that stops it.
template <class Body>
int ending(Body&& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(STDERR_FILENO);
        std::signal(SIGABRT, SIG_DFL);
        body();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

#ifdef NDEBUG
constexpr int out_of_order = 0;
#else
constexpr int out_of_order = SIGABRT;
#endif

Ranked<std::mutex, LockRank::list> list;
Ranked<std::mutex, LockRank::queue> queue, other_queue;

}  // namespace

TEST_CASE("a thread that waits for a lock out of order stops a debug build", "[locks]") {
    CHECK(ending([] {
              const std::lock_guard first(list);
              const std::lock_guard second(queue);
          }) == 0);
    CHECK(ending([] {
              const std::lock_guard first(queue);
              const std::lock_guard second(list);
          }) == out_of_order);
    CHECK(ending([] {
              const std::lock_guard first(queue);
              const std::lock_guard second(other_queue);
          }) == out_of_order);
    CHECK(ending([] {
              {
                  const std::lock_guard first(queue);
              }
              const std::lock_guard second(list);
          }) == 0);
}

TEST_CASE("a stream's mutex may be tried in any order and locked in its rank", "[locks]") {
    CHECK(ending([] {
              LaneMutex stream;
              const std::lock_guard first(list);
              const std::unique_lock second(stream, std::try_to_lock);
              if (!second.owns_lock()) ::_exit(1);
          }) == 0);
    CHECK(ending([] {
              LaneMutex stream;
              const std::lock_guard first(list);
              const std::lock_guard second(stream);
          }) == 0);
    CHECK(ending([] {
              LaneMutex stream;
              const std::lock_guard first(stream);
              const std::lock_guard second(list);
          }) == out_of_order);
    CHECK(ending([] {
              LaneMutex stream, other;
              const std::lock_guard first(stream);
              const std::lock_guard second(other);
          }) == out_of_order);
}
