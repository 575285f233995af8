//! The grammar over sixty-four bytes at once.
//!
//! - A block is judged by masks: what may stand behind what, and, between two brackets, whether
//!   colons and commas take turns. Only brackets and numbers are looked at one by one.
//! - It only ever says that all is well. A block with anything odd is left to the machine that
//!   goes byte by byte, which knows what is wrong and where.

use super::{Grammar, MAX_DEPTH, Open, State};
use crate::read::lanes::{Marks, Texts, mask, parity};

const BLOCK: usize = 64;

/// A block and what an escape at its end may take behind it.
const SIGHT: usize = BLOCK + 4;

/// What the next block must know of the ones before it. A mask is all ones or none; of `behind`
/// only the lowest bit may be set.
#[derive(Clone, Copy, Default)]
struct Scan {
    texts: Texts,
    /// A number or a word goes on.
    in_scalar: u64,
    behind_value: u64,
    behind_separator: u64,
    behind_open: u64,
    /// The innermost bracket is an object's.
    in_object: u64,
    /// In an object: the last separator was a colon, so that a value stands here and no key.
    at_value: u64,
    /// Where the last number or word ends.
    scalar_end: usize,
}

enum Judged {
    Good,
    /// The value ends within the block, so many bytes from its start.
    Ended(usize),
    Odd,
}

/// Where reading by blocks stopped.
pub(super) struct Stop {
    pub(super) at: usize,
    /// Up to here it must be read byte by byte.
    pub(super) odd_until: usize,
}

impl Grammar {
    /// True when the machine stands where blocks can be read from.
    pub(super) fn may_read_blocks(&self, bytes: &[u8], at: usize) -> bool {
        bytes.len() - at >= SIGHT
            && self.open.depth > 0
            && !matches!(
                self.state,
                State::Escape | State::Hex(_) | State::Number(_) | State::Literal(_)
            )
    }

    /// Reads blocks while they are good.
    pub(super) fn blocks(&mut self, bytes: &[u8], mut at: usize) -> Stop {
        let mut scan = self.resume();
        let mut odd_until = at;
        while let Some(block) = bytes[at..].first_chunk::<SIGHT>() {
            let kept = (scan, self.open);
            match scan.judge(&mut self.open, bytes, at, block) {
                Judged::Good => at += BLOCK,
                Judged::Ended(length) => {
                    self.state = State::Done;
                    return Stop { at: at + length, odd_until };
                }
                Judged::Odd => {
                    (scan, self.open) = kept;
                    odd_until = at + BLOCK;
                    break;
                }
            }
        }
        self.suspend(&scan);
        Stop { at: at.max(scan.scalar_end), odd_until }
    }

    fn resume(&self) -> Scan {
        let state = self.state;
        let is_key = match state {
            State::Text => self.in_key,
            _ => matches!(state, State::Key | State::FirstKey | State::Colon),
        };
        Scan {
            texts: Texts::new(state == State::Text),
            behind_value: u64::from(matches!(state, State::After | State::Colon)),
            behind_separator: u64::from(matches!(state, State::Key | State::Value)),
            behind_open: u64::from(matches!(state, State::FirstKey | State::FirstItem)),
            in_object: mask(self.in_object()),
            at_value: mask(!is_key),
            ..Scan::default()
        }
    }

    fn suspend(&mut self, scan: &Scan) {
        let is_key = scan.in_object & !scan.at_value != 0;
        self.in_key = is_key;
        self.state = if scan.texts.is_open() {
            if scan.texts.is_escaped() { State::Escape } else { State::Text }
        } else if scan.behind_open != 0 {
            if is_key { State::FirstKey } else { State::FirstItem }
        } else if scan.behind_separator != 0 {
            if is_key { State::Key } else { State::Value }
        } else if is_key {
            State::Colon
        } else {
            State::After
        };
    }
}

impl Scan {
    fn judge(&mut self, open: &mut Open, bytes: &[u8], at: usize, block: &[u8; SIGHT]) -> Judged {
        let marks = Marks::of(block.first_chunk().unwrap_or(&[0; BLOCK]));
        let escaped = self.texts.escaped(marks.backslashes);
        let quotes = marks.quotes & !escaped;
        let inside = self.texts.inside(quotes);
        let between = !(inside | quotes);
        let mut wrong = odd_bytes(&marks, inside, between, block);
        wrong |= odd_escapes(escaped & inside & !(marks.quotes | marks.backslashes), block);

        let blanks = (marks.spaces | marks.controls) & between;
        let (opens, closes) = (marks.opens & between, marks.closes & between);
        let (colons, commas) = (marks.colons & between, marks.commas & between);
        let separators = colons | commas;
        let scalars = between & !(blanks | opens | closes | separators);
        let begins = scalars & !(scalars << 1 | self.in_scalar);
        self.in_scalar = scalars >> 63;
        let starts = begins | opens | (quotes & inside);
        let values = scalars | closes | (quotes & !inside);
        let behind_value = behind(values, blanks, &mut self.behind_value);
        let behind_separator = behind(separators, blanks, &mut self.behind_separator);
        let behind_open = behind(opens, blanks, &mut self.behind_open);
        wrong |= starts & !(behind_separator | behind_open);
        wrong |= separators & !behind_value;
        wrong |= closes & !(behind_value | behind_open);

        let run = Run {
            opens,
            brackets: opens | closes,
            colons,
            separators,
            // In place of a key only a text may stand, or the end of an empty object.
            no_keys: begins | opens | (closes & !behind_open),
        };
        let Some(walked) = self.brackets(open, &run, block) else { return Judged::Odd };
        if (wrong | walked.wrong) & walked.upto != 0
            || !self.scalars(begins & walked.upto, bytes, at)
        {
            return Judged::Odd;
        }
        if open.depth > 0 {
            Judged::Good
        } else {
            Judged::Ended(64 - walked.upto.leading_zeros() as usize)
        }
    }

    /// Goes from bracket to bracket and looks at what is between them; `None` when it is too deep.
    #[inline]
    fn brackets(&mut self, open: &mut Open, run: &Run, block: &[u8; SIGHT]) -> Option<Walked> {
        // Behind an odd number of separators.
        let odd = parity(run.separators);
        let mut at_value = odd ^ self.at_value;
        let mut wrong = 0;
        let (mut rest, mut from) = (run.brackets, u64::MAX);
        loop {
            let bracket = rest & rest.wrapping_neg();
            let upto = bracket | bracket.wrapping_sub(1);
            let in_turn = (run.separators & (run.colons ^ at_value)) | (run.no_keys & !at_value);
            wrong |= from & upto & ((in_turn & self.in_object) | (run.colons & !self.in_object));
            if bracket == 0 {
                self.at_value = mask(at_value >> 63 != 0);
                return Some(Walked { wrong, upto });
            }
            let is_object = block[bracket.trailing_zeros() as usize] & 0x20 != 0;
            if run.opens & bracket != 0 {
                if open.depth == MAX_DEPTH {
                    return None;
                }
                open.push(is_object);
                self.in_object = mask(is_object);
                at_value = odd ^ mask(odd & bracket != 0);
            } else {
                wrong |= bracket & (self.in_object ^ mask(is_object));
                open.pop();
                if open.depth == 0 {
                    return Some(Walked { wrong, upto });
                }
                self.in_object = mask(open.is_object());
                at_value = odd ^ mask(odd & bracket == 0);
            }
            from = !upto;
            rest ^= bracket;
        }
    }

    /// Looks at each number and word; false when one is none, or is cut by the end of the bytes.
    #[inline]
    fn scalars(&mut self, mut begins: u64, bytes: &[u8], at: usize) -> bool {
        while begins != 0 {
            let Some(end) = scalar_end(bytes, at + begins.trailing_zeros() as usize) else {
                return false;
            };
            self.scalar_end = end;
            begins &= begins - 1;
        }
        true
    }
}

/// What lies between texts.
struct Run {
    opens: u64,
    brackets: u64,
    colons: u64,
    separators: u64,
    no_keys: u64,
}

struct Walked {
    wrong: u64,
    /// The bytes up to the end of the value, or all.
    upto: u64,
}

/// The first byte behind each mark that is not blank.
#[inline]
fn behind(marks: u64, blanks: u64, carry: &mut u64) -> u64 {
    let next = marks << 1 | *carry;
    *carry = marks >> 63;
    if blanks == 0 {
        return next;
    }
    // An addition carries a mark at the start of a run of blanks to the end of the run.
    let (carried, over) = blanks.overflowing_add(next & blanks);
    *carry |= u64::from(over);
    (next | carried) & !blanks
}

/// Control characters in texts, and between them those that are no white space.
#[inline]
fn odd_bytes(marks: &Marks, inside: u64, between: u64, block: &[u8; SIGHT]) -> u64 {
    let mut odd = marks.controls & inside;
    let mut blanks = marks.controls & between;
    while blanks != 0 {
        let lowest = blanks & blanks.wrapping_neg();
        if !matches!(block[lowest.trailing_zeros() as usize], b'\n' | b'\r' | b'\t') {
            odd |= lowest;
        }
        blanks ^= lowest;
    }
    odd
}

/// Those of the escaped bytes that may not be escaped.
#[inline]
fn odd_escapes(mut escaped: u64, block: &[u8; SIGHT]) -> u64 {
    let mut odd = 0;
    while escaped != 0 {
        let lowest = escaped & escaped.wrapping_neg();
        let place = lowest.trailing_zeros() as usize;
        let good = match block[place] {
            b'/' | b'b' | b'f' | b'n' | b'r' | b't' => true,
            b'u' => block[place + 1..place + 5].iter().all(u8::is_ascii_hexdigit),
            _ => false,
        };
        odd |= if good { 0 } else { lowest };
        escaped ^= lowest;
    }
    odd
}

/// Where the number or word at `at` ends; `None` when it is none, or may go on behind the bytes.
#[inline]
fn scalar_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let length = match rest.first()? {
        b't' if rest.starts_with(b"true") => 4,
        b'f' if rest.starts_with(b"false") => 5,
        b'n' if rest.starts_with(b"null") => 4,
        b'-' | b'0'..=b'9' => number_length(rest)?,
        _ => return None,
    };
    let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
    rest.get(length).is_some_and(is_end).then_some(at + length)
}

#[inline]
fn number_length(rest: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let count = rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let begin = usize::from(rest.first() == Some(&b'-'));
    let mut end = if rest.get(begin) == Some(&b'0') { begin + 1 } else { digits(begin)? };
    if rest.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = rest.get(end) {
        let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    Some(end)
}
