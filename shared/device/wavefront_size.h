/* HSADRV_WAVEFRONT_SIZE: lanes of a wave, 32 or 64, known when preprocessing. It is the compiler's -m[no-]wavefrontsize64;
 * define it where the compiler does not tell. For C++ and OpenCL C. */
#ifndef HSADRV_SHARED_DEVICE_WAVEFRONT_SIZE_H
#define HSADRV_SHARED_DEVICE_WAVEFRONT_SIZE_H

#if !defined(HSADRV_WAVEFRONT_SIZE)
#if defined(__AMDGCN_WAVEFRONT_SIZE__)
#define HSADRV_WAVEFRONT_SIZE __AMDGCN_WAVEFRONT_SIZE__
#elif defined(__AMDGCN_WAVEFRONT_SIZE)
#define HSADRV_WAVEFRONT_SIZE __AMDGCN_WAVEFRONT_SIZE
#elif defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
#define HSADRV_WAVEFRONT_SIZE 32
#else
#define HSADRV_WAVEFRONT_SIZE 64
#endif
#endif

#endif
