/* Properties of waves known to the preprocessor, for C++ and OpenCL C. HSADRV_WAVEFRONT_SIZE: lanes per wave, 32 or 64.
 * Follows the compiler's -m[no-]wavefrontsize64. */
#ifndef HSADRV_SHARED_DEVICE_WAVEFRONT_SIZE_H
#define HSADRV_SHARED_DEVICE_WAVEFRONT_SIZE_H

#if !defined(HSADRV_WAVEFRONT_SIZE)
#if defined(__AMDGCN_WAVEFRONT_SIZE__)
#define HSADRV_WAVEFRONT_SIZE __AMDGCN_WAVEFRONT_SIZE__
#elif defined(__AMDGCN_WAVEFRONT_SIZE)
#define HSADRV_WAVEFRONT_SIZE __AMDGCN_WAVEFRONT_SIZE
#elif __has_builtin(__builtin_amdgcn_ballot_w32) /* clang 22 reports no size, but what waves of this size have */
#define HSADRV_WAVEFRONT_SIZE 32
#else
#define HSADRV_WAVEFRONT_SIZE 64
#endif
#endif

/* 1 if DS_PERMUTE_B32 and DS_BPERMUTE_B32 only reach a lane's own half of 32 lanes, as in waves of 64 on GFX10 and
 * GFX11 (RDNA to RDNA3 ISA, "Data Share Instructions"; LLVM, GCNSubtarget::supportsWaveWideBPermute). On GFX12 the
 * latter is known to reach all lanes. Defining it as 1 makes other targets avoid the missing instructions too. */
#if !defined(HSADRV_WAVE_OF_HALVES)
#if HSADRV_WAVEFRONT_SIZE == 64 && (defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__))
#define HSADRV_WAVE_OF_HALVES 1
#else
#define HSADRV_WAVE_OF_HALVES 0
#endif
#endif

/* 1 if DPP reaches from one row of 16 lanes to the next: row_bcast, wave_shr. */
#if (defined(__GFX8__) || defined(__GFX9__)) && !HSADRV_WAVE_OF_HALVES
#define HSADRV_DPP_ACROSS_ROWS 1
#else
#define HSADRV_DPP_ACROSS_ROWS 0
#endif

#endif
