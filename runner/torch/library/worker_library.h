/* C interface of libwarpwright-worker.so: a worker inside a Python interpreter (or another program
 * that contains torch).
 *
 * The program is started in its enclosure, imports torch, and runs the worker on its main thread.
 * The worker then requests the operations of a torch host (runner/device/torch_host.h,
 * runner/cuda/cuda_torch.h) by method names and JSON texts. Calls within a measured interval use
 * separate functions. All texts are UTF-8. Thread: the main thread; the program answers from within
 * the callbacks.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct warpwright_callbacks {
  /* Executes a request and passes the JSON answer to warpwright_answer().
   * @return 0 on success; else the answer is a fault of runner/device/device.h: {"kind", "message"} */
  int32_t (*request)(const char *method, const char *parameters);
} warpwright_callbacks;

/* Takes over stdin and stdout. The process was started in its enclosure
 * (runner/torch/python_programs.h). The rest of the system-call filter takes effect when the device
 * is up.
 * @return 0; else the reason is on stderr */
int32_t warpwright_enter(void);
/* Puts the rest of the system-call filter into effect in a process that runs another system's code.
 * Call when the device is up and before any of that code is loaded.
 * @return 0; else the reason is on stderr */
int32_t warpwright_seal_candidate(void);
/* The timer of a process that runs another system's module: the worker's device without a worker.
 * Requests are JSON, {"method": ...}: "open" {device}; "record" {call, a handle of the callbacks'
 * torch host} -> {recording, why}; "time" {recording, as_called} -> {ns, throttled}; "forget"
 * {recording}.
 * @return JSON, valid until the next call: {"result": ...} or {"error": {"kind", "message"}} */
const char *warpwright_timer(const char *request, const warpwright_callbacks *callbacks);
/* Runs the worker until stdin ends. @param device "cuda:N" @return an exit code */
int32_t warpwright_run(const char *device, const warpwright_callbacks *callbacks);
/* Sets the answer to the current request; the text is copied. */
void warpwright_answer(const char *text, int64_t size);
/* Functions for turns on a GPU that several workers share. warpwright_give_turn() gives this
 * worker's turn to another worker; nothing of this process may run on the GPU then.
 * warpwright_take_turn() waits until this worker has the turn again. A job begins and ends with its
 * turn. If the GPU is not shared, both functions do nothing. */
void warpwright_give_turn(void);
void warpwright_take_turn(void);
/* Starts a group of a candidate's launches and fills on the worker's stream.
 * @param executor handle of a CallExecutor
 * @param addresses of the frame's arguments, outputs and temporaries, then of the results of torch
 * calls, in order
 * @return a CUresult, 0 is success */
int32_t warpwright_start_group(int64_t executor, int64_t group, const uint64_t *addresses);

#ifdef __cplusplus
}
#endif
