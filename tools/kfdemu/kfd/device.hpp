// The emulated device of this process: created when the program first opens /dev/kfd or a render node, never destroyed.
//
//     if (const Topology* t = Device::topology()) …    // emulation is on; creates nothing
//     Device* device = Device::get();                   // creates the device
//
// Thread safety: every function, any thread. After fork(), the child has no device until it opens one.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <vector>

#include "tools/kfdemu/base/topology.hpp"
#include "tools/kfdemu/kfd/kfd.hpp"
#include "tools/kfdemu/queues/scheduler.hpp"
#include "tools/kfdemu/resources/events.hpp"
#include "tools/kfdemu/resources/gem.hpp"
#include "tools/kfdemu/resources/memory.hpp"

namespace kfdemu {

class Device {
  public:
    /// The emulated machine, or nullptr if emulation is off: KFDEMU=off, a real /dev/kfd, an invalid KFDEMU (reported
    /// once on stderr), an unsupported CPU (likewise), or a setuid program. Decided at the first call.
    static const Topology* topology();
    /// Called with the options when emulation is decided to be on. Not in the call: topology(), options(), get().
    static void on_decision(void (*call)(const Options&));
    /// The parsed options; defaults if emulation is off.
    static const Options& options();
    /// The device, created at the first call; nullptr if emulation is off or the host has no memory for it.
    static Device* get();
    /// The device if it exists, else nullptr.
    static Device* existing();
    /// Whether `status` (from fstat) describes a device file of the parent, inherited by fork(). As in the kernel, only
    /// the parent may use it.
    static bool inherited(const struct stat& status);
    /// False if neither this process nor a parent created a device, so no descriptor can refer to one.
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
    std::vector<std::unique_ptr<Gem>> gem_;  // per GPU
    Events events_;
    Svm svm_;
    Scheduler scheduler_;
    Kfd kfd_;
};

}  // namespace kfdemu
