//! From a URL to what the client library connects to. Nothing of the URL but host, port and database is ever shown.

use std::{fmt, time::Duration};

use cache_core::CacheError;
use redis::{
    Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion,
    io::tcp::{TcpSettings, socket2::TcpKeepalive},
};

const HOW_TO_WRITE: &str =
    "write redis://[user:password@]host[:port][/database], or unix:///path/to/socket";

/// One server. `Display` and `Debug` show where it is, never with which user or password.
#[derive(Clone)]
pub(crate) struct Address {
    client: Client,
    label: String,
}

impl Address {
    /// Reads a URL. The time limit is what a connection may go unacknowledged before the kernel gives it up.
    pub(crate) fn parse(url: &str, silence: Duration) -> Result<Self, CacheError> {
        let invalid = |reason: String| CacheError::BackendUrl { reason };
        let Some((scheme, _)) = url.split_once(':') else {
            return Err(invalid(format!("this is not a url, {HOW_TO_WRITE}")));
        };
        if !matches!(
            scheme,
            "redis" | "rediss" | "valkey" | "valkeys" | "redis+unix" | "valkey+unix" | "unix"
        ) {
            return Err(invalid(format!(
                "this is not the url of a redis server, {HOW_TO_WRITE}"
            )));
        }
        if matches!(scheme, "rediss" | "valkeys") {
            check_tls().map_err(|reason| invalid(reason.to_owned()))?;
        }
        let info = url.into_connection_info().map_err(|error| {
            // Only the library's fixed sentence is passed on, not its detail, which quotes the url.
            let text = error.to_string();
            let what = ["database number", "hostname", "wildcard address", "protocol version"]
                .into_iter()
                .find(|what| text.contains(what));
            invalid(match what {
                Some("database number") => {
                    "the database is not a number, write it as the path of the url: redis://host:6379/1".to_owned()
                }
                Some("wildcard address") => "0.0.0.0 and :: are no addresses to connect to, name a host".to_owned(),
                Some("protocol version") => "the parameter `protocol` must be left out, RESP3 is always used".to_owned(),
                _ => format!("this url cannot be read, {HOW_TO_WRITE}; percent-encode special characters of a password"),
            })
        })?;

        let database = info.redis_settings().db();
        let authority = |host: &str, port: u16| match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        let label = match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                format!("redis://{}/{database}", authority(host, *port))
            }
            ConnectionAddr::TcpTls { insecure: true, .. } => {
                return Err(invalid(
                    "the certificate of the server is always checked, leave out `#insecure`"
                        .to_owned(),
                ));
            }
            ConnectionAddr::TcpTls { host, port, .. } => {
                format!("rediss://{}/{database}", authority(host, *port))
            }
            ConnectionAddr::Unix(path) => format!("unix://{}?db={database}", path.display()),
            _ => "redis".to_owned(),
        };
        // RESP3: the loss of a connection is reported at once, without a command that fails first.
        let settings = info
            .redis_settings()
            .clone()
            .set_protocol(ProtocolVersion::RESP3)
            .set_lib_name("cache-redis", env!("CARGO_PKG_VERSION"));
        let info = info
            .set_redis_settings(settings)
            .set_tcp_settings(tcp_settings(silence));
        let client = Client::open(info)
            .map_err(|_| invalid(format!("this url cannot be used, {HOW_TO_WRITE}")))?;
        Ok(Self { client, label })
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

/// Whether connections over TLS can be made. Without a crypto provider rustls would panic at each attempt to connect.
#[cfg(feature = "tls")]
fn check_tls() -> Result<(), &'static str> {
    match rustls::crypto::CryptoProvider::get_default() {
        Some(_) => Ok(()),
        None => Err(
            "rustls has no crypto provider, install one before this: rustls::crypto::ring::default_provider().install_default()",
        ),
    }
}

#[cfg(not(feature = "tls"))]
const fn check_tls() -> Result<(), &'static str> {
    Err("tls is not compiled in, turn on the feature `tls` of cache-redis or use redis://")
}

/// Small requests leave at once, and a dead peer is noticed by the kernel too: an idle connection by keep-alive, one with
/// unacknowledged data by the user time-out.
fn tcp_settings(silence: Duration) -> TcpSettings {
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(15))
        .with_interval(Duration::from_secs(5));
    let settings = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(keepalive);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    let settings = settings.set_user_timeout(silence.max(Duration::from_secs(2)));
    #[cfg(not(any(target_os = "android", target_os = "fuchsia", target_os = "linux")))]
    let _ = silence;
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, CacheError> {
        Address::parse(url, Duration::from_secs(1))
    }

    #[test]
    fn shows_where_but_not_who() {
        let address = parse("redis://alice:s3cret@cache.example:7000/3").unwrap();
        assert_eq!(address.to_string(), "redis://cache.example:7000/3");
        assert_eq!(format!("{address:?}"), "redis://cache.example:7000/3");
        assert_eq!(
            parse("redis://:s3cret@[::1]").unwrap().to_string(),
            "redis://[::1]:6379/0"
        );
        assert_eq!(
            parse("unix:///run/redis.sock?db=2&pass=s3cret")
                .unwrap()
                .to_string(),
            "unix:///run/redis.sock?db=2"
        );
    }

    #[test]
    fn what_tls_needs_is_said_when_it_is_asked_for() {
        let needed = if cfg!(feature = "tls") {
            "crypto provider"
        } else {
            "feature `tls`"
        };
        for scheme in ["rediss", "valkeys"] {
            let error = parse(&format!("{scheme}://host")).expect_err(scheme);
            assert!(error.to_string().contains(needed), "{error}");
        }
    }

    #[test]
    fn a_bad_url_is_explained_without_being_repeated() {
        for url in [
            "",
            "s3cret",
            "http://u:s3cret@host",
            "redis://:s3cret@",
            "redis://u:s3cret@host:port",
            "redis://:s3cret@host/one",
            "redis://u:s3/cret@host",
            "rediss://:s3cret@host",
            "redis://:s3cret@0.0.0.0",
            "redis://h/?protocol=s3cret",
        ] {
            let error = parse(url).expect_err(url);
            assert!(matches!(error, CacheError::BackendUrl { .. }));
            for text in [error.to_string(), format!("{error:?}")] {
                assert!(
                    !text.contains("s3") && !text.contains("cret"),
                    "{url}: {text}"
                );
            }
        }
    }
}
