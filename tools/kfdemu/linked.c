/* Compiled into each program of this project that brings the emulated device along: the reference makes the linker keep
 * libkfdemu, of which nothing else is called by name. */
const char* kfdemu_version(void);
__attribute__((used, visibility("hidden"))) const char* (*const kfdemu_linked)(void) = kfdemu_version;
