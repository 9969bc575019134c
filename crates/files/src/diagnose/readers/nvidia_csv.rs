//! `nvidia-smi --query-gpu=... --format=csv` and `--query-compute-apps=...`: columns by their heading, or by the command line
//! where there is no heading; without either only what cannot be mistaken.

use super::super::log::Line;
use super::super::quantity::{Amount, leading, number, scaled};
use super::super::reading::{Format, Process, Reading};
use super::nvidia_table::fullest_first;

/// Columns that mean something here; others are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Index,
    Name,
    Total,
    Used,
    Free,
    Pid,
    ProcessName,
    ProcessMemory,
    Other,
}

impl Column {
    /// By the name of the query, or the heading that is printed for it.
    fn of(name: &str) -> Self {
        match name.split('[').next().unwrap_or("").trim() {
            "index" => Self::Index,
            "name" | "gpu_name" => Self::Name,
            "memory.total" => Self::Total,
            "memory.used" => Self::Used,
            "memory.free" => Self::Free,
            "pid" => Self::Pid,
            "process_name" => Self::ProcessName,
            "used_memory" | "used_gpu_memory" => Self::ProcessMemory,
            _ => Self::Other,
        }
    }
}

/// The fullest GPU first.
pub(super) fn read(lines: &[Line]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    for line in lines {
        let text = line.text.trim();
        if let Some(asked) = asked(text) {
            columns = asked;
            continue;
        }
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let heading: Vec<Column> = cells.iter().map(|cell| Column::of(cell)).collect();
        if heading
            .iter()
            .any(|column| matches!(column, Column::Total | Column::Used | Column::Free | Column::ProcessMemory))
        {
            columns = heading;
        } else if columns.is_empty() {
            readings.extend(unnamed(&cells, line));
        } else if cells.len() == columns.len() {
            read_row(&columns, &cells, line, &mut readings);
        }
    }
    fullest_first(readings)
}

/// The columns that a command line asks for.
fn asked(text: &str) -> Option<Vec<Column>> {
    let (_, query) = text.split_once("--query-gpu=").or_else(|| text.split_once("--query-compute-apps="))?;
    let query = query.split([' ', '"', '\'']).next().unwrap_or("");
    Some(query.split(',').map(Column::of).collect())
}

fn read_row(columns: &[Column], cells: &[&str], line: &Line, readings: &mut Vec<Reading>) {
    let cell = |wanted: Column| columns.iter().zip(cells).find(|(column, _)| **column == wanted).map(|(_, cell)| *cell);
    // With `nounits` the figures are MiB.
    let memory = |column: Column| -> Option<u64> { Some(amount(cell(column)?)?.bytes) };
    if let Some(bytes) = memory(Column::ProcessMemory) {
        let process = Process {
            pid: cell(Column::Pid).and_then(|pid| pid.parse().ok()),
            name: cell(Column::ProcessName).map(str::to_owned),
            bytes,
        };
        // Which GPU a process is on is only said by its UUID: all are counted together.
        if readings.is_empty() {
            readings.push(Reading::new(Format::NvidiaSmiCsv, line.number, &line.text));
        }
        if let Some(reading) = readings.first_mut() {
            reading.other_processes_bytes = Some(reading.other_processes_bytes.unwrap_or(0).saturating_add(bytes));
            reading.processes.push(process);
        }
        return;
    }
    let (total, used, free) = (memory(Column::Total), memory(Column::Used), memory(Column::Free));
    if total.or(used).or(free).is_none() {
        return;
    }
    let mut reading = Reading::new(Format::NvidiaSmiCsv, line.number, &line.text);
    reading.gpu_index = cell(Column::Index).and_then(|index| index.parse().ok());
    reading.gpu_name = cell(Column::Name).map(str::to_owned);
    (reading.total_bytes, reading.used_bytes, reading.free_bytes) = (total, used, free);
    readings.push(reading);
}

fn amount(cell: &str) -> Option<Amount> {
    leading(cell).map(|(amount, _)| amount).or_else(|| {
        let (digits, rest) = number(cell)?;
        rest.trim().is_empty().then(|| scaled(digits, 20))?
    })
}

/// Figures without heading or command: which is which can be told where two of them sum to the third at most, the largest being
/// the total; used and free then still look alike.
fn unnamed(cells: &[&str], line: &Line) -> Option<Reading> {
    let amounts: Vec<u64> =
        cells.iter().filter(|cell| cell.ends_with("MiB")).filter_map(|cell| Some(amount(cell)?.bytes)).collect();
    let total = *amounts.iter().max()?;
    if !(2..=4).contains(&amounts.len()) || amounts.len() == cells.len() && line.prefixed {
        return None;
    }
    let mut reading = Reading::new(Format::NvidiaSmiCsv, line.number, &line.text);
    reading.total_bytes = Some(total);
    reading.gpu_index = cells.first().and_then(|cell| cell.parse().ok());
    Some(reading)
}
