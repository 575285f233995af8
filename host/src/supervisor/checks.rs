//! One readiness check over the network, start to end, in the calling thread.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

use crate::supervisor::clock::uptime;

/// As much of an answer is read, so that the worker is not cut off in the middle of a usual page.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// How long the rest of an answer is waited for once its status is known.
const REST_OF_ANSWER: Duration = Duration::from_millis(50);

/// A connection is accepted.
pub(super) fn tcp(port: u16, timeout: Duration) -> Result<(), String> {
    connect(port, timeout).map(drop)
}

fn connect(port: u16, timeout: Duration) -> Result<TcpStream, String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpStream::connect_timeout(&address, timeout.max(Duration::from_millis(1)))
        .map_err(|error| format!("cannot connect to {address}: {error}"))
}

/// A GET is answered with 200 to 399.
pub(super) fn http(port: u16, path: &str, timeout: Duration) -> Result<(), String> {
    let until = uptime() + timeout;
    let url = format!("http://127.0.0.1:{port}{path}");
    if !path.starts_with('/') || path.chars().any(|char| char.is_control() || char == ' ') {
        return Err(format!("`{path}` is not a path to GET"));
    }
    let mut stream = connect(port, timeout)?;
    let answer = exchange(&mut stream, &request(port, path), until);
    match answer.as_deref().map(status) {
        Ok(Some(200..=399)) => Ok(()),
        Ok(Some(code)) => Err(format!("GET {url} was answered with {code}")),
        Ok(None) => Err(format!("GET {url} was not answered in HTTP within {timeout:?}")),
        Err(error) => Err(format!("GET {url} failed: {error}")),
    }
}

fn request(port: u16, path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: runtimecloud\r\n\
         Accept: */*\r\nConnection: close\r\n\r\n"
    )
}

/// What was answered by the deadline.
fn exchange(stream: &mut TcpStream, request: &str, until: Duration) -> io::Result<Vec<u8>> {
    let left = || until.saturating_sub(uptime()).max(Duration::from_millis(1));
    stream.set_write_timeout(Some(left()))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    let mut buffer = [0; 8 * 1024];
    while answer.len() < ANSWER_BYTES_MAX && uptime() < until {
        let wait = if status(&answer).is_some() { left().min(REST_OF_ANSWER) } else { left() };
        stream.set_read_timeout(Some(wait))?;
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(len) => answer.extend_from_slice(&buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The status has come, the rest is slow: that is not what was asked.
            Err(_) if status(&answer).is_some() => break,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

/// The code of a status line such as `HTTP/1.1 204 No Content`.
fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let version = words.next()?;
    let code = words.next().filter(|code| code.len() == 3)?;
    version.strip_prefix("HTTP/1.").and_then(|_| code.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_is_read_and_nothing_else() {
        assert_eq!(status(b"HTTP/1.1 204 No Content\r\nA: b\r\n"), Some(204));
        assert_eq!(status(b"HTTP/1.0 503\r\n"), Some(503));
        for hostile in [&b""[..], b"HTTP/1.1", b"SSH-2.0-x", b"HTTP/2 200", b"HTTP/1.1 2", b"\xff"]
        {
            assert_eq!(status(hostile), None, "{hostile:?}");
        }
    }

    #[test]
    fn a_path_that_would_break_the_request_is_refused() {
        for path in ["", "x", "/a b", "/a\r\nHost: b"] {
            let error = http(1, path, Duration::from_secs(1)).unwrap_err();
            assert!(error.contains("not a path"), "{error}");
        }
    }
}
