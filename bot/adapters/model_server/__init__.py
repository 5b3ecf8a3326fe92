"""HTTP to model servers: health, models, one token, metrics pages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from bot.errors import TemporaryError

#: SGLang's /health makes a token and gives up after 20 s by itself
HEALTH_TIMEOUT_S = 25.0
#: the first token after a start may wait for kernels to be compiled (51 s seen on an H200)
TOKEN_TIMEOUT_S = 120.0
PAGE_TIMEOUT_S = 10.0
CONNECT_TIMEOUT_S = 5.0
PAGE_LIMIT_BYTES = 8_000_000
_TOKENS = 8
_WORDS_LIMIT = 300


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came: status None when nothing did, and then the reason as text."""

    status: int | None
    text: str


class HttpModelServer:
    """ModelServer on httpx. `headers` go with every request (Authorization of a protected server)."""

    def __init__(
        self,
        *,
        headers: Mapping[str, str] | None = None,
        health_timeout_s: float = HEALTH_TIMEOUT_S,
        token_timeout_s: float = TOKEN_TIMEOUT_S,
        page_timeout_s: float = PAGE_TIMEOUT_S,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._health_timeout_s = health_timeout_s
        self._token_timeout_s = token_timeout_s
        self._page_timeout_s = page_timeout_s
        # no proxy of the environment: servers are on loopback or behind forwarded ports, which also come and go,
        # so that a kept connection would lead nowhere
        self._client = httpx.Client(
            headers=dict(headers or {}),
            trust_env=False,
            follow_redirects=False,
            limits=httpx.Limits(max_keepalive_connections=0),
            transport=transport,
        )

    def close(self) -> None:
        """Give up the client's sockets."""
        self._client.close()

    def health(self, base_url: str, path: str) -> tuple[int | None, str]:
        """Status and a short reason; None when no connection or no answer came in time."""
        answer = self._ask("GET", base_url, path, self._health_timeout_s)
        if answer.status is None:
            return None, answer.text
        return answer.status, "ok" if answer.status == 200 else _words(answer.text) or f"HTTP {answer.status}"

    def models(self, base_url: str) -> tuple[str, ...]:
        """Model ids that the server names. Raises TemporaryError when it names none readable."""
        answer = self._ask("GET", base_url, "/v1/models", self._page_timeout_s)
        data = _json(answer)
        if answer.status != 200 or not isinstance(data.get("data"), list):
            raise _failed(base_url, "it did not name its models", answer)
        return tuple(str(entry["id"]) for entry in data["data"] if isinstance(entry, dict) and "id" in entry)

    def token(self, base_url: str, model: str) -> str:
        """Some text that the model generated now. Raises TemporaryError with the server's words when none came."""
        chat: dict[str, Any] = {"messages": [{"role": "user", "content": "Say hello."}]}
        answer = _Answer(None, "")
        for path, asked in (("/v1/chat/completions", chat), ("/v1/completions", {"prompt": "Hello,"})):
            body = {"model": model, "max_tokens": _TOKENS, "temperature": 0, **asked}
            answer = self._ask("POST", base_url, path, self._token_timeout_s, body)
            if text := _generated(answer):
                return text
            # a model without a chat template, or one that began with tokens that are no text, may still complete
            if answer.status is None or answer.status in (401, 403) or answer.status >= 500:
                break
        raise _failed(base_url, "no token came", answer)

    def get_text(self, base_url: str, path: str) -> str | None:
        """A page's text, or None when the server has no such page."""
        answer = self._ask("GET", base_url, path, self._page_timeout_s)
        return answer.text if answer.status == 200 else None

    def _ask(
        self, method: str, base_url: str, path: str, timeout_s: float, body: Mapping[str, Any] | None = None
    ) -> _Answer:
        timeout = httpx.Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))
        url = base_url.rstrip("/") + "/" + path.lstrip("/")
        try:
            with self._client.stream(method, url, json=body, timeout=timeout) as reply:
                parts, size = [], 0
                for part in reply.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > PAGE_LIMIT_BYTES:
                        break
                return _Answer(reply.status_code, b"".join(parts).decode("utf-8", "replace"))
        except httpx.ConnectTimeout:
            return _Answer(None, "no connection in time")
        except httpx.TimeoutException:
            return _Answer(None, f"no answer within {timeout_s:g} s")
        except httpx.ConnectError as error:
            refused = "refused" in str(error).lower()
            return _Answer(None, "connection refused" if refused else f"no connection: {error}")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return _Answer(None, f"broken connection: {str(error) or type(error).__name__}")


def _json(answer: _Answer) -> dict[str, Any]:
    try:
        data = json.loads(answer.text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _generated(answer: _Answer) -> str:
    """Text of a completion, reasoning included; empty when there is none."""
    if answer.status != 200:
        return ""
    choices = _json(answer).get("choices") or [{}]
    message = choices[0].get("message") or {}
    for text in (choices[0].get("text"), *(message.get(k) for k in ("content", "reasoning_content", "reasoning"))):
        if text:
            return str(text)
    return ""


def _words(text: str) -> str:
    """The server's own message out of an error body, on one line."""
    data: Any = _json(_Answer(None, text)) or text
    for key in ("error", "message", "detail"):
        if isinstance(data, dict) and data.get(key):
            data = data[key]
    said = data if isinstance(data, str) else json.dumps(data)
    return " ".join(said.split())[:_WORDS_LIMIT]


def _failed(base_url: str, what: str, answer: _Answer) -> TemporaryError:
    if answer.status is None:
        why = answer.text
    elif answer.status == 200:
        why = "it answered without any text"
    else:
        why = f"HTTP {answer.status}: {_words(answer.text)}".rstrip(": ")
    remedy = "give the server's API key" if answer.status in (401, 403) else "look at the server's log"
    return TemporaryError(f"{what} from {base_url}: {why}", remedy=remedy)
