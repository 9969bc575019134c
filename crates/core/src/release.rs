//! Versions as numbers that can be compared.

/// A release: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Release {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Release {
    /// The release `major.minor.patch`.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// The first number.
    pub const fn major(self) -> u32 {
        self.major
    }

    /// The second number.
    pub const fn minor(self) -> u32 {
        self.minor
    }

    /// Whether it is older than `major.minor`.
    pub const fn is_before(self, major: u32, minor: u32) -> bool {
        self.major < major || self.major == major && self.minor < minor
    }

    /// Reads `1.16`, `1.16.0`, `1.16.0rc1`, `2.15.0+cu132`: the leading numbers of up to three parts.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().splitn(3, '.').map(|part| {
            let digits = part.len() - part.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            part[..digits].parse::<u32>().ok()
        });
        let major = parts.next()??;
        let minor = parts.next().flatten().unwrap_or(0);
        let patch = parts.next().flatten().unwrap_or(0);
        Some(Self { major, minor, patch })
    }
}

impl std::fmt::Display for Release {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}
