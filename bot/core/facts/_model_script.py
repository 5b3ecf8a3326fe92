"""The Python program that looks through a model's folder on a host: standard library only, prints one JSON object."""

MODEL_SCRIPT = r"""
import hashlib, json, os, re, struct, sys
asked, cache, template, tokenizer = sys.argv[1:5]
path = os.path.expanduser(asked)
out = {"asked": asked, "source": "path", "exists": False}

def hub(name):
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    roots = [cache, os.environ.get("HF_HUB_CACHE"), os.path.join(home, "hub")]
    roots += [os.path.join(cache, "hub")] if cache else []
    for root in filter(None, roots):
        base = os.path.join(os.path.expanduser(root), "models--" + name.replace("/", "--"))
        try:
            with open(os.path.join(base, "refs", "main")) as f:
                found = os.path.join(base, "snapshots", f.read().strip())
            if os.path.isdir(found):
                return found
        except OSError:
            pass
        shots = os.path.join(base, "snapshots")
        if os.path.isdir(shots) and os.listdir(shots):
            return os.path.join(shots, sorted(os.listdir(shots))[-1])
    return None

def located(text):
    place = os.path.expanduser(text)
    if not os.path.exists(place) and re.fullmatch(r"[\w.-]+/[\w.-]+", text):
        return hub(text) or place, "hub"
    return place, "path"

def template_in_use():
    # a file, else the text or the name itself
    if template:
        try:
            with open(os.path.expanduser(template), "rb") as f:
                return f.read()
        except PermissionError:
            raise
        except (OSError, ValueError):
            return template.encode()
    at = located(tokenizer)[0] if tokenizer else path
    at = at if os.path.isdir(at) else os.path.dirname(at)
    try:
        with open(os.path.join(at, "chat_template.jinja"), "rb") as f:
            return f.read()
    except FileNotFoundError:
        pass
    for name in ("chat_template.json", "tokenizer_config.json"):
        try:
            with open(os.path.join(at, name), encoding="utf-8") as f:
                found = json.load(f).get("chat_template")
        except FileNotFoundError:
            continue
        if found:
            return (found if isinstance(found, str) else json.dumps(found, sort_keys=True)).encode()
    return None

path, out["source"] = located(asked)
try:
    os.stat(path)
except PermissionError as e:
    sys.exit("%s: permission denied for this login" % path)
except OSError:
    print(json.dumps(out))
    sys.exit(0)
out.update(exists=True, path=os.path.realpath(path))
single = os.path.isfile(path)
folder = os.path.dirname(path) if single else path
names = [os.path.basename(path)] if single else sorted(os.listdir(path))
sizes = {}
for name in names:
    full = os.path.join(folder, name)
    try:
        if os.path.isfile(full):
            sizes[name] = os.path.getsize(full)
        elif os.path.islink(full):
            sizes[name] = None
    except OSError:
        sizes[name] = None

def load(name):
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError) as e:
        out.setdefault("unreadable", []).append("%s: %s" % (name, e))
        return None

def fault(name):
    size = sizes[name]
    if size is None:
        return "link", "dangling link"
    with open(os.path.join(folder, name), "rb") as f:
        head = f.read(8)
        if head.startswith(b"version "):
            if b"git-lfs" in head + f.read(120):
                return "lfs", "git-lfs pointer of %d bytes" % size
        if name.endswith(".gguf"):
            return (None, "") if head[:4] == b"GGUF" else ("truncated", "no GGUF header")
        if not name.endswith(".safetensors"):
            return None, ""
        if len(head) < 8:
            return "truncated", "%d bytes" % size
        length = struct.unpack("<Q", head)[0]
        if length > 200000000 or length + 8 > size:
            return "truncated", "header of %d bytes in a file of %d" % (length, size)
        try:
            header = json.loads(f.read(length))
        except ValueError:
            return "truncated", "header is no JSON"
        ends = [t["data_offsets"][1] for k, t in header.items() if k != "__metadata__"]
        expected = 8 + length + max(ends or [0])
        if size < expected:
            return "truncated", "%d bytes, %d expected" % (size, expected)
    return None, ""

weights = [n for n in sizes if n.endswith((".safetensors", ".gguf", ".bin", ".pt", ".pth"))
           and not n.startswith(("training_args", "optimizer", "scheduler"))]
faults = {}
for name in weights:
    try:
        kind, words = fault(name)
    except OSError as e:
        kind, words = "unreadable", str(e)
    if kind:
        faults[name] = [kind, words]
index_name = next((n for n in sizes if n.endswith(".safetensors.index.json")), None)
index = load(index_name) if index_name else None
wanted = sorted(set((index or {}).get("weight_map", {}).values()))
if not index:
    parts = [re.fullmatch(r"(.*-)(\d{5})-of-(\d{5})(\.\w+)", n) for n in weights]
    for m in filter(None, parts[:1]):
        wanted = ["%s%05d-of-%s%s" % (m[1], i, m[3], m[4]) for i in range(1, int(m[3]) + 1)]
counted = wanted or weights
if any(n.endswith(".safetensors") for n in counted):
    counted = [n for n in counted if n.endswith(".safetensors")]
digest = hashlib.sha256()
for name in sorted(set(counted)):
    digest.update(("%s %s\n" % (name, sizes.get(name))).encode())
if index:
    digest.update(json.dumps(index, sort_keys=True).encode())
try:
    text = template_in_use()
    out["template_hash"] = hashlib.sha256(text).hexdigest()[:12] if text is not None else ""
except (OSError, ValueError, AttributeError) as e:
    out["template_unread"] = str(e)
tokenizers = ("tokenizer.json", "tokenizer.model", "tekken.json", "vocab.json", "tiktoken.model")
out.update(
    config=load("config.json") if "config.json" in sizes else None,
    weights=len(weights), bytes=sum(sizes.get(n) or 0 for n in set(counted)),
    index=index_name, missing=[n for n in wanted if n not in sizes], faults=faults,
    tokenizer=[n for n in sizes if n in tokenizers],
    template="chat_template.jinja" in sizes or "chat_template.json" in sizes
        or bool(("tokenizer_config.json" in sizes and load("tokenizer_config.json") or {}).get("chat_template")),
    hash=digest.hexdigest()[:16])
print(json.dumps(out))
"""
