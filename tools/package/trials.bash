# What tools/package/package tries in a bare root with the packages in /packages and the tree in /tree. Sourced, after
# tools/kfdemu/chroots.bash. Each trial installs what it is about and relies on apt for the rest: a missing dependency fails here.

trials=(rocminfo commands python program cmake wheel meson_install)

# shell_in ROOT SCRIPT: fails with the script's first failing command.
shell_in() { inside "$1" bash -euxo pipefail -c "cd /root
    install() { apt-get install -y -qq --no-install-recommends \"\$@\"; }
    $2"; }

try_rocminfo() {
    shell_in "$1" '
        install /packages/kfdemu_*.deb rocminfo
        kfdemu run -- rocminfo >rocminfo.txt
        cat rocminfo.txt
        grep "Name: *gfx90a" rocminfo.txt'
}

try_commands() {
    shell_in "$1" '
        install /packages/hsadrv_*.deb /packages/libhsadrv0_*.deb
        test -h /usr/lib/x86_64-linux-gnu/libhsadrv.so.0
        test -h /usr/lib/x86_64-linux-gnu/libdevicearray.so.0
        kfdemu run -- hsadrv info
        kfdemu run -- hsadrv bench copy --help >/dev/null
        hsadrv-cc --help >/dev/null
        for page in kfdemu hsadrv hsadrv-info hsadrv-cc; do test -f "/usr/share/man/man1/$page.1.gz"; done'
}

try_python() {
    shell_in "$1" '
        install /packages/python3-hsadrv_*.deb
        kfdemu run -- python3 -c "
import numpy, hsadrv
d_ary = hsadrv.to_device(numpy.arange(1000.))
host = d_ary.reshape(20, 50)[2:4, ::10].copy_to_host()
print(hsadrv.__file__, host)
assert host.tolist() == [[100, 110, 120, 130, 140], [150, 160, 170, 180, 190]]"'
}

# The first example, as a user compiles it: once by pkg-config, kernel and all; and a Python program that compiles kernels.
try_program() {
    shell_in "$1" '
        install /packages/libhsadrv-dev_*.deb g++ pkg-config clang-19 lld-19
        c++ -std=c++20 /tree/examples/vector_add.cpp -o vector_add $(pkg-config --cflags --libs devicearray-0)
        hsadrv-cc --target gfx90a /tree/examples/kernels/vector_add.cpp -o vector_add.hsaco
        kfdemu run -- ./vector_add
        kfdemu run -- python3 /tree/examples/array_language.py'
}

try_cmake() {
    shell_in "$1" '
        install cmake make
        mkdir -p cmake && cd cmake
        cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.20)
project(program C CXX)
find_package(hsadrv CONFIG REQUIRED)
hsadrv_add_kernels(vector_add SOURCES /tree/examples/kernels/vector_add.cpp GPUS gfx90a)
add_executable(program /tree/examples/vector_add_c.c)
target_link_libraries(program hsadrv::hsadrv hsadrv::kfdemu)
END
        cmake -B build
        cmake --build build
        cd build
        KFDEMU=on ./program'
}

# The wheel in a virtual environment, without an index: the guide's programs run with it.
try_wheel() {
    # shellcheck disable=SC2016
    shell_in "$1" '
        . /tree/tools/setup.bash
        need_packages "${build_packages[@]}"
        install python3-mesonpy python3-numpy python3-pip python3-venv patchelf
        cp -r /tree source
        python3 -m venv --system-site-packages venv
        venv/bin/python -m pip install --no-build-isolation --no-index ./source
        cd source/tests/python
        kfdemu run -- /root/venv/bin/python -c "
import hsadrv
print(hsadrv.__version__, hsadrv.__file__)
assert hsadrv.__file__.startswith(\"/root/venv\")"
        kfdemu run -- /root/venv/bin/python page.py ../../docs/guide/python.md'
}

# `meson install` as in a container: without dpkg-dev, and into /usr/local, beside nothing but the emulated GPU.
try_meson_install() {
    # shellcheck disable=SC2016
    shell_in "$1" '
        apt-get remove -y -qq hsadrv libhsadrv0 libhsadrv-dev python3-hsadrv
        if command -v dpkg-architecture; then exit 1; fi
        . /tree/tools/setup.bash
        need_packages "${build_packages[@]}"
        if command -v dpkg-architecture; then exit 1; fi
        meson setup /build /tree -Dtools=false -Dkfdemu=false -Dembedded_targets=gfx90a -Ddebug=false -Doptimization=0 -Dunity=on -Dunity_size=16
        meson install -C /build | tee install.txt
        grep "the shell, the loader, pkg-config and python3 find it" install.txt
        c++ -std=c++20 /tree/examples/info.cpp -o info $(pkg-config --cflags --libs devicearray-0)
        ldd info | grep /usr/local/lib/x86_64-linux-gnu/libhsadrv.so.0
        kfdemu run -- ./info
        kfdemu run -- python3 -c "import hsadrv; print(hsadrv.__file__); assert hsadrv.__file__.startswith(\"/usr/local/lib/\")"'
}
