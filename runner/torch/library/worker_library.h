/* The C interface of libwarpwright-worker.so: a worker inside a Python interpreter (or any program that holds torch).
 *
 * The program is started in its enclosure, imports torch, and runs the worker on its main thread; the worker then asks it for what a torch host
 * does (runner/device/torch_host.h, runner/cuda/cuda_torch.h) by method names and JSON texts. Calls that lie within a measured time go
 * through functions of their own. All texts are UTF-8. Thread: the main thread; answers are given from within the callbacks.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpwright_callbacks {
  /* Answers by warpwright_answer(), with JSON; 0: done. Else the answer is {"kind", "message"}: runner/device/device.h's faults. */
  int32_t (*request)(const char *method, const char *parameters);
} warpwright_callbacks;

/* Takes over stdin and stdout. The process was started in its enclosure (runner/torch/python_programs.h); the rest of the filter of system
 * calls is in force when the device is up.
 * @return 0; else the reason is on stderr */
int32_t warpwright_enter(void);
/* Puts the rest of the filter in force, in a process that runs another system's code: when its device is up and before any of that code is
 * there. */
int32_t warpwright_seal_candidate(void);
/* The timer of a process that runs another system's module: the worker's device, without a worker. Requests are JSON, {"method": ...}:
 * "open" {device}; "record" {call, a handle of the callbacks' torch host} -> {recording, why}; "time" {recording, as_called} ->
 * {ns, throttled}; "forget" {recording}.
 * @return JSON, valid until the next call: {"result": ...} or {"error": {"kind", "message"}} */
const char *warpwright_timer(const char *request, const warpwright_callbacks *callbacks);
/* Serves until stdin ends. @param device "cuda:N" @return an exit code */
int32_t warpwright_run(const char *device, const warpwright_callbacks *callbacks);
/* The answer of the request that is being served; copied. */
void warpwright_answer(const char *text, int64_t size);
/* Where several workers share the GPU: gives this one's turn to another, with nothing of this process on the GPU; and waits until it
 * has the turn again. A job begins and ends with its turn. Nothing happens where the GPU is not shared. */
void warpwright_give_turn(void);
void warpwright_take_turn(void);
/* The executor: starts a group of a candidate's launches and fills on the worker's stream.
 * @param addresses of the frame's arguments, outputs and temporaries, then of the results of torch calls, in order
 * @return a CUresult, 0 is success */
int32_t warpwright_start_group(int64_t executor, int64_t group, const uint64_t *addresses);

#ifdef __cplusplus
}
#endif
