//! Python's pickle as data: lists, dicts, tuples, texts and numbers. What would import or call anything is refused by name.
//!
//! Values lie in one arena and refer to each other by number, so that a memo can share them without copying, nesting takes no
//! stack, and no value is larger than the bytes it was read from. Protocols 0 to 5 (Lib/pickletools.py).

use std::collections::BTreeMap;
use std::fmt;

/// Longest pickle that is read, bytes.
pub const MAX_BYTES: usize = 512 << 20;

/// Number of a value in its [`Pickle`].
pub type Id = u32;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A text; bytes as text, where they are UTF-8.
    Text(String),
    /// A list, tuple or set.
    List(Vec<Id>),
    /// Keys and values in order.
    Map(Vec<(Id, Id)>),
}

/// Everything that a pickle says.
#[derive(Debug, Default)]
pub struct Pickle {
    values: Vec<Value>,
    root: Id,
}

/// Why bytes are no pickle of plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Byte at which reading ended.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What can be wrong with a pickle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// It would run code: the opcode's name.
    Code(&'static str),
    /// No opcode of any protocol.
    UnknownOpcode(u8),
    /// It ends too early.
    Truncated,
    /// It takes what is not there, or puts something into what is no list or dict.
    Malformed,
    /// Longer than [`MAX_BYTES`].
    TooLong,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match &self.problem {
            Problem::Code(name) => write!(
                f,
                "byte {at}: the pickle asks for code ({name}), which is never run; dump it with torch.cuda.memory._dump_snapshot"
            ),
            Problem::UnknownOpcode(code) => {
                write!(f, "byte {at}: {code:#04x} is no opcode of a pickle; copy the file in binary")
            }
            Problem::Truncated => write!(f, "byte {at}: the pickle ends too early; copy the whole file"),
            Problem::Malformed => write!(f, "byte {at}: no pickle that Python wrote; dump the snapshot again"),
            Problem::TooLong => {
                write!(
                    f,
                    "longer than {MAX_BYTES} bytes; record fewer events: _record_memory_history(max_entries=100000)"
                )
            }
        }
    }
}

impl std::error::Error for Unreadable {}

impl Pickle {
    /// Reads a pickle. Nothing is imported, called or run.
    ///
    /// # Errors
    /// Where it is none, or none of plain data.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.len() > MAX_BYTES {
            return Err(Unreadable { at: 0, problem: Problem::TooLong });
        }
        let mut reader =
            Reader { bytes, at: 0, values: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: BTreeMap::new() };
        match reader.run() {
            Ok(root) => Ok(Self { values: reader.values, root }),
            Err(problem) => Err(Unreadable { at: reader.at, problem }),
        }
    }

    /// The outermost value.
    pub fn root(&self) -> Id {
        self.root
    }

    /// A value by its number; `None` for a number of another pickle.
    pub fn get(&self, id: Id) -> &Value {
        self.values.get(id as usize).unwrap_or(&Value::None)
    }

    /// What the dict `id` has for `key`, among its last keys: dicts that are searched here have a few, and one of millions
    /// that is shared by millions of lists would otherwise take days.
    pub fn entry(&self, id: Id, key: &str) -> Option<Id> {
        const MOST: usize = 64;
        let Value::Map(entries) = self.get(id) else { return None };
        let entries = entries.get(entries.len().saturating_sub(MOST)..)?;
        let is_key = |(other, _): &&(Id, Id)| matches!(self.get(*other), Value::Text(text) if text == key);
        entries.iter().rev().find(is_key).map(|(_, value)| *value)
    }

    /// The items of the list `id`; none of anything else.
    pub fn items(&self, id: Id) -> &[Id] {
        if let Value::List(items) = self.get(id) { items } else { &[] }
    }

    /// The whole number that the dict `id` has for `key`, if it is not negative.
    pub fn whole(&self, id: Id, key: &str) -> Option<u64> {
        match self.get(self.entry(id, key)?) {
            Value::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The text that the dict `id` has for `key`.
    pub fn text(&self, id: Id, key: &str) -> Option<&str> {
        if let Value::Text(text) = self.get(self.entry(id, key)?) { Some(text) } else { None }
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    values: Vec<Value>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: BTreeMap<u32, Id>,
}

/// Opcodes that import, call or build objects.
const CODE: &[(u8, &str)] = &[
    (b'c', "GLOBAL"),
    (0x93, "STACK_GLOBAL"),
    (b'R', "REDUCE"),
    (b'b', "BUILD"),
    (b'i', "INST"),
    (b'o', "OBJ"),
    (0x81, "NEWOBJ"),
    (0x92, "NEWOBJ_EX"),
    (0x82, "EXT1"),
    (0x83, "EXT2"),
    (0x84, "EXT4"),
    (b'P', "PERSID"),
    (b'Q', "BINPERSID"),
    (0x97, "NEXT_BUFFER"),
    (0x98, "READONLY_BUFFER"),
];

impl<'b> Reader<'b> {
    fn run(&mut self) -> Result<Id, Problem> {
        loop {
            let code = self.byte()?;
            if code == b'.' {
                return self.pop();
            }
            if !(self.constant(code)? || self.container(code)? || self.arrange(code)?) {
                self.at -= 1;
                let named = CODE.iter().find(|(other, _)| *other == code);
                return Err(named.map_or(Problem::UnknownOpcode(code), |(_, name)| Problem::Code(name)));
            }
        }
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], Problem> {
        let end = self.at.checked_add(length).ok_or(Problem::Truncated)?;
        let taken = self.bytes.get(self.at..end).ok_or(Problem::Truncated)?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Problem> {
        self.take(1)?.first().copied().ok_or(Problem::Truncated)
    }

    /// A length or number of `width` bytes, lowest first.
    fn number(&mut self, width: usize) -> Result<u64, Problem> {
        Ok(self.take(width)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self, width: usize) -> Result<usize, Problem> {
        usize::try_from(self.number(width)?).map_err(|_| Problem::Truncated)
    }

    /// The rest of a line, of the text protocol.
    fn line(&mut self) -> Result<&'b str, Problem> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n').ok_or(Problem::Truncated)?;
        let line = self.take(length)?;
        self.at += 1;
        std::str::from_utf8(line).map_err(|_| Problem::Malformed)
    }

    fn push(&mut self, value: Value) -> Result<bool, Problem> {
        let id = Id::try_from(self.values.len()).map_err(|_| Problem::TooLong)?;
        self.values.push(value);
        self.stack.push(id);
        Ok(true)
    }

    fn pop(&mut self) -> Result<Id, Problem> {
        if self.marks.last().is_some_and(|mark| *mark >= self.stack.len()) {
            return Err(Problem::Malformed);
        }
        self.stack.pop().ok_or(Problem::Malformed)
    }

    /// Everything since the last mark.
    fn since_mark(&mut self) -> Result<Vec<Id>, Problem> {
        let mark = self.marks.pop().ok_or(Problem::Malformed)?;
        if mark > self.stack.len() {
            return Err(Problem::Malformed);
        }
        Ok(self.stack.split_off(mark))
    }

    fn text(&mut self, length: usize) -> Result<bool, Problem> {
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.push(Value::Text(text))
    }

    /// A number of any length, two's complement, lowest byte first; those beyond 64 bits saturate.
    fn long(&mut self, length: usize) -> Result<bool, Problem> {
        let bytes = self.take(length)?;
        let negative = bytes.last().is_some_and(|last| *last >= 0x80);
        let fill = if negative { 0xff } else { 0 };
        let fits = bytes.iter().skip(8).all(|byte| *byte == fill);
        let mut eight = [fill; 8];
        for (to, from) in eight.iter_mut().zip(bytes) {
            *to = *from;
        }
        let number = i64::from_le_bytes(eight);
        let fits = fits && (number < 0) == negative;
        self.push(Value::Integer(if fits {
            number
        } else if negative {
            i64::MIN
        } else {
            i64::MAX
        }))
    }

    /// Opcodes that push a value which stands in the bytes.
    fn constant(&mut self, code: u8) -> Result<bool, Problem> {
        match code {
            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Flag(true)),
            0x89 => self.push(Value::Flag(false)),
            b'J' => {
                let number = self.number(4)? as u32;
                self.push(Value::Integer(i64::from(number.cast_signed())))
            }
            b'K' | b'M' => {
                let number = self.number(if code == b'K' { 1 } else { 2 })?;
                self.push(Value::Integer(number.cast_signed()))
            }
            b'I' => match self.line()? {
                "00" => self.push(Value::Flag(false)),
                "01" => self.push(Value::Flag(true)),
                digits => {
                    let number = digits.trim().parse().map_err(|_| Problem::Malformed)?;
                    self.push(Value::Integer(number))
                }
            },
            b'L' => {
                let number = self.line()?.trim_end_matches('L').parse().map_err(|_| Problem::Malformed)?;
                self.push(Value::Integer(number))
            }
            0x8a | 0x8b => {
                let length = self.length(if code == 0x8a { 1 } else { 4 })?;
                self.long(length)
            }
            b'F' => {
                let number = self.line()?.parse().map_err(|_| Problem::Malformed)?;
                self.push(Value::Number(number))
            }
            b'G' => {
                let bits = self.take(8)?.iter().fold(0, |bits: u64, byte| bits << 8 | u64::from(*byte));
                self.push(Value::Number(f64::from_bits(bits)))
            }
            b'V' | b'S' => {
                let line = self.line()?.trim_matches(['\'', '"']).to_owned();
                self.push(Value::Text(line))
            }
            0x8c | b'U' | b'C' => {
                let length = self.length(1)?;
                self.text(length)
            }
            b'X' | b'T' | b'B' => {
                let length = self.length(4)?;
                self.text(length)
            }
            0x8d | 0x8e | 0x96 => {
                let length = self.length(8)?;
                self.text(length)
            }
            _ => Ok(false),
        }
    }

    /// Opcodes that make lists and dicts, and put values into them.
    fn container(&mut self, code: u8) -> Result<bool, Problem> {
        match code {
            b']' | b')' | 0x8f => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Map(Vec::new())),
            b'l' | b't' | 0x91 => {
                let items = self.since_mark()?;
                self.push(Value::List(items))
            }
            b'd' => {
                let items = self.since_mark()?;
                self.push(Value::Map(pairs(&items)?))
            }
            0x85..=0x87 => {
                let count = usize::from(code - 0x84);
                let items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
                self.push(Value::List(items.into_iter().rev().collect()))
            }
            b'a' => {
                let item = self.pop()?;
                self.extend(&[item])
            }
            b'e' | 0x90 => {
                let items = self.since_mark()?;
                self.extend(&items)
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.insert(&[key, value])
            }
            b'u' => {
                let items = self.since_mark()?;
                self.insert(&items)
            }
            _ => Ok(false),
        }
    }

    /// Opcodes that arrange the stack and the memo.
    fn arrange(&mut self, code: u8) -> Result<bool, Problem> {
        match code {
            0x80 => {
                self.take(1)?;
            }
            0x95 => {
                self.take(8)?;
            }
            b'(' => self.marks.push(self.stack.len()),
            b'0' => {
                self.pop()?;
            }
            b'1' => {
                self.since_mark()?;
            }
            b'2' => {
                let top = self.top()?;
                self.stack.push(top);
            }
            0x94 => {
                let next = u32::try_from(self.memo.len()).map_err(|_| Problem::TooLong)?;
                self.remember(next)?;
            }
            b'q' | b'r' => {
                let place = self.number(if code == b'q' { 1 } else { 4 })?;
                self.remember(place as u32)?;
            }
            b'p' => {
                let place = self.line()?.parse().map_err(|_| Problem::Malformed)?;
                self.remember(place)?;
            }
            b'h' | b'j' => {
                let place = self.number(if code == b'h' { 1 } else { 4 })?;
                self.recall(place as u32)?;
            }
            b'g' => {
                let place = self.line()?.parse().map_err(|_| Problem::Malformed)?;
                self.recall(place)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn top(&self) -> Result<Id, Problem> {
        self.stack.last().copied().ok_or(Problem::Malformed)
    }

    fn remember(&mut self, place: u32) -> Result<(), Problem> {
        let top = self.top()?;
        self.memo.insert(place, top);
        Ok(())
    }

    fn recall(&mut self, place: u32) -> Result<(), Problem> {
        let id = *self.memo.get(&place).ok_or(Problem::Malformed)?;
        self.stack.push(id);
        Ok(())
    }

    fn extend(&mut self, items: &[Id]) -> Result<bool, Problem> {
        let top = self.top()?;
        match self.values.get_mut(top as usize) {
            Some(Value::List(list)) => list.extend_from_slice(items),
            _ => return Err(Problem::Malformed),
        }
        Ok(true)
    }

    fn insert(&mut self, items: &[Id]) -> Result<bool, Problem> {
        let entries = pairs(items)?;
        let top = self.top()?;
        match self.values.get_mut(top as usize) {
            Some(Value::Map(map)) => map.extend(entries),
            _ => return Err(Problem::Malformed),
        }
        Ok(true)
    }
}

fn pairs(items: &[Id]) -> Result<Vec<(Id, Id)>, Problem> {
    if items.len() % 2 == 1 {
        return Err(Problem::Malformed);
    }
    Ok(items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
}
