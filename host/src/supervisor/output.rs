//! What a worker prints, kept in numbered files of bounded size and count.
//!
//! The worker never waits for a disk that is full: what can not be written is counted and dropped, and
//! the next line that can be written says how much is missing.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use crate::supervisor::folder::{create_dir_inside, private_file};

/// A line may make a file longer than its limit by this much before it is cut.
const LINE_ALLOWANCE: u64 = 64 * 1024;

/// How much output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputLimits {
    pub file_bytes: u64,
    /// At least 1.
    pub files: u32,
}

/// The path of one numbered file.
pub fn file_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.log"))
}

/// The numbers of the files that are there, oldest first.
pub fn file_numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Writes output to its files.
pub struct Output {
    folder: PathBuf,
    limits: OutputLimits,
    file: Option<File>,
    number: u64,
    len: u64,
    ends_line: bool,
    /// Not yet told in the output itself.
    untold: u64,
    dropped: Arc<AtomicU64>,
}

impl Output {
    pub fn new(folder: PathBuf, limits: OutputLimits, dropped: Arc<AtomicU64>) -> Self {
        Self { folder, limits, file: None, number: 0, len: 0, ends_line: true, untold: 0, dropped }
    }

    /// Copies until the last writer is gone.
    pub fn copy_from(&mut self, mut source: impl Read) {
        let mut buffer = vec![0; 32 * 1024];
        loop {
            match source.read(&mut buffer) {
                Ok(0) => return,
                Ok(len) => self.keep(&buffer[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let written = self.tell_dropped().and_then(|()| self.write(bytes));
        if written.is_err() {
            let len = bytes.len() as u64;
            self.untold += len;
            self.dropped.fetch_add(len, Ordering::Relaxed);
            self.file = None;
        }
    }

    fn tell_dropped(&mut self) -> io::Result<()> {
        if self.untold == 0 {
            return Ok(());
        }
        let start = if self.ends_line { "" } else { "\n" };
        let line = format!(
            "{start}[runtimecloud: {} bytes of output could not be written and are missing here]\n",
            self.untold
        );
        self.write(line.as_bytes())?;
        self.untold = 0;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let limit = self.limits.file_bytes;
        if self.len >= limit && (self.ends_line || self.len >= limit + LINE_ALLOWANCE) {
            self.file = None;
            self.number += 1;
            self.remove_oldest()?;
        }
        if self.file.is_none() {
            self.open()?;
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(bytes)?;
        self.len += bytes.len() as u64;
        self.ends_line = bytes.ends_with(b"\n");
        Ok(())
    }

    fn open(&mut self) -> io::Result<()> {
        create_dir_inside(&self.folder)?;
        if self.number == 0 {
            self.number = file_numbers(&self.folder)?.last().copied().unwrap_or(1);
        }
        let file =
            private_file().create(true).append(true).open(file_path(&self.folder, self.number))?;
        self.len = file.metadata()?.len();
        self.file = Some(file);
        Ok(())
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let numbers = file_numbers(&self.folder)?;
        let keep = self.limits.files.max(1) as usize - 1;
        for number in &numbers[..numbers.len().saturating_sub(keep)] {
            fs::remove_file(file_path(&self.folder, *number))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(folder: &Path, file_bytes: u64, files: u32) -> Output {
        let limits = OutputLimits { file_bytes, files };
        Output::new(folder.join("output"), limits, Arc::default())
    }

    #[test]
    fn files_are_cut_at_line_ends_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = output(folder.path(), 10, 2);
        for line in 0..6 {
            output.keep(format!("line {line}\n").as_bytes());
        }
        let folder = folder.path().join("output");
        let numbers = file_numbers(&folder).unwrap();
        assert_eq!(numbers, [2, 3]);
        assert_eq!(fs::read(file_path(&folder, 2)).unwrap(), b"line 2\nline 3\n");
        assert_eq!(fs::read(file_path(&folder, 3)).unwrap(), b"line 4\nline 5\n");
    }

    #[test]
    fn a_new_supervisor_goes_on_in_the_last_file() {
        let folder = tempfile::tempdir().unwrap();
        output(folder.path(), 100, 2).keep(b"before\n");
        output(folder.path(), 100, 2).keep(b"after\n");
        let file = file_path(&folder.path().join("output"), 1);
        assert_eq!(fs::read(file).unwrap(), b"before\nafter\n");
    }

    #[test]
    fn what_a_full_disk_refuses_is_counted_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("output");
        create_dir_inside(&files).unwrap();
        let first = file_path(&files, 1);
        std::os::unix::fs::symlink("/dev/full", &first).unwrap();
        let mut output = output(folder.path(), 100, 2);
        output.keep(b"lost\n");
        output.keep(b"lost too\n");
        assert_eq!(output.dropped.load(Ordering::Relaxed), 14);
        fs::remove_file(&first).unwrap();
        output.keep(b"kept\n");
        let text = fs::read_to_string(first).unwrap();
        assert!(text.starts_with("[runtimecloud: 14 bytes"), "{text}");
        assert!(text.ends_with("\nkept\n"), "{text}");
    }
}
