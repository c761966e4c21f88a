"""Small tables and summaries, made here: what they hold is known, so is what must be read."""

from __future__ import annotations

from typing import Any

LIGHTNING = "epoch,step,train_loss,val_loss\n0,49,2.3,\n0,99,nan,\n1,149,2.1,2.2\n"

NVIDIA_SMI = """\
timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB]
2024/01/01 00:00:00.100, 0, NVIDIA A100-SXM4-80GB, 0 %, 1024 MiB, 81920 MiB
2024/01/01 00:00:00.110, 1, NVIDIA A100-SXM4-80GB, 0 %, 1024 MiB, 81920 MiB
2024/01/01 00:00:05.100, 0, NVIDIA A100-SXM4-80GB, 80 %, 40960 MiB, 81920 MiB
2024/01/01 00:00:05.110, 1, NVIDIA A100-SXM4-80GB, 40 %, 20480 MiB, 81920 MiB
timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB]
2024/01/01 00:00:10.100, 0, NVIDIA A100-SXM4-80GB, 60 %, [N/A], 81920 MiB
2024/01/01 00:00:10.110, 1, NVIDIA A100-SXM4-80GB, 60 %, 20480 MiB, 81920 MiB
"""

DMON = """\
# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk    fb  bar1
# Idx     W     C     C     %     %     %     %   MHz   MHz    MB    MB
    0    73    37     -    50     4     0     0  2505   875  2048    10
    1    85    46     -   100     4     0     0  2505   875  4096    10
# gpu   pwr gtemp mtemp    sm   mem   enc   dec  mclk  pclk    fb  bar1
    0    73    37     -     0     4     0     0  2505   875  2048    10
    1    85    46     -     -     4     0     0  2505   875  4096    10
"""

DCGMI = """\
#Entity   GPUTL  FBUSD  SMACT  TENSO
ID
GPU 0     50     12000  0.400  0.200
GPU 1     70     13000  0.600  N/A
GPU 0     60     12000  0.400  0.200
"""

DCGM = """\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",modelName="NVIDIA L4",Hostname="lab-7"} 90
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",modelName="NVIDIA L4",Hostname="lab-7"} 80
DCGM_FI_DEV_MEMORY_TEMP{gpu="0",UUID="GPU-1",modelName="NVIDIA L4"} 9223372036854775794
"""

WANDB_SUMMARY: dict[str, Any] = {
    "train/loss": 0.4,
    "train/global_step": 100,
    "_timestamp": 1.7e9,
    "_runtime": 510.0,
    "_step": 100,
    "train_runtime": 500.0,
    "train_samples_per_second": 3.2,
    "train_steps_per_second": 0.2,
}

WANDB_METADATA: dict[str, Any] = {
    "os": "Linux-5.15",
    "startedAt": "2023-11-04T06:24:50",
    "args": [
        *("--model_name_or_path", "/home/alice/models/llama-7b", "--bf16", "True"),
        *("--per_device_train_batch_size", "4", "--output_dir", "/home/alice/out"),
    ],
    "codePath": "train.py",
    "host": "lab-7",
    "username": "alice",
    "executable": "/home/alice/bin/python",
    "gpu": "NVIDIA A100-SXM4-80GB",
    "gpu_count": 8,
    "gpu_devices": [{"name": "NVIDIA A100-SXM4-80GB", "memory_total": 85899345920}] * 8,
}

WANDB_CHART = """\
"Relative Time (Process)","run - train/global_step","run - train/global_step__MIN",\
"run - train/global_step__MAX","run - perf/tokens_per_sec"
10,5,5,5,1000
20,10,10,10,1100
30,15,15,15,1200
"""

MLFLOW = """\
run_id,key,value,timestamp,step
1a2b,train_loss,2.5,1700000000000,0
1a2b,train_loss,2.4,1700000005000,10
1a2b,train_loss,2.3,1700000010000,20
1a2b,system/cpu,9,1700000010000,1
"""

NSYS_TRACE = """\
Generating SQLite file /home/alice/report.sqlite from /home/alice/report.nsys-rep
Processing [/home/alice/report.sqlite] with [cuda_gpu_trace.py]...
Start (ns),Duration (ns),CorrId,Bytes (MB),Device,Ctx,Strm,Name
1000,400,1,,NVIDIA A100-SXM4-80GB (0),1,7,"void gemm<float, 4>(int, float *)"
1400,300,2,,NVIDIA A100-SXM4-80GB (0),1,20,ncclDevKernel_AllReduce_Sum_f32
1400,100,3,,NVIDIA A100-SXM4-80GB (0),1,7,add
1950,50,4,1.0,NVIDIA A100-SXM4-80GB (0),1,7,[CUDA memcpy Host-to-Device]
"""

NSYS_SUMS = """\
Processing [report.sqlite] with [cuda_gpu_kern_sum.py]...

 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
75.0,3000000,30,100000,1,1,1,0.0,"void gemm<float, 4>(int, float *)"
25.0,1000000,10,100000,1,1,1,0.0,ncclDevKernel_AllReduce_Sum_f32
"""
