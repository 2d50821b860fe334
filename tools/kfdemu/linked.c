/* Compiled into each program of this project that links the emulated device. Nothing else refers to a symbol of
 * libkfdemu: without this reference, the linker drops the library (--as-needed). */
const char* kfdemu_version(void);
__attribute__((used, visibility("hidden"))) const char* (*const kfdemu_linked)(void) = kfdemu_version;
