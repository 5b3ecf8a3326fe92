"""files.*: upload in three steps, and what was uploaded."""

from bot.practice.workspace.calls import Call, Methods, SlackError
from bot.practice.workspace.methods.chat import bot_message, threaded
from bot.practice.workspace.state import Channel, JsonObject, StoredFile

METHODS = Methods()
_CHANNELS = 100


@METHODS.add("files.getUploadURLExternal", "files:write")
def upload_url(call: Call) -> JsonObject:
    """An address for the bytes."""
    name = call.need("filename", "missing_argument")
    length = call.number("length", 0, "invalid_arguments")
    if length <= 0:
        raise SlackError("missing_argument")
    file_id = call.office.ids.next("F0")
    call.office.state.files[file_id] = StoredFile(
        id=file_id,
        name=name,
        title=name,
        user=call.office.state.bot_user,
        length=length,
        alt_text=call.text("alt_txt") or call.text("alt_text"),
    )
    return {"upload_url": f"{call.office.base_url}/upload/{file_id}", "file_id": file_id}


def as_json(call: Call, file: StoredFile) -> JsonObject:
    """The shape of a file object."""
    kind = file.name.rpartition(".")[2].lower()
    mime = {"png": "image/png", "jpg": "image/jpeg", "svg": "image/svg+xml"}.get(kind, "text/plain")
    address = f"{call.office.base_url}/files/{file.id}/{file.name}"
    shown: JsonObject = {
        "id": file.id,
        "name": file.name,
        "title": file.title,
        "mimetype": mime,
        "filetype": kind,
        "size": len(file.data),
        "user": file.user,
        "mode": "hosted",
        "url_private": address,
        "url_private_download": address,
    }
    if file.alt_text:
        shown["alt_txt"] = file.alt_text
    return shown


@METHODS.add("files.completeUploadExternal", "files:write")
def complete(call: Call) -> JsonObject:
    """Share what was uploaded."""
    listed = call.data("files", "invalid_arguments")
    if not isinstance(listed, list) or not listed:
        raise SlackError("invalid_arguments")
    stored = [_uploaded(call, entry) for entry in listed]
    channels = [c for c in (call.text("channels") or call.text("channel_id")).split(",") if c]
    if len(channels) > _CHANNELS:
        raise SlackError("channels_limit_exceeded")
    shown = [as_json(call, f) for f in stored]
    for name in channels:
        _share(call, name, shown)
    return {"files": shown}


def _uploaded(call: Call, entry: JsonObject) -> StoredFile:
    file = call.office.state.files.get(str(entry.get("id", "")))
    if file is None or not file.uploaded:
        raise SlackError("file_not_found")
    file.title = str(entry.get("title") or file.name)
    file.completed = True
    return file


def _share(call: Call, name: str, files: list[JsonObject]) -> None:
    channel: Channel | None = call.office.state.channels.get(name)
    if channel is None:
        raise SlackError("channel_not_found")
    if call.office.state.bot_user not in channel.members:
        raise SlackError("not_in_channel")
    content: JsonObject = {
        "text": call.text("initial_comment"),
        "files": files,
        "subtype": "file_share",
        "upload": False,
    }
    call.office.add_message(channel, threaded(call, channel, bot_message(call, content)))


@METHODS.add("files.info", "files:read")
def file_info(call: Call) -> JsonObject:
    """One file."""
    file = call.office.state.files.get(call.need("file"))
    if file is None:
        raise SlackError("file_not_found")
    return {"file": as_json(call, file)}
