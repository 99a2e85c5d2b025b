"""Resources server of NeMo Gym: forwards /verify to a service of `warpwright-train serve`.

Copy it to resources_servers/warpwright/app.py of a Gym checkout; its launcher starts servers by
an entrypoint. An answer that was not measured comes back masked, with its failure kind.
"""

import asyncio
import os

import requests
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from pydantic import ConfigDict

TIMEOUT_S = 600


class WarpwrightConfig(BaseResourcesServerConfig):
    service_url: str = "http://127.0.0.1:8000"


class WarpwrightVerifyRequest(BaseVerifyRequest):
    model_config = ConfigDict(extra="allow")

    task_id: str


class WarpwrightVerifyResponse(BaseVerifyResponse):
    model_config = ConfigDict(extra="allow")

    task_id: str


class WarpwrightServer(SimpleResourcesServer):
    config: WarpwrightConfig

    def forward(self, body: dict) -> dict:
        token = os.environ.get("WARPWRIGHT_TOKEN")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = requests.post(self.config.service_url + "/verify", json=body, headers=headers, timeout=TIMEOUT_S)
        answer.raise_for_status()
        return answer.json()

    async def verify(self, body: WarpwrightVerifyRequest) -> WarpwrightVerifyResponse:
        answer = await asyncio.to_thread(self.forward, body.model_dump(mode="json"))
        return WarpwrightVerifyResponse(**answer)


if __name__ == "__main__":
    WarpwrightServer.run_webserver()
