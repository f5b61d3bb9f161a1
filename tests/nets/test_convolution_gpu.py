"""The layers written for a GPU, run by Triton's interpreter, against the module that is trained."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton", reason="layers for a GPU need Triton, which comes with torch's builds for CUDA")

SCRIPT = """
import torch
from fogplay.bots.doudizhu.training import FACT_WORDS, PLANES
from fogplay.nets.convolution import Convolution
from fogplay.nets.convolution_gpu import FoldedConvolution
from fogplay.strategies.convolution import ConvolutionShape

torch.manual_seed(1)
net = Convolution(ConvolutionShape(32, 476, PLANES, FACT_WORDS, 15, 32, 2), 3).eval()
folded = FoldedConvolution(net)
with torch.no_grad():
    for name, array in net.arrays.items():
        positive = name.endswith(("variance", "gain"))
        array.copy_(torch.rand_like(array) * 0.4 + 0.8 if positive else torch.randn_like(array) * 0.1)
folded.fold()
seen = torch.randint(-(2**62), 2**62, (20, 32))
for copy in range(3):
    there, here = net(seen.unsqueeze(0), copy)[0], folded(seen, copy)
    assert (there - here).abs().max() < 0.05 * there.abs().max(), (there - here).abs().max()
"""


def test_layers_for_a_gpu_agree_with_the_module() -> None:
    own = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
