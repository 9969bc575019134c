//! Counting tests by what their runners print at the end.

use std::fmt;

/// Tests that passed and tests that failed. A check without tests of its own counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// A single check.
    pub(crate) fn of(passed: bool) -> Self {
        Self { passed: u64::from(passed), failed: u64::from(!passed) }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// Adds what `line` of a runner's output says: `test result: ok. 5 passed; 0 failed; ...` of Rust's, or
    /// `  5 passed (3.1s)` and its like of Playwright's. A test that did not run or passed only at a second try counts
    /// as failed.
    pub(crate) fn read(&mut self, line: &str) {
        if let Some(result) = line.trim_start().strip_prefix("test result: ") {
            for count in result.split(['.', ';']) {
                self.count(count.trim());
            }
        } else if line.starts_with("  ") {
            self.count(line.trim());
        }
    }

    /// Reads `5 passed` or `5 passed (3.1s)`, and nothing longer.
    fn count(&mut self, text: &str) {
        let Some((number, what)) = text.split_once(' ') else { return };
        let Ok(number) = number.parse::<u64>() else { return };
        let what = what.split(" (").next().unwrap_or(what);
        match what {
            "passed" => self.passed += number,
            "failed" | "flaky" | "interrupted" | "did not run" => self.failed += number,
            _ => {}
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Tally {
        let mut tally = Tally::default();
        text.lines().for_each(|line| tally.read(line));
        tally
    }

    #[test]
    fn the_closing_lines_of_rust_tests_add_up() {
        let text = "running 3 tests\ntest a_test_that_5_passed ... ok\n\
                    test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                    test result: FAILED. 7 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(read(text), Tally { passed: 10, failed: 2 });
    }

    #[test]
    fn the_closing_lines_of_browser_tests_add_up() {
        let text = "  ✓  1 smoke.spec.ts:3:1 › 9 passed things (1.7s)\n\n  1 failed\n    smoke.spec.ts:9:1 › x ───\n  \
                    2 did not run\n  1 skipped\n  12 passed (6.6s)\n";
        assert_eq!(read(text), Tally { passed: 12, failed: 3 });
    }
}
