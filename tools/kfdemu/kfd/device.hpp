// The emulated machine of this process: made when a program first opens /dev/kfd or a render node, never destroyed.
//
//     if (const Topology* t = Device::topology()) …    // emulation is on; nothing is started by asking
//     Device* device = Device::get();                   // makes it
//
// Thread safety: every function, any thread. After fork() the child has none until it opens the device itself.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <vector>

#include "base/topology.hpp"
#include "kfd/kfd.hpp"
#include "queues/scheduler.hpp"
#include "resources/events.hpp"
#include "resources/gem.hpp"
#include "resources/memory.hpp"

namespace kfdemu {

class Device {
  public:
    /// What is emulated, or nullptr where emulation is off: by KFDEMU=off, because there is a real /dev/kfd,
    /// because KFDEMU cannot be understood (said once on stderr), or in a setuid program. Decided at the first call.
    static const Topology* topology();
    /// What the user asked for; all defaults where emulation is off.
    static const Options& options();
    /// The device, made at the first call; nullptr where emulation is off or the host refuses memory.
    static Device* get();
    /// The device if it was made.
    static Device* existing();
    /// Whether `status` (from fstat) is of a device that this process inherited from its parent by fork(): it was the
    /// parent's alone, as the kernel's is.
    static bool inherited(const struct stat& status);
    /// False: neither this process nor a parent made one, so that no descriptor is ours.
    static bool ever_made();

    int open_kfd(int flags) const { return kfd_file_.open(flags); }
    int open_render(unsigned gpu, int flags) const { return render_files_[gpu]->open(flags); }
    bool is_kfd(const struct stat& status) const { return kfd_file_.is(status); }
    const Gpu* gpu_of(const struct stat& status) const;
    Kfd& kfd() { return kfd_; }
    Svm& svm() { return svm_; }
    Gem& gem(unsigned gpu) { return *gem_[gpu]; }
    Scheduler& scheduler() { return scheduler_; }
    const Memory& memory() const { return memory_; }

  private:
    Device(const Topology& topology, const Options& options);
    bool valid() const;
    static std::vector<std::unique_ptr<DeviceFile>> make_render_files(const Topology& topology);

    const Topology& topology_;
    DeviceFile kfd_file_;
    std::vector<std::unique_ptr<DeviceFile>> render_files_;
    std::vector<std::unique_ptr<AddressSpace>> spaces_;
    Memory memory_;
    std::vector<std::unique_ptr<Gem>> gem_;  // of each GPU
    Svm svm_;
    Events events_;
    Scheduler scheduler_;
    Kfd kfd_;
};

}  // namespace kfdemu
