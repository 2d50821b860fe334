// Holds a stream for a test.
//
//     { test_support::Gate gate(stream);  …submit…  CHECK_FALSE(stream.query()); }   // opens, and waits for the stream
#pragma once

#include <chrono>
#include <exception>

#include "hsadrv/packet.hpp"
#include "hsadrv/signal.hpp"
#include "hsadrv/stream.hpp"

namespace test_support {

/// Holds the stream until opened: work submitted after it is in flight.
struct Gate {
    explicit Gate(hsadrv::Stream& at) : stream(at) {
        const hsa_signal_t signal = shut.native();
        stream.submit(hsadrv::barrier_and({&signal, 1}));
    }
    ~Gate() {
        open();
        try {
            stream.synchronize(std::chrono::seconds(60));  // the packet has read the signal
        } catch (const std::exception&) {                  // the stream has failed
        }
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    void open() const { shut.store(0); }

    hsadrv::Stream& stream;
    hsadrv::Signal shut = hsadrv::Signal::create(1);
};

}  // namespace test_support
