"""A small OpenAI-compatible server for tests of the load script: asyncio, stdlib only, one process.

usage: fake_openai.py '{"interval_ms": 2, ...}'   prints its port on the first line. Answers have one word per token.
"""

import asyncio
import json
import sys
from typing import Any

DEFAULTS: dict[str, Any] = {
    "interval_ms": 2.0,  # between chunks of one stream
    "ttft_ms": 5.0,
    "first_ttft_ms": None,  # of the very first streamed answer
    "slow_first_chunks": 0,  # how many streamed answers run at a third of the speed
    "tokens_per_chunk": 1,
    "chat": True,  # False: /v1/chat/completions answers 404
    "usage": True,
    "cached_share": 0.0,
    "reject": [],  # body fields that make a 400
    "stop_after": None,  # tokens, whatever is asked for (ignores ignore_eos)
    "fail_every": 0,  # every n-th streamed answer is a 503
    "break_every": 0,  # every n-th ends with an error record in the stream
    "cut_every": 0,  # every n-th loses its connection half way
    "metrics": True,
    "foreign_tokens_per_s": 0.0,  # tokens of somebody else's requests, seen in the counters only
    "accept_steps": None,  # tokens per verify step, in counters, in /generate and (timings) in the stream
    "timings": False,
    "api_key": None,
}


class Server:
    def __init__(self, options: dict[str, Any]) -> None:
        self.o = {**DEFAULTS, **options}
        self.streams = 0
        self.generated = 0
        self.prompted = 0
        self.prompts: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.max_running = self.running = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split("\r\n", 1)[0].split()
            headers = {k.lower(): v.strip() for k, _, v in (h.partition(":") for h in head.split("\r\n")[1:])}
            body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
            await self.answer(method, path, headers, body, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def answer(
        self, method: str, path: str, headers: dict[str, str], body: dict[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        if self.o["api_key"] and headers.get("authorization") != f"Bearer {self.o['api_key']}" and path != "/health":
            return self.reply(writer, 401, {"error": {"message": "Invalid API key", "type": "authentication_error"}})
        if path == "/health":
            return self.reply(writer, 200, {"status": "ok"})
        if path == "/v1/models":
            return self.reply(writer, 200, {"object": "list", "data": [{"id": "fake-model", "object": "model"}]})
        if path == "/metrics" and self.o["metrics"]:
            return self.reply(writer, 200, self.metrics(), "text/plain")
        if path == "/seen":
            return self.reply(
                writer, 200, {"prompts": self.prompts, "bodies": self.bodies[-3:], "max_running": self.max_running}
            )
        if path == "/generate" and self.o["accept_steps"]:
            return self.reply(writer, 200, self.native(body))
        if path == "/v1/completions" or (path == "/v1/chat/completions" and self.o["chat"]):
            return await self.complete(path, body, writer)
        return self.reply(writer, 404, {"error": {"message": f"no {path} here", "type": "not_found"}})

    def reply(self, writer: asyncio.StreamWriter, status: int, body: Any, kind: str = "application/json") -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n"
            f"Connection: close\r\n\r\n".encode()
            + data
        )

    def metrics(self) -> str:
        foreign = self.o["foreign_tokens_per_s"] * asyncio.get_running_loop().time()
        total = self.generated + int(foreign)
        lines = [
            "# TYPE vllm:generation_tokens_total counter",
            f'vllm:generation_tokens_total{{model_name="fake-model"}} {total}.0',
            f'vllm:prompt_tokens_total{{model_name="fake-model"}} {self.prompted}.0',
            'vllm:num_requests_running{model_name="fake-model"} 7.0',
            'vllm:time_to_first_token_seconds_bucket{le="0.1"} 5.0',
        ]
        if self.o["accept_steps"]:
            steps = self.generated / self.o["accept_steps"]
            lines += [
                f"vllm:spec_decode_num_drafts_total {steps}",
                f"vllm:spec_decode_num_draft_tokens_total {steps * 3}",
                f"vllm:spec_decode_num_accepted_tokens_total {self.generated - steps}",
                f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="0"}} {steps * 0.8}',
                f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="1"}} {steps * 0.6}',
            ]
        return "\n".join(lines) + "\n"

    def native(self, body: dict[str, Any]) -> dict[str, Any]:
        tokens = body["sampling_params"]["max_new_tokens"]
        self.generated += tokens
        steps = round(tokens / self.o["accept_steps"])
        return {
            "text": "word " * tokens,
            "meta_info": {
                "completion_tokens": tokens,
                "spec_verify_ct": steps,
                "spec_accepted_drafts": tokens - steps,
                "spec_proposed_drafts": steps * 3,
                "spec_accept_histogram": [0, 0, steps],
            },
        }

    async def complete(self, path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        for field in self.o["reject"]:
            if field in body:
                return self.reply(writer, 400, {"error": {"message": f"unknown field {field}", "code": 400}})
        chat = path.endswith("chat/completions")
        prompt = body["messages"][0]["content"] if chat else body["prompt"]
        tokens = min(body["max_tokens"], self.o["stop_after"] or body["max_tokens"])
        usage = {
            "prompt_tokens": len(prompt.split()) + 7,
            "completion_tokens": tokens,
            "prompt_tokens_details": {"cached_tokens": int((len(prompt.split()) + 7) * self.o["cached_share"])},
        }
        if not body.get("stream"):
            self.generated += tokens
            return self.reply(writer, 200, {"choices": [{"message": {"content": "word " * tokens}}], "usage": usage})
        self.prompts.append(prompt)
        self.bodies.append(body)
        self.streams += 1
        if self.o["fail_every"] and self.streams % self.o["fail_every"] == 0:
            return self.reply(writer, 503, {"error": {"message": "the queue is full", "type": "overloaded"}})
        self.running += 1
        self.max_running = max(self.max_running, self.running)
        try:
            await self.stream(self.streams, chat, tokens, usage, writer)
        finally:
            self.running -= 1
        return None

    async def stream(
        self, number: int, chat: bool, tokens: int, usage: dict[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        o = self.o

        def send(record: Any) -> None:
            data = b"data: " + (record if isinstance(record, bytes) else json.dumps(record).encode()) + b"\n\n"
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))

        def choice(text: str | None, finish: str | None = None) -> dict[str, Any]:
            body: dict[str, Any] = {"index": 0, "finish_reason": finish}
            if chat:
                body["delta"] = {} if finish else {"content": text}
            else:
                body["text"] = text or ""
            return {"id": "x", "object": "chunk", "choices": [body], "usage": None}

        loop = asyncio.get_running_loop()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        if chat:
            send({"id": "x", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        first = o["first_ttft_ms"] if number == 1 and o["first_ttft_ms"] is not None else o["ttft_ms"]
        due = loop.time() + first / 1000
        await asyncio.sleep(first / 1000)
        interval = o["interval_ms"] * (3 if number <= o["slow_first_chunks"] else 1) / 1000
        sent = 0
        while sent < tokens:
            if o["break_every"] and number % o["break_every"] == 0 and sent > tokens // 2:
                send({"error": {"message": "CUDA out of memory", "type": "server_error"}})
                writer.write(b"0\r\n\r\n")
                return
            if o["cut_every"] and number % o["cut_every"] == 0 and sent > tokens // 2:
                writer.transport.abort()
                return
            step = min(o["tokens_per_chunk"], tokens - sent)
            sent += step
            self.generated += step
            send(choice(" word" * step))
            if sent < tokens:
                due += interval
                await asyncio.sleep(max(0.0, due - loop.time()))
        self.prompted += usage["prompt_tokens"]
        send(choice(None, "length"))
        if o["usage"]:
            last: dict[str, Any] = {"id": "x", "choices": [], "usage": usage}
            if o["timings"]:
                accepted = tokens - round(tokens / o["accept_steps"])
                last["timings"] = {
                    "predicted_n": tokens,
                    "draft_n": round(tokens / o["accept_steps"]) * 3,
                    "draft_n_accepted": accepted,
                }
            send(last)
        send(b"[DONE]")
        writer.write(b"0\r\n\r\n")


async def main() -> None:
    options = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    server = await asyncio.start_server(Server(options).handle, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
