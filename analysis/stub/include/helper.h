// Built-in declarations of the CUDA samples' helper_cuda.h, helper_math.h and helper_timer.h.
#pragma once
#define checkCudaErrors(...) ((void)(__VA_ARGS__))
#define getLastCudaError(...) ((void)0)
int findCudaDevice(int, const char **), gpuGetMaxGflopsDeviceId(), _ConvertSMVer2Cores(int, int);
bool checkCmdLineFlag(int, const char **, const char *);
int getCmdLineArgumentInt(int, const char **, const char *);
struct StopWatchInterface;
bool sdkCreateTimer(StopWatchInterface **), sdkStartTimer(StopWatchInterface **), sdkStopTimer(StopWatchInterface **);
bool sdkDeleteTimer(StopWatchInterface **), sdkResetTimer(StopWatchInterface **);
float sdkGetTimerValue(StopWatchInterface **);
#define EXIT_WAIVED 2
bool getCmdLineArgumentString(int, const char **, const char *, char **), sdkCompareL2fe(const float *, const float *, unsigned, float);
float getCmdLineArgumentFloat(int, const char **, const char *);
char *sdkFindFilePath(const char *, const char *);
template <class... A> bool sdkWriteFile(A &&...);
template <class... A> bool sdkLoadPGM(A &&...);
template <class T, class... A> bool sdkSavePGM(A &&...);
template <class... A> bool compareData(A &&...);
