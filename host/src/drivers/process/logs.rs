//! Reads a worker's output across its files, while they are written and replaced.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    time::Duration,
};

use futures_util::stream::{self, BoxStream, StreamExt};

use crate::{
    drivers::{DriverError, LogOptions, LogPiece},
    supervisor::{
        folder::{Folder, RecordedPhase},
        output::{file_numbers, file_path},
    },
};

const PIECE_BYTES: usize = 32 * 1024;
/// How long a follower waits before it looks for more: twice as long each time nothing came.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The output as a stream.
pub(super) fn read(folder: Folder, options: LogOptions) -> BoxStream<'static, LogPiece> {
    let reader = Reader::new(folder, options);
    stream::unfold(Some(reader), |reader| async {
        let mut reader = reader?;
        let mut pause = PAUSE_MIN;
        loop {
            let read = move || (reader.next(), reader);
            let next;
            (next, reader) = match tokio::task::spawn_blocking(read).await {
                Ok(read) => read,
                Err(error) => return Some((Err(cannot_read(io::Error::other(error))), None)),
            };
            match next {
                Ok(Next::Piece(piece)) => return Some((Ok(piece), Some(reader))),
                Ok(Next::Later) => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                Ok(Next::End) => return None,
                Err(error) => return Some((Err(cannot_read(error)), None)),
            }
        }
    })
    .boxed()
}

fn cannot_read(source: io::Error) -> DriverError {
    DriverError::Io { doing: "read the worker's output".to_owned(), source }
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Piece(Vec<u8>),
    /// Nothing new yet.
    Later,
    End,
}

struct Reader {
    folder: Folder,
    options: LogOptions,
    /// The number of the present file; 0 before the first.
    number: u64,
    file: Option<File>,
    begun: bool,
    /// A later file or the end was seen: once the present file is read to its end, it is done.
    is_last_look: bool,
}

impl Reader {
    fn new(folder: Folder, options: LogOptions) -> Self {
        Self { folder, options, number: 0, file: None, begun: false, is_last_look: false }
    }

    fn next(&mut self) -> io::Result<Next> {
        if !self.begun {
            self.begin()?;
        }
        loop {
            if let Some(piece) = self.read_piece()? {
                return Ok(Next::Piece(piece));
            }
            let later = self.later_file()?;
            // Bytes may have come between the read and the look: only a second empty read is the end.
            let has_more_to_come = later.is_none() && self.options.follow && !self.is_over()?;
            if has_more_to_come {
                return Ok(Next::Later);
            }
            if !self.is_last_look {
                self.is_last_look = true;
                continue;
            }
            self.is_last_look = false;
            let Some(later) = later else { return Ok(Next::End) };
            self.open(later)?;
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.begun = true;
        let Some(lines) = self.options.tail_lines else { return Ok(()) };
        let output = self.folder.output();
        let mut left = u64::from(lines);
        for number in file_numbers(&output)?.into_iter().rev() {
            let offset = tail_offset(&file_path(&output, number), &mut left)?;
            self.open(number)?;
            if let (Some(file), Some(offset)) = (&mut self.file, offset) {
                file.seek(SeekFrom::Start(offset))?;
                break;
            }
        }
        Ok(())
    }

    fn open(&mut self, number: u64) -> io::Result<()> {
        self.number = number;
        self.file = match File::open(file_path(&self.folder.output(), number)) {
            Ok(file) => Some(file),
            // Rotated away; the next one is there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    fn read_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = &mut self.file else { return Ok(None) };
        let mut piece = vec![0; PIECE_BYTES];
        let len = file.read(&mut piece)?;
        piece.truncate(len);
        Ok((len > 0).then_some(piece))
    }

    fn later_file(&self) -> io::Result<Option<u64>> {
        let numbers = file_numbers(&self.folder.output())?;
        Ok(numbers.into_iter().find(|number| *number > self.number))
    }

    fn is_over(&self) -> io::Result<bool> {
        let is_gone = !self.folder.path().is_dir();
        let was_never_started = self.folder.stop_is_ordered() && !self.folder.has_order();
        let record = self.folder.record()?;
        Ok(is_gone
            || was_never_started
            || record.is_some_and(|record| record.phase == RecordedPhase::Stopped))
    }
}

/// Where the last `left` lines of a file begin; `None` when it has fewer, which are then taken off
/// `left`.
fn tail_offset(path: &Path, left: &mut u64) -> io::Result<Option<u64>> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    if *left == 0 {
        return Ok(Some(len));
    }
    let mut end = len;
    let mut buffer = vec![0; PIECE_BYTES];
    while end > 0 {
        let start = end.saturating_sub(PIECE_BYTES as u64);
        let piece = &mut buffer[..usize::try_from(end - start).unwrap_or(PIECE_BYTES)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(piece)?;
        for (index, _) in piece.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let after = start + index as u64 + 1;
            // The newline at the very end ends the last line, it begins none.
            if after == len {
                continue;
            }
            *left = left.saturating_sub(1);
            if *left == 0 {
                return Ok(Some(after));
            }
        }
        end = start;
    }
    *left -= u64::from(len > 0);
    Ok((*left == 0).then_some(0))
}
