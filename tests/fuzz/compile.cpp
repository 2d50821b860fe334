// Sources of every language, the first byte says which and how: each is compiled or refused with the compiler's words,
// also where the compiler itself crashes. What was compiled can be read, and is in the cache.
#include "hsadrv/compile.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "hsadrv/code_object.hpp"
#include "hsadrv/compile/cache_memory.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using hsadrv::Compiled;
using hsadrv::Language;

constexpr std::chrono::seconds patience{5};

/// A folder of its own for the cache, until exit.
struct Cache {
    Cache() {
        char name[] = "/tmp/hsadrv-fuzz-XXXXXX";
        if (!mkdtemp(name)) std::perror("mkdtemp"), std::abort();
        folder = name;
        setenv("HSADRV_CACHE", name, 1);
        setenv("HSADRV_CACHE_SIZE", "1M", 1);
    }
    ~Cache() {
        std::filesystem::remove_all(folder);
        std::printf("%zu sources compiled, %zu were refused, the compiler did not come back from %zu\n", compiled,
                    refused, endless);
    }
    std::filesystem::path folder;
    std::size_t compiled = 0, refused = 0, endless = 0;
};

void require_cached(const Compiled& made, const std::string& source, const hsadrv::CompileOptions& options) {
    const Compiled again = hsadrv::compile(source, options, patience);
    if (again.from != Compiled::From::memory) fuzz::broken("what was compiled is not in memory");
    hsadrv::detail::compile_memory().clear();
    const Compiled stored = hsadrv::compile(source, options, patience);
    if (stored.from != Compiled::From::disk) fuzz::broken("what was compiled is not on disk");
    if (again.code_object != made.code_object || stored.code_object != made.code_object)
        fuzz::broken("the cache has another code object");
}

fuzz::Bytes seed(Language language, const std::string& text) {
    const std::string all = std::string(1, static_cast<char>(language)) + text;
    return {all.begin(), all.end()};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Cache cache;
    fuzz::Input in{data, size};
    const unsigned how = in.take<std::uint8_t>();
    hsadrv::CompileOptions options;
    options.language = static_cast<Language>(how % 4);
    options.level = (how & 4) != 0 ? "2" : "0";
    options.line_numbers = (how & 8) != 0;
    options.target = hsadrv::TargetId::parse("gfx90a");
    options.clang = KERNEL_CLANG;
    std::string source(in.left(), '\0');
    in.take_bytes(source.data(), source.size());
    try {
        const Compiled made = hsadrv::compile(source, options, patience);
        ++cache.compiled;
        hsadrv::read_code_object(made.code_object);
        require_cached(made, source, options);
    } catch (const hsadrv::CompileError& error) {
        ++cache.refused;
        if (std::string_view{error.what()}.empty()) fuzz::broken("refused without a reason");
    } catch (const hsadrv::InvalidCodeObject&) {  // such as assembly without metadata
        ++cache.refused;
    } catch (const hsadrv::Timeout&) {  // as clang 19 does for some metadata that is no YAML
        ++cache.endless;
    }
    return 0;
}

std::vector<fuzz::Bytes> fuzz::seeds() {
    return {
        seed(Language::cpp,
             "[[clang::amdgpu_kernel]] void fill(__attribute__((address_space(1))) int* to, int n) {\n"
             "    for (int i = 0; i < n; ++i) to[i] = i * n;\n}\n"),
        seed(Language::cpp,
             "template <int N> struct Row { float at[N]; };\n"
             "#define EACH(i, n) for (int i = 0; i < (n); ++i)\n"
             "extern \"C\" [[clang::amdgpu_kernel]] void sum(Row<7>* row, float* to) {\n"
             "    EACH(i, 7) *to += row->at[i];\n}\n"),
        seed(Language::opencl,
             "kernel void add(global const float* a, global float* b, local uint* c) {\n"
             "    const size_t i = __builtin_amdgcn_workitem_id_x();\n"
             "    c[i] = as_uint(a[i]);\n    b[i] += __builtin_sqrtf(a[i]);\n}\n"),
        seed(Language::llvm_ir,
             "target triple = \"amdgcn-amd-amdhsa\"\n"
             "define amdgpu_kernel void @store(ptr addrspace(1) %to, i32 %value) {\n"
             "  %wide = zext i32 %value to i64\n  %more = mul i64 %wide, 3\n"
             "  store i64 %more, ptr addrspace(1) %to, align 8\n  ret void\n}\n"),
        seed(Language::assembly,
             ".text\n.globl halt\n.p2align 8\n.type halt,@function\nhalt:\n"
             "  s_load_dwordx2 s[0:1], s[4:5], 0x0\n  s_waitcnt lgkmcnt(0)\n"
             "  v_mov_b32 v0, 0\n  global_store_dword v0, v0, s[0:1]\n  s_endpgm\n"
             ".rodata\n.p2align 6\n.amdhsa_kernel halt\n  .amdhsa_next_free_vgpr 4\n  .amdhsa_accum_offset 4\n"
             "  .amdhsa_next_free_sgpr 8\n.end_amdhsa_kernel\n"
             ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n  - .name: halt\n"
             "    .symbol: halt.kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n"
             "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n"
             "    .wavefront_size: 64\n    .sgpr_count: 8\n    .vgpr_count: 4\n"
             "    .max_flat_workgroup_size: 64\n.end_amdgpu_metadata\n"),
    };
}
