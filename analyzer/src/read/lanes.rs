//! Looking at many bytes at once.
//!
//! Sixteen bytes are compared in a loop without a branch, which the compiler turns into a handful
//! of vector instructions on every processor that has them. The tests hold the answers against
//! those of looking at one byte at a time.

/// How many bytes from the start of `bytes` are plain text: no quote, backslash or control
/// character.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    run(bytes, |byte| byte == b'"' || byte == b'\\' || byte < 0x20)
}

/// How many bytes from the start of `bytes` come before the first quote or bracket.
#[inline]
pub(super) fn flat_run(bytes: &[u8]) -> usize {
    // Square and curly brackets differ in one bit only.
    run(bytes, |byte| byte == b'"' || byte | 0x20 == b'{' || byte | 0x20 == b'}')
}

/// How many bytes from the start come before the first one that stops.
#[inline(always)]
fn run(bytes: &[u8], stops: impl Fn(u8) -> bool) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk::<16>() {
        let mut marks = [0; 16];
        for (mark, &byte) in marks.iter_mut().zip(chunk) {
            *mark = if stops(byte) { 0xff } else { 0 };
        }
        let marks = u128::from_le_bytes(marks);
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 16;
    }
    while bytes.get(at).is_some_and(|&byte| !stops(byte)) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_see_what_one_at_a_time_sees() {
        for length in 0..50 {
            for byte in 0..=u8::MAX {
                let mut text = vec![b'a'; length];
                text.push(byte);
                text.extend_from_slice(b"bcdefghijklmnopqrstuvwxyz");
                let plainly = |stops: &dyn Fn(u8) -> bool| {
                    text.iter().position(|&it| stops(it)).unwrap_or(text.len())
                };
                let special = |it: u8| it == b'"' || it == b'\\' || it < 0x20;
                assert_eq!(plain_run(&text), plainly(&special), "{length} {byte}");
                let structure = |it: u8| b"\"{}[]".contains(&it);
                assert_eq!(flat_run(&text), plainly(&structure), "{length} {byte}");
            }
        }
    }
}
