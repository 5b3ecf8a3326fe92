"""HTTP routes: Slack's side (Web API, WebSocket, uploads, response URLs) and the page with its control API."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from bot.practice.workspace import interaction, people
from bot.practice.workspace.calls import answer
from bot.practice.workspace.interaction import NoSuchElementError
from bot.practice.workspace.methods import ALL
from bot.practice.workspace.office import Office
from bot.practice.workspace.state import Channel, JsonObject

PAGE = Path(__file__).parent.parent / "page"
_UPLOAD_BYTES = 64 * 1024 * 1024
_TRIES = [
    "@Relaunch start qwen on ct129 with stock mtp",
    "@Relaunch status",
]


class Server:
    """All routes over one office."""

    def __init__(self, office: Office, suggestions: list[str] | None = None, notes: JsonObject | None = None) -> None:
        self.office = office
        self.suggestions = suggestions or _TRIES
        self.notes = notes or {}

    def application(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(client_max_size=_UPLOAD_BYTES, middlewares=[_only_from_here])
        app.router.add_route("*", "/api/{method}", self.api)
        app.router.add_get("/link/", self.office.socket.serve)
        app.router.add_get("/link", self.office.socket.serve)
        app.router.add_post("/upload/{file}", self.upload)
        app.router.add_get("/files/{file}/{name}", self.file)
        app.router.add_post("/response/{key}", self.response_url)
        app.router.add_get("/", self.page)
        app.router.add_get("/archives/{tail:.*}", self.page)
        app.router.add_get("/page/{name}", self.asset)
        app.router.add_get("/control/state", self.snapshot)
        app.router.add_get("/control/feed", self.feed)
        app.router.add_post("/control/{verb}", self.control)
        return app

    # --- Slack's side

    async def api(self, request: web.Request) -> web.Response:
        """One Web API call, JSON or form."""
        arguments = await _arguments(request)
        header = request.headers.get("Authorization", "")
        token = header.removeprefix("Bearer ").strip() if header else str(arguments.pop("token", ""))
        name = request.match_info["method"]
        body, status, headers = answer(ALL, self.office, name, token, arguments)
        refusal = "" if body["ok"] else str(body["error"])
        self.office.traffic.record(
            at=self.office.stamps.now(), kind="api", name=name, request=arguments, response=body, refusal=refusal
        )
        return web.json_response(body, status=status, headers=headers)

    async def upload(self, request: web.Request) -> web.Response:
        """The bytes of a file: raw, or the first part of a form."""
        file = self.office.state.files.get(request.match_info["file"])
        if file is None:
            return web.Response(status=404, text="file_not_found")
        if request.content_type.startswith("multipart/"):
            part = await (await request.multipart()).next()
            data = bytes(await part.read()) if part is not None and hasattr(part, "read") else b""
        else:
            data = await request.read()
        refusal = "" if len(data) == file.length else f"length was announced as {file.length}, but {len(data)} came"
        file.data, file.uploaded = data, not refusal
        self.office.traffic.record(
            at=self.office.stamps.now(), kind="upload", name=file.name, request=data, response="OK", refusal=refusal
        )
        return web.Response(status=400 if refusal else 200, text=refusal or f"OK - {len(data)}")

    async def file(self, request: web.Request) -> web.Response:
        """An uploaded file, for the page."""
        file = self.office.state.files.get(request.match_info["file"])
        if file is None:
            raise web.HTTPNotFound
        kind = "image/png" if file.name.endswith(".png") else "text/plain"
        return web.Response(body=file.data, content_type=kind, headers={"X-Content-Type-Options": "nosniff"})

    async def response_url(self, request: web.Request) -> web.Response:
        """A post to a response_url."""
        try:
            body = json.loads(await request.text())
        except ValueError:
            return web.Response(status=400, text="invalid_payload")
        status, text = interaction.use_response_url(self.office, request.match_info["key"], body)
        self.office.traffic.record(
            at=self.office.stamps.now(),
            kind="response_url",
            name="response_url",
            request=body,
            response=text,
            refusal="" if status == 200 else text,
        )
        return web.Response(status=status, text=text)

    # --- the page

    async def page(self, _request: web.Request) -> web.FileResponse:
        """The page."""
        return web.FileResponse(PAGE / "index.html", headers=_page_headers())

    async def asset(self, request: web.Request) -> web.FileResponse:
        """A file of the page."""
        path = PAGE / request.match_info["name"]
        if path.parent != PAGE or path.suffix not in (".js", ".css", ".svg") or not path.is_file():
            raise web.HTTPNotFound
        return web.FileResponse(path, headers=_page_headers())

    async def snapshot(self, _request: web.Request) -> web.Response:
        """Everything that a page needs when it is loaded. What is shown to one person only is not part of it."""
        office = self.office
        state = office.state
        return web.json_response(
            {
                "users": [u.as_json() | {"role": u.role, "bot_id": u.bot_id} for u in state.users.values()],
                "channels": [_shown(c, state.bot_user) for c in state.channels.values()],
                "groups": [{"id": g.id, "handle": g.handle} for g in state.groups.values()],
                "bot": state.bot_user,
                "commands": [{"name": c, "hint": office.manifest.hints.get(c, "")} for c in office.manifest.commands],
                "shortcuts": list(office.manifest.shortcuts),
                "homes": state.homes,
                "modals": {u: [state.views[v] for v in stack] for u, stack in state.stacks.items()},
                "connections": office.socket.connections,
                "traffic": [e.as_json() for e in office.traffic.entries],
                "switches": {
                    "rate_limits": office.limits.on,
                    "user_groups": office.switches.user_groups,
                    "scopes": office.switches.scopes,
                },
                "suggestions": self.suggestions,
                "notes": self.notes,
            }
        )

    async def feed(self, request: web.Request) -> web.StreamResponse:
        """Changes as server-sent events."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        queue = self.office.traffic.listen()
        try:
            await response.write(b": open\n\n")
            while True:
                try:
                    event = await asyncio.wait_for(queue.get(), 15)
                except TimeoutError:
                    await response.write(b": still here\n\n")
                    continue
                await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        except (ConnectionError, asyncio.CancelledError):
            return response
        finally:
            self.office.traffic.leave(queue)

    async def control(self, request: web.Request) -> web.Response:
        """What a person does on the page, or a script in its place."""
        try:
            body: JsonObject = json.loads(await request.text() or "{}")
            done = await self._control(request.match_info["verb"], body)
        except (NoSuchElementError, KeyError, ValueError) as problem:
            return web.json_response({"ok": False, "error": str(problem)}, status=400)
        return web.json_response({"ok": True, **done})

    async def _control(self, verb: str, body: JsonObject) -> JsonObject:
        handlers = {
            "say": self.do_say,
            "edit": self.do_edit,
            "click": self.do_click,
            "submit": self.do_submit,
            "close": self.do_close,
            "home": self.do_home,
            "invite": self.do_invite,
            "shortcut": self.do_shortcut,
            "disconnect": self.do_disconnect,
            "switch": self.do_switch,
            "limit": self.do_limit,
        }
        if verb not in handlers:
            raise NoSuchElementError(f"no verb {verb}; there are {sorted(handlers)}")
        return await handlers[verb](body)

    def _channel(self, body: JsonObject) -> Channel:
        channel = self.office.state.channel_named(str(body["channel"]))
        if channel is None:
            raise NoSuchElementError(f"no channel {body['channel']}")
        if body["user"] not in channel.members:
            raise NoSuchElementError(f"{body['user']} is not in {channel.name}")
        return channel

    async def do_say(self, body: JsonObject) -> JsonObject:
        """Send a message; a line that starts with "/" outside threads is a command."""
        channel, text = self._channel(body), str(body["text"])
        if text.startswith("/") and not body.get("thread_ts"):
            self.office.spawn(interaction.command(self.office, body["user"], channel, text))
            return {}
        return {"ts": people.say(self.office, body["user"], channel, text, body.get("thread_ts"))["ts"]}

    async def do_edit(self, body: JsonObject) -> JsonObject:
        """Edit a message."""
        people.edit(self.office, self._channel(body), str(body["ts"]), str(body["text"]))
        return {}

    async def do_click(self, body: JsonObject) -> JsonObject:
        """Use an element of a message or view."""
        choice, values = body.get("chosen"), body.get("values")
        if body.get("view_id"):
            ack = await interaction.view_action(
                self.office, body["user"], str(body["view_id"]), str(body["action"]), choice, values
            )
        else:
            ack = await interaction.click(
                self.office,
                body["user"],
                self._channel(body),
                str(body["ts"]),
                str(body["action"]),
                chosen=choice,
                values=values,
            )
        return {"acknowledged": ack is not None}

    async def do_submit(self, body: JsonObject) -> JsonObject:
        """Submit a modal."""
        return await interaction.submit(self.office, body["user"], str(body["view_id"]), body.get("values"))

    async def do_close(self, body: JsonObject) -> JsonObject:
        """Close a modal."""
        interaction.close_view(self.office, body["user"], str(body["view_id"]))
        return {}

    async def do_home(self, body: JsonObject) -> JsonObject:
        """Open the app's Home or Messages tab."""
        people.open_home(self.office, body["user"], str(body.get("tab", "home")))
        return {}

    async def do_invite(self, body: JsonObject) -> JsonObject:
        """Invite the app, or a person."""
        people.invite(
            self.office, body["user"], self._channel(body), str(body.get("invited", self.office.state.bot_user))
        )
        return {}

    async def do_shortcut(self, body: JsonObject) -> JsonObject:
        """Use a shortcut."""
        channel = self._channel(body) if body.get("channel") else None
        ack = await interaction.shortcut(
            self.office, body["user"], str(body["callback_id"]), channel, str(body.get("ts", ""))
        )
        return {"acknowledged": ack is not None}

    async def do_disconnect(self, body: JsonObject) -> JsonObject:
        """Tell the app to reconnect."""
        await self.office.socket.disconnect(str(body.get("reason", "refresh_requested")))
        return {}

    async def do_switch(self, body: JsonObject) -> JsonObject:
        """Turn rate limits, user groups or scopes on or off."""
        on = bool(body["on"])
        if body["name"] == "rate_limits":
            self.office.limits.on = on
        elif body["name"] == "user_groups":
            self.office.switches.user_groups = on
        elif body["name"] == "scopes":
            self.office.switches.scopes = on
        else:
            raise NoSuchElementError(f"no switch {body['name']}")
        self.office.traffic.publish({"type": "switch", "name": body["name"], "on": on})
        return {}

    async def do_limit(self, body: JsonObject) -> JsonObject:
        """Answer 429 to the next calls of a method."""
        self.office.limits.forced[str(body["method"])] = int(body.get("times", 1))
        return {}


def _shown(channel: Channel, viewer: str) -> JsonObject:
    shown = channel.as_json(viewer) | {"kind": channel.kind, "members": sorted(channel.members)}
    return shown | {"messages": channel.messages, "ext_shared": channel.ext_shared}


async def _arguments(request: web.Request) -> JsonObject:
    arguments: JsonObject = dict(request.query)
    if request.content_type == "application/json":
        try:
            body: Any = json.loads(await request.text() or "{}")
        except ValueError:
            body = {}
        return arguments | (body if isinstance(body, dict) else {})
    if request.content_type.startswith("multipart/"):
        return arguments | {k: v for k, v in (await request.post()).items() if isinstance(v, str)}
    return arguments | dict(parse_qsl(await request.text(), keep_blank_values=True))


def _page_headers() -> dict[str, str]:
    policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
    return {"Cache-Control": "no-store", "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"}


@web.middleware
async def _only_from_here(request: web.Request, handler: Any) -> web.StreamResponse:
    """Other web sites that this browser shows must not steer the workspace: only this page and scripts may."""
    host = request.headers.get("Host", "").rpartition("@")[2]
    name = host[: host.rindex(":")] if ":" in host else host
    origin = request.headers.get("Origin")
    foreign = origin is not None and origin not in (f"http://{host}", "null") and not request.path.startswith("/link")
    if (
        name not in ("127.0.0.1", "localhost", "")
        or foreign
        or (origin == "null" and request.path.startswith("/control"))
    ):
        raise web.HTTPForbidden(text="only from this machine")
    answer_: web.StreamResponse = await handler(request)
    return answer_
