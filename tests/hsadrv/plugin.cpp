// A shared object that uses the library and is unloaded again; see process.cpp.
#include "hsadrv/hsadrv.hpp"

extern "C" int hsadrv_test_plugin() {
    try {
        const hsadrv::Driver driver;
        const hsadrv::Queue queue = hsadrv::Queue::create(driver.gpus().front());
        const hsadrv::Signal done = hsadrv::Signal::create(1);
        int called = 0;
        driver.callbacks().on_signal(done, hsadrv::Condition::less, 1, [&] { called = 42; });
        queue.ref().submit(hsadrv::barrier_and({}, done.native()));
        driver.callbacks().drain(std::chrono::seconds(60));
        return called;
    } catch (...) {
        return -1;
    }
}
