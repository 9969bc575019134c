//! Messages of PyTorch's caching allocators, of every version and backend.
//!
//! c10/cuda/CUDACachingAllocator.cpp `DeviceCachingAllocator::malloc`. Until 2.0: `(GPU 0; 23.70 GiB total capacity; 21.88 GiB
//! already allocated; 19.56 MiB free; 22.30 GiB reserved in total by PyTorch)`, which torch_npu still prints; from 2.1 sentences,
//! with the processes that NVML lists. Figures are found by the words beside them, so that another order or a missing part
//! does no harm.

use super::super::log::{Line, Stream, value_after};
use super::super::quantity::{Amount, leading, trailing};
use super::super::reading::{Format, Process, Reading};

/// Longest message, bytes without spaces: a list of a hundred processes.
const LONGEST: usize = 8_000;
/// Most messages that are read: a job of some thousand ranks.
const MOST: usize = 4_096;

/// Backends by the word before `out of memory`.
const BACKENDS: &[(&str, Format)] = &[
    ("CUDA", Format::CudaOutOfMemory),
    ("HIP", Format::HipOutOfMemory),
    ("XPU", Format::XpuOutOfMemory),
    ("NPU", Format::NpuOutOfMemory),
    ("MPSbackend", Format::MpsOutOfMemory),
    ("MUSA", Format::CudaOutOfMemory),
];

/// Every message, in the order of the text.
pub(super) fn messages(lines: &[Line], streams: &[Stream]) -> Vec<Reading> {
    let mut found: Vec<Reading> = Vec::new();
    for stream in streams {
        let mut starts = stream.all("outofmemory.Triedtoallocate");
        starts.extend(stream.all("outofmemory(MPSallocated"));
        starts.extend(stream.all("outofmemory.Allocationwaspreemptivelyrejected"));
        // torch_npu csrc/core/npu/NPUWorkspaceAllocator.cpp.
        starts.extend(stream.all("outofmemory.NPUWorkspaceAllocatortriedtoallocate"));
        starts.extend(stream.all("wouldexceedallowedmemory.(outofmemory)"));
        // IPEX before 2.4.
        starts.extend(stream.all("canNOTallocatememoryblockwithsizelargerthan"));
        starts.sort_unstable();
        for (i, start) in starts.iter().take(MOST).enumerate() {
            let next = starts.get(i + 1).map_or(usize::MAX, |next| next - start);
            let message = stream.window(*start, LONGEST.min(next));
            let before = stream.text.get(..*start).unwrap_or("");
            let Some((word, format)) = backend(before, message) else { continue };
            let at = stream.line_at(start - word);
            let Some(line) = lines.get(at) else { continue };
            if found.iter().any(|other| other.line == line.number) {
                continue;
            }
            let mut reading = Reading::new(format, line.number, &line.text);
            reading.rank = stream.rank;
            read_message(message, &mut reading);
            if message.starts_with("wouldexceed") {
                let index = before.bytes().rev().take_while(u8::is_ascii_digit).count();
                reading.gpu_index = before.get(before.len() - index..).and_then(|digits| digits.parse().ok());
                read_async(message, &mut reading);
            }
            reading.stack = stack(lines, at, stream.rank);
            found.push(reading);
        }
    }
    found.sort_by_key(|reading| reading.line);
    found
}

/// How much of what stands before a message belongs to it, and whose message it is.
fn backend(before: &str, message: &str) -> Option<(usize, Format)> {
    if message.starts_with("canNOT") {
        return Some((0, Format::XpuOutOfMemory));
    }
    if message.starts_with("wouldexceed") {
        // `Allocation on device 0 would exceed`: the backend `cudaMallocAsync` (c10/cuda/CUDAMallocAsyncAllocator.cpp).
        let index = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let stem = before.get(..before.len() - index)?;
        return stem
            .ends_with("Allocationondevice")
            .then(|| (index + "Allocationondevice".len(), Format::CudaOutOfMemory));
    }
    let (word, format) = BACKENDS.iter().find(|(word, _)| before.ends_with(word))?;
    Some((word.len(), *format))
}

/// The amount that ends where `mark` begins in `message`.
fn before(message: &str, mark: &str) -> Option<Amount> {
    trailing(message.split_once(mark)?.0)
}

/// The amount that begins where `mark` ends.
fn after(message: &str, mark: &str) -> Option<Amount> {
    Some(leading(message.split_once(mark)?.1)?.0)
}

fn read_message(message: &str, reading: &mut Reading) {
    let bytes = |amount: Option<Amount>| amount.map(|amount| amount.bytes);
    let tried = ["Triedtoallocate", "NPUWorkspaceAllocatortriedtoallocate", "Requestedsize:"];
    reading.tried = tried.iter().find_map(|mark| after(message, mark));
    // torch_npu and others give figures in parentheses, in any order.
    for mark in ["(GPU", "(NPU", "GPU", "NPU"] {
        if reading.gpu_index.is_none() {
            reading.gpu_index = value_after(message, mark);
        }
    }
    let capacity = ["hasatotalcapacityof", "hasatotalcapactyof"];
    reading.total_bytes = capacity
        .iter()
        .find_map(|mark| bytes(after(message, mark)))
        .or_else(|| bytes(before(message, "totalcapacity;")))
        .or_else(|| bytes(before(message, "total;")));
    reading.free_bytes = ["isfree", "free;", "free)"].iter().find_map(|mark| bytes(before(message, mark)));
    reading.allocated = before(message, "isallocatedbyPyTorch")
        .or_else(|| private(message))
        .or_else(|| before(message, "alreadyallocated"))
        .or_else(|| after(message, "(MPSallocated:"));
    reading.private_pool_bytes = bytes(before(message, "allocatedinprivatepools"));
    reading.reserved_unallocated_bytes = bytes(before(message, "isreservedbyPyTorchbutunallocated"));
    reading.reserved_bytes = bytes(before(message, "reservedintotalbyPyTorch"));
    // Until 1.3: `stats.amount_cached - stats.amount_allocated`.
    reading.reserved_unallocated_bytes =
        reading.reserved_unallocated_bytes.or_else(|| bytes(before(message, "cached)")));
    reading.allowed_bytes = bytes(before(message, "allowed;")).or_else(|| bytes(after(message, "maxallowed:")));
    reading.process_bytes = bytes(after(message, "thisprocesshas"));
    reading.expandable = message.contains("expandable_segmentsisenabled");
    reading.processes = processes(message);
    tell_apart(reading);
}

/// `Currently allocated : 21.36 GiB`, `Requested : 640.00 MiB`, `Device limit : 23.99 GiB`, `Free (according to CUDA): 0 bytes`,
/// and `PyTorch limit (set by user-supplied memory fraction) : 17179869184.00 GiB`, which is none.
fn read_async(message: &str, reading: &mut Reading) {
    let bytes = |amount: Option<Amount>| amount.map(|amount| amount.bytes);
    reading.allocated = after(message, "Currentlyallocated:");
    reading.tried = after(message, "Requested:");
    reading.total_bytes = bytes(after(message, "Devicelimit:"));
    reading.free_bytes = bytes(after(message, "Free(accordingtoCUDA):"));
    let limit = bytes(after(message, "memoryfraction):"));
    reading.allowed_bytes = limit.filter(|limit| reading.total_bytes.is_none_or(|total| *limit < total));
}

/// In some versions the words run `74.1 GiB is allocated by PyTorch, with 40.0 MiB allocated in private pools`.
fn private(message: &str) -> Option<Amount> {
    after(message, "Oftheallocatedmemory")
}

/// `Process 312 has 10.00 GiB memory in use.`, as often as it stands there.
fn processes(message: &str) -> Vec<Process> {
    let mut processes = Vec::new();
    for part in message.split("Process").skip(1) {
        let Some((pid, rest)) = part.split_once("has") else { continue };
        let (Ok(pid), Some((amount, rest))) = (pid.parse(), leading(rest)) else { continue };
        if rest.starts_with("memoryinuse") {
            processes.push(Process { pid: Some(pid), name: None, bytes: amount.bytes });
        }
    }
    processes
}

/// Which of the listed processes is the one that failed.
///
/// In a container NVML's numbers are not those the process knows itself by, so that the message lists it as if it were another
/// (`reportProcessMemoryInfo` compares with `getpid()`). It is then the one that alone can hold what PyTorch has taken: the GPU
/// has no room for that beside it.
fn tell_apart(reading: &mut Reading) {
    let sum = |processes: &[Process]| processes.iter().fold(0_u64, |sum, process| sum.saturating_add(process.bytes));
    // In a container NVML may count the process as nothing at all.
    if reading.process_bytes.is_none_or(|bytes| bytes == 0)
        && let (Some(total), Some(reserved)) = (reading.total_bytes, reading.reserved())
    {
        let all = sum(&reading.processes).saturating_add(reserved);
        // The figures are rounded, each by up to half a hundredth of a GiB.
        let slack = (reading.processes.len() as u64 + 3) << 23;
        let holds = |process: &&Process| process.bytes.saturating_add(slack) >= reserved;
        let own = reading.processes.iter().filter(holds).min_by_key(|process| process.bytes).cloned();
        if let Some(own) = own.filter(|_| all > total.saturating_add(slack)) {
            (reading.process_bytes, reading.process_pid) = (Some(own.bytes), own.pid);
            reading.processes.retain(|process| *process != own);
        }
    }
    if !reading.processes.is_empty() {
        reading.other_processes_bytes = Some(sum(&reading.processes));
    }
}

/// `File "a.py", line 3, in f`, and a notebook's `File a.py:3, in f()`.
fn is_frame(text: &str) -> bool {
    text.starts_with("File \"") || text.contains(".py\", line ") || text.starts_with("File ") && text.contains(".py:")
}

/// Files and functions of the Python stack above the line at `at`, the innermost last.
pub(super) fn stack(lines: &[Line], at: usize, rank: Option<u64>) -> Vec<String> {
    /// Deepest stack that is looked at, lines of log.
    const DEEPEST: usize = 600;
    let above = lines.get(at.saturating_sub(DEEPEST)..at).unwrap_or_default();
    let mut stack = Vec::new();
    for line in above.iter().filter(|line| line.rank == rank || line.rank.is_none()) {
        let text = line.text.trim();
        if text.starts_with("Traceback (most recent call last)") {
            stack.clear();
        } else if is_frame(text) {
            stack.push(text.to_owned());
        } else if let Some(last) = stack.last_mut().filter(|last| !last.contains('\n')) {
            // The line of code below its place.
            last.push('\n');
            last.push_str(text.get(..text.len().min(200)).unwrap_or(""));
        }
    }
    stack
}
