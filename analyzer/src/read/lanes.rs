//! Looking at eight bytes at once, in an ordinary register.
//!
//! Texts in plans are short, so a register is as quick as vector instructions would be, and needs
//! neither a check of the processor nor unsafe code.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// How many bytes from the start of `bytes` are plain text: no quote, backslash or control
/// character.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let marks = special(u64::from_le_bytes(*chunk));
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|&byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
        at += 1;
    }
    at
}

/// The high bit of each byte that is a quote, a backslash or a control character. A borrow between
/// bytes can only mark ones above the first true mark, so the lowest mark is exact.
#[inline]
fn special(word: u64) -> u64 {
    let quote = word ^ (ONES * 0x22);
    let backslash = word ^ (ONES * 0x5c);
    ((quote.wrapping_sub(ONES) & !quote)
        | (backslash.wrapping_sub(ONES) & !backslash)
        | (word.wrapping_sub(ONES * 0x20) & !word))
        & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
