/* What is known of waves when preprocessing, for C++ and OpenCL C. HSADRV_WAVEFRONT_SIZE: lanes of a wave, 32 or 64. It
 * is the compiler's -m[no-]wavefrontsize64; define it where the compiler does not tell. */
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

/* Whether DS_PERMUTE_B32 and DS_BPERMUTE_B32 reach only the half of 32 lanes that a lane is in, as in waves of 64 of
 * GFX10 and GFX11 (RDNA to RDNA3 ISA, "Data Share Instructions"; LLVM, GCNSubtarget::supportsWaveWideBPermute). Of
 * GFX12 the second is known to reach all. Defined as 1, other targets do without what those lack, too. */
#if !defined(HSADRV_WAVE_OF_HALVES)
#if HSADRV_WAVEFRONT_SIZE == 64 && (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__))
#define HSADRV_WAVE_OF_HALVES 1
#else
#define HSADRV_WAVE_OF_HALVES 0
#endif
#endif

/* Whether data parallel primitives reach from one row of 16 lanes to the next: row_bcast, wave_shr. */
#if (defined(__GFX8__) || defined(__GFX9__)) && !HSADRV_WAVE_OF_HALVES
#define HSADRV_DPP_ACROSS_ROWS 1
#else
#define HSADRV_DPP_ACROSS_ROWS 0
#endif

#endif
