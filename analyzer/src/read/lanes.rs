//! Looking at many bytes at once, without unsafe code and without a check of the processor.
//!
//! - A mask has one bit for each of sixty-four bytes, the first one lowest.
//! - [`Texts`] carries over from block to block whether a text goes on and whether the next byte is
//!   escaped; so the masks are exact wherever the blocks are cut.

use wide::u8x16;

/// How many bytes from the start of `bytes` are plain text: no quote, backslash or control
/// character.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<16>() {
        let lane = u8x16::new(*chunk);
        let marks = is(lane, b'"') | is(lane, b'\\') | is_control(lane);
        let marks = marks.to_bitmask();
        if marks != 0 {
            return at + marks.trailing_zeros() as usize;
        }
        at += 16;
    }
    while bytes.get(at).is_some_and(|&byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
        at += 1;
    }
    at
}

/// Where the bracket that opens at `begin` is closed: the byte behind it, or the end of `bytes`.
pub(super) fn bracket_end(bytes: &[u8], begin: usize) -> usize {
    let mut texts = Texts::default();
    let mut depth = 0_u32;
    let mut at = begin;
    while at < bytes.len() {
        let mut padded = [0; 64];
        let rest = &bytes[at..];
        let block = rest.first_chunk().unwrap_or_else(|| {
            padded[..rest.len()].copy_from_slice(rest);
            &padded
        });
        let marks = Marks::of(block);
        let quotes = marks.quotes & !texts.escaped(marks.backslashes);
        let outside = !texts.inside(quotes);
        let (open, close) = (marks.opens & outside, marks.closes & outside);
        let closed = close.count_ones();
        if closed < depth {
            depth += open.count_ones();
            depth -= closed;
        } else {
            let mut marks = open | close;
            while marks != 0 {
                let lowest = marks & marks.wrapping_neg();
                depth = if open & lowest == 0 { depth.saturating_sub(1) } else { depth + 1 };
                if depth == 0 {
                    return at + marks.trailing_zeros() as usize + 1;
                }
                marks ^= lowest;
            }
        }
        at += 64;
    }
    bytes.len()
}

/// Tells text from what is between texts.
#[derive(Clone, Copy, Default)]
pub(super) struct Texts {
    /// All ones while a text goes on.
    open: u64,
    /// One when the first byte of the next block is escaped.
    escaped: u64,
}

impl Texts {
    /// At the start, or in the middle of a text.
    pub(super) fn new(open: bool) -> Self {
        Self { open: mask(open), escaped: 0 }
    }

    pub(super) fn is_open(self) -> bool {
        self.open != 0
    }

    pub(super) fn is_escaped(self) -> bool {
        self.escaped != 0
    }

    /// The bytes of one block that are inside of texts, opening quotes included and closing ones
    /// not. `quotes` are those that are not escaped.
    #[inline]
    pub(super) fn inside(&mut self, quotes: u64) -> u64 {
        let inside = parity(quotes) ^ self.open;
        self.open = mask(inside >> 63 != 0);
        inside
    }

    /// The bytes behind a backslash that is not escaped itself.
    #[inline]
    pub(super) fn escaped(&mut self, backslashes: u64) -> u64 {
        // Within a run every second byte is escaped. Adding the first bit of a run to the run
        // carries into the bit behind it; whether that bit is even tells, with where the run
        // began, whether the run was of an odd length.
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let first = std::mem::take(&mut self.escaped);
        if backslashes == 0 {
            return first;
        }
        let runs = backslashes & !first;
        let behind = runs << 1 | first;
        let odd_begins = runs & !EVEN & !behind;
        let (carried, over) = odd_begins.overflowing_add(runs);
        self.escaped = u64::from(over);
        (EVEN ^ (carried << 1)) & behind
    }
}

/// All ones, or none.
#[inline]
pub(super) fn mask(all: bool) -> u64 {
    u64::from(all).wrapping_neg()
}

/// For each bit, whether an odd number of bits is set up to it.
#[inline]
pub(super) fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// Where in a block of sixty-four bytes certain ones stand, in texts and elsewhere.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) quotes: u64,
    pub(super) backslashes: u64,
    /// Below the space.
    pub(super) controls: u64,
    pub(super) spaces: u64,
    pub(super) colons: u64,
    pub(super) commas: u64,
    /// Square and curly.
    pub(super) opens: u64,
    pub(super) closes: u64,
}

impl Marks {
    #[inline]
    pub(super) fn of(block: &[u8; 64]) -> Self {
        let mut found = Self::default();
        let (lanes, _) = block.as_chunks::<16>();
        for (position, lane) in lanes.iter().enumerate() {
            let lane = u8x16::new(*lane);
            // Square and curly brackets differ in this bit.
            let curly = lane | u8x16::splat(0x20);
            let put = |marks: u8x16| u64::from(marks.to_bitmask()) << (16 * position);
            found.quotes |= put(is(lane, b'"'));
            found.backslashes |= put(is(lane, b'\\'));
            found.controls |= put(is_control(lane));
            found.spaces |= put(is(lane, b' '));
            found.colons |= put(is(lane, b':'));
            found.commas |= put(is(lane, b','));
            found.opens |= put(is(curly, b'{'));
            found.closes |= put(is(curly, b'}'));
        }
        found
    }
}

#[inline]
fn is(lane: u8x16, byte: u8) -> u8x16 {
    lane.simd_eq(u8x16::splat(byte))
}

#[inline]
fn is_control(lane: u8x16) -> u8x16 {
    lane.min(u8x16::splat(0x1f)).simd_eq(lane)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn many_at_once_see_what_one_at_a_time_sees() {
        for length in 0..30 {
            for byte in 0..=u8::MAX {
                let mut text = vec![b'a'; length];
                text.push(byte);
                text.extend_from_slice(b"bcdefghijklmnopqrstuvwxyz");
                let stops = |&it: &u8| it == b'"' || it == b'\\' || it < 0x20;
                let plainly = text.iter().position(stops).unwrap_or(text.len());
                assert_eq!(plain_run(&text), plainly, "{length} {byte}");
            }
        }
    }

    /// As [`bracket_end`], a byte at a time.
    fn plainly(bytes: &[u8]) -> usize {
        let (mut depth, mut inside, mut escaped) = (0_usize, false, false);
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => inside = !inside,
                b'{' | b'[' if !inside => depth += 1,
                b'}' | b']' if !inside => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        bytes.len()
    }

    proptest! {
        #[test]
        fn the_end_of_a_bracket_is_found_over_any_blocks(
            begin in 0_usize..70,
            // Backslashes stand in texts only: elsewhere this would be no JSON.
            inner in r#"([a{}\[\]]{0,5}|"([a{}\[\]]|\\["\\n]){0,9}"){0,60}"#,
        ) {
            let text = format!("{}{{{inner}", "x".repeat(begin));
            prop_assert_eq!(
                bracket_end(text.as_bytes(), begin),
                begin + plainly(&text.as_bytes()[begin..])
            );
        }
    }
}
