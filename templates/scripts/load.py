"""Measure the speed of an OpenAI-compatible server: closed loop, streaming, tokens counted from `usage`.

Sent over stdin to a host's Python (3.8 or newer, standard library only): `python3 - '{"url": "http://127.0.0.1:30000"}'`.
Prints JSON lines: {"type": "start" | "progress" | "level" | "result" | "failed", ...}; exit status 0 with a result, else 1.
The key of a protected server is the global RELAUNCH_API_KEY (a line before this text) or that environment variable.

Definitions, times in ms unless said:
  TTFT     request sent to the first chunk that carries text
  decode   (tokens - 1) / (last chunk - first chunk) of one request, tok/s
  ITL      gap between chunks that carry text; a chunk may carry several tokens (`tokens_per_chunk`)
  aggregate  tokens that arrived between the start and the moment no new request was started, all streams together, tok/s
"""

import array
import collections
import glob
import json
import os
import pwd
import selectors
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

DEFAULTS = {
    "url": "http://127.0.0.1:8000",
    "model": None,  # None: the first one that /v1/models names
    "concurrency": [1],
    "prompt_tokens": 128,
    "output_tokens": 256,
    "min_level_s": 3.0,  # measure at least this long, however small the spread
    "max_level_s": 30.0,  # no new request is started after this long at one concurrency
    "reuse_prompts": False,  # True: one prompt for all requests, so that prefixes come from the cache
    "endpoint": "chat",  # or "completions"
    "temperature": 0.0,
    "spread_pct": 1.5,  # stop early when the mean is known this well (2 standard errors, per cent)
    "request_timeout_s": 600.0,
    "idle_s": 1.0,  # watch the counters this long before the first request
    "nonce": None,  # makes prompts repeatable in tests; None: never the same twice
    "gpu": True,  # read nvidia-smi before, during and after
    "native_requests": 3,  # per-request speculation through /generate where the server has it
}
#: tried in this order until the server accepts one: fixed output length and no prefix cache
LENGTH_OPTIONS = [
    {"ignore_eos": True, "cache_prompt": False},
    {"ignore_eos": True},
    {"min_tokens": None},
    {},
]
#: words in the names of metrics worth sending back
METRIC_WORDS = (
    "token",
    "spec",
    "draft",
    "accept",
    "request",
    "reqs",
    "cache",
    "running",
    "waiting",
    "preempt",
    "retract",
)
MAX_ERRORS = 50
MAX_REQUESTS = 400
MAX_GAPS = 200000
MIN_BATCHES_SINGLE, MIN_BATCHES = 8, 4
#: a cold start: this much slower than the slowest of at least so many later waves, which differ by no more than this
COLD_SHARE, MIN_STEADY_WAVES, STEADY_SHARE = 0.85, 3, 0.08

NOUNS = (
    "river garden window engine market letter bridge mountain teacher winter pocket kitchen island doctor ticket forest "
    "mirror captain village basket candle farmer station blanket harbour painter summer bottle lantern soldier orchard "
    "library wagon kettle sailor meadow hammer cousin feather castle tailor valley needle"
).split()
ADJECTIVES = (
    "quiet yellow narrow gentle heavy broken early distant bright hollow clever frozen golden humble lonely modern "
    "patient rusty silent tender velvet wooden"
).split()
VERBS = "watches carries follows repairs remembers paints borrows answers forgets visits opens measures".split()


class Failure(Exception):
    """The measurement cannot be made; the text says why."""


WRITING = threading.Lock()


def emit(kind, **fields):
    """Write one record; a reader that went away ends the program at once."""
    try:
        with WRITING:
            sys.stdout.write(json.dumps(dict(fields, type=kind), separators=(",", ":")) + "\n")
            sys.stdout.flush()
    except (ValueError, OSError):
        os._exit(1)


def beat():
    """Say every two seconds that this still runs, so that a reader that went away is noticed in long waits, too."""
    while True:
        time.sleep(2.0)
        emit("beat")


# ---- statistics -----------------------------------------------------------------------------------------------------


def percentile(values, share):
    """Linear interpolation between the two nearest of the sorted values; None when there are none."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def quantiles(values):
    return {name: rounded(percentile(values, share)) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}


def rounded(value, digits=3):
    return None if value is None else round(value, digits)


def batch_means(values, size):
    """Means of consecutive `size` values: requests that run together share their fate."""
    return [sum(values[i : i + size]) / size for i in range(0, len(values) - size + 1, size)]


def two_standard_errors_pct(values):
    """Two standard errors of the mean, in per cent of it; None under three values."""
    n = len(values)
    if n < 3:
        return None
    mean = sum(values) / n
    variance = sum((v - mean) ** 2 for v in values) / (n - 1)
    return 200.0 * (variance / n) ** 0.5 / mean if mean else None


def is_cold_start(rates, width):
    """Whether the first wave of `width` speeds stands apart from steady later ones. Leaving out slow values only makes the
    rest look faster, so this must not happen by chance: on a noisy host every wave stays in and the spread tells."""
    waves = [percentile(rates[i : i + width], 0.5) for i in range(0, len(rates) - width + 1, width)]
    first, rest = waves[:1], waves[1:]
    if len(rest) < MIN_STEADY_WAVES:
        return False
    steady = max(rest) - min(rest) <= STEADY_SHARE * percentile(rest, 0.5)
    return steady and first[0] < COLD_SHARE * min(rest)


# ---- HTTP -----------------------------------------------------------------------------------------------------------


class Target:
    """Where requests go: address resolved once, headers made once."""

    def __init__(self, url, api_key):
        parts = urllib.parse.urlsplit(url if "//" in url else "http://" + url)
        # a password in the address would be shown with every error
        place = parts.netloc.rsplit("@", 1)[-1]
        self.base = "%s://%s%s" % (parts.scheme, place, parts.path.rstrip("/"))
        if self.base.endswith("/v1"):
            self.base = self.base[:-3]
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.host = parts.hostname or "127.0.0.1"
        try:
            self.port = parts.port or (443 if self.tls else 80)
        except ValueError:
            raise Failure("%s names no port" % place)
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise Failure("no address for %s: %s" % (self.host, error))
        # a server that listens on one family only must not cost a failed connect per request
        self.family, self.address = next(((f[0], f[4]) for f in found if self._answers(f)), (found[0][0], found[0][4]))
        self.api_key = api_key
        prefix = urllib.parse.urlsplit(self.base).path
        self.prefix = prefix
        self.headers = (
            "Host: %s\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nConnection: close\r\n" % place
        )
        if api_key:
            self.headers += "Authorization: Bearer %s\r\n" % api_key

    @staticmethod
    def _answers(found):
        with socket.socket(found[0], socket.SOCK_STREAM) as sock:
            sock.settimeout(5)
            return sock.connect_ex(found[4]) == 0

    def post_bytes(self, path, body):
        head = "POST %s%s HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n" % (self.prefix, path, self.headers, len(body))
        return head.encode("latin-1") + body

    def fetch(self, path, body=None, timeout_s=10.0):
        """(status, text); status None when no answer came."""
        request = urllib.request.Request(self.base + path, data=None if body is None else json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        if self.api_key:
            request.add_header("Authorization", "Bearer " + self.api_key)
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=self.tls) if self.tls else urllib.request.HTTPHandler(),
        )
        try:
            with opener.open(request, timeout=timeout_s) as reply:
                return reply.status, reply.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            return None, str(getattr(error, "reason", error))

    def metrics(self):
        """The lines of /metrics that tell of tokens and requests, or None."""
        status, text = self.fetch("/metrics", timeout_s=5.0)
        if status != 200:
            return None
        kept = [
            line
            for line in text.splitlines()
            if line
            and line[0] != "#"
            and "_bucket{" not in line
            and "_created" not in line
            and any(word in line.split("{", 1)[0] for word in METRIC_WORDS)
        ]
        return "\n".join(kept)[:60000]


def server_words(text):
    """The message of an error body, on one line."""
    try:
        data = json.loads(text)
        for key in ("error", "message", "detail"):
            if isinstance(data, dict) and data.get(key):
                data = data[key]
        text = data if isinstance(data, str) else json.dumps(data)
    except ValueError:
        pass
    return " ".join(text.split())[:300]


class Stream:
    """One streaming request on a connection of its own, driven by readiness events."""

    def __init__(self, target, payload, began):
        self.began = began
        self.sent_at = began
        self.first_at = self.last_at = self.ended_at = None
        self.times = array.array("d")
        self.tokens = self.prompt_tokens = None
        self.cached = None
        self.timings = {}
        self.error = None
        self.finished = False
        self.out = memoryview(payload)
        self.status = None
        self.chunked = False
        self.left = None
        self.need = 0
        self.raw = self.line = b""
        self.body_seen = b""
        self.done_mark = self.finish_seen = False
        self.connecting = True
        self.tls = target.tls
        self.sock = socket.socket(target.family, socket.SOCK_STREAM)
        self.sock.setblocking(False)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.connect_ex(target.address)
        self.server_name = target.host
        self.interest = selectors.EVENT_WRITE

    def step(self):
        """Do what can be done without waiting; True once the request is over."""
        try:
            if self.connecting:
                self._connect()
            if self.out:
                self._send()
            if not self.out:
                self._receive()
        except (BlockingIOError, ssl.SSLWantReadError):
            self.interest = selectors.EVENT_WRITE if self.out and not self.tls else selectors.EVENT_READ
        except ssl.SSLWantWriteError:
            self.interest = selectors.EVENT_WRITE
        except (OSError, ValueError) as error:
            self.end(str(error) or type(error).__name__)
        return self.finished

    def _connect(self):
        if not isinstance(self.sock, ssl.SSLSocket):
            code = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, "cannot connect: " + os.strerror(code))
            if self.tls:
                self.sock = self.tls.wrap_socket(
                    self.sock, server_hostname=self.server_name, do_handshake_on_connect=False
                )
        if self.tls:
            self.sock.do_handshake()
        self.connecting = False
        self.sent_at = time.perf_counter()

    def _send(self):
        while self.out:
            self.out = self.out[self.sock.send(self.out) :]
        self.interest = selectors.EVENT_READ

    def _receive(self):
        while not self.finished:
            data = self.sock.recv(65536)
            now = time.perf_counter()
            if not data:
                if self.done_mark or (self.finish_seen and self.tokens):
                    self.end()
                elif self.status not in (None, 200):
                    self.end("HTTP %d: %s" % (self.status, server_words(self.body_seen.decode("utf-8", "replace"))))
                else:
                    self.end("the connection closed before the answer was complete")
                return
            self._feed(data, now)
            if len(data) < 65536 and not self.tls:
                return

    def _feed(self, data, now):
        if self.status is None:
            self.raw += data
            end = self.raw.find(b"\r\n\r\n")
            if end < 0:
                return
            head, data = self.raw[:end].decode("latin-1").split("\r\n"), self.raw[end + 4 :]
            self.raw = b""
            self.status = int(head[0].split()[1])
            headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:])}
            self.chunked = "chunked" in headers.get("transfer-encoding", "").lower()
            if not self.chunked and "content-length" in headers:
                self.left = int(headers["content-length"])
        over = False
        if self.chunked:
            data, over = self._dechunk(data)
        elif self.left is not None:
            self.left -= len(data)
            over = self.left <= 0
        if self.status != 200:
            self.body_seen = (self.body_seen + data)[:4000]
        else:
            self._lines(data, now)
        if over and not self.finished:
            if self.status != 200:
                self.end("HTTP %d: %s" % (self.status, server_words(self.body_seen.decode("utf-8", "replace"))))
            elif self.done_mark or (self.finish_seen and self.tokens):
                self.end()
            else:
                self.end("the answer ended without its last record")

    def _dechunk(self, data):
        """Body bytes of HTTP chunks, and whether the last chunk has come."""
        data = self.raw + data if self.raw else data
        place, size, parts, over = 0, len(data), [], False
        while place < size:
            if self.need == 0:
                line_end = data.find(b"\r\n", place)
                if line_end < 0:
                    break
                length = int(data[place:line_end].split(b";")[0], 16)
                place = line_end + 2
                if length == 0:
                    over = True
                    break
                self.need = length + 2
            take = min(self.need, size - place)
            text = min(take, self.need - 2)
            if text > 0:
                parts.append(data[place : place + text])
            self.need -= take
            place += take
        self.raw = b"" if over else data[place:]
        return parts[0] if len(parts) == 1 else b"".join(parts), over

    def _lines(self, data, now):
        lines = (self.line + data if self.line else data).split(b"\n")
        self.line = lines.pop()
        for line in lines:
            if line[:5] == b"data:":
                self._event(line[5:].strip(), now)
            elif line[:1] == b"{":
                self._record(line, now)
        if self.done_mark:
            self.end()

    def _event(self, line, now):
        if line == b"[DONE]":
            self.done_mark = True
        elif (
            self.first_at is not None
            and b'"error"' not in line
            and b'"finish_reason":"' not in line
            and b'"finish_reason": "' not in line
            and b'"usage":{' not in line
            and b'"usage": {' not in line
        ):
            # the hot path: a plain chunk is counted, not parsed
            self.times.append(now)
        else:
            self._record(line, now)

    def _record(self, line, now):
        try:
            record = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            return
        if record.get("error"):
            self.end("in the stream: " + server_words(json.dumps(record)))
            return
        usage = record.get("usage")
        if usage:
            self.tokens = usage.get("completion_tokens")
            self.prompt_tokens = usage.get("prompt_tokens")
            self.cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        if record.get("timings"):
            self.timings = record["timings"]
            if self.cached is None:
                self.cached = self.timings.get("cache_n")
        for choice in record.get("choices") or ():
            delta = choice.get("delta") or {}
            text = (
                choice.get("text")
                or delta.get("content")
                or delta.get("reasoning_content")
                or delta.get("reasoning")
                or delta.get("tool_calls")
            )
            if text:
                if self.first_at is None:
                    self.first_at = now
                self.times.append(now)
            if choice.get("finish_reason"):
                self.finish_seen = True

    def end(self, error=None):
        if self.finished:
            return
        self.finished = True
        self.error = error
        self.ended_at = time.perf_counter()
        if self.times:
            self.last_at = self.times[-1]
        if error is None and self.first_at is None:
            self.error = "no text came"
        try:
            self.sock.close()
        except OSError:
            pass

    @property
    def counted(self):
        """Tokens of the answer: from usage, or chunks where the server gives no usage."""
        return len(self.times) if self.tokens is None else self.tokens

    @property
    def decode_tok_s(self):
        seconds = (self.last_at - self.first_at) if self.last_at is not None and self.first_at is not None else 0
        return (self.counted - 1) / seconds if seconds > 0 and self.counted > 1 else None

    @property
    def ttft_ms(self):
        return None if self.first_at is None else 1000.0 * (self.first_at - self.sent_at)


def closed_loop(target, width, next_payload, may_start, on_end, on_tick, timeout_s):
    """Keep `width` requests running while may_start() says so; returns when the last one has ended."""
    selector = selectors.DefaultSelector()
    active, cooling, last_look = set(), [], 0.0
    try:
        while True:
            now = time.perf_counter()
            cooling = [until for until in cooling if until > now]
            while len(active) + len(cooling) < width and may_start():
                stream = Stream(target, next_payload(), time.perf_counter())
                stream.registered = stream.interest
                active.add(stream)
                selector.register(stream.sock, stream.interest, stream)
            if not active and not may_start():
                return
            for key, _ in selector.select(0.2 if active else 0.05):
                stream, sock = key.data, key.fileobj
                over = stream.step()
                if over:
                    selector.unregister(sock)
                    active.discard(stream)
                    if stream.error:
                        cooling.append(time.perf_counter() + 0.3)  # a refusing server is not hammered
                    on_end(stream)
                elif stream.sock is not sock:  # wrapped in TLS
                    selector.unregister(sock)
                    selector.register(stream.sock, stream.interest, stream)
                    stream.registered = stream.interest
                elif stream.interest != stream.registered:
                    selector.modify(stream.sock, stream.interest, stream)
                    stream.registered = stream.interest
            now = time.perf_counter()
            if now - last_look > 0.5:
                last_look = now
                on_tick(now)
                for stream in [s for s in active if now - s.began > timeout_s]:
                    selector.unregister(stream.sock)
                    active.discard(stream)
                    stream.end("no complete answer within %g s" % timeout_s)
                    on_end(stream)
    finally:
        selector.close()


# ---- prompts --------------------------------------------------------------------------------------------------------


class Prompts:
    """Prompts of a given length in tokens, each with its own beginning unless reused."""

    def __init__(self, nonce, reuse):
        self.seed = int.from_bytes(nonce.encode(), "big") % (1 << 61)
        self.reuse = reuse
        self.count = 0
        self.words = 64

    def text(self, words=None):
        if not self.reuse:
            self.count += 1
        state = (self.seed * 2862933555777941757 + self.count * 3202034522624059733 + 1) % (1 << 64)
        # the first word differs from prompt to prompt: prefix caches compare from the start
        parts, made, wanted = ["%d:" % (state % 900000000 + 100000000)], 1, words or self.words
        while made < wanted:
            picks = []
            for bag in (NOUNS, ADJECTIVES, NOUNS, VERBS, ADJECTIVES, NOUNS):
                state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
                picks.append(bag[(state >> 33) % len(bag)])
            sentence = ("%s and the %s %s %s the %s %s." % tuple([picks[0].capitalize()] + picks[1:])).split()
            parts += sentence[: wanted - made]
            made += len(sentence)
        return " ".join(parts) + "\nTell what happens next, at length."


def request_body(config, prompt, options, max_tokens, stream):
    body = {"model": config["model"], "temperature": config["temperature"], "max_tokens": max_tokens, "stream": stream}
    if stream:
        body["stream_options"] = {"include_usage": True}
    if config["endpoint"] == "chat":
        body["messages"] = [{"role": "user", "content": prompt}]
    else:
        body["prompt"] = prompt
    for name, value in options.items():
        body[name] = max_tokens if value is None else value
    return body


def path_of(config):
    return "/v1/chat/completions" if config["endpoint"] == "chat" else "/v1/completions"


def prepare(config, target, prompts):
    """Find the model, the endpoint and the length options that the server accepts, and fit the prompt length.
    Returns the options. The trial requests are short and count for nothing."""
    if not config["model"]:
        status, text = target.fetch("/v1/models")
        if status is None:
            raise Failure("%s does not answer: %s" % (target.base, text))
        try:
            config["model"] = json.loads(text)["data"][0]["id"]
        except (ValueError, KeyError, IndexError, TypeError):
            raise Failure("%s names no model (HTTP %s): %s" % (target.base, status, server_words(text)))
    first = {}
    for endpoint in [config["endpoint"], "completions" if config["endpoint"] == "chat" else "chat"]:
        config["endpoint"] = endpoint
        for options in LENGTH_OPTIONS:
            options = {k: v for k, v in options.items() if not (config["reuse_prompts"] and k == "cache_prompt")}
            body = request_body(config, prompts.text(24), options, 2, False)
            status, text = target.fetch(path_of(config), body, config["request_timeout_s"])
            if status == 200:
                fit_prompts(config, target, prompts, options, text)
                return options
            first.setdefault("answer", (status, text))
            if status not in (400, 404, 405, 422, 501):
                break
            if status == 404:
                break
    status, text = first["answer"]
    raise Failure("the server answered %s: %s" % ("HTTP %s" % status if status else "nothing", server_words(text)))


def fit_prompts(config, target, prompts, options, short_reply):
    """Set the number of words so that prompts have about the wanted tokens (the server's own count)."""

    def prompt_tokens(text):
        try:
            return json.loads(text)["usage"]["prompt_tokens"]
        except (ValueError, KeyError, TypeError):
            return None

    few, many = 24, 96
    low = prompt_tokens(short_reply)
    status, text = target.fetch(
        path_of(config), request_body(config, prompts.text(many), options, 2, False), config["request_timeout_s"]
    )
    high = prompt_tokens(text) if status == 200 else None
    per_word = (high - low) / (many - few) if low and high and high > low else 1.3
    fixed = low - per_word * few if low else 10
    prompts.words = max(4, int(round((config["prompt_tokens"] - fixed) / per_word)))


# ---- GPU and processes ----------------------------------------------------------------------------------------------

GPU_FIELDS = "index,uuid,name,driver_version,clocks.sm,clocks.max.sm,power.draw,power.limit,temperature.gpu,utilization.gpu,memory.used"
GPU_KEYS = "index uuid name driver sm_mhz sm_max_mhz power_w power_limit_w temperature_c utilization_pct memory_used_mib reasons".split()


class Gpu:
    """nvidia-smi before, during and after. `error` says why there is nothing."""

    def __init__(self, wanted, port):
        self.samples, self.apps, self.error = [], [], None if wanted else "not asked for"
        self.port = port
        self.reasons = "clocks_event_reasons.active"
        self.began = time.perf_counter()
        self._stop = threading.Event()
        self._thread = None

    def _query(self, *args):
        result = subprocess.run(
            ("nvidia-smi", "--format=csv,noheader,nounits") + args,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=20,
        )
        if result.returncode:
            raise Failure(
                (result.stderr or result.stdout).decode("utf-8", "replace").strip()[:200] or "nvidia-smi failed"
            )
        return [
            [cell.strip() for cell in row.split(", ")]
            for row in result.stdout.decode("utf-8", "replace").splitlines()
            if row.strip()
        ]

    def look(self, phase):
        if self.error:
            return
        try:
            try:
                rows = self._query("--query-gpu=%s,%s" % (GPU_FIELDS, self.reasons))
            except Failure:
                if self.reasons == "clocks_throttle_reasons.active":
                    raise
                self.reasons = "clocks_throttle_reasons.active"  # the name before driver 535
                rows = self._query("--query-gpu=%s,%s" % (GPU_FIELDS, self.reasons))
            gpus = [dict(zip(GPU_KEYS, row)) for row in rows]
            self.samples.append({"at_s": round(time.perf_counter() - self.began, 1), "phase": phase, "gpus": gpus})
            if phase != "during" or len(self.samples) % 4 == 1:
                self._look_at_processes(phase)
        except (OSError, Failure, subprocess.SubprocessError) as error:
            self.error = "nvidia-smi: %s" % error

    def _look_at_processes(self, phase):
        rows = self._query("--query-compute-apps=gpu_uuid,pid,used_gpu_memory,process_name")
        ours = server_tree(self.port)
        for row in rows:
            if len(row) < 4 or not row[1].isdigit():
                continue
            pid = int(row[1])
            self.apps.append(
                {
                    "phase": phase,
                    "gpu_uuid": row[0],
                    "pid": pid,
                    "mib": row[2],
                    "name": ", ".join(row[3:]),
                    "user": owner(pid),
                    "server": pid in ours if ours else None,
                }
            )
        # a server in a container hides behind a proxy process: then nothing is known of whose a process is
        if rows and not any(app["server"] for app in self.apps if app["phase"] == phase):
            for app in self.apps:
                if app["phase"] == phase:
                    app["server"] = None

    def start(self):
        def watch():
            while not self._stop.wait(3.0):
                self.look("during")

        self._thread = threading.Thread(target=watch, daemon=True)
        self._thread.start()

    def stop(self):
        self._stop.set()
        if self._thread:
            self._thread.join(25)
        self.look("after")

    def report(self):
        return {"samples": self.samples[:200], "apps": self.apps[:200], "error": self.error}


def owner(pid):
    try:
        uid = os.stat("/proc/%d" % pid).st_uid
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
    except OSError:
        return None


def server_tree(port):
    """Pids of the process that listens on the port, its descendants and its session; empty when that cannot be seen."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as lines:
                for line in list(lines)[1:]:
                    cells = line.split()
                    if cells[3] == "0A" and int(cells[1].rsplit(":", 1)[1], 16) == port:
                        inodes.add("socket:[%s]" % cells[9])
        except (OSError, ValueError, IndexError):
            continue
    roots, parents, sessions = set(), {}, {}
    for folder in glob.glob("/proc/[0-9]*"):
        pid = int(os.path.basename(folder))
        try:
            with open(folder + "/stat") as stat:
                cells = stat.read().rsplit(")", 1)[1].split()
            parents[pid], sessions[pid] = int(cells[1]), int(cells[3])
            if inodes and any(os.readlink(fd) in inodes for fd in glob.glob(folder + "/fd/*")):
                roots.add(pid)
        except (OSError, IndexError, ValueError):
            continue
    tree = set(roots)
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in tree and pid not in tree}
        grown = bool(more)
        tree |= more
    return tree | {
        p for p, s in sessions.items() if roots and s > 1 and s in {sessions[r] for r in roots if r in sessions}
    }


# ---- one concurrency ------------------------------------------------------------------------------------------------


class Level:
    """Warm-up and measurement at one concurrency."""

    def __init__(self, config, target, prompts, options, width, place):
        self.config, self.target, self.prompts, self.options = config, target, prompts, options
        self.width, self.place = width, place
        self.path = path_of(config)
        self.good, self.bad = [], []
        self.started = 0
        self.told = -9.0
        self.stopped_at = None
        self.why = ""
        self.phase = "warm-up"
        self.began = time.perf_counter()

    def payload(self):
        self.started += 1
        body = request_body(self.config, self.prompts.text(), self.options, self.config["output_tokens"], True)
        return self.target.post_bytes(self.path, json.dumps(body).encode())

    def tick(self, now):
        seconds = now - self.began
        if seconds - self.told < 1.0:
            return
        self.told = seconds
        done = [s.decode_tok_s for s in self.good if s.decode_tok_s]
        emit(
            "progress",
            concurrency=self.width,
            level=self.place[0],
            levels=self.place[1],
            phase=self.phase,
            requests=len(self.good),
            failed=len(self.bad),
            elapsed_s=round(seconds, 1),
            limit_s=self.config["max_level_s"],
            decode_tok_s=rounded(percentile(done, 0.5), 2),
        )

    def loop(self, may_start, on_end):
        closed_loop(
            self.target, self.width, self.payload, may_start, on_end, self.tick, self.config["request_timeout_s"]
        )

    def warm_up(self):
        """One wave at this concurrency, and a second one when the first was quick: kernels and graphs for this batch size."""
        ended = []
        for wave in (1, 2):
            self.loop(lambda: self.started < wave * self.width, ended.append)
            if time.perf_counter() - self.began > self.config["max_level_s"] / 4 or all(s.error for s in ended):
                break
        waits = [s.ttft_ms for s in ended if not s.error]
        return {
            "requests": len(ended),
            "failed": sum(1 for s in ended if s.error),
            "seconds": round(time.perf_counter() - self.began, 2),
            "slowest_ttft_ms": rounded(max(waits)) if waits else None,
            "tokens": sum(s.counted for s in ended if not s.error),
        }

    def measure(self):
        self.phase = "measure"
        self.began = time.perf_counter()
        self.told = -9.0

        def may_start():
            if not self.why and time.perf_counter() - self.began >= self.config["max_level_s"]:
                self.why = "time up"
            if self.why and self.stopped_at is None:
                self.stopped_at = time.perf_counter()
            return not self.why

        def on_end(stream):
            (self.bad if stream.error else self.good).append(stream)
            if not self.why:
                self.why = self.enough()

        self.loop(may_start, on_end)

    def enough(self):
        """Why to stop now, or an empty string."""
        if len(self.bad) >= max(5, 2 * self.width) and not self.good:
            return "every request failed"
        means = batch_means([s.decode_tok_s for s in self.good if s.decode_tok_s], self.width)
        if len(means) < (MIN_BATCHES_SINGLE if self.width == 1 else MIN_BATCHES):
            return ""
        if time.perf_counter() - self.began < self.config["min_level_s"]:
            return ""
        error = two_standard_errors_pct(means)
        return "spread small enough" if error is not None and error <= self.config["spread_pct"] else ""

    def drop_cold_start(self):
        """Leave out the first wave when it was a cold start; how many requests were left out."""
        if not is_cold_start([s.decode_tok_s or 0 for s in self.good], self.width):
            return 0
        self.began = max(s.ended_at for s in self.good[: self.width])
        self.good = self.good[self.width :]
        return self.width

    def result(self, warm, before, after, busy):
        spent = list(self.good)
        all_tokens = sum(s.counted for s in spent)
        ended = max([s.ended_at for s in self.good + self.bad] or [time.perf_counter()])
        whole_s = ended - self.began
        dropped = self.drop_cold_start()
        stop = self.stopped_at or ended
        # tokens that arrived inside the window; a request's tokens are spread evenly over its chunks
        inside = sum(
            s.counted * sum(1 for t in s.times if self.began <= t <= stop) / len(s.times) for s in spent if s.times
        )
        window = stop - self.began
        # one that ran on after the others had ended had the server to itself
        fair = [s for s in self.good if s.ended_at - stop <= 0.2 * (s.ended_at - s.began)] or self.good
        rates = [s.decode_tok_s for s in fair if s.decode_tok_s]
        ttft = [s.ttft_ms for s in fair]
        gaps = []
        for s in fair:
            gaps += [1000.0 * (b - a) for a, b in zip(s.times, s.times[1:])][: max(0, MAX_GAPS - len(gaps))]
        middle = percentile(rates, 0.5)
        chunks = sum(len(s.times) for s in fair)
        known = [s for s in self.good if s.cached is not None and s.prompt_tokens]
        drafted = [s.timings for s in self.good if s.timings.get("draft_n")]
        return {
            "concurrency": self.width,
            "requests": len(fair),
            "failed": len(self.bad),
            "dropped": dropped,
            "aggregate_tok_s": rounded(inside / window) if window > 0 and fair else None,
            "whole_tok_s": rounded(all_tokens / whole_s) if whole_s > 0 and spent else None,
            "whole_s": rounded(whole_s),
            "decode_tok_s": rounded(middle),
            "spread_pct": rounded(100 * (percentile(rates, 0.75) - percentile(rates, 0.25)) / middle, 2)
            if len(rates) > 1
            else None,
            "decode": quantiles(rates),
            "ttft_ms": quantiles(ttft),
            "itl_ms": quantiles(gaps),
            "samples": [rounded(r) for r in rates],
            "stopped_because": self.why or "time up",
            "errors": [{"at_s": round(s.ended_at - self.began, 2), "error": s.error} for s in self.bad[:MAX_ERRORS]],
            "tokens": all_tokens,
            "counted_from": "usage" if all(s.tokens is not None for s in spent) else "chunks",
            "tokens_per_chunk": rounded(sum(s.counted for s in fair) / chunks, 2) if chunks else None,
            "short": sum(1 for s in spent if s.counted < self.config["output_tokens"]),
            "prompt_tokens": percentile([s.prompt_tokens for s in spent if s.prompt_tokens], 0.5),
            "prompt_tokens_total": sum(s.prompt_tokens or 0 for s in spent),
            "cached_tokens": sum(s.cached for s in known) if known else None,
            "cached_of": sum(s.prompt_tokens for s in known) if known else None,
            "drafted": {
                "requests": len(drafted),
                "proposed": sum(t["draft_n"] for t in drafted),
                "accepted": sum(t.get("draft_n_accepted", 0) for t in drafted),
                "tokens": sum(t.get("predicted_n", 0) for t in drafted),
            }
            if drafted
            else None,
            "warmup": warm,
            "client_busy": rounded(busy, 2),
            "metrics_before": before,
            "metrics_after": after,
            "per_request": [self.row(s) for s in self.good[:MAX_REQUESTS]],
        }

    def row(self, s):
        spread = s.last_at - s.first_at
        return {
            "start_s": round(s.sent_at - self.began, 3),
            "ttft_ms": rounded(s.ttft_ms, 2),
            "decode_tok_s": rounded(s.decode_tok_s, 2),
            "itl_ms": rounded(1000.0 * spread / (s.counted - 1), 3) if s.counted > 1 else None,
            "tokens": s.counted,
            "prompt_tokens": s.prompt_tokens,
            "cached": s.cached,
        }


def run_level(config, target, prompts, options, width, place):
    level = Level(config, target, prompts, options, width, place)
    warm = level.warm_up()
    before = target.metrics()
    cpu, wall = time.process_time(), time.perf_counter()
    level.measure()
    busy = (time.process_time() - cpu) / max(1e-6, time.perf_counter() - wall)
    time.sleep(0.3)  # engines publish their counters a moment after the last chunk
    return level.result(warm, before, target.metrics(), busy)


def native_speculation(config, target, prompts):
    """Accepted drafts of a few requests through /generate, whose `meta_info` counts them; None where there is none."""
    total = collections.Counter()
    histogram = collections.Counter()
    for _ in range(config["native_requests"]):
        body = {
            "text": prompts.text(),
            "sampling_params": {
                "max_new_tokens": config["output_tokens"],
                "ignore_eos": True,
                "temperature": config["temperature"],
            },
        }
        status, text = target.fetch("/generate", body, config["request_timeout_s"])
        try:
            meta = json.loads(text)["meta_info"] if status == 200 else {}
        except (ValueError, KeyError, TypeError):
            meta = {}
        if not meta.get("spec_verify_ct"):
            break
        total.update(
            requests=1,
            tokens=meta.get("completion_tokens", 0),
            steps=meta["spec_verify_ct"],
            accepted=meta.get("spec_accepted_drafts") or 0,
            proposed=meta.get("spec_proposed_drafts") or 0,
        )
        for accepted, count in enumerate(meta.get("spec_accept_histogram") or ()):
            histogram[accepted] += count
    if not total:
        return None
    return dict(total, histogram=[histogram[i] for i in range(max(histogram) + 1)] if histogram else [])


def processing_slots(target):
    """Requests that /slots shows as running, or None where there is no such page."""
    status, text = target.fetch("/slots", timeout_s=5.0)
    try:
        return sum(1 for slot in json.loads(text) if slot.get("is_processing")) if status == 200 else None
    except (ValueError, AttributeError, TypeError):
        return None


def main(argv):
    config = dict(DEFAULTS)
    given = json.loads(argv[1]) if len(argv) > 1 else {}
    unknown = set(given) - set(DEFAULTS)
    if unknown:
        raise Failure("unknown settings: " + ", ".join(sorted(unknown)))
    config.update(given)
    target = Target(config["url"], globals().get("RELAUNCH_API_KEY") or os.environ.get("RELAUNCH_API_KEY"))
    prompts = Prompts(config["nonce"] or os.urandom(8).hex(), config["reuse_prompts"])
    threading.Thread(target=beat, daemon=True).start()
    gpu = Gpu(config["gpu"], target.port)
    gpu.look("before")
    slots = processing_slots(target)
    idle = [target.metrics()]
    if idle[0] is not None and config["idle_s"]:
        time.sleep(config["idle_s"])
        idle.append(target.metrics())
    options = prepare(config, target, prompts)
    emit("start", url=target.base, model=config["model"], levels=config["concurrency"])
    gpu.start()
    levels = []
    for number, width in enumerate(config["concurrency"], 1):
        level = run_level(config, target, prompts, options, width, (number, len(config["concurrency"])))
        levels.append(level)
        emit(
            "level",
            **{
                k: level[k]
                for k in (
                    "concurrency",
                    "requests",
                    "failed",
                    "aggregate_tok_s",
                    "decode_tok_s",
                    "spread_pct",
                    "stopped_because",
                )
            },
        )
        if level["stopped_because"] == "every request failed":
            break
    native = native_speculation(config, target, prompts) if config["native_requests"] else None
    gpu.stop()
    emit(
        "result",
        model=config["model"],
        endpoint=config["endpoint"],
        options=sorted(options),
        temperature=config["temperature"],
        levels=levels,
        native=native,
        gpu=gpu.report(),
        idle={"metrics": idle, "seconds": config["idle_s"], "slots": slots},
        python=sys.version.split()[0],
    )
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv)
    except Failure as failure:
        emit("failed", error=str(failure))
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
