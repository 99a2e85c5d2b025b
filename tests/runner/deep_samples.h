// Texts as compute-sanitizer 2025 and ncu 2025 print them over `warpwright-runner launch`, in the formats
// that their manuals show.
#pragma once

namespace warpwright::runner::deep::samples {

inline constexpr const char *kCleanMemcheck = R"(========= COMPUTE-SANITIZER
launch: at n=7
launch: buffer x 0x7f2a00000000 28
launch: buffer y 0x7f2a00010200 28
========= ERROR SUMMARY: 0 errors
)";

inline constexpr const char *kOutOfBounds = R"(========= COMPUTE-SANITIZER
launch: at n=7
launch: buffer x 0x7f2a00000000 28
launch: buffer y 0x7f2a00010200 28
launch: at n=1025
launch: buffer x 0x7f2a00200000 4100
launch: buffer y 0x7f2a00212200 4100
========= Invalid __global__ read of size 4 bytes
=========     at square(const float *, float *, int)+0x90 in square.cu:12
=========     by thread (0,0,0) in block (4,0,0)
=========     Access to 0x7f2a00201004 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2a00200000 of size 4,100 bytes
=========
========= Invalid __global__ read of size 4 bytes
=========     at square(const float *, float *, int)+0x90 in square.cu:12
=========     by thread (1,0,0) in block (4,0,0)
=========     Access to 0x7f2a00201008 is out of bounds
=========     and is 5 bytes after the nearest allocation at 0x7f2a00200000 of size 4,100 bytes
=========
launch: failed: running the kernels: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure
========= Target application returned an error
========= ERROR SUMMARY: 2 errors
)";

/// As releases up to 11.8 word it, with a backtrace and no line information.
inline constexpr const char *kOldMemcheck = R"(========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 2 bytes
=========     at 0xd80 in /src/user.cu:162:void store<__half>(T1 *, int)
=========     by thread (63,0,0) in block (506,0,0)
=========     Address 0x7fcd07a0312d is misaligned
=========     Saved host backtrace up to driver entry point at kernel launch time
=========     Host Frame: [0x2ea231]
=========                in /usr/lib/x86_64-linux-gnu/libcuda.so.1
=========
========= ERROR SUMMARY: 1 error
)";

inline constexpr const char *kRace = R"(========= COMPUTE-SANITIZER
launch: at n=1025
========= Warning: Race reported between Read access at square(const float *, float *, int)+0x170 in kernel.cu:6
=========     and Write access at square(const float *, float *, int)+0x148 in kernel.cu:5 [4 hazards]
=========
========= Error: Race reported between Write access at square(const float *, float *, int)+0xf0 in kernel.cu:5
=========     and Read access at square(const float *, float *, int)+0xd0 in kernel.cu:6 [508 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
)";

inline constexpr const char *kCleanRacecheck =
    "========= COMPUTE-SANITIZER\n"
    "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n";

inline constexpr const char *kUninitialised = R"(========= COMPUTE-SANITIZER
launch: at n=7
========= Uninitialized __global__ memory read of size 4 bytes
=========     at square(const float *, float *, int)+0x70 in square.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000fc
=========
========= ERROR SUMMARY: 1 error
)";

inline constexpr const char *kDivergentBarrier = R"(========= COMPUTE-SANITIZER
========= Barrier error detected. Divergent thread(s) in block.
=========     at square(const float *, float *, int)+0xa0 in square.cu:61
=========     by thread (19,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 32 errors
)";

inline constexpr const char *kNoCuda = R"(========= COMPUTE-SANITIZER
launch: failed: no NVIDIA driver: libcuda.so.1 cannot be opened. Install the driver
========= Error: Target application terminated before first instrumented API call
)";

/// Two launches; the second has no tensor metric.
inline constexpr const char *kProfile =
    R"csv(launch: at n=16777216
==PROF== Connected to process 4711 (/opt/warpwright/bin/warpwright-runner)
==PROF== Profiling "partial_sums" - 0: 0%....50%....100% - 9 passes
==PROF== Profiling "last_sum" - 1: 0%....50%....100% - 9 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio","l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum","sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active","sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active","sm__throughput.avg.pct_of_peak_sustained_elapsed","sm__warps_active.avg.pct_of_peak_sustained_active","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"
"","","","","","","","","","","","byte","%","%","ns","sector/request","","sector","%","%","%","%","inst","inst","inst","inst"
"0","4711","warpwright-runner","gpu-1","partial_sums(const float *, float *, int)","1","7","(256, 1, 1)","(8,192, 1, 1)","0","9.0","67,108,864","90.25","91.5","30,000","4","1,024","0","0","0.5","22.75","88.5","1.5","12.25","0.75","2.5"
"1","4711","warpwright-runner","gpu-1","last_sum(const float *, float *, int)","1","7","(256, 1, 1)","(1, 1, 1)","0","9.0","32,768","1.25","1.5","10,000","8","0","16","0","n/a","0.75","12.5","0","40.25","0.75","6.5"
)csv";

inline constexpr const char *kNoPermission =
    "==PROF== Connected to process 4711\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
    "Performance Counters on the target device 0.\n"
    "==PROF== Disconnected from process 4711\n==WARNING== No kernels were profiled.\n";

inline constexpr const char *kUnknownMetric =
    "==ERROR== Failed to find metric "
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active\n";

} // namespace warpwright::runner::deep::samples
