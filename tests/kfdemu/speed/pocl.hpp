// An OpenCL device that runs kernels on the host's CPU: PoCL.
//
//     Pocl cpu{2};                                      // threads
//     cpu.build(source, folder);
//     void* out = cpu.allocate(4096);
//     cpu.run("fill", {1024}, {64}, out, 7u);           // returns when it has finished
//
// Its number of threads is read once a process: one Pocl a process. Thread safety: one thread at a time.
// Errors: std::runtime_error with OpenCL's number.
#pragma once

#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>

#include <cstddef>
#include <string>
#include <vector>

namespace speed {

class Pocl {
  public:
    explicit Pocl(unsigned threads);
    ~Pocl();
    Pocl(const Pocl&) = delete;
    Pocl& operator=(const Pocl&) = delete;

    const std::string& name() const { return name_; }
    void build(const std::string& source, const std::string& options);
    /// Shared virtual memory of the device. Lifetime: the Pocl's.
    void* allocate(std::size_t bytes);

    template <class... Arguments>
    void run(const std::string& kernel, const std::vector<std::size_t>& grid, const std::vector<std::size_t>& group,
             Arguments... arguments) {
        const cl_kernel k = this->kernel(kernel);
        cl_uint index = 0;
        (set(k, index++, arguments), ...);
        run(k, grid, group);
    }

  private:
    template <class T>
    void set(cl_kernel k, cl_uint index, T* pointer) {
        check(clSetKernelArgSVMPointer(k, index, pointer), "clSetKernelArgSVMPointer");
    }
    template <class T>
    void set(cl_kernel k, cl_uint index, const T& value) {
        check(clSetKernelArg(k, index, sizeof value, &value), "clSetKernelArg");
    }
    static void check(cl_int status, const char* call);
    cl_kernel kernel(const std::string& name);
    void run(cl_kernel kernel, const std::vector<std::size_t>& grid, const std::vector<std::size_t>& group);

    cl_device_id device_{};
    cl_context context_{};
    cl_command_queue queue_{};
    cl_program program_{};
    std::string name_;
    std::vector<std::pair<std::string, cl_kernel>> kernels_;
    std::vector<void*> memory_;
};

}  // namespace speed
