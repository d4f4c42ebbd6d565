//! `rediss://`: the server has to prove who it is, to somebody the system trusts.

use std::{fs, net::TcpListener, path::Path, process::Command};

use cache_redis::dev::RedisServer;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

type Failure = Box<dyn std::error::Error>;
type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Result<Authority, Failure> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Ok(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?)
}

/// A server with a certificate for that name, and its port for TLS.
fn server(authority: &Authority, name: &str, dir: &Path) -> Result<(RedisServer, u16), Failure> {
    let key = KeyPair::generate()?;
    let certificate = CertificateParams::new([name.to_owned()])?.signed_by(&key, authority)?;
    let (key_file, certificate_file) = (dir.join("key.pem"), dir.join("certificate.pem"));
    fs::write(&key_file, key.serialize_pem())?;
    fs::write(&certificate_file, certificate.pem())?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let server = RedisServer::start_with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &certificate_file.display().to_string(),
        "--tls-key-file",
        &key_file.display().to_string(),
        "--tls-auth-clients",
        "no",
    ])?;
    Ok((server, port))
}

/// What a client says that trusts this authority and no other.
fn client(trusted: &Authority, port: u16, dir: &Path) -> Result<String, Failure> {
    let trusted_file = dir.join("trusted.pem");
    fs::write(&trusted_file, trusted.pem())?;
    let output = Command::new(env!("CARGO_BIN_EXE_tls_client"))
        .arg(format!("rediss://localhost:{port}"))
        .env("SSL_CERT_FILE", trusted_file)
        .env_remove("SSL_CERT_DIR")
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[test]
fn a_server_is_used_that_proves_who_it_is() -> Result<(), Failure> {
    let (dir, trusted) = (tempfile::tempdir()?, authority()?);
    let (_server, port) = server(&trusted, "localhost", dir.path())?;
    assert_eq!(client(&trusted, port, dir.path())?, "hit");
    Ok(())
}

#[test]
fn a_server_is_not_used_whose_certificate_nobody_trusts() -> Result<(), Failure> {
    let dir = tempfile::tempdir()?;
    let (_server, port) = server(&authority()?, "localhost", dir.path())?;
    assert_eq!(client(&authority()?, port, dir.path())?, "miss");
    Ok(())
}

#[test]
fn a_server_is_not_used_whose_certificate_is_for_another_name() -> Result<(), Failure> {
    let (dir, trusted) = (tempfile::tempdir()?, authority()?);
    let (_server, port) = server(&trusted, "cache.example", dir.path())?;
    assert_eq!(client(&trusted, port, dir.path())?, "miss");
    Ok(())
}
