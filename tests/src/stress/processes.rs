//! A run by processes of their own.

use std::{
    process::{Command, Stdio},
    thread,
};

use super::Report;

/// Starts a process for each of these addresses, where caches are, with rows on the server `database`; returns what they report, one after the other, when
/// all have ended. `program` is the path of `stress_process`.
///
/// # Panics
/// If one of them fails.
pub async fn processes(
    program: &str,
    urls: &[String],
    database: &str,
    (seed, calls, keys): (u64, u64, u64),
    kind: &str,
) -> Vec<Report> {
    let children: Vec<_> = (seed..)
        .zip(urls)
        .map(|(seed, url)| {
            let numbers = [seed, calls, keys, urls.len() as u64];
            Command::new(program)
                .args([url, database])
                .args(numbers.map(|number| number.to_string()))
                .arg(kind)
                .stdout(Stdio::piped())
                .spawn()
                .expect("the program was built with this test")
        })
        // Outputs are read by threads: what else goes on here goes on meanwhile.
        .map(|child| thread::spawn(|| child.wait_with_output()))
        .collect();
    let reports = tokio::task::spawn_blocking(|| {
        children
            .into_iter()
            .map(|child| {
                let output = child.join().expect("it only waits").expect("it has run");
                assert!(output.status.success(), "a process has failed");
                serde_json::from_slice(&output.stdout).expect("it has reported")
            })
            .collect()
    });
    reports.await.expect("all processes end well")
}
