// Built-in stand-ins of cuRAND (host and device), cuBLAS, cuDNN, cuFFT, NCCL, NVTX and the driver
// API.
#pragma once
struct curandStateXORWOW { unsigned v[5]; };
typedef curandStateXORWOW curandState, curandState_t, curandStateXORWOW_t, curandStateMRG32k3a, curandStateMRG32k3a_t;
struct curandStatePhilox4_32_10 { uint4 ctr; };
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
template <class S> WW_D void curand_init(unsigned long long, unsigned long long, unsigned long long, S *);
template <class S> WW_D unsigned curand(S *);
template <class S> WW_D uint4 curand4(S *);
template <class S> WW_D float curand_uniform(S *);
template <class S> WW_D float4 curand_uniform4(S *);
template <class S> WW_D double curand_uniform_double(S *);
template <class S> WW_D float curand_normal(S *);
template <class S> WW_D float2 curand_normal2(S *);
template <class S> WW_D float4 curand_normal4(S *);
template <class S> WW_D double curand_normal_double(S *);
template <class S> WW_D unsigned curand_poisson(S *, double);
typedef struct WwCurand *curandGenerator_t;
typedef int cublasMath_t, cublasLtEpilogue_t, cublasFillMode_t, cublasPointerMode_t, curandRngType_t, ncclDataType_t, ncclRedOp_t;
typedef struct WwMatmulDesc *cublasLtMatmulDesc_t;
typedef struct WwMatrixLayout *cublasLtMatrixLayout_t;
typedef struct WwMatmulPreference *cublasLtMatmulPreference_t;
struct curandStateSobol32 {}; struct curandStateSobol64 {}; struct curandStateScrambledSobol32 {};
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
typedef int curandStatus_t, cublasStatus_t, cufftResult, cudnnStatus_t, ncclResult_t, cublasOperation_t, cublasComputeType_t, cudaDataType, cudaDataType_t;
typedef struct WwCublas *cublasHandle_t;
typedef struct WwCublasLt *cublasLtHandle_t;
typedef struct WwCudnn *cudnnHandle_t;
typedef struct WwNccl *ncclComm_t;
typedef int cufftHandle;
typedef float2 cufftComplex, cuComplex, cuFloatComplex;
typedef double2 cufftDoubleComplex, cuDoubleComplex;
WW_HD cuComplex make_cuComplex(float, float), cuCaddf(cuComplex, cuComplex), cuCmulf(cuComplex, cuComplex);
WW_HD float cuCrealf(cuComplex), cuCimagf(cuComplex), cuCabsf(cuComplex);
WW_HD cuDoubleComplex make_cuDoubleComplex(double, double), cuCadd(cuDoubleComplex, cuDoubleComplex), cuCmul(cuDoubleComplex, cuDoubleComplex);
enum WwLibraryConstants { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_STATUS_SUCCESS = 0, CUBLAS_STATUS_SUCCESS = 0, CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUDA_R_32F = 0, CUDA_R_16F = 2, CUDA_R_16BF = 14, CUDA_R_8I = 3, CUDA_R_64F = 1, CUDA_R_32I = 10,
  CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70, CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_TF32_TENSOR_OP_MATH = 3, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99, CUBLAS_OP_C = 2, CUBLAS_POINTER_MODE_DEVICE = 1, ncclSuccess = 0, ncclSum = 0, ncclFloat = 7 };
#define WW_CALL(name) template <class... A> int name(A &&...);
WW_CALL(curandCreateGenerator) WW_CALL(curandSetPseudoRandomGeneratorSeed) WW_CALL(curandGenerateUniform) WW_CALL(curandGenerateNormal) WW_CALL(curandDestroyGenerator)
WW_CALL(cublasCreate) WW_CALL(cublasDestroy) WW_CALL(cublasSetStream) WW_CALL(cublasSetMathMode) WW_CALL(cublasSgemm) WW_CALL(cublasDgemm) WW_CALL(cublasHgemm)
WW_CALL(cublasGemmEx) WW_CALL(cublasSgemv) WW_CALL(cublasSaxpy) WW_CALL(cublasSdot) WW_CALL(cublasSgemmStridedBatched) WW_CALL(cublasGemmStridedBatchedEx)
WW_CALL(cublasLtCreate) WW_CALL(cublasLtDestroy) WW_CALL(cublasLtMatmul) WW_CALL(cublasLtMatmulDescCreate) WW_CALL(cublasLtMatmulDescSetAttribute)
WW_CALL(cublasLtMatrixLayoutCreate) WW_CALL(cublasLtMatmulAlgoGetHeuristic) WW_CALL(cublasSetPointerMode) WW_CALL(cublasSetVector) WW_CALL(cublasGetVector) WW_CALL(curandSetStream)
WW_CALL(curandGenerateUniformDouble) WW_CALL(ncclAllReduce) WW_CALL(ncclCommDestroy) WW_CALL(ncclCommInitRank) WW_CALL(cufftExecR2C)
WW_CALL(cufftPlan1d) WW_CALL(cufftPlan2d) WW_CALL(cufftExecC2C) WW_CALL(cufftDestroy)
#undef WW_CALL
