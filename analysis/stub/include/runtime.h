// Built-in CUDA declarations, part 2: the runtime API and the launch hooks that Clang looks for.
// Types that users may compare or pass on are declared as in the toolkit.
#pragma once
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
typedef int CUdevice, CUresult;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;
struct CUtensorMap { unsigned long long opaque[16]; };
enum cudaError {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNoDevice = 100,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
  cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10,
  cudaDevAttrClockRate = 13, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrL2CacheSize = 38
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1, cudaMemAdviseSetPreferredLocation = 3, cudaMemAdviseSetAccessedBy = 5
};
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaMemAttachGlobal 1
#define cudaHostAllocDefault 0
#define cudaHostAllocMapped 2
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaHostAllocPortable 1
#define cudaHostAllocWriteCombined 4
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4
#define cudaDeviceMapHost 8
#define cudaDeviceBlockingSync 4
#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayCubemap 4
#define cudaInvalidDeviceId (-2)
#define cudaCpuDeviceId (-1)
#define cudaDeviceScheduleSpin 1
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited, cudaComputeModeExclusiveProcess };
struct cudaDeviceProp {
  char name[256];
  int canMapHostMemory, pageableMemoryAccess, concurrentManagedAccess, computeMode, kernelExecTimeoutEnabled, ECCEnabled;
  int computePreemptionSupported, hostNativeAtomicSupported, asyncEngineCount, deviceOverlap, isMultiGpuBoard, pciDomainID;
  int accessPolicyMaxWindowSize, tccDriver, cooperativeMultiDeviceLaunch, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
  size_t memPitch, textureAlignment, surfaceAlignment;
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin, totalConstMem;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
  int multiProcessorCount, memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor;
  int regsPerMultiprocessor, managedMemory, concurrentKernels, cooperativeLaunch, integrated, unifiedAddressing;
  int pciBusID, pciDeviceID, persistingL2CacheMaxSize, maxBlocksPerMultiProcessor;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};
struct cudaPointerAttributes { int type, device; void *devicePointer, *hostPointer; };
struct cudaMemLocation { int type, id; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { cudaMipmappedArray_t mipmap; } mipmap;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode; int sRGB;
  float borderColor[4]; int normalizedCoords; unsigned maxAnisotropy; cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};
struct cudaMemcpy3DParms { cudaArray_t srcArray, dstArray; cudaPos srcPos, dstPos; cudaPitchedPtr srcPtr, dstPtr; cudaExtent extent; cudaMemcpyKind kind; };
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
struct cudaAccessPolicyWindow { void *base_ptr; size_t num_bytes; float hitRatio; cudaAccessProperty hitProp, missProp; };
union cudaStreamAttrValue { cudaAccessPolicyWindow accessPolicyWindow; int priority; };
enum cudaStreamAttrID { cudaStreamAttributeAccessPolicyWindow = 1, cudaStreamAttributePriority = 8, cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4, cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute { int id; union { int cooperative; struct { unsigned x, y, z; } clusterDim; } val; };
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute *attrs; unsigned numAttrs;
};

extern "C" {
// A launch becomes a call of one of these two, depending on the toolkit version that Clang assumes.
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);

cudaError_t cudaGetDevice(int *), cudaSetDevice(int), cudaGetDeviceCount(int *);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int), cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaDeviceReset(), cudaDeviceSynchronize(), cudaThreadSynchronize(), cudaDeviceSetLimit(cudaLimit, size_t);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache), cudaDeviceSetSharedMemConfig(cudaSharedMemConfig);
cudaError_t cudaDeviceCanAccessPeer(int *, int, int), cudaDeviceEnablePeerAccess(int, unsigned);
cudaError_t cudaSetDeviceFlags(unsigned), cudaDeviceGetStreamPriorityRange(int *, int *);
cudaError_t cudaRuntimeGetVersion(int *), cudaDriverGetVersion(int *), cudaMemGetInfo(size_t *, size_t *);
WW_HD cudaError_t cudaGetLastError();
WW_HD cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t), *cudaGetErrorName(cudaError_t);
cudaError_t cudaFree(void *), cudaFreeHost(void *), cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpyPeer(void *, int, const void *, int, size_t);
cudaError_t cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpy2DAsync(void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void *, int, size_t), cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemset2D(void *, size_t, int, size_t, size_t);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0);
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *, const void *);
cudaError_t cudaStreamCreate(cudaStream_t *), cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *, unsigned, int), cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t), cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode), cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t), cudaGraphExecDestroy(cudaGraphExec_t), cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned), cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0), cudaEventSynchronize(cudaEvent_t), cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaProfilerStart(), cudaProfilerStop();
cudaError_t cudaFreeArray(cudaArray_t), cudaMallocArray(cudaArray_t *, const cudaChannelFormatDesc *, size_t, size_t = 0, unsigned = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t *, const cudaChannelFormatDesc *, cudaExtent, unsigned = 0), cudaMalloc3D(cudaPitchedPtr *, cudaExtent);
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void *, size_t, cudaMemcpyKind), cudaMemcpy3D(const cudaMemcpy3DParms *);
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpy2DFromArray(void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *, const cudaResourceDesc *, const cudaTextureDesc *, const void *);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t), cudaDestroySurfaceObject(cudaSurfaceObject_t);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *, const cudaResourceDesc *), cudaDeviceDisablePeerAccess(int);
cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *), cudaCtxResetPersistingL2Cache();
cudaError_t cudaStreamAddCallback(cudaStream_t, void (*)(cudaStream_t, cudaError_t, void *), void *, unsigned), cudaLaunchHostFunc(cudaStream_t, void (*)(void *), void *);
cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, cudaChannelFormatKind);
}
cudaError_t cudaEventCreate(cudaEvent_t *, unsigned = 0);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long = 0);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, void *, char *, size_t);
template <class T> WW_HD cudaError_t cudaMalloc(T **, size_t);
template <class T> cudaError_t cudaMallocAsync(T **, size_t, cudaStream_t);
template <class T> cudaError_t cudaMallocManaged(T **, size_t, unsigned = cudaMemAttachGlobal);
template <class T> cudaError_t cudaMallocHost(T **, size_t, unsigned = 0);
template <class T> cudaError_t cudaHostAlloc(T **, size_t, unsigned);
template <class T> cudaError_t cudaMallocPitch(T **, size_t *, size_t, size_t);
template <class T> cudaError_t cudaHostGetDevicePointer(T **, void *, unsigned);
template <class T> cudaError_t cudaMemcpyToSymbol(const T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyToSymbolAsync(const T &, const void *, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
template <class T> cudaError_t cudaMemcpyFromSymbol(void *, const T &, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class T> cudaError_t cudaGetSymbolAddress(void **, const T &);
template <class T> cudaError_t cudaGetSymbolSize(size_t *, const T &);
template <class T> cudaError_t cudaFuncSetAttribute(T *, cudaFuncAttribute, int);
template <class T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, T *);
template <class T> cudaError_t cudaFuncSetCacheConfig(T *, cudaFuncCache);
template <class T> cudaError_t cudaLaunchKernel(T *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
template <class T> cudaError_t cudaLaunchCooperativeKernel(T *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
template <class... P, class... A> cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *, void (*)(P...), A &&...);
template <class T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, T, int, size_t);
template <class T> cudaError_t cudaOccupancyMaxPotentialBlockSize(int *, int *, T, size_t = 0, int = 0);
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
WW_HD cudaExtent make_cudaExtent(size_t, size_t, size_t);
WW_HD cudaPos make_cudaPos(size_t, size_t, size_t);
WW_HD cudaPitchedPtr make_cudaPitchedPtr(void *, size_t, size_t, size_t);
