//! A snapshot of PyTorch's caching allocator (`torch.cuda.memory._dump_snapshot`): its segments, and what was asked of it.

mod compare;
mod pickle;
mod steps;

pub use compare::{Comparison, OfSize, compare};
pub use pickle::{Id, MAX_BYTES, Pickle, Problem, Unreadable, Value};

/// Most events that are read: PyTorch keeps 100,000 unless told otherwise.
const MOST_EVENTS: usize = 8_000_000;

/// Bytes as the allocator hands them out.
const fn rounded(bytes: u64) -> u64 {
    bytes.div_ceil(512).saturating_mul(512)
}

/// What a trace entry says happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A tensor took a block.
    Alloc,
    /// A block went back (`free_completed`).
    Free,
    /// A request failed.
    OutOfMemory {
        /// What the device still had, bytes.
        device_free: u64,
    },
}

/// An entry of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// Bytes asked for, or given back.
    pub bytes: u64,
    /// Where.
    pub address: u64,
    /// When, microseconds.
    pub time_us: u64,
    /// The entry in the pickle, for its stack.
    id: Id,
}

/// One device of a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Device {
    /// Its number.
    pub index: u64,
    /// Taken from the device at the end, bytes.
    pub reserved_bytes: u64,
    /// Handed out at the end, bytes.
    pub allocated_bytes: u64,
    /// Sizes of the blocks that live at the end, bytes.
    pub live: Vec<u64>,
    /// What was asked, the oldest first.
    pub events: Vec<Event>,
    /// Whether any segment is expandable.
    pub expandable: bool,
}

/// A snapshot, read.
#[derive(Debug)]
pub struct Snapshot {
    pickle: Pickle,
    /// Its devices, those with nothing left out; the one with most reserved first.
    pub devices: Vec<Device>,
    /// Times at which `optimizer.step()` ended, microseconds; PyTorch notes them since 2.6.
    pub steps: Vec<u64>,
}

/// Whether `bytes` begin as a pickle does.
pub fn is_pickle(bytes: &[u8]) -> bool {
    matches!(bytes, [0x80, 2..=5, ..])
}

impl Snapshot {
    /// Reads a snapshot: a dict of segments and traces, or the list of segments that PyTorch before 2.0 gives.
    ///
    /// # Errors
    /// Where the bytes are no pickle, or none of plain data.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let pickle = Pickle::read(bytes)?;
        let root = pickle.root();
        let segments = pickle.entry(root, "segments").unwrap_or(root);
        let mut devices: Vec<Device> = Vec::new();
        for segment in pickle.items(segments) {
            let index = pickle.whole(*segment, "device").unwrap_or(0);
            let at = place(&mut devices, index);
            if let Some(device) = devices.get_mut(at) {
                read_segment(&pickle, *segment, device);
            }
        }
        let traces =
            pickle.entry(root, "device_traces").map(|traces| pickle.items(traces).to_vec()).unwrap_or_default();
        for (index, trace) in traces.iter().enumerate() {
            let events = events(&pickle, *trace);
            if !events.is_empty() {
                let at = place(&mut devices, index as u64);
                if let Some(device) = devices.get_mut(at) {
                    device.events = events;
                }
            }
        }
        devices.sort_by_key(|device| (std::cmp::Reverse(device.reserved_bytes), device.index));
        let steps = steps::ends(&pickle, root);
        Ok(Self { pickle, devices, steps })
    }

    /// The innermost frames of the stack at which `event` was asked, as `file:line function`; none where no stacks were kept.
    pub fn stack(&self, event: &Event) -> Vec<String> {
        /// More than these say nothing to a reader.
        const MOST: usize = 6;
        let Some(frames) = self.pickle.entry(event.id, "frames") else { return Vec::new() };
        let said = |frame: &Id| {
            let name = self.pickle.text(*frame, "name")?;
            let file = self.pickle.text(*frame, "filename")?;
            let line = self.pickle.whole(*frame, "line").unwrap_or(0);
            file.ends_with(".py").then(|| format!("{file}:{line} {name}"))
        };
        self.pickle.items(frames).iter().filter_map(said).take(MOST).collect()
    }
}

/// Place of the device `index`, known or new.
fn place(devices: &mut Vec<Device>, index: u64) -> usize {
    devices.iter().position(|device| device.index == index).unwrap_or_else(|| {
        devices.push(Device { index, ..Device::default() });
        devices.len() - 1
    })
}

fn read_segment(pickle: &Pickle, segment: Id, device: &mut Device) {
    let whole = |key| pickle.whole(segment, key).unwrap_or(0);
    device.reserved_bytes = device.reserved_bytes.saturating_add(whole("total_size"));
    device.allocated_bytes = device.allocated_bytes.saturating_add(whole("allocated_size"));
    device.expandable |=
        pickle.entry(segment, "is_expandable").is_some_and(|flag| *pickle.get(flag) == Value::Flag(true));
    let Some(blocks) = pickle.entry(segment, "blocks") else { return };
    for block in pickle.items(blocks) {
        if pickle.text(*block, "state") == Some("active_allocated") {
            let size = pickle.whole(*block, "requested_size").or_else(|| pickle.whole(*block, "size"));
            device.live.push(size.unwrap_or(0));
        }
    }
}

fn events(pickle: &Pickle, trace: Id) -> Vec<Event> {
    let items = pickle.items(trace);
    let items = items.get(items.len().saturating_sub(MOST_EVENTS)..).unwrap_or(items);
    let read = |id: &Id| {
        let action = match pickle.text(*id, "action")? {
            "alloc" => Action::Alloc,
            "free_completed" => Action::Free,
            "oom" => Action::OutOfMemory { device_free: pickle.whole(*id, "device_free").unwrap_or(0) },
            _ => return None,
        };
        let whole = |key| pickle.whole(*id, key).unwrap_or(0);
        Some(Event { action, bytes: whole("size"), address: whole("addr"), time_us: whole("time_us"), id: *id })
    };
    items.iter().filter_map(read).collect()
}

impl Device {
    /// Handed out before the trace begins, bytes: what lives at the end less what the trace adds.
    fn allocated_before(&self) -> u64 {
        let mut net: i128 = 0;
        for event in &self.events {
            match event.action {
                Action::Alloc => net += i128::from(rounded(event.bytes)),
                Action::Free => net -= i128::from(rounded(event.bytes)),
                Action::OutOfMemory { .. } => {}
            }
        }
        let live: i128 = self.live.iter().map(|bytes| i128::from(rounded(*bytes))).sum();
        u64::try_from((live - net).max(0)).unwrap_or(u64::MAX)
    }

    /// Handed out after each event, bytes.
    pub fn allocated(&self) -> Vec<u64> {
        let mut now = self.allocated_before();
        let step = |event: &Event| {
            match event.action {
                Action::Alloc => now = now.saturating_add(rounded(event.bytes)),
                Action::Free => now = now.saturating_sub(rounded(event.bytes)),
                Action::OutOfMemory { .. } => {}
            }
            now
        };
        self.events.iter().map(step).collect()
    }

    /// The last request that failed, bytes, and what the device had then.
    pub fn failed(&self) -> Option<(u64, u64)> {
        self.events.iter().rev().find_map(|event| match event.action {
            Action::OutOfMemory { device_free } => Some((event.bytes, device_free)),
            _ => None,
        })
    }
}
