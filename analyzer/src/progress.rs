//! Progress on a terminal: how much of the input was read, when reading takes long.
//!
//! - Nothing is drawn before a second has passed, nor more often than ten times a second.
//! - The line is taken away again when reading ends.

use std::{
    io::{self, Read, Seek, SeekFrom, Write},
    time::Duration,
};

const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);

/// A reader that shows how far it is.
pub(crate) struct Progress<R, W: Write, C> {
    reader: R,
    /// Where to draw; `None` draws nothing.
    screen: Option<W>,
    /// The time since reading began.
    clock: C,
    next: Duration,
    drawn: bool,
    read: u64,
    total: Option<u64>,
}

impl<R, W: Write, C: FnMut() -> Duration> Progress<R, W, C> {
    /// `total` is the size of the input in bytes, when it is known.
    pub(crate) fn new(reader: R, total: Option<u64>, screen: Option<W>, clock: C) -> Self {
        Self { reader, screen, clock, next: PATIENCE, drawn: false, read: 0, total }
    }

    fn draw(&mut self) {
        let Some(screen) = &mut self.screen else { return };
        let now = (self.clock)();
        if now >= self.next {
            self.next = now + PAUSE;
            self.drawn = true;
            // Nothing depends on it, so a screen that has gone is no error.
            drop(write!(screen, "\r{}\x1b[K", line(self.read, self.total)));
            drop(screen.flush());
        }
    }
}

impl<R: Read, W: Write, C: FnMut() -> Duration> Read for Progress<R, W, C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.read += count as u64;
        self.draw();
        Ok(count)
    }
}

impl<R: Seek, W: Write, C> Seek for Progress<R, W, C> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.read = self.reader.seek(to)?;
        Ok(self.read)
    }
}

impl<R, W: Write, C> Drop for Progress<R, W, C> {
    fn drop(&mut self) {
        if let Some(screen) = self.screen.as_mut().filter(|_| self.drawn) {
            drop(write!(screen, "\r\x1b[K"));
            drop(screen.flush());
        }
    }
}

fn line(read: u64, total: Option<u64>) -> String {
    const MEGABYTE: u64 = 1_000_000;
    let read_megabytes = read / MEGABYTE;
    match total.filter(|total| *total >= read && *total > 0) {
        Some(total) => {
            let percent = u128::from(read) * 100 / u128::from(total);
            format!("reading: {read_megabytes} of {} MB, {percent} %", total / MEGABYTE)
        }
        None => format!("reading: {read_megabytes} MB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is drawn when each block takes so many milliseconds.
    fn drawn(millis: u64, total: Option<u64>) -> String {
        let input = vec![b'x'; 3_000_000];
        let mut screen = Vec::new();
        let mut now = Duration::ZERO;
        let clock = || {
            now += Duration::from_millis(millis);
            now
        };
        let mut progress = Progress::new(input.as_slice(), total, Some(&mut screen), clock);
        let mut block = vec![0; 1_000_000];
        while progress.read(&mut block).unwrap_or(0) > 0 {}
        drop(progress);
        String::from_utf8(screen).unwrap_or_default()
    }

    #[test]
    fn short_work_draws_nothing() {
        assert_eq!(drawn(100, Some(3_000_000)), "");
    }

    #[test]
    fn long_work_tells_how_far_it_is_and_cleans_up() {
        let screen = drawn(600, Some(3_000_000));
        assert_eq!(
            screen,
            "\rreading: 2 of 3 MB, 66 %\x1b[K\rreading: 3 of 3 MB, 100 %\x1b[K\
             \rreading: 3 of 3 MB, 100 %\x1b[K\r\x1b[K"
        );
        assert!(drawn(600, None).starts_with("\rreading: 2 MB\x1b[K"));
    }
}
