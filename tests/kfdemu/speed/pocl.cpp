#include "tests/kfdemu/speed/pocl.hpp"

#include <cstdlib>
#include <stdexcept>

namespace speed {

void Pocl::check(cl_int status, const char* call) {
    if (status != CL_SUCCESS) throw std::runtime_error{std::string{call} + ": OpenCL error " + std::to_string(status)};
}

Pocl::Pocl(unsigned threads) {
    const std::string count = std::to_string(threads);
    setenv("POCL_MAX_PTHREAD_COUNT", count.c_str(), 1);
    setenv("POCL_CPU_MAX_CU_COUNT", count.c_str(), 1);
    setenv("OCL_ICD_VENDORS", "pocl.icd", 0);
    cl_platform_id platform{};
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS)
        throw std::runtime_error{"no PoCL: install pocl-opencl-icd"};
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device_, nullptr), "clGetDeviceIDs");
    char text[256] = {};
    check(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text, text, nullptr), "clGetPlatformInfo");
    name_ = text;
    cl_uint units = 0;
    check(clGetDeviceInfo(device_, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr), "clGetDeviceInfo");
    if (units != threads)
        throw std::runtime_error{"asked PoCL for " + count + " threads, but it has " + std::to_string(units)};
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue_ = clCreateCommandQueueWithProperties(context_, device_, nullptr, &status);
    check(status, "clCreateCommandQueueWithProperties");
}

Pocl::~Pocl() {
    for (const auto& [name, kernel] : kernels_) clReleaseKernel(kernel);
    for (void* memory : memory_) clSVMFree(context_, memory);
    if (program_ != nullptr) clReleaseProgram(program_);
    if (queue_ != nullptr) clReleaseCommandQueue(queue_);
    if (context_ != nullptr) clReleaseContext(context_);
}

void Pocl::build(const std::string& source, const std::string& options) {
    const char* text = source.c_str();
    cl_int status = 0;
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device_, options.c_str(), nullptr, nullptr), "clBuildProgram");
}

void* Pocl::allocate(std::size_t bytes) {
    void* memory = clSVMAlloc(context_, CL_MEM_READ_WRITE, bytes, 0);
    if (memory == nullptr) throw std::bad_alloc{};
    memory_.push_back(memory);
    return memory;
}

cl_kernel Pocl::kernel(const std::string& name) {
    for (const auto& [known, kernel] : kernels_)
        if (known == name) return kernel;
    cl_int status = 0;
    const cl_kernel kernel = clCreateKernel(program_, name.c_str(), &status);
    check(status, "clCreateKernel");
    kernels_.emplace_back(name, kernel);
    return kernel;
}

void Pocl::run(cl_kernel kernel, const std::vector<std::size_t>& grid, const std::vector<std::size_t>& group) {
    check(clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(grid.size()), nullptr, grid.data(), group.data(),
                                 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(queue_), "clFinish");
}

}  // namespace speed
