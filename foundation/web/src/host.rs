//! Checks that a request is for this machine, and comes from one of our pages.

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, Version};
use std::fmt;
use std::net::IpAddr;

/// The names under which a server answers, besides addresses and `localhost`.
///
/// Other names are refused, because another site may point its name to this machine (DNS
/// rebinding). An address cannot be another site's name.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Further names of this machine.
    pub listed: Vec<String>,
    /// True if any name is accepted. This is safe only if requests require a token that no page of
    /// another site knows.
    pub are_open: bool,
}

/// The reason why a request is refused unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// The Host header is missing, repeated or invalid.
    Unclear,
    /// The host is not a name of this machine.
    Foreign,
    /// A page of another site made the request.
    Origin,
}

impl HostError {
    /// The status to answer with.
    pub fn status(self) -> StatusCode {
        match self {
            HostError::Unclear => StatusCode::BAD_REQUEST,
            HostError::Foreign => StatusCode::MISDIRECTED_REQUEST,
            HostError::Origin => StatusCode::FORBIDDEN,
        }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HostError::Unclear => "one Host header, with a name or an address, is needed",
            HostError::Foreign => "this is no name of this machine: use its address or localhost",
            HostError::Origin => "a page of another site made this request",
        })
    }
}

impl Names {
    /// Checks that the request names this machine, and comes from one of its pages or from no page.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn check(&self, version: Version, uri: &Uri, headers: &HeaderMap) -> Result<(), HostError> {
        let mut given = headers.get_all(HOST).iter();
        let header: Option<Authority> = match (given.next(), given.next()) {
            (Some(host), None) => {
                Some(host.to_str().ok().and_then(|host| host.parse().ok()).ok_or(HostError::Unclear)?)
            }
            // Before HTTP/1.1, the Host header may be missing, but no browser omits it.
            (None, _) if version < Version::HTTP_11 => None,
            _ => return Err(HostError::Unclear),
        };
        if !header.iter().chain(uri.authority()).all(|host| self.has(host.host())) {
            return Err(HostError::Foreign);
        }
        match (headers.get(ORIGIN), header) {
            (None, _) => Ok(()),
            (Some(origin), Some(host)) if is_of(origin.as_bytes(), host.as_str()) => Ok(()),
            _ => Err(HostError::Origin),
        }
    }

    fn has(&self, host: &str) -> bool {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name = host.strip_suffix('.').unwrap_or(host);
        let is_listed = self.listed.iter().any(|listed| listed.eq_ignore_ascii_case(name));
        self.are_open || bare.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost") || is_listed
    }
}

fn is_of(origin: &[u8], host: &str) -> bool {
    let bare = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    bare.is_some_and(|bare| bare.eq_ignore_ascii_case(host.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(headers: &[(&'static str, &'static str)]) -> Result<(), HostError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        let names = Names { listed: vec!["router.lan".into()], are_open: false };
        names.check(Version::HTTP_11, &Uri::from_static("/"), &map)
    }

    #[test]
    fn addresses_localhost_and_listed_names_are_accepted_hosts() {
        for host in ["127.0.0.1:8080", "[::1]:8080", "localhost", "localhost.:1", "ROUTER.lan"] {
            assert_eq!(checked(&[("host", host)]), Ok(()), "{host}");
        }
    }

    #[test]
    fn a_name_of_another_site_is_refused() {
        assert_eq!(checked(&[("host", "evil.example:8080")]), Err(HostError::Foreign));
        assert_eq!(checked(&[]), Err(HostError::Unclear));
        assert_eq!(checked(&[("host", "localhost"), ("host", "localhost")]), Err(HostError::Unclear));
        assert_eq!(checked(&[("host", "a b")]), Err(HostError::Unclear));
    }

    #[test]
    fn a_page_of_another_site_may_not_call() {
        let from = |origin| checked(&[("host", "localhost:80"), ("origin", origin)]);
        assert_eq!(from("http://localhost:80"), Ok(()));
        for origin in ["http://localhost:81", "https://evil.example", "null", "localhost:80"] {
            assert_eq!(from(origin), Err(HostError::Origin), "{origin}");
        }
    }
}
