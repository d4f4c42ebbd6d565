//! From an address to a stream on which the server has let us in.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, RedisResult,
    aio::MultiplexedConnection,
    io::tcp::{TcpSettings, socket2::SockRef},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// A connection of any kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Connects, and says who we are.
pub(crate) async fn open(client: &Client) -> RedisResult<Box<dyn Stream>> {
    let info = client.get_connection_info();
    let stream = connect(info.addr(), info.tcp_settings()).await?;
    // The client library knows how that is done. It is lent the stream for as long as that takes.
    let stream = Arc::new(Mutex::new(stream));
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    let lent = Lent(Arc::clone(&stream));
    let greeted =
        MultiplexedConnection::new_with_config(info.redis_settings(), lent, config).await?;
    drop(greeted);
    let stream = Arc::into_inner(stream).map(Mutex::into_inner);
    let stream = stream.expect("it was given back with the connection");
    Ok(stream.unwrap_or_else(PoisonError::into_inner))
}

async fn connect(address: &ConnectionAddr, settings: &TcpSettings) -> RedisResult<Box<dyn Stream>> {
    Ok(match address {
        ConnectionAddr::Tcp(host, port) => Box::new(tcp(host, *port, settings).await?),
        #[cfg(feature = "tls")]
        ConnectionAddr::TcpTls { host, port, .. } => {
            let stream = tcp(host, *port, settings).await?;
            Box::new(tls::over(stream, host).await?)
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => Box::new(tokio::net::UnixStream::connect(path).await?),
        _ => return Err(io::Error::from(io::ErrorKind::Unsupported).into()),
    })
}

async fn tcp(host: &str, port: u16, settings: &TcpSettings) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(settings.nodelay())?;
    let socket = SockRef::from(&stream);
    if let Some(keepalive) = settings.keepalive() {
        socket.set_tcp_keepalive(keepalive)?;
    }
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    socket.set_tcp_user_timeout(settings.user_timeout())?;
    Ok(stream)
}

#[cfg(feature = "tls")]
mod tls {
    use std::{
        io,
        sync::{Arc, OnceLock},
    };

    use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
    use tokio::{net::TcpStream, task::spawn_blocking};
    use tokio_rustls::{TlsConnector, client::TlsStream};

    /// Checks the certificate of the server against those that the system trusts.
    pub(super) async fn over(stream: TcpStream, host: &str) -> io::Result<TlsStream<TcpStream>> {
        let config = ClientConfig::builder()
            .with_root_certificates(trusted().await?)
            .with_no_client_auth();
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(name, stream).await
    }

    /// The certificates that the system trusts. They lie in files: those are read where no task waits behind it, and once. A
    /// program that is to know of new ones is started again.
    async fn trusted() -> io::Result<Arc<RootCertStore>> {
        static TRUSTED: OnceLock<Arc<RootCertStore>> = OnceLock::new();
        if let Some(trusted) = TRUSTED.get() {
            return Ok(Arc::clone(trusted));
        }
        let mut trusted = RootCertStore::empty();
        let found = spawn_blocking(rustls_native_certs::load_native_certs).await?;
        trusted.add_parsable_certificates(found.certs);
        if trusted.is_empty() {
            // Not kept: the next attempt may find some.
            return Err(io::Error::other("the system trusts no certificates"));
        }
        Ok(Arc::clone(TRUSTED.get_or_init(|| Arc::new(trusted))))
    }
}

/// A stream in somebody else's hands.
struct Lent(Arc<Mutex<Box<dyn Stream>>>);

impl Lent {
    fn with<T>(&self, act: impl FnOnce(Pin<&mut dyn Stream>) -> T) -> T {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(Pin::new(&mut **stream))
    }
}

impl AsyncRead for Lent {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Lent {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with(|stream| stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|stream| stream.poll_shutdown(context))
    }
}
