//! Pages of a list: sorted by a key, each going on after the last key of the page before.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use proto::runtimecloud::v1::ListRequest;
use tonic::Status;

use super::status;

pub const PAGE_SIZE_MAX: usize = 500;

pub struct Page<T> {
    pub items: Vec<T>,
    /// Empty on the last page.
    pub next_page_token: String,
}

/// Cuts the page that a request asks for out of all items, given with their keys.
pub fn cut<T>(
    request: &ListRequest,
    request_id: &str,
    items: impl Iterator<Item = (String, T)>,
) -> Result<Page<T>, Status> {
    let after = read_token(&request.page_token).ok_or_else(|| {
        status::invalid("page_token", "it is not from an answer: begin without one", request_id)
    })?;
    let size = match request.page_size as usize {
        0 => PAGE_SIZE_MAX,
        size => size.min(PAGE_SIZE_MAX),
    };
    let mut items: Vec<_> = items.filter(|(key, _)| *key > after).collect();
    items.sort_by(|(a, _), (b, _)| a.cmp(b));
    let more = items.len() > size;
    items.truncate(size);
    let next_page_token = match items.last() {
        Some((key, _)) if more => URL_SAFE_NO_PAD.encode(key),
        _ => String::new(),
    };
    Ok(Page { items: items.into_iter().map(|(_, item)| item).collect(), next_page_token })
}

/// The key to go on after; empty at the beginning.
fn read_token(token: &str) -> Option<String> {
    if token.len() > 512 {
        return None;
    }
    URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(page_size: u32, page_token: &str) -> ListRequest {
        ListRequest { page_size, page_token: page_token.to_owned(), ..ListRequest::default() }
    }

    fn items() -> impl Iterator<Item = (String, u32)> {
        (0..7).rev().map(|number| (format!("key-{number}"), number))
    }

    #[test]
    fn pages_follow_each_other_without_gap_or_overlap() {
        let mut token = String::new();
        let mut all = Vec::new();
        for expected in [3, 3, 1] {
            let page = cut(&request(3, &token), "", items()).unwrap();
            assert_eq!(page.items.len(), expected);
            all.extend(page.items);
            token = page.next_page_token;
        }
        assert_eq!((all, token.as_str()), ((0..7).collect(), ""));
    }

    #[test]
    fn a_made_up_page_token_is_refused() {
        for token in ["%%%", "_w", &"A".repeat(10_000)] {
            assert!(cut(&request(3, token), "", items()).is_err(), "{token}");
        }
    }
}
