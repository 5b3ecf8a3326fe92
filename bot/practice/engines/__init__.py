"""Practice engines: they take the real flags of SGLang, vLLM and llama.cpp and behave like them, without a GPU.

`install.py` puts `program/` (standard library only, Python 3.8 or newer) into a Python environment, so that
`bin/python3 -m sglang.launch_server …`, `vllm serve …` and `llama-server …` run it under their own names.
"""
