"""Episodes over a WebSocket that survive lost connections, and the service's requests over
HTTP."""

import json
import random
import ssl
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field

from .websocket import ConnectionLost, WebSocket


class EnvironmentFailure(RuntimeError):
    """The service refused a message. `code` is OpenEnv's: VALIDATION_ERROR, EXECUTION_ERROR, CAPACITY_REACHED, ..."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


@dataclass
class Turn:
    """Result of reset() and step(). `reward` is None where nothing was measured: it says nothing."""

    observation: dict = field(default_factory=dict)
    reward: float = None
    done: bool = False

    @property
    def prompt(self):
        """The conversation that the next answer continues: [{"role", "content"}, ...]."""
        return self.observation["prompt"]


class Environment:
    """One session. Use one for each thread.

    A lost connection is opened again, the episode goes on, and a step that was sent is not measured twice.
    """

    def __init__(self, url="http://127.0.0.1:8000", token=None, ca=None, timeout_s=600.0, patience_s=120.0):
        """`ca` is a PEM file of the server's authority. `patience_s` limits how long a connection or a place is sought."""
        self._url, self._timeout_s, self._patience_s = url.rstrip("/"), timeout_s, patience_s
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._context = ssl.create_default_context(cafile=ca) if ca else None
        self._socket, self._episode = None, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def reset(self, task_id=None, seed=None, turns=None, answers="text", episode_id=None):
        """Begins an episode. Without `task_id` the seed draws a task. Raises EnvironmentFailure."""
        given = {"task_id": task_id, "seed": seed, "turns": turns, "answers": answers}
        data = {name: value for name, value in given.items() if value is not None}
        self._episode = None
        # A reset that is sent again begins another episode, because the first one may have begun.
        turn = self._ask("reset", lambda: {"episode_id": episode_id or uuid.uuid4().hex, **data})
        self._episode = turn.observation["episode_id"]
        return turn

    def step(self, action):
        """Judges one answer: {"kind": "text" | "plan" | "moves" | "module", ...}. Raises EnvironmentFailure."""
        metadata = {"request_id": uuid.uuid4().hex, **action.get("metadata", {})}
        return self._ask("step", lambda: {**action, "metadata": metadata})

    def step_text(self, text, usage=None):
        """Judges a language model's answer as it is."""
        return self.step({"kind": "text", "text": text, "metadata": {"usage": usage} if usage else {}})

    def step_plan(self, plan):
        return self.step({"kind": "plan", "plan": plan})

    def step_moves(self, moves):
        return self.step({"kind": "moves", "moves": list(moves)})

    def state(self):
        return self._message("state", dict)["data"]

    def tasks(self, split=None):
        """[{"task_id", "family", "language", "kernel", "split"}, ...]"""
        return self.post("/warpwright/tasks", {"split": split} if split else {})["tasks"]

    def get(self, path):
        return self._request(urllib.request.Request(self._url + path, headers=self._headers))

    def post(self, path, body):
        headers = {"Content-Type": "application/json", **self._headers}
        return self._request(urllib.request.Request(self._url + path, json.dumps(body).encode(), headers))

    def verify(self, task_id, text):
        """The verdict on one answer without an episode, in NeMo Gym's form."""
        message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        return self.post("/verify", {"task_id": task_id, "responses_create_params": {"input": []},
                                     "response": {"output": [message]}})

    def close(self):
        if self._socket:
            try:
                self._socket.send(json.dumps({"type": "close"}))
            except ConnectionLost:
                pass
            self._socket.close()
        self._socket = None

    def drop(self):
        """Loses the connection as a broken network would; the next call goes on. For tests."""
        if self._socket:
            self._socket.abort()
        self._socket = None

    def _request(self, request):
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s, context=self._context) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise EnvironmentFailure(f"{error.code}: {error.read().decode(errors='replace')}", str(error.code)) from error

    def _ask(self, kind, make_data):
        data = self._message(kind, make_data)["data"]
        return Turn(data["observation"], data["reward"], data["done"])

    def _message(self, kind, make_data):
        """Sends a message until it is answered: over new connections, and again while there is no place."""
        deadline, pause = time.monotonic() + self._patience_s, 0.1
        while True:
            try:
                self._connect()
                return self._exchange(kind, make_data())
            except (ConnectionLost, EnvironmentFailure) as error:
                is_final = isinstance(error, EnvironmentFailure) and error.code != "CAPACITY_REACHED"
                if not is_final:
                    self.drop()
                if is_final or time.monotonic() > deadline:
                    raise
                time.sleep(pause * (1 + random.random()))
                pause = min(2 * pause, 5)

    def _connect(self):
        if self._socket:
            return
        self._socket = WebSocket(self._url + "/ws", self._headers, self._timeout_s, self._context)
        if self._episode:
            self._exchange("reset", {"episode_id": self._episode, "resume": True})

    def _exchange(self, kind, data):
        self._socket.send(json.dumps({"type": kind, "data": data} if data else {"type": kind}))
        answer = json.loads(self._socket.receive())
        if answer["type"] == "error":
            raise EnvironmentFailure(answer["data"]["message"], answer["data"]["code"])
        return answer
