//! What libraries beside PyTorch's allocator say when they get no memory: few figures, if any.

use super::super::log::{Line, Stream};
use super::super::quantity::{Amount, leading};
use super::super::reading::{Format, Reading};
use super::pytorch::stack;

/// A text without spaces that tells a message, and what wrote it. The first that is found in a line counts.
const MARKS: &[(&str, Format)] = &[
    ("CUBLAS_STATUS_ALLOC_FAILED", Format::CublasAllocFailed),
    ("CUBLAS_STATUS_NOT_INITIALIZED", Format::CublasAllocFailed),
    ("HIPBLAS_STATUS_ALLOC_FAILED", Format::CublasAllocFailed),
    ("CUDNN_STATUS_ALLOC_FAILED", Format::CublasAllocFailed),
    ("CUSOLVER_STATUS_ALLOC_FAILED", Format::CublasAllocFailed),
    ("CUSPARSE_STATUS_ALLOC_FAILED", Format::CublasAllocFailed),
    ("NCCLWARNCudafailure'outofmemory'", Format::NcclOutOfMemory),
    ("NCCLWARNCudafailure2'outofmemory'", Format::NcclOutOfMemory),
    ("NCCLWARNFailedtoCUDAcalloc", Format::NcclOutOfMemory),
    ("FailedtoCUDAcalloc", Format::NcclOutOfMemory),
    ("FailedtoCUDAhostalloc", Format::NcclOutOfMemory),
    ("Cudafailure'outofmemory'", Format::NcclOutOfMemory),
    ("Cudafailure2'outofmemory'", Format::NcclOutOfMemory),
    ("ncclUnhandledCudaError", Format::NcclOutOfMemory),
    ("Erroroutofmemoryatline", Format::BitsandbytesOutOfMemory),
    ("Noexecutablebatchsizefound", Format::NoExecutableBatchSize),
    ("RESOURCE_EXHAUSTED:Outofmemory", Format::Xla),
    ("OOMwhenallocatingtensor", Format::Xla),
    ("Outofmemoryallocating", Format::CudaError),
    ("CUDAerror:outofmemory", Format::CudaError),
    ("CUDAError:outofmemoryat", Format::CudaError),
    ("CUDAdrivererror:outofmemory", Format::CudaError),
    ("HIPerror:outofmemory", Format::CudaError),
    ("cudaErrorMemoryAllocation", Format::CudaError),
    ("CUDA_ERROR_OUT_OF_MEMORY", Format::CudaError),
    ("hipErrorOutOfMemory", Format::CudaError),
    ("UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", Format::CudaError),
    ("CUDAoutofmemory", Format::CudaOutOfMemory),
    ("HIPoutofmemory", Format::HipOutOfMemory),
    ("NPUoutofmemory", Format::NpuOutOfMemory),
    // CANN's own, which stands behind errors of torch_npu that name no size.
    ("Memory_Allocation_Failure(EL0004)", Format::NpuOutOfMemory),
    // llama.cpp's.
    ("cudaMallocfailed:outofmemory", Format::CudaError),
    ("XPUoutofmemory", Format::XpuOutOfMemory),
];

/// Most messages that are read.
const MOST: usize = 64;

/// Every message that has one of the marks, in the order of the text.
pub(super) fn messages(lines: &[Line], streams: &[Stream]) -> Vec<Reading> {
    let mut found: Vec<Reading> = Vec::new();
    for stream in streams {
        for (mark, format) in MARKS {
            for start in stream.all(mark).into_iter().take(MOST) {
                let at = stream.line_at(start);
                let Some(line) = lines.get(at) else { continue };
                // NCCL says so of any error of CUDA; which it was follows.
                let any = *mark == "ncclUnhandledCudaError";
                if any && !stream.window(start, 400).to_ascii_lowercase().contains("outofmemory") {
                    continue;
                }
                if found.iter().any(|other| other.line == line.number) {
                    continue;
                }
                let after = stream.window(start + mark.len(), 400);
                // vLLM csrc/cumem_allocator.cpp: `CUDA Error: out of memory at .../cumem_allocator.cpp:62`.
                let is_cumem = after.split("CUDAError:").next().is_some_and(|own| own.contains("cumem_allocator"));
                let format = if is_cumem { Format::VllmCumem } else { *format };
                let mut reading = Reading::new(format, line.number, &line.text);
                reading.rank = stream.rank;
                reading.stack = stack(lines, at, stream.rank);
                if format == Format::NcclOutOfMemory {
                    reading.gpu_index = nccl_device(&line.text);
                }
                reading.tried = tried(after);
                found.push(reading);
            }
        }
    }
    found.sort_by_key(|reading| reading.line);
    // NCCL names the request on a line of its own, behind the one that says what CUDA answered.
    for at in 1..found.len() {
        let (before, behind) = found.split_at_mut(at);
        let (Some(first), Some(second)) = (before.last_mut(), behind.first()) else { continue };
        let follows = second.line <= first.line + 3 && second.rank == first.rank;
        if follows && first.format == Format::NcclOutOfMemory && second.format == Format::NcclOutOfMemory {
            first.tried = first.tried.or(second.tried);
        }
    }
    // What follows from the first failure says the same once more.
    let specific = found.iter().any(|reading| reading.format != Format::CudaError);
    found.retain(|reading| !specific || reading.format != Format::CudaError);
    found
}

/// `node7:3121:3380 [1] ... NCCL WARN`: host, process, thread, and the device in brackets (nccl debug.cc).
fn nccl_device(text: &str) -> Option<u64> {
    let (before, rest) = text.split_once(" [")?;
    let by_thread = before.rsplit(':').take(2).all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    let (device, _) = rest.split_once(']')?;
    device.parse().ok().filter(|_| by_thread && before.contains(':'))
}

/// `Failed to CUDA calloc 6291456 bytes`, `while trying to allocate 123 bytes`, `Out of memory allocating 1,024 bytes`.
fn tried(after: &str) -> Option<Amount> {
    let after = after.trim_start_matches("async");
    let marks = ["", "whiletryingtoallocate", "Attemptingtoallocate", "attemptingtoallocate"];
    marks.iter().find_map(|mark| Some(leading(after.split_once(mark)?.1)?.0))
}
