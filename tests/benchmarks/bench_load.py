"""What the load script costs: its share of one core at 64 streams with 5,000 tok/s together, and what it measures."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STREAMS, TOK_S = 64, 5000


def main() -> int:
    """Run it against the fake server of the integration tests."""
    interval_ms = 1000 * STREAMS / TOK_S
    fake = ROOT / "tests/integration/measuring/fake_openai.py"
    server = subprocess.Popen(
        [sys.executable, str(fake), json.dumps({"interval_ms": interval_ms})], stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        config = {"url": f"http://127.0.0.1:{port}", "concurrency": [STREAMS], "output_tokens": 256, "max_level_s": 12,
                  "spread_pct": 0.0, "gpu": False}  # fmt: skip
        script = (ROOT / "templates/scripts/load.py").read_bytes()
        done = subprocess.run([sys.executable, "-", json.dumps(config)], input=script, capture_output=True, check=True)
    finally:
        server.kill()
        server.wait()
    level = json.loads(done.stdout.decode().splitlines()[-1])["levels"][0]
    gaps = level["itl_ms"]
    print(f"offered: {STREAMS} streams, {TOK_S} tok/s together, a chunk every {interval_ms:.1f} ms")
    print(f"measured: {level['aggregate_tok_s']:.0f} tok/s, {level['failed']} failed")
    print(f"gaps: {gaps['p50']:.1f} ms at p50, {gaps['p99']:.1f} ms at p99")
    print(f"the script used {100 * level['client_busy']:.0f} % of one core")
    return 0


if __name__ == "__main__":
    sys.exit(main())
