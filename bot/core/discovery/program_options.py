"""Option syntax of the programs that stand in front of a launch: which options take the next word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Options:
    """`values`: options that take the next word. `positional`: words of its own before the command."""

    values: frozenset[str] = frozenset()
    positional: int = 0

    def end(self, argv: Sequence[str], start: int = 1) -> int:
        """Position of the first word that is no option (nor belongs to one)."""
        position = start
        while position < len(argv):
            word = argv[position]
            if word == "--":
                return position + 1
            if not word.startswith("-") or word == "-":
                break
            position += 2 if self._takes_next(word) else 1
        return min(position, len(argv))

    def read(self, argv: Sequence[str], start: int = 1) -> tuple[list[tuple[str, str]], int]:
        """(option, value) pairs and the position of the first word that is none. A flag's value is ""."""
        found: list[tuple[str, str]] = []
        position = start
        while position < len(argv):
            word = argv[position]
            if word == "--":
                return found, position + 1
            if not word.startswith("-") or word == "-":
                break
            following = argv[position + 1] if position + 1 < len(argv) else ""
            found.extend(self._pairs(word, following))
            position += 2 if self._takes_next(word) else 1
        return found, min(position, len(argv))

    def _takes_next(self, word: str) -> bool:
        if word in self.values:
            return True
        if word.startswith("--") or len(word) < 3:
            return False
        for number, letter in enumerate(word[1:], start=1):
            if "-" + letter in self.values:
                return number == len(word) - 1
        return False

    def _pairs(self, word: str, following: str) -> list[tuple[str, str]]:
        if word in self.values:
            return [(word, following)]
        if word.startswith("--"):
            name, _, value = word.partition("=")
            return [(name, value)]
        pairs: list[tuple[str, str]] = []
        for number, letter in enumerate(word[1:], start=1):
            option = "-" + letter
            if option in self.values:
                rest = word[number + 1 :]
                pairs.append((option, rest.removeprefix("=") or following))
                break
            pairs.append((option, ""))
        return pairs


def _options(text: str = "", positional: int = 0) -> Options:
    return Options(frozenset(text.split()), positional)


_CONDA = _options("-n --name -p --prefix --cwd -a --attach -e --env")
_UV = _options(
    "-p --python --with --with-editable --with-requirements --project --directory --extra --group --no-group"
    " --only-group"
    " --env-file --index --index-url -i --extra-index-url --default-index -f --find-links --package --cache-dir"
    " --config-file --refresh-package --reinstall-package -P --upgrade-package --no-extra --link-mode --resolution"
    " --prerelease --exclude-newer --color --allow-insecure-host --index-strategy --keyring-provider -C"
    " --config-setting --no-build-package --no-binary-package --from --torch-backend --python-platform"
)

#: wrappers that must be repeated to get the same process, by program and sub-command
WRAPPERS: Mapping[tuple[str, ...], Options] = {
    ("numactl",): _options(
        "-i --interleave -p --preferred -N --cpunodebind -m --membind -C --physcpubind -P -w --weighted-interleave"
    ),
    ("taskset",): _options("", 1),
    ("nice",): _options("-n --adjustment"),
    ("ionice",): _options("-c --class -n --classdata -p -P -u"),
    ("chrt",): _options("-T -P -D", 1),
    ("stdbuf",): _options("-i -o -e --input --output --error"),
    ("timeout",): _options("-s --signal -k --kill-after", 1),
    ("prlimit",): _options(""),
    ("catchsegv",): _options(""),
    ("conda", "run"): _CONDA,
    ("mamba", "run"): _CONDA,
    ("micromamba", "run"): _CONDA,
    ("uv", "run"): _UV,
    ("uv", "tool", "run"): _UV,
    ("uvx",): _UV,
    ("poetry", "run"): _options("-C --directory -P --project"),
    ("pdm", "run"): _options("-p --project --venv"),
    ("pipenv", "run"): _options(""),
    ("hatch", "run"): _options("-e --env"),
    ("rye", "run"): _options("--pyproject"),
    ("pixi", "run"): _options("-e --environment --manifest-path -x"),
    ("pipx", "run"): _options("--spec --python --pip-args"),
    ("flock",): _options("-w --timeout -E", 1),
    ("unbuffer",): _options(""),
    ("systemd-inhibit",): _options("--what --who --why --mode"),
}  # fmt: skip

#: wrappers whose options are too many to know: the launch is looked for behind them
LOOSE_WRAPPERS = frozenset(
    ("srun", "mpirun", "mpiexec", "apptainer", "singularity", "nsys", "ncu", "py-spy", "perf", "strace", "gdb",
     "dotenv", "op", "doppler", "infisical", "direnv", "firejail", "bwrap", "cgexec", "proxychains",
     "proxychains4", "torsocks", "mise", "nix", "nix-shell", "tini", "dumb-init", "catatonit", "xvfb-run", "setarch",
     "linux64", "rlwrap", "optirun", "prime-run", "rocprof", "enroot", "distrobox", "toolbox", "unshare",
     "nsenter", "softlimit", "ltrace", "valgrind", "memray", "scalene", "opentelemetry-instrument", "ddtrace-run",
     "coverage", "cgrun", "dcgmproftester", "memkind", "hwloc-bind", "likwid-pin", "jemalloc.sh", "spack", "guix",
     "gpu-lock", "simple_gpu_scheduler", "tsp", "ts", "nq", "pueue", "task-spooler", "bsub", "qsub", "salloc")
)  # fmt: skip

#: programs that only hand on, by name; what they change is read in programs.py
SUDO = _options(
    "-u --user -g --group -h --host -p --prompt -C --close-from -r --role -t --type -T --command-timeout -U -D --chdir"
    " -R --chroot"
)
DOAS = _options("-u -C -a")
SU = _options("-c --command -s --shell -g --group -G --supp-group -w --whitelist-environment -u --user")
ENV = _options("-u --unset -C --chdir -S --split-string -a --argv0")
SETSID = _options("")
EXEC = _options("-a")
TIME = _options("-f --format -o --output")
SYSTEMD_RUN = _options(
    "--unit -u -p --property -E --setenv --uid --gid --working-directory --slice --description --nice --on-active"
    " --on-boot --on-calendar --timer-property --path-property -M --machine -H --host --service-type --background"
)
START_STOP_DAEMON = _options(
    "-x --exec -a --startas -p --pidfile -u --user -c --chuid -d --chdir -n --name -N --nicelevel -k --umask -R --retry"
    " -g --group -O --output -r --chroot -P --procsched -I --iosched -s --signal -e --env"
)
SHELL = _options("-o +o -O +O --rcfile --init-file -c")
TMUX = _options("-L -S -f -c -T")
TMUX_COMMAND = _options("-c -e -F -f -n -s -t -x -y -l -p -N")
SCREEN = _options("-S -t -h -T -e -p -c -s -Logfile")
DOCKER = _options(
    "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey"
    " --connection --url --root --runroot --storage-driver --namespace -n --address -a"
)
DOCKER_COMPOSE = _options(
    "-f --file -p --project-name --env-file --profile --project-directory --ansi --parallel --progress -c --context"
    " -H --host"
)
DOCKER_COMPOSE_UP = _options(
    "--attach --exit-code-from --no-attach --pull --scale -t --timeout --wait-timeout --abort-on-container-exit-from"
)
DOCKER_EXEC = _options("-e --env --env-file -w --workdir -u --user --detach-keys")
SYSTEMD_CAT = _options("-t --identifier -p --priority --stderr-priority --level-prefix")
SCRIPT = _options("-c --command -I -O -B -T -m -o -E -t")
CHROOT = _options("", 1)
SETPRIV = _options(
    "--reuid --ruid --euid --regid --rgid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits"
    " --selinux-label --apparmor-profile --pdeathsig --landlock-access --landlock-rule --seccomp-filter --ptracer"
)
#: those that say who it is
SETPRIV_ACCOUNT = frozenset(
    ("--reuid", "--ruid", "--euid", "--regid", "--rgid", "--egid", "--groups", "--clear-groups", "--keep-groups",
     "--init-groups", "--reset-env")
)  # fmt: skip
CHPST = _options("-u -U -b -e -/ -C -n -l -L -m -d -o -p -f -c -r -t")
PKEXEC = _options("--user")
CAPSH = _options()
DAEMONIZE = _options("-a -e -o -c -p -l -u -E")
DAEMON = _options(
    "-n --name -X --command -P -F --pidfile -p -e --env -u --user -D --chdir -m --umask -o --output -O --stdout -E"
    " --stderr -t --check"
)


@dataclass(frozen=True, slots=True)
class DockerRunOptions:
    """Boolean options of `docker run` and `podman run`; all others take a value."""

    short: frozenset[str] = frozenset("ditPqa") - frozenset("a")
    long: frozenset[str] = field(
        default_factory=lambda: frozenset(
            ("--detach", "--interactive", "--tty", "--rm", "--init", "--privileged", "--read-only", "--no-healthcheck",
             "--publish-all", "--oom-kill-disable", "--sig-proxy", "--disable-content-trust", "--quiet", "--replace",
             "--tls-verify", "--rmi", "--http-proxy", "--no-hosts", "--no-hostname", "--env-host", "--passwd",
             "--read-only-tmpfs", "--rootfs", "--unsetenv-all", "--use-api-socket", "--all", "--no-stdin")
        )
    )  # fmt: skip

    def read(self, argv: Sequence[str]) -> tuple[list[tuple[str, str]], int]:
        """(option, value) pairs from the first word on, and the position of the image."""
        found: list[tuple[str, str]] = []
        position = 0
        while position < len(argv):
            word = argv[position]
            following = argv[position + 1] if position + 1 < len(argv) else ""
            if word == "--":
                return found, position + 1
            if not word.startswith("-") or word == "-":
                break
            if word.startswith("--"):
                name, equals, value = word.partition("=")
                takes = not equals and name not in self.long
                found.append((name, following if takes else value))
            else:
                takes = self._short(word, following, found)
            position += 2 if takes else 1
        return found, min(position, len(argv))

    def _short(self, word: str, following: str, found: list[tuple[str, str]]) -> bool:
        for number, letter in enumerate(word[1:], start=1):
            if letter in self.short:
                found.append(("-" + letter, ""))
                continue
            rest = word[number + 1 :].removeprefix("=")
            found.append(("-" + letter, rest or following))
            return not rest
        return False


DOCKER_RUN = DockerRunOptions()
